"""JSON logging on standard error: one object per line, data in fields, never pasted into the message."""

from __future__ import annotations

import json
import logging
import sys
import threading
import traceback
from datetime import UTC, datetime
from typing import Any

log = logging.getLogger(__name__)


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


def log_to_stderr() -> None:
    """Send all records of this process there, and what would print a traceback or a warning around them."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    logging.getLogger("alembic").setLevel(logging.WARNING)
    for library in ("httpx", "httpx2"):  # a line for each request, of the Hub's client and of the sign-in
        logging.getLogger(library).setLevel(logging.WARNING)
    logging.getLogger("apscheduler").setLevel(logging.WARNING)  # its own start and stop
    logging.captureWarnings(True)
    sys.excepthook = lambda kind, error, trace: log.critical("process.failed", exc_info=(kind, error, trace))
    threading.excepthook = _of_a_thread
    traceback.print_exc = _of_a_handler  # Gradio prints with it what its functions raise


def _of_a_thread(ended: threading.ExceptHookArgs) -> None:
    if ended.exc_value is not None and ended.exc_type is not SystemExit:
        log.error("thread.failed", exc_info=(ended.exc_type, ended.exc_value, ended.exc_traceback))


def _of_a_handler(*_: Any, **__: Any) -> None:
    log.error("handler.failed", exc_info=True)
