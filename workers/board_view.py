"""A board at one moment: its entries, which of them are of one judge, and what a snapshot says beside them; and
whether something has happened since that a snapshot may show."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson
from sqlalchemy import select
from sqlalchemy.orm import Session

from storage import reported_results
from storage.integrity import audit
from storage.labels import label_imports, label_levels
from storage.labels.label_sets import ActiveBoard
from storage.models.core import AuditEvent, RegisteredLabelSet
from vlrb.disclosure import PUBLIC
from vlrb.statistics.pairwise import VERSION
from vlrb.statistics.variants import group_variants, members
from workers.board_entries import ScoredEntry, read_entries
from workers.moderation_state import load_moderation

# Events that do not change public data. Every other kind, including new ones, triggers a snapshot.
NON_PUBLIC_EVENTS = (
    "snapshot.published",
    "submission.accepted",
    "job.failed",
    "integrity.checked",
    "integrity.failed",
    "service.restored",
    "task.requested",
    "task.failed",
    "dispute.opened",
    "dispute.accepted",
    "dispute.rejected",
    "verification.created",
    "verification.annotators",
    "verification.answered",
    "verification.closed",
    "verification.exported",
    "verification.left-out",
    "labels.draft-disclosed",
)


class PairwiseRevision(NamedTuple):
    """A label revision that the public may know of, and what may be shown of scores under it."""

    name: str
    digest: str
    level: str  # benchmark.disclosure

    @property
    def public(self) -> bool:
        """Whether what depends on single labels may be shown."""
        return self.level == PUBLIC


@dataclass(frozen=True, slots=True)
class BoardView:
    """A board at one moment. ``entries``: those shown, then those that count as variants of theirs, each by age.
    ``judges``: of each its judge. ``inputs``: label revision -> digest of what relations of these entries follow from.
    ``rest``: what a snapshot says beside entries."""

    through: int  # the last audit event that is included
    revisions: Sequence[PairwiseRevision]
    entries: Sequence[ScoredEntry]
    judges: Mapping[str, str]
    inputs: Mapping[str, str]
    rest: Mapping[str, Any]

    @property
    def shown(self) -> Sequence[ScoredEntry]:
        """Return the entries that the public sees."""
        return [entry for entry in self.entries if not entry.off_board]


def read_board(session: Session, pointer: ActiveBoard) -> BoardView:
    """Return a board as this session sees it.

    An anonymous entry is a judge of its own: if it took another one's place as a variant, it would tell whose it is.
    What was scored and is not shown counts where its account shows another variant of the same judge: it was tried.
    Who is not on the board with this judge is nobody's business.
    """
    known, decided = revisions(session, pointer.benchmark), load_moderation(session, pointer.benchmark)
    scored = read_entries(session, pointer, revisions=[revision.name for revision in known], decided=decided)
    judges = group_variants([entry.variant for entry in scored])
    seen = {(judges[one.id], one.variant.owner) for one in scored if one.variant.named and not one.off_board}
    entries = [
        entry
        for entry in scored
        if not entry.off_board or (entry.variant.named and (judges[entry.id], entry.variant.owner) in seen)
    ]
    judges = {entry.id: judges[entry.id] for entry in entries}
    return BoardView(
        audit.head(session).seq,
        known,
        entries=entries,
        judges=judges,
        inputs=_inputs(pointer, known, entries=entries, judges=judges),
        rest={
            "stubs": [*decided.stubs, *reported_results.list_removed(session, pointer.benchmark)],
            "reported": reported_results.list_active(session, pointer.benchmark),
            "unpublished": sum(entry.unpublished for entry in scored),
            "versions": _versions([entry.id for entry in entries if not entry.off_board], judges),
        },
    )


def revisions(session: Session, benchmark: str) -> list[PairwiseRevision]:
    """Return all but the drafts. Imported labels are public where maintainers said so, or once they are retired."""
    rows = session.execute(
        select(RegisteredLabelSet.revision, RegisteredLabelSet.digest).where(RegisteredLabelSet.benchmark == benchmark)
    )
    levels = label_levels.levels(session, benchmark)
    drafts = label_imports.drafts(session, benchmark)
    known = [
        PairwiseRevision(name, digest, level=levels.get(name, PUBLIC)) for name, digest in rows if name not in drafts
    ]
    return sorted(known)


def _versions(shown: Sequence[str], judges: Mapping[str, str]) -> dict[str, str]:
    """Return shown entry -> the first one of its judge that is shown, without those that are it. Relations, which take
    longer, also join those whose votes are alike."""
    return {name: same[0] for same in members({name: judges[name] for name in shown}).values() for name in same[1:]}


def _standing(entry: ScoredEntry) -> int:
    """Return 1 for what is compared, 0 for what is off the board, 2 for what is on it without a rank."""
    return int(entry.compared) if entry.compared or entry.off_board else 2


def _inputs(
    pointer: ActiveBoard,
    known: Sequence[PairwiseRevision],
    *,
    entries: Sequence[ScoredEntry],
    judges: Mapping[str, str],
) -> dict[str, str]:
    """Return a digest of all that relations depend on: votes and labels never change, so ids and digests represent
    them."""
    texts = [f"{entry.id} {judges[entry.id]} {_standing(entry)}" for entry in entries]
    result = {}
    for revision in known:
        under = [text for text, entry in zip(texts, entries, strict=True) if revision.name in entry.revisions]
        parts = [VERSION, pointer.scorer_version, pointer.rules, *revision, under]
        result[revision.name] = hashlib.sha256(orjson.dumps(parts)).hexdigest()
    return result


def needs_snapshot(session: Session, seq: int) -> bool:
    """Return whether an event with an effect came after this one. Events are in the order of their commits."""
    later = select(AuditEvent.seq).where(AuditEvent.seq > seq, AuditEvent.kind.not_in(NON_PUBLIC_EVENTS)).limit(1)
    return session.execute(later).first() is not None
