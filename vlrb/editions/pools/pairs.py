"""Preference pairs of a pool, and how rows of other data sets become such pairs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vlrb.benchmarks.items import fingerprint, presentation_order, response_fingerprint
from vlrb.common.json_files import MAYBE_TEXT, Shape, check_shape
from vlrb.common.messages import _
from vlrb.editions.errors import CurateError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_IMAGE_HASH = re.compile(r"(?:[0-9a-f]{16})?")
_POOL_LINE: Shape = {
    "id": str, "source": str, "licence": str, "query": str, "response": [str], "preferred?": (int, type(None)),
    "image": str, "image_sha256": str, "image_hash": str, "category": str, "answer?": MAYBE_TEXT,
    "tags?": [str], "votes?": {"wrong": int, "runs": int},
}  # fmt: skip
LONGEST_TEXT = 64 * 1024
FIELDS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "ID", "idx"),
    "query": ("query", "question", "prompt"),
    "response": ("response", "responses"),
    "chosen": ("chosen",),
    "rejected": ("rejected",),
    "preferred": ("preferred", "human_ranking", "ranking"),
    "image": ("image", "image_path", "Image"),
    "category": ("category",),
    "answer": ("answer",),
}
"""What a pair needs -> the columns that are looked for, in this order; `--field` names others."""
DROPPED = ("<image>",)
"""Literals that data sets write into questions for the image; they are no part of a question's text."""


@dataclass(frozen=True, slots=True)
class PoolPair:
    """A pair of a pool. Responses stand in the order of their fingerprints, which tells nothing about the preference.

    ``preferred``: 0, 1, or None where nobody has said yet.
    """

    id: str
    source: str
    licence: str
    query: str
    responses: tuple[str, str]
    preferred: int | None
    image: str
    image_sha256: str
    image_hash: str
    category: str
    answer: str | None = None

    @property
    def fingerprint(self) -> str:
        """Return the fingerprint of the texts, as in the manifests of editions."""
        return fingerprint(self.query, self.responses, dropped=DROPPED)

    @property
    def words(self) -> tuple[int, int]:
        """Return the numbers of words of the responses."""
        return len(self.responses[0].split()), len(self.responses[1].split())

    def to_json(self) -> dict[str, Any]:
        """Return the line of `pairs.jsonl`; `judge run --items` reads it, too."""
        line = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "responses"}
        line = {name: value for name, value in line.items() if value is not None}
        return {**line, "response": list(self.responses), "item": self.fingerprint}

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> PoolPair:
        """Return the pair of a line of `pairs.jsonl`. Raises JsonFileFault or ValueError for any other line."""
        _check_line(line)
        first, second = line["response"]
        known = {name: line[name] for name in cls.__dataclass_fields__ if name in line}
        return cls(responses=(first, second), **({"preferred": None} | known))


def _check_line(line: Mapping[str, Any]) -> None:
    check_shape(line, _POOL_LINE)
    if line.get("preferred") not in (None, 0, 1):
        raise ValueError(_("`preferred` must be 0 or 1"))
    if not _IMAGE_HASH.fullmatch(line["image_hash"]):
        raise ValueError(_("`image_hash` must be 16 hexadecimal digits"))


@dataclass(frozen=True, slots=True)
class ImportSettings:
    """What an import says about all of its rows. ``columns``: names of columns that replace the usual ones."""

    source: str
    licence: str
    category: str
    columns: Mapping[str, str]

    def value(self, row: Mapping[str, Any], field: str) -> Any:
        """Return the value of a field of FIELDS in a row; None where it has none."""
        names = (self.columns[field],) if field in self.columns else FIELDS[field]
        return next((row[name] for name in names if row.get(name) is not None), None)


def check_name(value: str, option: str) -> str:
    """Return a name that may stand in ids and paths. Raises CurateError for any other text."""
    if not _NAME.fullmatch(value):
        raise CurateError(
            _("{option} {value!r}: use letters, digits, dots and dashes, at most 64.", option=option, value=value[:80])
        )
    return value


def read_pair(row: Mapping[str, Any], settings: ImportSettings, *, number: int) -> PoolPair:
    """Return the pair of a row, without its image yet.

    Raises:
        CurateError: a field is missing or wrong; the message names it and the remedy.
    """
    query = _text(settings.value(row, "query"), "query")
    responses, preferred = _responses(row, settings)
    order = presentation_order((response_fingerprint(responses[0]), response_fingerprint(responses[1])))
    pair = PoolPair(
        id=_id(settings.value(row, "id"), settings.source, number=number),
        source=settings.source,
        licence=settings.licence,
        query=query,
        responses=(responses[order[0]], responses[order[1]]),
        preferred=None if preferred is None else order.index(preferred),
        image="",
        image_sha256="",
        image_hash="",
        category=_category(settings.value(row, "category"), settings.category),
        answer=_optional(settings.value(row, "answer")),
    )
    if response_fingerprint(responses[0]) == response_fingerprint(responses[1]):
        raise CurateError(_("both responses are the same text; remove the row"))
    return pair


def _responses(row: Mapping[str, Any], settings: ImportSettings) -> tuple[tuple[str, str], int | None]:
    both = settings.value(row, "response")
    if both is None:
        chosen, rejected = settings.value(row, "chosen"), settings.value(row, "rejected")
        if chosen is None or rejected is None:
            raise CurateError(
                _("`response` (two texts) is missing, and `chosen` with `rejected`; name columns with --field")
            )
        return (_text(chosen, "chosen"), _text(rejected, "rejected")), 0
    if not isinstance(both, list | tuple) or len(both) != 2:
        raise CurateError(_("`response` must be a list of two texts"))
    return (_text(both[0], "response"), _text(both[1], "response")), _preferred(settings.value(row, "preferred"))


def _preferred(value: Any) -> int | None:
    """Return the index of the preferred response: of an index, or of a ranking in which 0 is the better place."""
    if value is None:
        return None
    if type(value) is int and value in (0, 1):
        return value
    if isinstance(value, list | tuple) and sorted(value) == [0, 1]:
        return list(value).index(0)
    raise CurateError(_("`preferred` must be 0 or 1, the index of the better response, or a ranking [0, 1] or [1, 0]"))


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise CurateError(_("`{name}` must be a text; name another column with --field {name}=COLUMN", name=name))
    if len(value) > LONGEST_TEXT:
        raise CurateError(
            _(
                "`{name}` has {length:,} characters; at most {most:,} are read, cut it",
                name=name,
                length=len(value),
                most=LONGEST_TEXT,
            )
        )
    try:
        value.encode()
    except UnicodeEncodeError:
        raise CurateError(
            _("`{name}` holds half a character (a lone surrogate); write it anew as UTF-8", name=name)
        ) from None
    return value


def _optional(value: Any) -> str | None:
    return None if value is None else _text(str(value), "answer")


def _id(value: Any, source: str, *, number: int) -> str:
    name = str(number) if value is None else str(value)
    if not name or len(name) > 200 or not name.isprintable():
        raise CurateError(
            _("`id` must be a printable text of at most 200 characters; name another with --field id=COLUMN")
        )
    return name if name.startswith(source) else f"{source}-{name}"


def _category(value: Any, usual: str) -> str:
    return check_name(value if isinstance(value, str) else usual, "category")
