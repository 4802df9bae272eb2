"""Metadata of a judge, validated and cleaned. Plain text for every renderer; imports nothing heavy."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import NamedTuple, NoReturn
from urllib.parse import urlsplit

from benchmark.judges import TYPES
from common.invisible_characters import invisible
from common.parsing import bounded_number

JUDGE_TYPES = tuple(TYPES)

_EMOJI_STYLE = "\ufe0e\ufe0f"  # invisible, but in a note a part of what people type
_MOST_MARKS = 4  # on one letter; written languages have at most three after normalisation
_HUB_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
_TRUE, _FALSE = frozenset({"true", "yes", "1"}), frozenset({"false", "no", "0"})


class FieldProblem(NamedTuple):
    """Why one field cannot be taken."""

    field: str
    code: str
    message: str

    def to_json(self) -> dict[str, str | None]:
        """Return the same shape as a problem in a file."""
        return {"line": None, "id": None, "field": self.field, "code": self.code, "message": self.message}


class MetadataRejected(ValueError):
    """Fields of the form cannot be taken."""

    def __init__(self, problems: tuple[FieldProblem, ...]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Metadata:
    """A judge's description. All but `model` may be absent; an absent version is the empty one."""

    model: str
    version: str = ""
    organisation: str | None = None
    judge_type: str | None = None
    base_model: str | None = None
    parameters_b: float | None = None  # billions of parameters
    open_weights: bool | None = None
    link: str | None = None
    paper: str | None = None
    code: str | None = None
    hub_id: str | None = None
    temperature: float | None = None
    prompt: str | None = None
    notes: str | None = None
    judge: str | None = None  # its name, where that of the model says more or less

    @classmethod
    def parse(cls, raw: Mapping[str, object]) -> Metadata:
        """Check every field; empty strings and None are absent, unknown names are refused.

        Raises:
            MetadataRejected: with every problem, each naming its field.
        """
        problems = [FieldProblem(name, "unknown-field", _unknown(name)) for name in raw if name not in _READERS]
        if _absent(raw.get("model")):
            problems.append(FieldProblem("model", "required", "model: say which judge made these predictions."))
        values: dict[str, object] = {}
        for name, reader in _READERS.items():
            value = raw.get(name)
            if _absent(value):
                continue
            try:
                values[name] = reader(name, value)
            except _Refused as refused:
                problems.append(refused.problem)
        if problems:
            raise MetadataRejected(tuple(problems))
        return cls(**values)  # type: ignore[arg-type]  # _READERS gives each field its type

    def columns(self) -> dict[str, object]:
        """Field name -> value, for a row."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


class _Refused(Exception):
    def __init__(self, problem: FieldProblem) -> None:
        self.problem = problem


def _refuse(field: str, code: str, sentence: str) -> NoReturn:
    raise _Refused(FieldProblem(field, code, f"{field}: {sentence}"))


def _absent(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _unknown(name: str) -> str:
    return f"{name[:40]!r} is no field of a submission; the fields are {', '.join(_READERS)}."


def clean_text(field: str, value: object, limit: int, *, lines: bool = False) -> str:
    """Normalised text without invisible characters, at most `limit` long. `lines` allows line breaks and tabs."""
    if not isinstance(value, str):
        _refuse(field, "not-text", "expected text.")
    if lines:
        text = unicodedata.normalize("NFC", value.replace("\r\n", "\n")).strip()
    else:
        text = " ".join(filter(None, unicodedata.normalize("NFKC", value).split(" ")))
    if len(text) > limit:
        _refuse(field, "too-long", f"{len(text):,} characters, at most {limit:,} fit.")
    kept = f"\n\t{_EMOJI_STYLE}" if lines else ""
    marks = _MOST_MARKS  # none fits before the first letter
    for place, character in enumerate(text, start=1):
        name = f"U+{ord(character):04X}"
        if character not in kept and invisible(character):
            _refuse(field, "control-character", f"character {place} ({name}) is invisible or a control. Remove it.")
        marks = marks + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        if marks > _MOST_MARKS and character not in kept:
            _refuse(field, "too-many-marks", f"character {place} ({name}) is a mark with no letter to stand on.")
    return text


def _line(limit: int) -> Callable[[str, object], str]:
    return lambda field, value: clean_text(field, value, limit)


def _block(limit: int) -> Callable[[str, object], str]:
    return lambda field, value: clean_text(field, value, limit, lines=True)


def _judge_type(field: str, value: object) -> str:
    text = clean_text(field, value, 60)
    if text not in JUDGE_TYPES:
        _refuse(field, "not-a-choice", f"choose one of {', '.join(JUDGE_TYPES)}.")
    return text


def _within(low: float, high: float, example: str) -> Callable[[str, object], float]:
    def read(field: str, value: object) -> float:
        try:
            return bounded_number(value, low, high)
        except ValueError:
            _refuse(field, "not-in-range", f"expected a number from {low:g} to {high:g}, for instance {example}.")

    return read


def _yes_no(field: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    text = value.strip().lower() if isinstance(value, str) else ""
    if text not in _TRUE | _FALSE:
        _refuse(field, "not-yes-or-no", "expected true or false.")
    return text in _TRUE


def yes_or_no(field: str, value: object, *, default: bool) -> bool:
    """Return an answer from a form; nothing is the default.

    Raises:
        MetadataRejected: it is neither.
    """
    try:
        return default if _absent(value) else _yes_no(field, value)
    except _Refused as refused:
        raise MetadataRejected((refused.problem,)) from None


def _link(field: str, value: object) -> str:
    text = clean_text(field, value, 300)
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port  # .port raises on rubbish
    except ValueError:
        host, parts = None, urlsplit("")
    if (
        parts.scheme not in ("http", "https")
        or not host
        or parts.username is not None
        or re.search(r"[\s\\<>\"]", text)
    ):
        _refuse(field, "not-a-link", "expected a web address such as https://example.org/page.")
    return text


def _hub_id(field: str, value: object) -> str:
    text = clean_text(field, value, 200)
    if not _HUB_ID.fullmatch(text):
        _refuse(field, "not-a-hub-id", "expected owner/name as on the Hugging Face Hub.")
    return text


_READERS: Mapping[str, Callable[[str, object], object]] = {
    "model": _line(120),
    "version": _line(60),
    "organisation": _line(120),
    "judge_type": _judge_type,
    "base_model": _line(120),
    "parameters_b": _within(1e-6, 1e6, "7"),
    "open_weights": _yes_no,
    "link": _link,
    "paper": _link,
    "code": _link,
    "hub_id": _hub_id,
    "temperature": _within(0, 100, "0.7"),
    "prompt": _block(20_000),
    "notes": _block(4_000),
    "judge": _line(120),
}
FIELDS = tuple(_READERS)
