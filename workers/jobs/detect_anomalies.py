"""Anomaly detection on new scores, in transactions of its own.

Entries are compared with earlier ones only, and a pattern is stored once: looking twice, in another order or in two
processes at a time comes to the same. What is found is private (storage/models/anomalies.py) and changes nothing.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Select, insert, select, update
from sqlalchemy.orm import Session

from benchmark import anomalies
from benchmark.anomalies import Evidence, Planes
from benchmark.disclosure import PUBLIC, merged, shown_shares
from benchmark.items import ItemTable
from benchmark.labels import LabelSet
from benchmark.statistics.reliability import majority
from benchmark.statistics.variants import Variant
from benchmark.votes import unpack_many, without_labels
from storage.database import Database
from storage.integrity import audit
from storage.labels import label_imports, label_sets
from storage.labels.label_sets import ActiveBoard
from storage.models.anomalies import AnomalyCase, AnomalyScanCursor
from storage.models.core import AuditEvent, Submission
from storage.visibility import PUBLISHED
from workers.board_index import BoardIndex
from workers.board_queries import stored_counts
from workers.scorer import Scorer

RAISED = "suspicions.raised"
_ACTIVATED = "board.pointed"  # every entry is looked at after it, and after a chunk of scores that the board shows
_ON_THE_BOARD = (PUBLISHED, "entry.restored")  # events after which one is, that was scored while nobody saw it
_CHUNK = 200  # entries whose votes are unpacked at a time

log = logging.getLogger(__name__)


class _KnownFile(NamedTuple):
    """Facts about the texts of an entry's file."""

    k: int
    texts: Mapping[str, Any] | None


