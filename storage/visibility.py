"""Whether submissions may be scored, shown, and shown with their owner: columns of a submission, and their events.

* held: waits for a maintainer, or was rejected; no label may be touched.
* unpublished: not on the board until its owner says so; scored and counted all the same.
* anonymous: on the board, without account, organisation and links.
* removed: hidden or withdrawn, so off the board.

Anonymous and unpublished end by being recorded, and do not come back: boards of the past stay readable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, select, update
from sqlalchemy.orm import Session

from storage.clock import database_now, iso
from storage.database import change_rows
from storage.integrity import audit
from storage.models.core import Submission
from vlrb.common.messages import _, joined
from vlrb.file_remarks import BASELINE_VOTES, ONE_SIDED_VOTES

PUBLISHED, REVEALED, ANONYMOUS = "entry.published", "entry.revealed", "entry.anonymous"
WAITING, APPROVED, REJECTED = "waiting", "approved", "rejected"
FIRST_UPLOAD = "first-upload"
APPROVAL_REASONS: Mapping[str, str] = MappingProxyType(
    {
        FIRST_UPLOAD: _("it is the first submission of its account"),
        BASELINE_VOTES: _("its votes are those of a baseline, which needs no judge"),
        ONE_SIDED_VOTES: _("nearly all its votes are the same"),
    }
)
"""Why a submission waits, by code."""
LET_THROUGH = Submission.approval.is_(None) | (Submission.approval == APPROVED)
"""Whether a submission may be scored."""
REMOVED = Submission.hidden_at.is_not(None) | Submission.withdrawn_at.is_not(None)
UNPUBLISHED = Submission.held_back_at.is_not(None)
OUT_OF_SIGHT = Submission.hidden_at.is_not(None) | UNPUBLISHED | ~LET_THROUGH
"""Whether nothing about a submission is public."""
_UNNAMED = Submission.anonymous_until.is_not(None)


class EntryVisibility(NamedTuple):
    """Current visibility of an entry. `anonymous_until`: seconds since 1970 UTC; None: named."""

    anonymous_until: float | None = None
    published: bool = True


PLAIN = EntryVisibility()


def approval_words(codes: Sequence[str]) -> str:
    """Return why a submission waits, in words; "" without a code that is known."""
    return joined([APPROVAL_REASONS[code] for code in codes if code in APPROVAL_REASONS], _("; "))


class RemovedEntry(NamedTuple):
    """An entry that is hidden or withdrawn. Instants in seconds since 1970, UTC."""

    entry: str
    hidden_at: float | None
    withdrawn_at: float | None
    withdrawn_reason: str | None  # public

    def stub(self, model: str, version: str) -> dict[str, Any] | None:
        """Return what is left of it in public: when and why it was withdrawn. None where it is hidden."""
        if self.hidden_at is not None:
            return None
        assert self.withdrawn_at is not None  # nothing else takes an entry off the board
        about = {"model": model, "version": version, "reason": self.withdrawn_reason}
        return {"id": self.entry, "withdrawn": True, "at": iso(self.withdrawn_at), **about}


def removed_entries(session: Session) -> frozenset[RemovedEntry]:
    """Return all entries that are off the board now; few rows."""
    columns = (getattr(Submission, name) for name in RemovedEntry._fields[1:])
    rows = session.execute(select(Submission.id, *columns).where(REMOVED))
    return frozenset(RemovedEntry(*row) for row in rows)


def publish(session: Session, submission: str, **facts: Any) -> bool:
    """Put an entry on the board, on record; False where it is there already."""
    return _change(session, submission, rule=UNPUBLISHED, values={"held_back_at": None}, event=PUBLISHED, facts=facts)


def end_anonymity(session: Session, submission: str, **facts: Any) -> bool:
    """End an owner's anonymity, on record; False where there is none."""
    return _change(session, submission, rule=_UNNAMED, values={"anonymous_until": None}, event=REVEALED, facts=facts)


def extend_anonymity(session: Session, submission: str, *, until: float, **facts: Any) -> bool:
    """Move the end of an anonymity that still holds, on record; False where none does, or it ends then already."""
    rule = Submission.anonymous_until != until
    return _change(session, submission, rule=rule, values={"anonymous_until": until}, event=ANONYMOUS, facts=facts)


def has_due(session: Session) -> bool:
    """Return whether reveal_due would do something; for a look without a write transaction."""
    return session.scalars(_due().limit(1)).first() is not None


def reveal_due(session: Session) -> int:
    """End every anonymity whose time has come; returns how many. Several may do this at once."""
    # All rows are locked before the first event: a transaction that holds one of them and waits for the audit chain
    # would else wait for us, and we for them.
    return sum(end_anonymity(session, name) for name in session.scalars(_due().with_for_update(key_share=True)).all())


def _due() -> Select[str]:
    return select(Submission.id).where(Submission.anonymous_until <= database_now()).order_by(Submission.id)


def _change(
    session: Session,
    submission: str,
    *,
    rule: ColumnElement[bool],
    values: Mapping[str, Any],
    event: str,
    facts: Mapping[str, Any],
) -> bool:
    """Return whether this call changed it. The rule is part of the statement: of two at once, one changes something."""
    changed = change_rows(session, update(Submission).where(Submission.id == submission, rule).values(**values))
    if changed:
        audit.append(session, event, data={"entry": submission, **facts})
    return changed
