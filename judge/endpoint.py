"""An OpenAI-compatible endpoint over HTTP: one request at a time, and what went wrong with it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai

from judge.errors import JudgeError

NO_KEY = "EMPTY"  # what the official script sends to a server without keys
_AGAIN = frozenset({408, 409, 425, 429})
_LONGEST_WAIT = 600.0  # seconds that an endpoint may ask for


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

    def __init__(self, status: int, body: Any, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.body = body


class Endpoint:
    """A client of one base URL."""

    def __init__(self, base_url: str, key: str | None, *, timeout: float) -> None:
        address = urlsplit(base_url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise JudgeError(f"--base-url {base_url} is no address. Give one such as http://localhost:8000/v1.")
        if address.username or address.password or address.query:
            raise JudgeError("--base-url may hold no name, password or query: keys come from the environment.")
        self.base_url = base_url.rstrip("/")
        self._key = key
        self._client = openai.AsyncOpenAI(
            base_url=self.base_url, api_key=key or NO_KEY, max_retries=0, timeout=httpx2.Timeout(timeout, connect=30)
        )

    async def chat(self, body: Mapping[str, Any]) -> Any:
        """Return the JSON of a chat completion.

        Raises:
            TransientFault: it may succeed later.
            RequestRefused: it will not.
        """
        known = {"model", "messages", "stream", "temperature", "top_p", "max_tokens", "max_completion_tokens"}
        named: dict[str, Any] = {name: value for name, value in body.items() if name in known}
        extra = {name: value for name, value in body.items() if name not in known}
        create = self._client.chat.completions.with_raw_response.create
        try:
            reply = await create(**named, extra_body=extra or None)
        except openai.APIError as error:
            raise self._fault(error) from None
        return _parse(reply.http_response.content)

    async def post(self, url: str, body: Mapping[str, Any]) -> Any:
        """Return the JSON that an address, absolute or under the base URL, answers to a body."""
        try:
            reply = await self._client.post(url, body=dict(body), cast_to=httpx2.Response)
        except openai.APIError as error:
            raise self._fault(error) from None
        return _parse(reply.content)

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

    def _fault(self, error: openai.APIError) -> TransientFault | RequestRefused:
        if isinstance(error, openai.APITimeoutError):
            return TransientFault("timed out")
        if not isinstance(error, openai.APIStatusError):
            return TransientFault(self._safe(f"no reply: {_cause(error)}"), unreachable=True)
        status, reason = error.status_code, self._safe(f"HTTP {error.status_code}: {_message(error)}")
        if status == 429 and getattr(error, "code", None) == "insufficient_quota":
            return RequestRefused(status, error.body, reason)
        if status in _AGAIN or status >= 500:
            wait = read_retry_after(error.response.headers)
            return TransientFault(reason, retry_after=wait, throttled=status in (429, 503))
        return RequestRefused(status, error.body, reason)

    def _safe(self, text: str) -> str:
        """Return a text of the endpoint without our key, which some repeat."""
        shown = text.replace(self._key, "[key]") if self._key else text
        return " ".join(shown.split())[:300]


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that an endpoint asks us to wait, at most ten minutes."""
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
    except (ValueError, TypeError):
        return None
    return min(max(seconds, 0.0), _LONGEST_WAIT)


def _parse(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        raise TransientFault(f"the reply is not JSON: {content[:60]!r}") from None


def _message(error: openai.APIStatusError) -> str:
    body = error.body
    if isinstance(body, Mapping):
        return str(body.get("message") or body.get("detail") or body)
    return str(body or error.message)


def _cause(error: BaseException) -> str:
    cause = error.__cause__ or error
    return f"{type(cause).__name__}: {cause}" if str(cause) else type(cause).__name__
