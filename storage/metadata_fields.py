"""Kinds of metadata fields: how each is read, kept, and shown. Plain text for every renderer; imports nothing heavy."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Literal, NamedTuple, NoReturn
from urllib.parse import urlsplit

from vlrb.common.messages import _

Storage = Literal["text", "number", "whole", "flag"]

_EMOJI_STYLE = "\ufe0e\ufe0f"  # invisible, but in a note a part of what people type
_MOST_MARKS = 4  # on one letter; written languages have at most three after normalisation
_HUB_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
_INVISIBLE = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
# Default_Ignorable_Code_Point beyond these categories (DerivedCoreProperties.txt of Unicode 16), then what is blank
# without being called so: the Ogham space, the empty Braille cell, the place of an object.
_RANGES = (
    (0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x3164, 0x3164), (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0), (0xE0000, 0xE0FFF), (0x1680, 0x1680), (0x2800, 0x2800), (0xFFFC, 0xFFFC),
)  # fmt: skip
_BLANK = frozenset(point for first, last in _RANGES for point in range(first, last + 1))
_TRUE, _FALSE = frozenset({"true", "yes", "1"}), frozenset({"false", "no", "0"})


class FieldRefused(ValueError):
    """A value cannot be taken: why, as a code and as a sentence."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class BoardColumn(NamedTuple):
    """Column of the board that shows a field: heading, its second line, and its name in the search."""

    title: str
    subtitle: str
    term: str


@dataclass(frozen=True)
class MetadataField:
    """One field of a submission. ``title`` names it on pages and in messages; forms use ``label`` where it says more.

    ``group`` is the section of the form that asks for it: the first one is open.
    """

    title: str
    _: KW_ONLY
    label: str = ""
    help: str = ""  # what it means, for the command line, the interface and the documentation
    example: str = ""  # is in the empty field of a form
    group: str = ""
    entry_title: str | None = None  # on the page of an entry: None the title, "" nothing (its heading has it)
    identifying: bool = False  # tells whose an entry is: hidden as long as that is
    required: bool = False
    unstated: str | None = None  # what is kept where nothing is stated
    column: BoardColumn | None = None

    storage: Storage = "text"
    wide: bool = False  # takes a whole line of a form
    lines: int = 1

    @property
    def form_label(self) -> str:
        """Name of the field in forms."""
        return self.label or self.title

    @property
    def choices(self) -> Sequence[tuple[str, str]]:
        """Values and their names, where only these can be chosen."""
        return ()

    def read(self, value: object) -> Any:
        """Return a stated value as it is kept.

        Raises:
            FieldRefused: it cannot be taken.
        """
        raise NotImplementedError

    def text(self, value: Any) -> str:
        """Return a value as people read it."""
        return str(value)

    def cell(self, value: Any) -> str:
        """Return a value as it is in a column whose heading has the unit."""
        return self.text(value)

    def typed(self, value: Any) -> str:
        """Return a value as it would be typed into a form."""
        if isinstance(value, bool):
            return "true" if value else "false"
        return "" if value is None else str(value).removesuffix(".0") if isinstance(value, float) else str(value)

    @property
    def limits(self) -> str:
        """What is taken, in a few words."""
        raise NotImplementedError


def absent(value: object) -> bool:
    """Return whether a form's value says nothing."""
    return value is None or (isinstance(value, str) and not value.strip())


def refuse(code: str, sentence: str) -> NoReturn:
    """Raise FieldRefused: the value cannot be taken."""
    raise FieldRefused(code, sentence)


def invisible(character: str) -> bool:
    """Return whether a character is drawn as nothing, changes the direction of others, or is none (yet)."""
    return ord(character) in _BLANK or unicodedata.category(character) in _INVISIBLE


