"""English sentences that a page or a command may show in another language. Pure.

A `Message` is its English text, so programs, logs and the API see a plain string. It also remembers the msgid and the
values, so that what shows it can look the sentence up in a catalogue (`vlrb/common/translations.py`). Another process
gets both as JSON (`to_json`, `message_of`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any


class Message(str):
    """An English text, with its msgid, its values, and the count that chooses a plural (None: there is no plural)."""

    __slots__ = ("msgid", "number", "plural", "values")
    msgid: str
    plural: str
    values: dict[str, Any]
    number: int | None

    def __new__(cls, msgid: str, values: dict[str, Any], plural: str = "", count: int | None = None) -> Message:
        """Make the English text now."""
        pattern = plural if count is not None and count != 1 else msgid
        message = super().__new__(cls, pattern.format_map(values) if values or count is not None else pattern)
        message.msgid, message.values, message.plural, message.number = msgid, values, plural, count
        return message

    def written(self, english: str) -> Message:
        """Return the same message whose English text is written so."""
        message = super().__new__(type(self), english)
        for name in self.__slots__:
            setattr(message, name, getattr(self, name))
        return message

    def __str__(self) -> str:
        """Return the message itself, so that `str(error)` stays translatable."""
        return self

    def __add__(self, other: str) -> Message:
        """Return a message of this one and the text behind it."""
        return joined((self, other), "") if other else self

    def __radd__(self, other: str) -> Message:
        """Return a message of a text and this one behind it."""
        return joined((other, self), "") if other else self

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to make it again in another process."""
        return Message, (self.msgid, self.values, self.plural, self.number)

    def to_json(self) -> dict[str, Any]:
        """Return what `message_of` makes it of again."""
        values = replaced(self.values, Message.to_json)
        return {"msgid": self.msgid, "values": values, "plural": self.plural, "count": self.number}


def message_of(value: dict[str, Any]) -> Any:
    """Return the message that an object of JSON stands for, as an `object_hook`; another object as it is."""
    return Message(**value) if value.keys() == {"msgid", "values", "plural", "count"} else value


def replaced(value: Any, change: Callable[[Message], Any]) -> Any:
    """Return a value of JSON with each message in it as `change` makes it."""
    if isinstance(value, Mapping):
        return {name: replaced(part, change) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [replaced(part, change) for part in value]
    return change(value) if isinstance(value, Message) else value


def _(msgid: str, **values: Any) -> Message:
    """Return a sentence; `{name}` in it stands for a value. Braces are literal where there are no values."""
    return msgid if isinstance(msgid, Message) and not values else Message(msgid, values)


def ngettext(singular: str, plural: str, count: int, **values: Any) -> Message:
    """Return a sentence about a count, which is `{n}` in it."""
    return Message(singular, {"n": count, **values}, plural, count)


_COMMA = _(", ")


def joined(texts: Iterable[str], between: str = _COMMA) -> Message:
    """Return texts one after the other; each may be a message."""
    values: dict[str, Any] = {f"text{number}": text for number, text in enumerate(texts)}
    return Message("{between}".join(f"{{{name}}}" for name in values), {**values, "between": between})


_NUMBERS = (
    _("no"), _("one"), _("two"), _("three"), _("four"), _("five"),
    _("six"), _("seven"), _("eight"), _("nine"), _("ten"),
)  # fmt: skip


def in_words(number: int) -> str:
    """Return a small number as a word."""
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)
