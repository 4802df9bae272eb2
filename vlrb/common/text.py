"""Text helpers: joined sentences, lines without control characters. Pure."""

from __future__ import annotations

from vlrb.common.messages import Message, _, joined

_ENDS = (".", "!", "?", "…", "。", "！", "？")
_CLOSING = "\"')]”’»"


def printable(text: str) -> str:
    """Return a line in which control characters are shown as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def one_line(text: str) -> str:
    """Return a text in one line, with a mark in place of each character that cannot be printed."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(text.split()))


def join_sentences(*texts: str) -> str:
    """Texts one after the other, each with a full stop where it lacks one: people end their reasons as they like."""
    sentences = (text if isinstance(text, Message) else text.strip() for text in texts)
    ended = (text if text.rstrip(_CLOSING).endswith(_ENDS) else text + _(".") for text in sentences if text)
    return joined(ended, " ")
