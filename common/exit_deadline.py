"""Ends of a process that nothing holds up: soon after it was told to stop, and where one of its loops stands still.

Both are the timer of `faulthandler`, a thread of C: it needs no lock of Python's, prints where every thread is, and
ends the process with code 1. A process has one such timer. What the process held is released by its lease.
"""

from __future__ import annotations

import ctypes
import faulthandler
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import NoReturn

WEB_SECONDS = 17.0  # within which the web process ends, whatever it waits for; without a hanging part it takes less
WORKER_SECONDS = 4.0
STALLED_SECONDS = 300.0  # without a turn of a loop, after which its process ends
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform.startswith("linux") else None  # not after a fork, which may hold its lock
_STDERR = 2  # not sys.stderr, which a test may have replaced by one without a file


@dataclass
class _ExitTimer:
    """The timer of this process. `ends_at`: by the monotonic clock, once it was told to stop."""

    ends_at: float | None = None

    def start(self, seconds: float) -> None:
        """End the process in so many seconds, or when it was to end before."""
        if self.ends_at is not None:
            seconds = max(0.001, self.ends_at - time.monotonic())
        faulthandler.dump_traceback_later(seconds, exit=True, file=_STDERR)


_timer = _ExitTimer()


def run_until_signal(main: Callable[[], int], seconds: float) -> NoReturn:
    """Run the main function of a process, and end the process with its code; `seconds` after SIGINT or SIGTERM at the
    latest.

    Threads that wait for something which may never answer are not waited for.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)  # a handler of Python's waits while the main thread is in a library of C
    threading.Thread(target=_start_timer, args=(reader, seconds), name="exit-deadline", daemon=True).start()
    code = main()
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _start_timer(signals: int, seconds: float) -> None:
    """Have the process end in so many seconds, after the first signal that asks for it."""
    while not {signal.SIGINT, signal.SIGTERM}.intersection(os.read(signals, 100)):
        pass
    _timer.ends_at = time.monotonic() + seconds
    _timer.start(seconds)


class Watchdog:
    """Ends the process where one of its loops has made no turn for long. A supervisor then starts another one.

    The timer starts anew whenever all loops have made a turn.
    """

    def __init__(self, loops: Collection[str], seconds: float = STALLED_SECONDS) -> None:
        self._loops, self._seconds = frozenset(loops), seconds
        self._silent = set(self._loops)

    def turn(self, loop: str) -> None:
        """Note a turn of a loop. For any thread."""
        self._silent.discard(loop)
        if not self._silent:
            self._silent = set(self._loops)
            self._start()

    def __enter__(self) -> Watchdog:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        if _timer.ends_at is None:
            faulthandler.cancel_dump_traceback_later()

    def _start(self) -> None:
        _timer.start(self._seconds)
        if _timer.ends_at is not None:  # a signal came meanwhile, and its timer is the one that counts
            _timer.start(self._seconds)


def end_with_parent(parent: int, sign: signal.Signals) -> None:
    """Ask Linux for a signal when the parent is gone, however it went; elsewhere do nothing. For a child at its start.

    Linux looks at the thread that made the child.
    """
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, sign)
        if os.getppid() != parent:  # it ended in between
            os._exit(1)
