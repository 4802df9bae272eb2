"""JSON logging on standard error: one object per line, data in fields, never pasted into the message."""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

log = logging.getLogger(__name__)
_MINUTE = 60.0
SAME_AS = "same_as"
"""Attribute of a record: what makes it the same as others, instead of its words and fields."""


class JsonLines(logging.Formatter):
    """Line breaks and control characters in any field are escaped, so no input can write a line of its own."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage().rstrip(),
            **getattr(record, "data", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=True, default=str)


class OncePerMinute(logging.Filter):
    """Drops a warning or error that is the same as one of the last minute; the next one says how many there were."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock, self._lock = clock, threading.Lock()
        self._logged: dict[str, tuple[float, int]] = {}  # what was said -> when, and how often since

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to log it."""
        if record.levelno < logging.WARNING:
            return True
        key, now = _key(record), self._clock()
        with self._lock:
            at, dropped = self._logged.get(key, (-_MINUTE, 0))
            if now - at < _MINUTE:
                self._logged[key] = (at, dropped + 1)
                return False
            self._logged = {old: seen for old, seen in self._logged.items() if now - seen[0] < _MINUTE}
            self._logged[key] = (now, 0)
        if dropped:
            record.data = {**getattr(record, "data", {}), "repeated": dropped}
        return True


def _key(record: logging.LogRecord) -> str:
    """Return what makes two records the same: words, fields, kind of the exception and where it was raised; or what
    the record itself says."""
    if hasattr(record, SAME_AS):
        return str(getattr(record, SAME_AS))
    kind, error, trace = record.exc_info or (None, None, None)
    lines = [line.lineno for line in traceback.extract_tb(trace)] if error is not None else []
    return f"{record.name} {record.getMessage()} {getattr(record, 'data', {})} {kind} {lines}"


def log_to_stderr() -> None:
    """Send all records of this process there, and what would print a traceback or a warning around them."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(OncePerMinute())
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for library in ("httpx", "httpx2"):  # a line for each request, of the Hub's client and of the sign-in
        logging.getLogger(library).setLevel(logging.WARNING)
    logging.captureWarnings(True)
    sys.excepthook = lambda kind, error, trace: log.critical("process.failed", exc_info=(kind, error, trace))
    threading.excepthook = _of_a_thread
    traceback.print_exc = _of_a_handler  # Gradio prints with it what its functions raise


def _of_a_thread(ended: threading.ExceptHookArgs) -> None:
    if ended.exc_value is not None and ended.exc_type is not SystemExit:
        log.error("thread.failed", exc_info=(ended.exc_type, ended.exc_value, ended.exc_traceback))


def _of_a_handler(*_: Any, **__: Any) -> None:
    log.error("handler.failed", exc_info=True)
