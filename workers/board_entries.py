"""Scored entries of a board with what a snapshot says of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import Row, Text, cast, or_, select
from sqlalchemy.orm import Session

from storage.clock import iso
from storage.labels.label_sets import ActiveBoard
from storage.metadata import NAMES
from storage.models.core import Score, Submission
from vlrb.file_remarks import KEPT, board_remark
from vlrb.statistics.variants import Variant
from workers.moderation_state import ModerationState

_OF_FILE = ("format", "revision", "votes_per_item", "parse_rate", "first_shown_rate", "self_consistency")
_NAMES = ("id", *NAMES, "created_at", *_OF_FILE)
_FACTS = tuple(getattr(Submission, name) for name in _NAMES)
_REPORT = cast(Submission.report, Text)
_Tallies = dict[str, orjson.Fragment]  # by label revision, still as the stored text: passed on, not understood


@dataclass(frozen=True, slots=True)
class ScoredEntry:
    """An entry with a score under the board's labels. ``revisions``: those under which its numbers are shown.
    ``json``: what the public sees of it; empty where it is off the board.
    ``compared``: whether it is compared with others: none off the board, and of votes that need no judge only what a
    maintainer has verified."""

    off_board: bool
    created_at: float
    variant: Variant
    revisions: frozenset[str]
    json: bytes
    unpublished: bool
    compared: bool

    @property
    def id(self) -> str:
        """Return its public address."""
        return self.variant.id

    @property
    def order(self) -> tuple[bool, float, str]:
        """Return its place: those that the public sees come first, then by age."""
        return self.off_board, self.created_at, self.id


def read_entries(
    session: Session, pointer: ActiveBoard, *, revisions: Sequence[str], decided: ModerationState
) -> list[ScoredEntry]:
    """Return the scored entries of a board in their order. ``revisions``: those that are known; ``decided``: by
    maintainers."""
    rows = session.execute(select(*_FACTS, Submission.owner).where(Submission.benchmark == pointer.benchmark)).all()
    remarks, tallies = _remarks(session, pointer.benchmark), _tallies(session, pointer, revisions=revisions)
    scored = [row for row in rows if pointer.label_revision in tallies.get(row.id, ())]
    attempts = _attempts(session, scored, decided=decided)
    entries = [
        _scored_entry(row, tallies[row.id], facts=attempts.get(row.id, {}) | remarks.get(row.id, {}), decided=decided)
        for row in scored
    ]
    return sorted(entries, key=lambda entry: entry.order)


def _scored_entry(
    row: Row[*tuple[Any, ...]], tallies: _Tallies, *, facts: dict[str, Any], decided: ModerationState
) -> ScoredEntry:
    off_board = row.id in decided.off
    return ScoredEntry(
        off_board,
        row.created_at,
        variant=Variant(
            row.id,
            row.owner,
            model=row.model,
            organisation=row.organisation or "",
            base_model=row.base_model or "",
            named=row.id not in decided.anonymous,
        ),
        revisions=frozenset(tallies),
        json=b"" if off_board else _json(row, tallies, attempt=facts, decided=decided),
        unpublished=row.id in decided.unpublished,
        compared=not off_board
        and (not board_remark(facts.get("remarks", ())) or decided.of(row.id)["verified_at"] is not None),
    )


def _json(row: Row[*tuple[Any, ...]], tallies: _Tallies, *, attempt: dict[str, Any], decided: ModerationState) -> bytes:
    # Without the owner: it distinguishes judges and is private.
    facts: dict[str, Any] = dict(zip(_NAMES, row, strict=False))
    facts["submitted_at"] = iso(facts.pop("created_at"))
    facts["tallies"] = tallies
    return orjson.dumps(decided.public(facts | attempt) | decided.of(row.id))


def _remarks(session: Session, benchmark: str) -> dict[str, dict[str, list[str]]]:
    """Return submission -> ``remarks``: the warnings of its check that its entry keeps; nothing of those without."""
    some = or_(*(_REPORT.contains(f'"{code}"') for code in KEPT))
    rows = session.execute(select(Submission.id, Submission.report).where(Submission.benchmark == benchmark, some))
    codes = {name: [warning["code"] for warning in report.get("warnings", ())] for name, report in rows}
    kept = {name: [code for code in KEPT if code in codes_of_entry] for name, codes_of_entry in codes.items()}
    return {name: {"remarks": remarks} for name, remarks in kept.items() if remarks}


def _tallies(session: Session, pointer: ActiveBoard, *, revisions: Sequence[str]) -> dict[str, _Tallies]:
    """Submission -> label revision -> tally."""
    rows = session.execute(
        select(Score.submission_id, Score.label_revision, Score.tally)
        .where(
            Score.benchmark == pointer.benchmark,
            Score.scorer_version == pointer.scorer_version,
            Score.label_revision.in_(revisions),
        )
        .order_by(Score.label_revision)
    )
    result: dict[str, _Tallies] = {}
    for submission_id, revision, text in rows:
        result.setdefault(submission_id, {})[revision] = orjson.Fragment(text)
    return result


def _attempts(
    session: Session, scored: Sequence[Row[*tuple[Any, ...]]], *, decided: ModerationState
) -> dict[str, dict[str, Any]]:
    """Return which attempt of its account each entry is at the labels of that time, of how many: the best of many is
    better by chance alone.

    The numbers of the receipts. Attempts that are unpublished or were taken off the board since count too. "Of how
    many" is the number of the last one that is named: a total that grew when an anonymous entry came would tell whose.
    """
    owners = {row.id: row.owner for row in scored}
    made = select(Submission.id, Submission.attempt_revision, Submission.attempt)
    rows = session.execute(made.where(Submission.attempt.is_not(None)))
    attempts = {name: (revision, number) for name, revision, number in rows if name in owners}
    latest: dict[tuple[str, str], int] = {}
    for name, (revision, number) in attempts.items():
        if name not in decided.anonymous:
            whose = (owners[name], revision)
            latest[whose] = max(number, latest.get(whose, 0))
    return {
        name: {"attempt": number, "attempts": latest.get((owners[name], revision)), "attempt_revision": revision}
        for name, (revision, number) in attempts.items()
    }