@dataclass(slots=True)
class AnomalyDetector:
    """State of a worker between checks. ``best_reported``: the best overall accuracy in the literature."""

    best_reported: float | None = None
    _through: int = -1  # the stored mark when...
    _seen: int = 0  # ...nothing was found up to here
    _planes: dict[str, Planes] = field(default_factory=dict)
    _files: dict[str, _KnownFile] = field(default_factory=dict)
    _under: tuple[str, str, str] = ("", "", "")
    _level: str = PUBLIC
    _shares: dict[str, list[float]] = field(default_factory=dict)  # by entry, under that revision and scorer version

    def unseen_from(self, through: int) -> int:
        """Return the event after which something may be new, given the stored mark."""
        return max(through, self._seen) if through == self._through else through

    def saw_nothing(self, through: int, head: int) -> None:
        """Note that up to ``head`` there was nothing to look at."""
        self._through, self._seen = through, head

    def learn(
        self,
        database: Database,
        entries: Sequence[Variant],
        *,
        table: ItemTable,
        pointer: ActiveBoard,
        level: str = PUBLIC,
    ) -> None:
        """Read what it does not know yet of the entries; votes and counts never change.

        ``level``: what is shown of scores under these labels. That a pattern was noted is an event, and how many events
        there are is public: so patterns are looked for in what is shown.
        """
        under = (pointer.benchmark, pointer.label_revision, pointer.scorer_version)
        if (self._under, self._level) != (under, level):
            self._under, self._level, self._shares = under, level, {}
        unread = [entry.id for entry in entries if entry.id not in self._planes]
        for start in range(0, len(unread), _CHUNK):
            self._read_votes(database, unread[start : start + _CHUNK], items=len(table))
        if uncounted := [entry.id for entry in entries if entry.id not in self._shares]:
            with database.read() as session:
                _, revision, version = under
                counts = stored_counts(session, uncounted, spec=table.spec, revision=revision, version=version)
            self._shares.update(zip(uncounted, shown_shares(counts, level, spec=table.spec).tolist(), strict=True))

    def _read_votes(self, database: Database, names: Sequence[str], *, items: int) -> None:
        columns = (Submission.id, Submission.votes_per_item, Submission.votes, Submission.report)
        with database.read() as session:
            rows = session.execute(
                select(*columns).where(Submission.id.in_(names)).order_by(Submission.votes_per_item)
            ).all()
        for k, group in groupby(rows, key=lambda row: row.votes_per_item):
            same = list(group)
            packed = anomalies.pack_bits(majority(without_labels(unpack_many([row.votes for row in same], items, k=k))))
            for row, plane in zip(same, packed, strict=True):
                self._planes[row.id] = plane
                self._files[row.id] = _KnownFile(k, row.report.get("texts"))

    def look_for_labels(
        self, names: Collection[str], public: Iterable[LabelSet], *, table: ItemTable
    ) -> Iterator[DetectedAnomaly]:
        """Yield entries that look like public labels, or their complement, as no judge would."""
        for labels in public:
            for name in names:
                verdicts = anomalies.unpacked(self._planes[name], len(table))
                if seen := anomalies.like_public_labels(verdicts, labels.preferred, groups=table.source_index):
                    yield DetectedAnomaly(name, "public-labels", subject=labels.revision, evidence=seen)

    def inspect(
        self, entries: Sequence[Variant], wanted: Collection[str] | None, *, table: ItemTable
    ) -> Iterator[DetectedAnomaly]:
        """Yield the anomalies of the wanted entries (None: all). ``entries`` are ordered by age."""
        if not entries:
            return
        spec, items = table.spec, len(table)
        # Word by word in memory: then all entries are compared at once.
        stacked = np.moveaxis(np.stack([self._planes[entry.id] for entry in entries], axis=-1), -1, 0)
        pooled = spec.score_names.index(spec.pooled)
        best, best_of = self.best_reported, "reported"
        for index, entry in enumerate(entries):
            overall = _shown(self._shares[entry.id][pooled])
            if wanted is None or entry.id in wanted:
                shares = dict(zip(spec.score_names, map(_shown, self._shares[entry.id]), strict=True))
                categories = {key: shares[key] for key in spec.category_keys}
                file = self._files[entry.id]
                revision = self._under[1]
                if seen := anomalies.is_far_above_best(overall, best):
                    yield DetectedAnomaly(
                        entry.id, "above-best-known", subject=revision, evidence={**seen, "best_is": best_of}
                    )
                if seen := anomalies.near_equal(overall, categories):
                    yield DetectedAnomaly(entry.id, "near-equal-categories", subject=revision, evidence=seen)
                if seen := anomalies.identical_texts(file.texts, file.k):
                    yield DetectedAnomaly(entry.id, "identical-texts", subject="", evidence=seen)
                if seen := anomalies.empty_texts(file.texts):
                    yield DetectedAnomaly(entry.id, "empty-texts", subject="", evidence=seen)
                if near := anomalies.nearest_duplicate(stacked[index], stacked[:index], items=items):
                    yield _duplicate(entry, entries, near=near, items=items)
            if overall is not None and (best is None or overall > best):
                best, best_of = overall, entry.id


def _shown(share: float) -> float | None:
    """Return a share; None for NaN, where there is nothing to share."""
    return None if share != share else share


class DetectedAnomaly(NamedTuple):
    """A pattern in an entry."""

    entry: str
    kind: str
    subject: str
    evidence: Evidence


def _duplicate(
    entry: Variant, entries: Sequence[Variant], *, near: tuple[int, int, int], items: int
) -> DetectedAnomaly:
    index, different, how_many = near
    other = entries[index]
    evidence = {
        "items_that_differ": different,
        "items": items,
        "same_account": other.owner == entry.owner,
        "entries_that_near": how_many,
    }
    return DetectedAnomaly(entry.id, "near-duplicate", subject=other.id, evidence=evidence)


