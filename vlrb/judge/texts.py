"""Texts of endpoints and scorers, as files and terminals can take them. Pure."""

from __future__ import annotations

from vlrb.common.messages import Message, _
from vlrb.common.text import one_line

_LONGEST_REASON = 300  # characters


def as_reason(text: str) -> str:
    """Return a message as one short line: no control characters, no lone surrogates, no line breaks."""
    return one_line(text)[:_LONGEST_REASON]


def as_content(text: str) -> str:
    """Return a text without what no file of predictions may hold: NUL, and half a character (a lone surrogate)."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()


def as_money(dollars: float) -> str:
    """Return an amount of US dollars: cents, and of less than ten cents two digits that count."""
    if 0 < dollars < 0.001:
        return "under $0.001"
    return f"${dollars:.2f}" if dollars >= 0.1 or dollars == 0 else f"${dollars:.2g}"


def duration(seconds: float) -> Message:
    """Return a time in words: 1 h 05 min."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return _("{hours} h {minutes:02} min", hours=hours, minutes=minutes)
    return _("{minutes} min {rest:02} s", minutes=minutes, rest=rest) if minutes else _("{rest} s", rest=rest)
