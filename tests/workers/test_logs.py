"""No text that somebody sent can write a line of its own into the log, or turn the terminal's colours round."""

from __future__ import annotations

import json
import logging

import pytest

from workers.logs import JsonLines

HOSTILE = 'x\r\n{"event": "job.scored"}\x1b[31m\x07\u2028\x85'


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


def test_control_the_usual_format_lets_a_text_write_lines_and_colours() -> None:
    record = logging.LogRecord("x", logging.INFO, __file__, 1, "event %s", (HOSTILE,), None)
    lines = logging.Formatter("%(levelname)s %(message)s").format(record).splitlines()
    assert '{"event": "job.scored"}\x1b[31m\x07' in lines
