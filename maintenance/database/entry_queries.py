"""SQL of entries for maintainers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, exists, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from storage.models.core import Account, BoardState, Job, Score, State, Submission
from storage.models.moderation import Moderation
from storage.models.visibility import Approval
from storage.visibility import REJECTED, WAITING, unpublished


class EntryRow(NamedTuple):
    """An entry in a list. `standing`: its state, to follow "it"; `submitted_at`: seconds since 1970, UTC."""

    id: str
    model: str
    version: str
    owner: str
    owner_name: str | None  # None: an account without a name, as that of a machine without sign-in
    submitted_at: float
    standing: str
    verified: bool = False
    noted: bool = False  # in public


def search(session: Session, benchmark: str, *, text: str, limit: int) -> tuple[list[EntryRow], int]:
    """Return entries with this text in id, model, version, owner's id or name, the newest first; and how many there
    are."""
    columns = (Submission.id, Submission.model, Submission.version, Submission.owner, Account.name)
    matching = (
        Submission.benchmark == benchmark,
        or_(*(column.icontains(text, autoescape=True) for column in columns)),
    )
    joined = Account.id == Submission.owner
    wanted = select(*columns, Submission.created_at).outerjoin(Account, joined).where(*matching)
    rows = session.execute(wanted.order_by(Submission.created_at.desc(), Submission.id).limit(limit)).all()
    counted = select(func.count()).select_from(Submission).outerjoin(Account, joined).where(*matching)
    where = standings(session, [row[0] for row in rows])
    marks = _marks(session, [row[0] for row in rows])
    entry_rows = [EntryRow(*row, where[row[0]], *marks.get(row[0], (False, False))) for row in rows]
    return entry_rows, session.execute(counted).scalar_one()


def _marks(session: Session, entries: Sequence[str]) -> dict[str, tuple[bool, bool]]:
    """Return whether each entry is verified, and whether it carries a note, of those about which was decided."""
    columns = (Moderation.submission_id, Moderation.verified_at, Moderation.flag)
    rows = session.execute(select(*columns).where(Moderation.submission_id.in_(entries)))
    return {name: (verified is not None, flag is not None) for name, verified, flag in rows}


def standings(session: Session, entries: Sequence[str]) -> dict[str, str]:
    """Return where each entry is, after "it": on the board, or why not."""
    states: dict[str, str] = dict.fromkeys(entries, "waits to be scored")
    failed = (_under_board(Job), Job.state == State.FAILED.value)
    states |= _of(session, Job.submission_id, entries, *failed, words="could not be scored")
    states |= _of(session, Score.submission_id, entries, _under_board(Score), words="is on the board")
    kept_back = Submission.id.in_(unpublished())
    states |= _of(session, Submission.id, entries, kept_back, words="is not published by its owner")
    for state, words in ((WAITING, "waits for a maintainer"), (REJECTED, "was rejected")):
        states |= _of(session, Approval.submission_id, entries, Approval.state == state, words=words)
    moderated = Moderation
    states |= _of(session, moderated.submission_id, entries, moderated.hidden_at.is_not(None), words="is hidden")
    states |= _of(session, moderated.submission_id, entries, moderated.withdrawn_at.is_not(None), words="is withdrawn")
    merged = select(moderated.submission_id, moderated.merged_into).where(
        moderated.submission_id.in_(entries), moderated.merged_into.is_not(None)
    )
    return states | {row[0]: f"was merged into {row[1]}" for row in session.execute(merged)}


def _under_board(table: type[Job] | type[Score]) -> ColumnElement[bool]:
    """Return whether a job or score is under what the board of its benchmark shows."""
    return exists().where(
        BoardState.benchmark == table.benchmark,
        BoardState.label_revision == table.label_revision,
        BoardState.scorer_version == table.scorer_version,
    )


def _of(
    session: Session, column: InstrumentedAttribute[str], entries: Sequence[str], *rule: ColumnElement[bool], words: str
) -> dict[str, str]:
    return dict.fromkeys(session.scalars(select(column).where(column.in_(entries), *rule)), words)
