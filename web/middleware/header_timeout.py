"""Close connections whose request header is incomplete after some seconds (slowloris); uvicorn has no header
timeout."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol


class HeaderTimeoutProtocol(H11Protocol):
    """Closes a connection whose next request's header is not complete in time. Bodies have a limit of their own."""

    header_seconds = 15.0

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time limit of the first header."""
        super().connection_made(transport)
        self._look()

    def data_received(self, data: bytes) -> None:
        """Something of a header or a body."""
        super().data_received(data)
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is due any more."""
        self._forget()
        super().connection_lost(exc)

    def _look(self) -> None:
        at_work = self.cycle is not None and not self.cycle.response_complete
        if at_work:
            self._forget()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self.header_seconds, self.transport.close)

    def _forget(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
