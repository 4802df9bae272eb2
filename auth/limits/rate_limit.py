"""Rate limiting by the library `limits`: requests per minute for each address and account, upload bytes per hour and
concurrent calls for each address. Plain ASGI.

It keeps the service answering; it protects no secret. Quotas are counted in the database, where a restart resets
nothing. Each web process counts alone.
"""

from __future__ import annotations

import ipaddress
import logging
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from limits import RateLimitItem, RateLimitItemPerHour, RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from auth.limits.request_classes import is_upload, rate_limit_class
from auth.middleware import client_address
from auth.model import Identity, TooManyRequests
from auth.problem_details import refusal
from vlrb.common.messages import _

FILES_PER_HOUR = 4  # of the largest size, or as many bytes of smaller ones: uploads may lie on the disk for an hour
MOST_WAITING = 64  # calls of Gradio's functions that wait or run at a time,
MOST_OF_ONE = 4  # and of these from one address
MOST_COMPUTED = 8  # views, files and pictures that one address has made for it at a time; a browser asks for six
MOST_OPEN = 64  # answers that one address waits for at a time: a page has one or two, each takes a file descriptor

_OPEN_AT_MOST = {"listen": MOST_OPEN, "compute": MOST_COMPUTED}

log = logging.getLogger(__name__)


class TooManyBytes(TooManyRequests):
    """Larger uploads than anybody needs; try again later."""

    code = "too-many-bytes"

    def __init__(self, retry_after: float) -> None:
        super().__init__(retry_after)
        self.detail = _("Too much was uploaded from this address within the hour. Try again later.")


class RateLimitMiddleware:
    """The application behind a limit. `whose`: who is counted; "" is not. `largest`: bytes of the largest file that is
    taken, where bytes are counted too; 0 where they are not."""

    def __init__(self, app: ASGIApp, per_minute: int, *, whose: Callable[[Scope], str], largest: int = 0) -> None:
        self._app, self._whose, self._largest = app, whose, largest
        self._limiter = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._requests = RateLimitItemPerMinute(per_minute)
        self._bytes = RateLimitItemPerHour(max(FILES_PER_HOUR * largest, 1))
        self._open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        what = rate_limit_class(scope)
        user = self._whose(scope) if what else ""
        try:
            if user:
                self._count(scope, what, user=user)
        except TooManyRequests as refused:
            log.info("request.refused", extra={"data": {"status": 429, "code": refused.code, "kind": what}})
            await refusal(refused)(scope, receive, send)
            return
        with self._open_for(f"{what} {user}") if user and what in _OPEN_AT_MOST else nullcontext():
            await self._app(scope, receive, send)

    @contextmanager
    def _open_for(self, user: str) -> Iterator[None]:
        self._open[user] += 1
        try:
            yield
        finally:
            self._open[user] -= 1
            self._open += Counter()  # drops who has none left

    def _count(self, scope: Scope, what: str, *, user: str) -> None:
        """Count a request. Raises TooManyRequests, and then does not count it."""
        if self._open.get(f"{what} {user}", 0) >= _OPEN_AT_MOST.get(what, math.inf):
            raise TooManyRequests(60 if what == "listen" else 1)
        if what == "compute":  # readers may open as many pages as they like, one after the other
            return
        self._hit(self._requests, f"{what} {user}", TooManyRequests)
        if self._largest and is_upload(scope):
            length = Headers(scope=scope).get("content-length", "")
            size = int(length[:20]) if length.isdecimal() else self._largest
            self._hit(self._bytes, user, TooManyBytes, cost=min(size, self._largest))

    def _hit(self, limit: RateLimitItem, place: str, kind: type[TooManyRequests], *, cost: int = 1) -> None:
        if not self._limiter.hit(limit, place, cost=cost):
            raise kind(max(1.0, self._limiter.get_window_stats(limit, place).reset_time - time.time()))


def limit_queue_per_client(queue: Any, most: int = MOST_OF_ONE) -> None:
    """Make Gradio's queue refuse the calls of an address that has `most` of them waiting or running already: reading a
    large file takes seconds, and the next caller waits for all of them."""
    push = queue.push

    async def push_in_turn(body: Any, request: Any, username: Any) -> Any:
        user = address_of(request.scope)
        if sum(address_of(event.request.scope) == user for event in _events(queue)) >= most:
            return (
                False,
                _("Already {most} calls from your address are waiting or running. Try again in a moment.", most=most),
                "queue_full",
            )
        return await push(body=body, request=request, username=username)

    queue.push = push_in_turn


def _events(queue: Any) -> Iterable[Any]:
    """Yield what waits in it, and what runs."""
    for waiting in queue.event_queue_per_concurrency_id.values():
        yield from waiting.queue
    for running in queue.active_jobs:
        yield from running or ()


def address_of(scope: Scope) -> str:
    """Return where a request comes from: an address, or the network of an IPv6 one. Behind a trusted proxy its
    client's."""
    return network(client_address(scope))


def network(address: str) -> str:
    """Return the network of an address: IPv4 as it is, IPv6 as its /64, which one subscriber gets whole."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address[:100]
    if isinstance(parsed, ipaddress.IPv6Address):
        mapped = parsed.ipv4_mapped
        return str(mapped) if mapped else str(ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed)


def account_of(scope: Scope) -> str:
    """Return whose request it is; IdentityMiddleware came before."""
    result = scope.get("state", {}).get("identity")
    return result.account if isinstance(result, Identity) else ""
