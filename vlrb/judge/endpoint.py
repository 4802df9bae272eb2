"""An OpenAI-compatible endpoint over HTTP: one request at a time, and what went wrong with it."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2
import openai

from vlrb.judge import JudgeError
from vlrb.judge.texts import as_reason, duration

NO_KEY = "EMPTY"  # what the official script sends to a server without keys
_AGAIN = frozenset({408, 409, 425, 429})
LONGEST_WAIT = 600.0  # seconds that an endpoint may ask for; the run ends where it asks for more
_CENTURY = 100 * 365 * 86400.0  # seconds
_SHORTEST_SECRET = 16  # characters of a key


class TransientFault(Exception):
    """The request may succeed later."""

    def __init__(
        self, reason: str, *, retry_after: float | None = None, throttled: bool = False, unreachable: bool = False
    ) -> None:
        super().__init__(reason)
        self.retry_after = retry_after
        self.throttled = throttled
        self.unreachable = unreachable


class RequestRefused(Exception):
    """The endpoint refuses this request, now and later."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Endpoint:
    """A client of one base URL. It follows no redirects: pairs and key go to that address alone."""

    def __init__(self, base_url: str, key: str | None, *, timeout: float) -> None:
        self.base_url = base_url.rstrip("/")
        self._key = key
        self._seconds = timeout
        self._client = openai.AsyncOpenAI(
            base_url=self.base_url,
            api_key=key or NO_KEY,
            max_retries=0,
            http_client=openai.DefaultAsyncHttpxClient(follow_redirects=False),
            timeout=httpx2.Timeout(timeout, connect=30),
        )

    async def post(self, url: str, body: Mapping[str, Any]) -> Any:
        """Return the JSON that an address, absolute or under the base URL, answers to a body.

        Raises:
            TransientFault: it may succeed later.
            RequestRefused: it will not.
            JudgeError: the endpoint asks to wait for too long.
        """
        try:
            async with asyncio.timeout(self._seconds):  # of the whole reply, not of each part
                reply = await self._client.post(url, body=dict(body), cast_to=httpx2.Response)
        except TimeoutError:
            raise TransientFault("timed out") from None
        except openai.APIError as error:
            raise self._fault(error) from None
        text = self._masked(reply.text)
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise TransientFault(f"the reply is not JSON: {text[:60]!r}") from None

    async def is_reachable(self) -> bool:
        """Return whether anything answers at the base URL, be it an error."""
        try:
            await self._client.get("/models", cast_to=httpx2.Response, options={"timeout": 10})
        except openai.APIStatusError:
            return True
        except openai.APIError:
            return False
        return True

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()

    def _fault(self, error: openai.APIError) -> TransientFault | RequestRefused | JudgeError:
        if isinstance(error, openai.APITimeoutError):
            return TransientFault("timed out")
        if not isinstance(error, openai.APIStatusError):
            return TransientFault(self._safe(f"no reply: {_cause(error)}"), unreachable=True)
        status, reason = error.status_code, self._safe(f"HTTP {error.status_code}: {_message(error)}")
        if status == 429 and getattr(error, "code", None) == "insufficient_quota":
            return RequestRefused(status, reason)
        if 300 <= status < 400:
            where = error.response.headers.get("location", "elsewhere")
            return RequestRefused(status, self._safe(f"HTTP {status}: redirected to {where}; name that address"))
        if status in _AGAIN or status >= 500:
            wait = read_retry_after(error.response.headers)
            if wait is not None and wait > LONGEST_WAIT:
                return JudgeError(
                    "The endpoint asks to wait {duration} ({reason}). After that the same command continues.",
                    duration=duration(wait),
                    reason=reason,
                )
            return TransientFault(reason, retry_after=wait, throttled=status in (429, 503))
        return RequestRefused(status, reason)

    def _masked(self, text: str) -> str:
        """Return a text of the endpoint without our key, which some repeat: replies are kept and submitted.

        Short keys, as `EMPTY`, are words of their own and no secrets.
        """
        return text.replace(self._key, "[key]") if self._key and len(self._key) >= _SHORTEST_SECRET else text

    def _safe(self, text: str) -> str:
        return as_reason(self._masked(text))


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that an endpoint asks us to wait, at most a hundred years; None where it does not say."""
    milliseconds, given = headers.get("retry-after-ms"), headers.get("retry-after")
    try:
        if milliseconds:
            seconds = float(milliseconds) / 1000
        elif given and given.replace(".", "", 1).isdigit():
            seconds = float(given)
        elif given:
            seconds = parsedate_to_datetime(given).timestamp() - time.time()
        else:
            return None
    except (ValueError, TypeError, OverflowError):
        return None
    return None if math.isnan(seconds) else min(max(seconds, 0.0), _CENTURY)


def _message(error: openai.APIStatusError) -> str:
    body = error.body
    if isinstance(body, Mapping):
        return str(body.get("message") or body.get("detail") or body)
    return str(body or error.message)


def _cause(error: BaseException) -> str:
    cause = error.__cause__ or error
    return f"{type(cause).__name__}: {cause}" if str(cause) else type(cause).__name__