def bounded_number(value: object, low: float, *, high: float) -> float:
    """Return a number from `low` to `high`, given as one or as text with a decimal point. Raises ValueError for all
    else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("no number")
    try:
        result = float(value)
    except OverflowError:
        raise ValueError("too large") from None
    if not (math.isfinite(result) and low <= result <= high):
        raise ValueError("out of range")
    return result


def clean_text(value: object, limit: int, *, lines: bool = False) -> str:
    """Return normalised text without invisible characters, at most `limit` long. `lines` allows line breaks, tabs."""
    if not isinstance(value, str):
        refuse("not-text", _("expected text."))
    if lines:
        text = unicodedata.normalize("NFC", value.replace("\r\n", "\n")).strip()
    else:
        text = " ".join(filter(None, unicodedata.normalize("NFKC", value).split(" ")))
    if len(text) > limit:
        refuse("too-long", _("{text:,} characters, at most {limit:,} fit.", text=len(text), limit=limit))
    kept = f"\n\t{_EMOJI_STYLE}" if lines else ""
    marks = _MOST_MARKS  # none fits before the first letter
    for place, character in enumerate(text, start=1):
        name = f"U+{ord(character):04X}"
        if character not in kept and invisible(character):
            refuse(
                "control-character",
                _("character {place} ({name}) is invisible or a control. Remove it.", place=place, name=name),
            )
        marks = marks + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        if marks > _MOST_MARKS and character not in kept:
            refuse(
                "too-many-marks",
                _("character {place} ({name}) is a mark without a letter that carries it.", place=place, name=name),
            )
    return text


def yes_no(value: object) -> bool:
    """Return whether a value says yes.

    Raises:
        FieldRefused: it is neither.
    """
    if isinstance(value, bool):
        return value
    text = value.strip().lower() if isinstance(value, str) else ""
    if text not in _TRUE | _FALSE:
        refuse("not-yes-or-no", _("expected true or false."))
    return text in _TRUE


@dataclass(frozen=True)
class Line(MetadataField):
    """Text: of one line, or (``lines``) of several."""

    limit: int = 120
    hub_id: bool = False  # a repository on the Hugging Face Hub

    def read(self, value: object) -> str:
        text = clean_text(value, self.limit, lines=self.lines > 1)
        if self.hub_id and not _HUB_ID.fullmatch(text):
            refuse("not-a-hub-id", _("expected owner/name as on the Hugging Face Hub."))
        return text

    @property
    def limits(self) -> str:
        return "owner/name" if self.hub_id else _("text, at most {limit:,} characters", limit=self.limit)


@dataclass(frozen=True)
class Link(Line):
    """An address on the web."""

    limit: int = 300

    def read(self, value: object) -> str:
        text = clean_text(value, self.limit)
        try:
            parts = urlsplit(text)
            host, _ = parts.hostname, parts.port  # .port raises on rubbish
        except ValueError:
            host, parts = None, urlsplit("")
        unfit = parts.username is not None or re.search(r"[\s\\<>\"]", text)
        if parts.scheme not in ("http", "https") or not host or unfit:
            refuse("not-a-link", "expected a web address such as https://example.org/page.")
        return text

    @property
    def limits(self) -> str:
        return _("a web address")


@dataclass(frozen=True)
class Choice(MetadataField):
    """One of a few words."""

    options: tuple[str, ...] = ()

    @property
    def choices(self) -> Sequence[tuple[str, str]]:
        return [(name, name.replace("generative-", "generative, ").replace("-", " ")) for name in self.options]

    def read(self, value: object) -> str:
        text = clean_text(value, 60)
        if text not in self.options:
            refuse("not-a-choice", _("choose one of {options}.", options=", ".join(self.options)))
        return text

    @property
    def limits(self) -> str:
        return ", ".join(self.options)


@dataclass(frozen=True)
class YesNo(MetadataField):
    """Yes or no, in words of its own where it is shown."""

    storage: Storage = "flag"
    words: tuple[str, str] = ("yes", "no")

    @property
    def choices(self) -> Sequence[tuple[str, str]]:
        return (("true", "yes"), ("false", "no"))

    def read(self, value: object) -> bool:
        return yes_no(value)

    def text(self, value: Any) -> str:
        return self.words[0] if value else self.words[1]

    @property
    def limits(self) -> str:
        return _("true or false")


@dataclass(frozen=True)
class Number(MetadataField):
    """A number from ``low`` to ``high``, both included. ``large``: it is written with commas, at most two decimals."""

    storage: Storage = "number"
    low: float = 0
    high: float = 0
    large: bool = False
    unit: str = ""  # the number with its unit, as "{number} seconds"

    def read(self, value: object) -> float:
        try:
            return bounded_number(value, self.low, high=self.high)
        except ValueError:
            refuse(
                "not-in-range",
                _("expected {limits}, for instance {example}.", limits=self.limits, example=self.example),
            )

    def text(self, value: Any) -> str:
        number = self.cell(value)
        return _(self.unit, number=number) if self.unit else number

    def cell(self, value: Any) -> str:
        return decimal_text(value) if self.large else f"{value:g}"

    @property
    def limits(self) -> str:
        if self.large:
            return _("a number from {low:,.0f} to {high:,.0f}", low=self.low, high=self.high)
        low = f"{self.low:f}".rstrip("0").rstrip(".")
        return _("a number from {low} to {high}", low=low, high=decimal_text(self.high))


@dataclass(frozen=True)
class Whole(Number):
    """A whole number; commas and spaces between digits are not taken."""

    storage: Storage = "whole"
    large: bool = True

    def read(self, value: object) -> int:
        result = super().read(value)
        if result != int(result):
            refuse("not-whole", _("expected a whole number, for instance {example}.", example=self.example))
        return int(result)

    @property
    def limits(self) -> str:
        return _("a whole number from {low:,.0f} to {high:,.0f}", low=self.low, high=self.high)


def decimal_text(value: float) -> str:
    """Return a number with commas and at most two decimals, halves rounded up: `Intl.NumberFormat` does the same."""
    rounded = Decimal(repr(value)).quantize(Decimal("0.01"), ROUND_HALF_UP)
    return f"{rounded:,f}".rstrip("0").rstrip(".")
