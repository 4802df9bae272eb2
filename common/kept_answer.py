"""An answer that is kept for a while: what costs a database query is not asked for by every visitor."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

_Answer = TypeVar("_Answer")


class KeptAnswer(Generic[_Answer]):
    """An answer that is made anew when it is older than `seconds`. Safe for threads, which wait for one of them."""

    def __init__(
        self, make: Callable[[], _Answer], seconds: float, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._make, self._seconds, self._clock = make, seconds, clock
        self._lock = threading.Lock()
        self._made: tuple[float, _Answer] | None = None

    def get(self) -> _Answer:
        """Return the answer. Raises what making it raises, and keeps nothing then."""
        with self._lock:
            if self._made is None or self._clock() - self._made[0] > self._seconds:
                self._made = (self._clock(), self._make())
            return self._made[1]
