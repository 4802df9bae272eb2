"""Entries of one board that a worker keeps between its jobs, brought up to date by the audit events since.

A score concerns its entry and the other attempts of the same account: only these are read again. After any other event
everything is. Only committed rows are ever read, so what is kept is what a worker that starts would read, whatever
became of the job that asked.
"""

from __future__ import annotations

import hashlib
import json
from bisect import insort
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, NamedTuple

import orjson
from sqlalchemy import select
from sqlalchemy.orm import Session

from storage import reported_results
from storage.integrity import audit
from storage.labels import label_imports, label_levels
from storage.labels.label_sets import ActiveBoard
from storage.models.core import AuditEvent, RegisteredLabelSet, Submission
from vlrb.disclosure import PUBLIC
from vlrb.statistics.pairwise import VERSION
from vlrb.statistics.variants import VariantGroups, members
from workers.board_entries import EntryOrder, EntryRules, ScoredEntry, read_entries
from workers.moderation_state import load_moderation
from workers.scorer import Scorer
from workers.snapshot_triggers import HARMLESS

_FEW = 200  # scores that are taken one by one; after more everything is read again


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
        return [entry for entry in self.entries if not entry.order.off_board]


@dataclass(frozen=True, slots=True)
class _BoardFacts:
    """What is known of a board beside its entries. ``board``: benchmark, label revision, scorer version, rules."""

    board: tuple[str, ...]
    rules: EntryRules
    revisions: Sequence[PairwiseRevision]


@dataclass(slots=True)
class BoardIndex:
    """Entries of a board, for all jobs of a worker; a lock keeps them from bringing it up to date at the same time."""

    _lock: Lock = field(default_factory=Lock)
    _facts: _BoardFacts | None = None
    _view: BoardView | None = None
    _entries: dict[str, ScoredEntry] = field(default_factory=dict)
    _order: list[EntryOrder] = field(default_factory=list)
    _groups: VariantGroups = field(default_factory=VariantGroups)

    def view(self, session: Session, scorer: Scorer, *, pointer: ActiveBoard) -> BoardView:
        """Return the board as this session sees it."""
        through = audit.head(session).seq
        with self._lock:
            before, facts = self._view, self._facts
            if before is not None and through < before.through:  # another job has a newer session
                return BoardIndex().view(session, scorer, pointer=pointer)
            self._view = None  # until it is up to date: what fails on the way leaves nothing to build on
            view = None
            if before is not None and facts is not None and facts.board == _board(pointer):
                view = self._updated(session, scorer, pointer=pointer, facts=facts, view=before)
            self._view = replace(view or self._read_anew(session, scorer, pointer=pointer), through=through)
            return self._view

    def _read_anew(self, session: Session, scorer: Scorer, *, pointer: ActiveBoard) -> BoardView:
        known = revisions(session, pointer.benchmark)
        decided = load_moderation(session, pointer.benchmark)
        rules = EntryRules([variant.name for variant in known], decided)
        self._facts = _BoardFacts(_board(pointer), rules, revisions=known)
        self._entries, self._groups = {}, VariantGroups()
        entries = read_entries(session, pointer, rules=rules)
        for entry in sorted(entries, key=lambda entry: entry.order):
            self._add(entry)
        self._order = sorted(entry.order for entry in entries)
        return self._new_view(session, pointer)

    def _updated(
        self, session: Session, scorer: Scorer, *, pointer: ActiveBoard, facts: _BoardFacts, view: BoardView
    ) -> BoardView | None:
        """Return the board after what has happened since; None where everything has to be read again."""
        scored = _scored_since(session, view.through)
        if not scored:
            return None if scored is None else view
        rules = EntryRules(facts.rules.revisions, load_moderation(session, pointer.benchmark))
        owners = _owners(session, pointer.benchmark, names=scored)
        self._facts = replace(facts, rules=rules)
        changed = read_entries(session, pointer, rules=rules, owners=owners)
        if not all(self._replaces(entry) for entry in changed):
            return None
        return self._new_view(session, pointer)

    def _replaces(self, entry: ScoredEntry) -> bool:
        """Return whether an entry is new, or differs from what is known in nothing that orders or groups entries."""
        before = self._entries.get(entry.id)
        if before is None:
            insort(self._order, entry.order)
            self._add(entry)
            return True
        self._entries[entry.id] = entry
        return (before.order, before.variant) == (entry.order, entry.variant)

    def _add(self, entry: ScoredEntry) -> None:
        self._entries[entry.id] = entry
        self._groups.add(entry.variant, entry.order, shown=not entry.order.off_board)

    def _new_view(self, session: Session, pointer: ActiveBoard) -> BoardView:
        assert self._facts is not None
        ordered = [self._entries[order.id] for order in self._order]
        entries = [entry for entry in ordered if self._counts(entry)]
        judges = {entry.id: self._groups.first(entry.id) for entry in entries}
        return BoardView(
            through=-1,
            revisions=self._facts.revisions,
            entries=entries,
            judges=judges,
            inputs=_inputs(self._facts, entries, judges=judges),
            rest={
                "stubs": [*self._facts.rules.decided.stubs, *reported_results.list_removed(session, pointer.benchmark)],
                "reported": reported_results.list_active(session, pointer.benchmark),
                "unpublished": sum(entry.unpublished for entry in ordered),
                "versions": _versions([entry.id for entry in entries if not entry.order.off_board], judges),
            },
        )

    def _counts(self, entry: ScoredEntry) -> bool:
        """Return whether an entry is shown, or counts as a variant of one that is.

        An anonymous entry is a judge of its own: if it took another one's place here, it would tell whose it is.
        """
        variant = entry.variant
        return not entry.order.off_board or (variant.named and self._groups.shows(entry.id, variant.owner))


def _board(pointer: ActiveBoard) -> tuple[str, ...]:
    return pointer.benchmark, pointer.label_revision, pointer.scorer_version, pointer.rules


def _scored_since(session: Session, through: int) -> set[str] | None:
    """Return the submissions with a new score; None where something else has changed what the public sees."""
    later = select(AuditEvent.kind, AuditEvent.body).where(AuditEvent.seq > through, AuditEvent.kind.not_in(HARMLESS))
    events = session.execute(later.limit(_FEW + 1)).all()
    if len(events) > _FEW or any(kind != audit.SCORED for kind, _ in events):
        return None
    return {json.loads(body)["submission"] for _, body in events}


def _owners(session: Session, benchmark: str, *, names: Collection[str]) -> set[str]:
    mine = select(Submission.owner).where(Submission.benchmark == benchmark, Submission.id.in_(names))
    return set(session.scalars(mine))


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
    return int(entry.compared) if entry.compared or entry.order.off_board else 2


def _inputs(facts: _BoardFacts, entries: Sequence[ScoredEntry], *, judges: Mapping[str, str]) -> dict[str, str]:
    """Return a digest of all that relations depend on: votes and labels never change, so ids and digests represent
    them."""
    texts = [f"{entry.id} {judges[entry.id]} {_standing(entry)}" for entry in entries]
    result = {}
    for revision in facts.revisions:
        under = [text for text, entry in zip(texts, entries, strict=True) if revision.name in entry.revisions]
        parts = [VERSION, *facts.board[2:], *revision, under]
        result[revision.name] = hashlib.sha256(orjson.dumps(parts)).hexdigest()
    return result
