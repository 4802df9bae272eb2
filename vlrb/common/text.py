"""Text helpers: joined sentences, lines without control characters. Pure."""

from __future__ import annotations

_ENDS = (".", "!", "?", "…", "。", "！", "？")
_CLOSING = "\"')]”’»"


def printable(text: str) -> str:
    """Return a line in which control characters are shown as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def join_sentences(*texts: str) -> str:
    """Texts one after the other, each with a full stop where it lacks one: people end their reasons as they like."""
    sentences = (text.strip() for text in texts)
    return " ".join(text if text.rstrip(_CLOSING).endswith(_ENDS) else f"{text}." for text in sentences if text)
