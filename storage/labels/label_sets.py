"""Registered label revisions, and the revision that the board of a benchmark shows."""

import hashlib
import secrets
from dataclasses import dataclass

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from storage.integrity import audit
from storage.jobs import job_queue
from storage.models.core import BoardState, RegisteredLabelSet
from storage.models.moderation import ImportedLabels
from vlrb.commitments import commit

_SALT_BYTES = 32


class LabelSetChanged(Exception):
    """A label revision has other labels than when it was first used. Give the new labels a new revision name."""


@dataclass(frozen=True, slots=True)
class ActiveBoard:
    """The active label revision, scorer version and snapshot of a board (None before the first snapshot).

    ``rules``: as vlrb.benchmarks.board_rules has them; "" are those of the definition. ``offered``: those that the
    definition of the workers has.
    """

    benchmark: str
    label_revision: str
    scorer_version: str
    snapshot_id: str | None
    rules: str = ""
    offered: str = ""


def register(session: Session, revision: str, *, benchmark: str, digest: str, items: int) -> bool:
    """Make a label revision known; True the first time. Raises LabelSetChanged where it is known with other labels."""
    key = (benchmark, revision)
    known = session.get(RegisteredLabelSet, key)
    if known is not None:
        if (known.digest, known.items) != (digest, items):
            raise LabelSetChanged(revision)
        return False
    facts = {"revision": revision, "benchmark": benchmark, "digest": digest, "items": items}
    imported, salt = session.get(ImportedLabels, key), secrets.token_bytes(_SALT_BYTES)
    facts["commitment"] = commit(digest, salt) if imported is None else imported.commitment
    session.execute(insert(RegisteredLabelSet).values(**facts, salt=salt.hex() if imported is None else None))
    audit.append(session, audit.REGISTERED, data=facts)
    return True


def commitment(session: Session, benchmark: str, *, revision: str) -> str | None:
    """Return the public commitment to a label set; None where it is not known."""
    known = session.get(RegisteredLabelSet, (benchmark, revision))
    return None if known is None else known.commitment


def current(session: Session, benchmark: str) -> ActiveBoard | None:
    """Return the pointer of a benchmark's board; None before a worker has set it."""
    pointer = (BoardState.benchmark, BoardState.label_revision, BoardState.scorer_version, BoardState.snapshot_id)
    rules = (BoardState.rules, BoardState.offered_rules)
    row = session.execute(select(*pointer, *rules).where(BoardState.benchmark == benchmark)).first()
    return None if row is None else ActiveBoard(*row)


def lock_board(session: Session, benchmark: str) -> None:
    """Keep others from moving a benchmark's board until the transaction ends."""
    session.execute(select(BoardState.benchmark).where(BoardState.benchmark == benchmark).with_for_update())


def offer_rules(session: Session, benchmark: str, *, rules: str) -> None:
    """Record the rules of the definition that workers have; the board keeps its own until a maintainer applies them."""
    ours = update(BoardState).where(BoardState.benchmark == benchmark, BoardState.offered_rules != rules)
    session.execute(ours.values(offered_rules=rules))


def activate_revision(
    session: Session, benchmark: str, *, label_revision: str, scorer_version: str, reason: str, rules: str | None = None
) -> bool:
    """Make a board show another label revision, scorer version or other rules, on record; False where it does already.

    `rules` None: those of the board.

    Submissions without a score under it get a job before anything else is scored: the workers do them at once.
    """
    lock_board(session, benchmark)
    job_queue.enqueue_missing(
        session, benchmark, label_revision=label_revision, scorer_version=scorer_version, priority=job_queue.URGENT
    )
    board = current(session, benchmark)
    known = "" if board is None else board.rules
    ordered_by = {"rules": known if rules is None else rules}
    shown = None if board is None else (board.label_revision, board.scorer_version, board.rules)
    if shown == (label_revision, scorer_version, ordered_by["rules"]):
        return False
    before = None if board is None else {"label_revision": board.label_revision, "scorer_version": board.scorer_version}
    values = {"label_revision": label_revision, "scorer_version": scorer_version}
    if board is None:
        session.execute(insert(BoardState).values(benchmark=benchmark, **values, **ordered_by))
    else:
        session.execute(update(BoardState).where(BoardState.benchmark == benchmark).values(**values, **ordered_by))
        job_queue.drop_waiting(session, benchmark, scorer_version=board.scorer_version, but=scorer_version)
    digest = hashlib.sha256(ordered_by["rules"].encode()).hexdigest()
    facts = {"from": before, "to": values, "reason": reason, "rules_sha256": digest}
    audit.append(session, audit.ACTIVATED, data=facts | {"benchmark": benchmark})
    return True
