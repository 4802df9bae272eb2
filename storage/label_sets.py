"""Registered label revisions, and the revision that the board shows."""

import secrets
from dataclasses import dataclass

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from benchmark.commitments import commit
from storage import audit
from storage.models.core import BoardState, RegisteredLabelSet
from storage.models.moderation import ImportedLabels
from storage.models.receipts import LabelCommitment

REGISTERED, POINTED = "labels.registered", "board.pointed"
_SALT_BYTES = 32


class LabelSetChanged(Exception):
    """A label revision has other labels than when it was first used. Give the new labels a new revision name."""


@dataclass(frozen=True, slots=True)
class ActiveBoard:
    """What the board shows: label revision, scorer version, and the snapshot made of them (None before the first)."""

    benchmark: str
    label_revision: str
    scorer_version: str
    snapshot_id: str | None


def register(session: Session, revision: str, benchmark: str, digest: str, items: int) -> bool:
    """Make a label revision known; True the first time. Raises LabelSetChanged where it is known with other labels."""
    known = session.get(RegisteredLabelSet, revision)
    if known is not None:
        if (known.benchmark, known.digest, known.items) != (benchmark, digest, items):
            raise LabelSetChanged(revision)
        return False
    session.execute(
        insert(RegisteredLabelSet).values(revision=revision, benchmark=benchmark, digest=digest, items=items)
    )
    facts = {"revision": revision, "benchmark": benchmark, "digest": digest, "items": items}
    if session.get(ImportedLabels, revision) is None:  # those have their commitment since they were imported
        salt = secrets.token_bytes(_SALT_BYTES)
        facts["commitment"] = commit(digest, salt)
        known_by = {"salt": salt.hex(), "commitment": facts["commitment"]}
        session.execute(insert(LabelCommitment).values(revision=revision, **known_by))
    audit.append(session, REGISTERED, facts)
    return True


def current(session: Session) -> ActiveBoard | None:
    """Return the board's pointer; None before a worker has set it."""
    row = session.execute(
        select(
            RegisteredLabelSet.benchmark, BoardState.label_revision, BoardState.scorer_version, BoardState.snapshot_id
        )
        .join(RegisteredLabelSet, RegisteredLabelSet.revision == BoardState.label_revision)
        .where(BoardState.id == 1)
    ).first()
    return None if row is None else ActiveBoard(*row)


def activate_revision(session: Session, label_revision: str, scorer_version: str, reason: str) -> bool:
    """Make the board show another label revision or scorer version, on record; False where it does already."""
    board = session.get(BoardState, 1, with_for_update=True)
    if board is not None and (board.label_revision, board.scorer_version) == (label_revision, scorer_version):
        return False
    before = None if board is None else {"label_revision": board.label_revision, "scorer_version": board.scorer_version}
    values = {"label_revision": label_revision, "scorer_version": scorer_version}
    if board is None:
        session.execute(insert(BoardState).values(id=1, **values))
    else:
        session.execute(update(BoardState).where(BoardState.id == 1).values(**values))
        session.expire(board)
    audit.append(session, POINTED, {"from": before, "to": values, "reason": reason})
    return True
