"""Names that people would take for one another.

Two names are confusable if their skeletons are equal. Case, kinds of separators, signs (but a plus) and what is drawn
as nothing do not count; i, l and 1 are one letter, o and 0 another; letters of Cyrillic and Greek that look like Latin
ones are these (rarer alphabets are not looked at). A separator counts between two digits alone: `Qwen2-VL-7B` is
`qwen2_vl 7b`, but 1.5 is not 15.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from common.refused import FieldProblem, Refused
from storage import reported_results
from storage.metadata_fields import invisible
from storage.models.core import Submission
from storage.visibility import OUT_OF_SIGHT
from vlrb.common.messages import _
from vlrb.judges import judge_name, judge_slug

FIELDS = ("model", "organisation", "judge")
"""Names on the board."""
REPORTED = {"model": "name", "organisation": "organisation", "judge": "judge_name"}
"""Column of a reported result for each of these fields."""
_CYRILLIC = (
    "\u0430\u0432\u0435\u0437\u043a\u043c\u043d\u043e\u0440\u0441"
    "\u0442\u0443\u0445\u0455\u0456\u0458\u04bb\u0501\u051b\u051d"
)
_GREEK = "\u03b1\u03b2\u03b5\u03b6\u03b7\u03b9\u03ba\u03bc\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7"
_LATIN = str.maketrans(f"{_CYRILLIC}{_GREEK}\u0131", "abe3kmhopctyxsijhdqwabezhikmnoptyxi")
_ONE_LETTER = str.maketrans({"i": "l", "1": "l", "0": "o"})
_LOCK = 0x4E414D45  # any number but that of storage/database.py, the same in every process


class ConfusableName(Refused):
    """A name is confusable with another owner's."""

    status, code = 409, "too-similar"

    def __init__(self, field: str, name: str, *, other: str) -> None:
        message = _(
            "{field}: {name} is too similar to {other}, which is somebody else's. Write it as they do if you mean "
            "the same, or choose a name that cannot be confused with it.",
            field=field,
            name=name,
            other=other,
        )
        super().__init__(message, problems=[FieldProblem(field, self.code, message=message).to_json()])
        self.field, self.other = field, other


@lru_cache(maxsize=1 << 16)
def skeleton(name: str) -> str:
    """Return what a name (NFKC) looks like; equal for names that look alike."""
    seen = (character for character in unicodedata.normalize("NFD", name) if not invisible(character))
    first, *others = "".join(character if _counts(character) else " " for character in seen).split() or [name]
    for word in others:
        first += f"-{word}" if first[-1].isdigit() and word[0].isdigit() else word
    return first.casefold().translate(_LATIN).replace("rn", "m").translate(_ONE_LETTER)


def _counts(character: str) -> bool:
    """Return whether a character is a letter, a digit, a mark on one, or a plus."""
    return character.isalnum() or character == "+" or unicodedata.category(character)[0] == "M"


def lock_names(session: Session) -> None:
    """Lock names until the end of the transaction. Before the audit chain, whose lock comes last.

    On SQLite the write transaction sees to that. On PostgreSQL two who take names at the same instant would not see
    one another's, and there is no row to lock for a name that nobody has yet.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})


def require_own_names(
    session: Session,
    benchmark: str,
    *,
    owner: str,
    described: Mapping[str, Any],
    kinds: Collection[str] = FIELDS,
    shipped: Iterable[Mapping[str, Any]],
) -> None:
    """Raise ConfusableName where a name in a description looks like one that is somebody else's.

    `kinds`: of FIELDS, which are looked at. The judge that is not stated is the model's: GPT4o would stand beside a
    judge GPT-4o. `shipped`: the reported results that come with the project.
    """
    for field in (field for field in FIELDS if field in kinds):
        stated = described[field]
        name = stated or (judge_name(described["model"]) if field == "judge" else "")
        other = name and find_confusable(session, benchmark, owner=owner, field=field, name=name, shipped=shipped)
        if other:
            raise ConfusableName(field if stated else "model", name, other=other)


def find_confusable(
    session: Session, benchmark: str, *, owner: str, field: str, name: str, shipped: Iterable[Mapping[str, Any]] = ()
) -> str | None:
    """Return another owner's name that is confusable with this one and spelled differently, or None.

    Identical spelling is allowed: many people may submit the same model. A confusable variant is refused unless every
    existing variant belongs to the same owner. Names that the public cannot see do not count, because the answer would
    tell them. `field` is one of FIELDS; the name of a judge is the same if its slug is, and every model is one of a
    judge. `shipped`: the reported results that come with the project; the imported ones count too.
    """
    rows: list[tuple[str, str | None]] = list(_public(session, benchmark, field=field))
    if field == "judge":
        rows += [(judge_name(model), whose) for model, whose in _public(session, benchmark, field="model")]
    rows += [(other, None) for other in _reported(session, benchmark, field=field, shipped=shipped)]
    wanted = skeleton(name)
    alike = [(other, whose) for other, whose in rows if skeleton(other) == wanted]
    same = judge_slug if field == "judge" else str
    if any(same(other) == same(name) for other, _whose in alike):
        return None  # it is there already
    return min((other for other, whose in alike if whose != owner), default=None)


def _public(session: Session, benchmark: str, *, field: str) -> list[tuple[str, str]]:
    """Return names that the public can see, each with its owner."""
    column = getattr(Submission, field)
    named = [Submission.anonymous_until.is_(None)] if field != "model" else []
    rows = session.execute(
        select(column, Submission.owner)
        .where(Submission.benchmark == benchmark, column.is_not(None))
        .where(~OUT_OF_SIGHT, *named)
        .distinct()
    )
    return [(name, owner) for name, owner in rows]


def _reported(session: Session, benchmark: str, *, field: str, shipped: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the names of reported results, which nobody has normalised, as a submission would write them."""
    rows = reported_results.list_active(session, benchmark, shipped=shipped)
    names = (name for row in rows if (name := row.get(REPORTED[field])))
    return {" ".join(unicodedata.normalize("NFKC", name).split()) for name in names}
