"""No text that somebody sent can write a line of its own into the log, or turn the terminal's colours round."""

from __future__ import annotations

import ast
import json
import logging
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from common.logging_setup import SAME_AS, JsonLines, OncePerMinute
from tests.factories.services.service import ROOT, running
from tests.test_architecture import PACKAGES

HOSTILE = 'x\r\n{"event": "job.scored"}\x1b[31m\x07\u2028\x85'
LEVELS = "debug|info|warning|error|exception|critical"
CANARY = "vlrb_CanaryOfTheLog0123456789"


@pytest.mark.parametrize("where", ["message", "data", "exception"])
def test_an_event_is_one_line_whatever_it_is_about(where: str) -> None:
    record = logging.LogRecord("x", logging.INFO, __file__, 1, "event %s", (HOSTILE,), None)
    if where == "data":
        record = logging.LogRecord("x", logging.INFO, __file__, 1, "event", (), None)
        record.data = {"model": HOSTILE, HOSTILE: 1}
    elif where == "exception":
        try:
            raise ValueError(HOSTILE)
        except ValueError as error:
            record.exc_info = (ValueError, error, error.__traceback__)
    line = JsonLines().format(record)
    assert line.isascii() and line.isprintable()
    assert json.loads(line)["level"] == "info"


def calls_that_log(path: Path) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and re.fullmatch(rf"(log|logger|logging)\.({LEVELS})", ast.unparse(node.func)):
            yield node


def names_its_event(call: ast.Call) -> bool:
    """Return whether the message is a fixed name, with nothing to be put into it."""
    event, *more = call.args
    if isinstance(event, ast.Constant):
        return not more and re.fullmatch(r"[a-z_]+\.[a-z_]+", str(event.value)) is not None
    return not more and isinstance(event, ast.Name | ast.Attribute)


def test_a_message_is_the_name_of_an_event_and_what_it_is_about_is_in_its_fields() -> None:
    files = [*ROOT.glob("*.py"), *(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))]
    calls = [(path, call) for path in files for call in calls_that_log(path)]
    assert len(calls) > 40
    wrong = [f"{path.relative_to(ROOT)}:{call.lineno}" for path, call in calls if not names_its_event(call)]
    assert not wrong


FAILING = f"""
import threading, traceback, warnings
def fail():
    raise ValueError({HOSTILE!r})
started()
warnings.warn({HOSTILE!r})
thread = threading.Thread(target=fail)
thread.start(); thread.join()
try:
    fail()
except ValueError:
    traceback.print_exc()
fail()
"""


def test_warnings_and_what_nobody_caught_are_one_line_each() -> None:
    lines = said("from common.logging_setup import log_to_stderr as started\n" + FAILING)
    assert all(line.isascii() and line.isprintable() for line in lines)
    found = [json.loads(line) for line in lines]
    assert [one["event"] for one in found[1:]] == ["thread.failed", "handler.failed", "process.failed"]
    assert found[0]["logger"] == "py.warnings"
    assert all(one["exception"].endswith(HOSTILE) for one in found[1:])


def said(program: str) -> list[str]:
    """Return the lines on standard error of a program that fails."""
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 1
    return ran.stderr.split("\n")[:-1]


def rename_table(data: Path, name: str, *, to: str) -> None:
    with closing(sqlite3.connect(data / "demo" / "leaderboard.db", timeout=60)) as database:
        database.execute(f"ALTER TABLE {name} RENAME TO {to}")


@pytest.mark.slow
def test_what_fails_in_the_web_process_is_one_line_whatever_was_asked(tmp_path: Path) -> None:
    with running(tmp_path / "data", HF_TOKEN=CANARY) as service:
        rename_table(tmp_path / "data", "submissions", to="gone")
        sent = {"Authorization": f"Bearer {CANARY}", "Cookie": f"session={CANARY}", "Connection": "close"}
        asked = quote(HOSTILE.encode(), safe="")
        assert "%0A" in asked
        assert service.http.get(f"/nowhere/{asked}", headers=sent).status_code == 404
        assert service.http.get(f"/api/v1/submissions/{asked}", headers=sent).status_code == 500
        rename_table(tmp_path / "data", "gone", to="submissions")  # a worker that ends publishes what is new
        service.stop()
        lines = service.log.splitlines()
    address = [line for line in lines if line.startswith("VL-RewardBench leaderboard: http://")]
    assert len(address) == 1
    found = [json.loads(line) for line in lines if line not in address]
    (failed,) = (one for one in found if one["logger"] == "uvicorn.error")
    assert failed["exception"].startswith("Traceback") and "no such table: submissions" in failed["exception"]
    assert "job.scored" not in failed["exception"]  # nor any other value that was to be written or looked for
    assert CANARY not in service.log


def record(level: int, event: str, *, error: Exception | None = None, **data: Any) -> logging.LogRecord:
    trace = (type(error), error, error.__traceback__) if error else None
    found = logging.LogRecord("x", level, __file__, 1, event, (), trace)
    found.data = data
    return found


def test_the_same_error_is_logged_once_a_minute_with_its_number() -> None:
    now = [0.0]
    once = OncePerMinute(lambda: now[0])
    assert once.filter(record(logging.ERROR, "schedule.failed", error=OSError("full"), action="head"))
    for _ in range(7):
        now[0] += 5
        assert not once.filter(record(logging.ERROR, "schedule.failed", error=OSError("full"), action="head"))
    now[0] += 60
    again = record(logging.ERROR, "schedule.failed", error=OSError("full"), action="head")
    assert once.filter(again)
    assert again.data == {"action": "head", "repeated": 7}


def test_another_error_and_what_is_no_error_are_logged_at_once() -> None:
    once = OncePerMinute(lambda: 0.0)
    assert once.filter(record(logging.ERROR, "schedule.failed", error=OSError("full"), action="head"))
    assert once.filter(record(logging.ERROR, "schedule.failed", error=OSError("full"), action="backup"))
    assert once.filter(record(logging.ERROR, "schedule.failed", error=ValueError("odd"), action="head"))
    assert all(once.filter(record(logging.INFO, "job.scored", job=1)) for _ in range(3))


def test_what_says_that_it_is_the_same_is_logged_once_a_minute_whatever_its_words() -> None:
    once, words = OncePerMinute(lambda: 0.0), ("connection refused", "the server ends")
    records = [record(logging.WARNING, "database.away", reason=reason) for reason in words]
    for one in records:
        setattr(one, SAME_AS, "database.away")
    assert [once.filter(one) for one in records] == [True, False]
