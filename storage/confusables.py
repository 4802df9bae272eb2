"""Names that people would take for one another, by the skeletons of Unicode Technical Standard #39, folded further.

UTS #39, section 4: skeleton(X) = NFD of NFD(X) without invisible characters and with every other one replaced by what
it looks like; two names are confusable if their skeletons are equal. The table is Unicode's own, cut down
(data/confusables.txt). It tells capitals and separators apart, and i from 1, as people do not. So case is folded; i, l
and 1 are one letter, o and 0 another; signs at either end are nothing (but a plus); and a separator counts between
two digits alone: `Qwen2-VL-7B` is `qwen2_vl 7b`, but 1.5 is neither 15 nor 1-5.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from storage import reported_results
from storage.models.core import Submission
from storage.models.moderation import Moderation
from storage.visibility import anonymous_ids, pending_approval_ids, unpublished
from vlrb.common.invisible_characters import invisible
from vlrb.judges import judge_name, judge_slug

_TABLE = Path(__file__).with_name("data") / "confusables.txt"
FIELDS = ("model", "organisation", "judge")
"""Names on the board."""
REPORTED = {"model": "name", "organisation": "organisation", "judge": "judge_name"}
"""Column of a reported result for each of these fields."""
_ONE_LETTER = str.maketrans({"i": "l", "1": "l", "|": "l", "0": "o"})
_SEPARATORS = frozenset({"Pd", "Pc", "Zs"})  # categories
_LIKE_DIGITS = frozenset("iIlLoO|")
_POINTS = frozenset(".,\u00b7\u2022")
_MORE_SEPARATORS = frozenset(".,:;/\\'\"`\u00b7\u2022\u2019")
_LOCK = 0x4E414D45  # any number but that of the migrations, the same in every process


@lru_cache(maxsize=1 << 16)
def skeleton(name: str) -> str:
    """Return what a name (NFKC) looks like; equal for names that look alike."""
    seen = "".join(character for character in unicodedata.normalize("NFD", name) if not invisible(character))
    separated = _without_separators(_without_ends(seen))
    looks = _skeletons()
    # Twice: a capital may look like another one, whose small letter looks like a third.
    folded = separated.translate(looks).casefold().translate(looks).casefold()
    return unicodedata.normalize("NFD", folded.translate(_ONE_LETTER))


def _without_ends(name: str) -> str:
    """Cut signs off at both ends; a name of nothing else stays."""
    first, last = 0, len(name)
    while first < last and _is_sign(name[first]):
        first += 1
    while first < last and _is_sign(name[last - 1]):
        last -= 1
    return name[first:last] or name


def _without_separators(name: str) -> str:
    """Leave a point or a dash between two digits, and no other separator."""
    result, before, between = "", "", ""
    for separates, signs in groupby(name, _is_separator):
        part = "".join(signs)
        if separates:
            between = "." if _POINTS.intersection(part) else "-"
            continue
        digits = before and _is_digit(before[-1], before[-2:-1]) and _is_digit(part[0], part[1:2])
        result += between + part if digits else part
        before = part
    return result or name


def _is_digit(character: str, beside: str) -> bool:
    """Return whether a character is a digit, or may pass for one because it is alone or beside one."""
    return character.isdigit() or (character in _LIKE_DIGITS and (not beside or beside.isdigit()))


@lru_cache(maxsize=1 << 12)
def _is_separator(character: str) -> bool:
    looks = _skeletons().get(ord(character), character)
    return all(character in _MORE_SEPARATORS or unicodedata.category(character) in _SEPARATORS for character in looks)


@lru_cache(maxsize=1 << 12)
def _is_sign(character: str) -> bool:
    looks = _skeletons().get(ord(character), character)
    return character != "+" and all(unicodedata.category(letter)[0] in "PZS" for letter in looks)


def lock_names(session: Session) -> None:
    """Lock names until the end of the transaction. Before the audit chain, whose lock comes last.

    On SQLite the write transaction sees to that. On PostgreSQL two who take names at the same instant would not see
    one another's, and there is no row to lock for a name that nobody has yet.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})


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
    if any(same(other) == same(name) for other, _ in alike):
        return None  # it is there already
    return min((other for other, whose in alike if whose != owner), default=None)


def _public(session: Session, benchmark: str, *, field: str) -> list[tuple[str, str]]:
    """Return names that the public can see, each with its owner."""
    column = _column(field)
    hidden = select(Moderation.submission_id).where(Moderation.hidden_at.is_not(None))
    unseen = [unpublished(), pending_approval_ids(), hidden, *([anonymous_ids()] if field != "model" else [])]
    rows = session.execute(
        select(column, Submission.owner)
        .where(Submission.benchmark == benchmark, column.is_not(None))
        .where(*(Submission.id.not_in(names) for names in unseen))
        .distinct()
    )
    return [(name, owner) for name, owner in rows]


def _column(field: str) -> Any:
    if field not in FIELDS:
        raise ValueError(field)
    return getattr(Submission, field)


def _reported(session: Session, benchmark: str, *, field: str, shipped: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the names of reported results, as a submission would write them."""
    rows = reported_results.list_active(session, benchmark, shipped=shipped)
    return {_same_spelling(name) for row in rows if (name := row.get(REPORTED[field]))}


def _same_spelling(name: str) -> str:
    """Return a reported name, which nobody has normalised."""
    return " ".join(unicodedata.normalize("NFKC", name).split())


@cache
def _skeletons() -> Mapping[int, str]:
    """Code point -> what it looks like."""
    lines = (line.split() for line in _TABLE.read_text("ascii").splitlines() if not line.startswith("#"))
    return {int(source, 16): "".join(chr(int(code, 16)) for code in target) for source, *target in lines}
