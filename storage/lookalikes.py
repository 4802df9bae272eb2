"""Names that people would take for one another, by the skeletons of Unicode Technical Standard #39.

skeleton(X) = NFD of NFD(X) without invisible characters and with every other one replaced by what it looks like; two
names are confusable if their skeletons are equal (UTS #39, section 4). The table is Unicode's own, cut down
(scripts/confusables.py).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from storage import reported
from storage.invisible import invisible
from storage.maintenance_tables import Moderation
from storage.tables import Submission
from storage.visibility import held, unnamed, unpublished

_TABLE = Path(__file__).with_name("data") / "confusables.txt"
FIELDS = ("model", "organisation")
"""Names that stand on the board."""
REPORTED = {"model": "name", "organisation": "organisation"}
"""What a reported result has instead."""
_LOCK = 0x4E414D45  # any number but that of the migrations, the same in every process


class Named(NamedTuple):
    """An entry and one of its names."""

    entry: str
    name: str


@lru_cache(maxsize=1 << 16)
def skeleton(name: str) -> str:
    """What a name (NFKC) looks like; equal for names that look alike."""
    seen = "".join(one for one in unicodedata.normalize("NFD", name) if not invisible(one))
    return unicodedata.normalize("NFD", seen.translate(_looks()))


def line_up(session: Session) -> None:
    """From here to the end of the transaction nobody else takes a name. Before the audit chain, whose lock comes last.

    On SQLite the write transaction sees to that. On PostgreSQL two who take names at the same instant would not see
    one another's, and there is no row to lock for a name that nobody has yet.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})


def taken(
    session: Session, benchmark: str, owner: str, field: str, name: str, shipped: Iterable[Mapping[str, Any]] = ()
) -> str | None:
    """Somebody else's name that looks like this one and is written otherwise; None where there is none.

    The same spelling is no imitation: many people may submit the same model. Whoever took it that way may not change
    it into what looks like it: of names that look alike, an owner's own count for nothing. Names that the public cannot
    see do not count, because the answer would tell them. `field` is one of FIELDS. `shipped`: the reported results that
    come with the project; the imported ones count too.
    """
    column = _column(field)
    hidden = select(Moderation.submission_id).where(Moderation.hidden_at.is_not(None))
    unseen = [unpublished(), held(), hidden, *([unnamed()] if field != "model" else [])]
    rows = session.execute(
        select(column, Submission.owner)
        .where(Submission.benchmark == benchmark, column.is_not(None))
        .where(*(Submission.id.not_in(names) for names in unseen))
        .distinct()
    ).all()
    of_nobody = [(other, None) for other in _reported(session, benchmark, field, shipped)]
    wanted = skeleton(name)
    alike = [(other, whose) for other, whose in [*rows, *of_nobody] if skeleton(other) == wanted]
    if any(other == name for other, _ in alike):
        return None  # it is there already
    return min((other for other, whose in alike if whose != owner), default=None)


def entries_like(session: Session, benchmark: str, field: str, names: Collection[str]) -> dict[str, list[Named]]:
    """Name -> entries that are called what looks like it and is written otherwise; names without any are left out.

    For maintainers: entries that the public cannot see are among them.
    """
    column = _column(field)
    rows = session.execute(
        select(Submission.id, column)
        .where(Submission.benchmark == benchmark, column.is_not(None))
        .order_by(Submission.created_at, Submission.id)
    )
    looks: dict[str, list[Named]] = {}
    for entry, called in rows:
        looks.setdefault(skeleton(called), []).append(Named(entry, called))
    found = {
        name: [one for one in looks.get(skeleton(_written(name)), ()) if one.name != _written(name)] for name in names
    }
    return {name: alike for name, alike in found.items() if alike}


def _column(field: str) -> Any:
    if field not in FIELDS:
        raise ValueError(field)
    return getattr(Submission, field)


def _reported(session: Session, benchmark: str, field: str, shipped: Iterable[Mapping[str, Any]]) -> set[str]:
    """The names of reported results, as a submission would write them."""
    rows = [*shipped, *reported.shown(session, benchmark)]
    return {_written(name) for row in rows if (name := row.get(REPORTED[field]))}


def _written(name: str) -> str:
    """A reported name, which nobody has normalised."""
    return " ".join(unicodedata.normalize("NFKC", name).split())


@cache
def _looks() -> Mapping[int, str]:
    """Code point -> what it looks like."""
    lines = (line.split() for line in _TABLE.read_text("ascii").splitlines() if not line.startswith("#"))
    return {int(source, 16): "".join(chr(int(one, 16)) for one in target) for source, *target in lines}