def detect_if_changed(
    database: Database, scorer: Scorer, *, watcher: AnomalyDetector, index: BoardIndex | None = None
) -> int:
    """Look at what was scored or published since the last look; returns how many suspicions are new.

    `index`: what this worker keeps of the board.
    """
    known = BoardIndex() if index is None else index
    with database.read() as session:
        pointer = label_sets.current(session, scorer.benchmark)
        if pointer is None:
            return 0
        through, head = session.execute(_cursor(pointer.benchmark)).scalar_one(), audit.head(session).seq
        if head <= watcher.unseen_from(through):
            return 0
        wanted = _scored_since(session, watcher.unseen_from(through), pointer=pointer)
        if wanted is not None and not wanted:
            watcher.saw_nothing(through, head)
            return 0
        entries = [entry.variant for entry in known.view(session, scorer, pointer=pointer).shown]
        public = _public_beside_hidden(session, scorer)
        hidden = merged(scorer.hidden, label_imports.hidden_revisions(session, pointer.benchmark))
    with scorer.trace("detection"):
        watcher.learn(
            database, entries, table=scorer.table, pointer=pointer, level=hidden.get(pointer.label_revision, PUBLIC)
        )
        result = list(watcher.inspect(entries, wanted, table=scorer.table))
        new = [entry.id for entry in entries if wanted is None or entry.id in wanted]
        result += watcher.look_for_labels(new, public, table=scorer.table)
        return _record(database, pointer.benchmark, through=through, head=head, detected_anomalies=result)


def _public_beside_hidden(session: Session, scorer: Scorer) -> list[LabelSet]:
    """Return the public label sets that this worker knows, where it scores under a hidden one too; else none.

    Where all labels are public there is nothing to weigh; copying them is another matter (near-duplicates, provenance).
    """
    hidden = merged(scorer.hidden, label_imports.hidden_revisions(session, scorer.benchmark)).keys()
    public = [labels for name, labels in sorted(scorer.labels.items()) if name not in hidden]
    return public if hidden & scorer.labels.keys() else []


def _scored_since(session: Session, seq: int, *, pointer: ActiveBoard) -> set[str] | None:
    """Return the entries that got a score, or came on the board with one, after an event; None: all may have."""
    kinds = (audit.SCORED, audit.SCORES_RECORDED, _ACTIVATED, *_ON_THE_BOARD)
    rows = session.execute(
        select(AuditEvent.kind, AuditEvent.body).where(AuditEvent.seq > seq, AuditEvent.kind.in_(kinds))
    )
    scored = set()
    same = audit.scope(session, pointer.benchmark).get("benchmark")
    for kind, body in rows:
        event = json.loads(body)
        if kind in (_ACTIVATED, audit.SCORES_RECORDED) and event.get("benchmark") != same:
            continue
        if kind == _ACTIVATED:
            return None
        if kind in _ON_THE_BOARD:
            scored.add(event["entry"])
        elif event["label_revision"] != pointer.label_revision:
            continue  # what is staged is looked at once the board shows it, not chunk by chunk
        elif kind == audit.SCORES_RECORDED:
            return None
        else:
            scored.add(event["submission"])
    return scored


def _cursor(benchmark: str) -> Select[int]:
    return select(AnomalyScanCursor.through_seq).where(AnomalyScanCursor.benchmark == benchmark)


def _record(
    database: Database, benchmark: str, *, through: int, head: int, detected_anomalies: Sequence[DetectedAnomaly]
) -> int:
    """Store what is new; nothing where another worker was faster, or a maintainer asked for a fresh look meanwhile."""
    with database.write() as session:
        if session.execute(_cursor(benchmark).with_for_update()).scalar_one() != through:
            return 0
        known = _known(session, {detected_anomaly.entry for detected_anomaly in detected_anomalies})
        new = [detected_anomaly for detected_anomaly in detected_anomalies if detected_anomaly[:3] not in known]
        for case in new:
            values = {
                "submission_id": case.entry,
                "kind": case.kind,
                "subject": case.subject,
                "evidence": case.evidence,
            }
            session.execute(insert(AnomalyCase).values(values))
        cursor = update(AnomalyScanCursor).where(AnomalyScanCursor.benchmark == benchmark)
        session.execute(cursor.values(through_seq=head))
        if new:
            audit.append(session, RAISED, data={"suspicions": len(new)})
    if new:
        log.info(RAISED, extra={"data": {"suspicions": len(new)}})
    return len(new)


def _known(session: Session, entries: Collection[str]) -> set[tuple[str, str, str]]:
    rows = session.execute(
        select(AnomalyCase.submission_id, AnomalyCase.kind, AnomalyCase.subject).where(
            AnomalyCase.submission_id.in_(entries)
        )
    )
    return {(entry, kind, subject) for entry, kind, subject in rows}
