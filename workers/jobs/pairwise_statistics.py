"""Pairwise statistics of all judges: paired counts, rank ranges, agreement, difficulty.

It takes seconds where a snapshot takes a moment, so scores are published first; relations follow with the next
snapshot. They are found again by a digest of what they are computed from, so a snapshot only ever carries those of
exactly its own entries, and nothing is computed twice.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import orjson
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from benchmark.baselines import constant_judge_tallies
from benchmark.disclosure import PUBLIC, merged, redact_counts
from benchmark.spec import BenchmarkSpec
from benchmark.statistics.pairwise import VERSION, JudgeCandidate, Variants, comparable, compare_all, pack
from benchmark.statistics.reliability import majority
from benchmark.statistics.selection import Selection
from benchmark.statistics.variants import Variant, alike_pairs, counted_variants, group_variants, members
from benchmark.votes import Matrix, unpack_many
from storage import visibility
from storage.boards import stored_relations
from storage.boards.stored_relations import NewRelations
from storage.database import Database
from storage.integrity import audit, row_commitments
from storage.labels import label_imports, label_sets, ladder
from storage.labels.label_sets import ActiveBoard
from storage.models.core import BoardState, RegisteredLabelSet, Score, StoredRelations, Submission
from workers.board_queries import BoardEntry, entries_off_board, entries_on_board, stored_counts
from workers.jobs.relations_memory import RelationsMemory
from workers.scorer import Scorer
from workers.snapshot_triggers import RELATIONS, needs_snapshot

COMPUTED = RELATIONS
CHUNK = 100
VARIANTS_AT_MOST = 50  # of a judge whose votes are looked at; others count all the same

log = logging.getLogger(__name__)


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
class _Task:
    """Relations to be computed: under which revision, from what, between whom."""

    revision: PairwiseRevision
    inputs: str
    entries: list[str]  # best first
    judges: int  # how many there were to choose from
    variants: Mapping[str, Sequence[str]]  # of each entry, itself among them, best first; some are not on the board
    named: frozenset[str]  # entries whose owner is named


def compute_if_changed(database: Database, scorer: Scorer, memory: RelationsMemory | None = None) -> int:
    """Compute the relations that the current snapshot lacks; returns how many were stored.

    ``memory``: what this worker keeps between two computations.

    The event it appends makes the next snapshot. While scores are still unpublished it waits: they come first, and
    would make its work worthless.
    """
    known = RelationsMemory() if memory is None else memory
    with database.read() as session:
        pointer = label_sets.current(session, scorer.benchmark)
        if pointer is None or pointer.scorer_version != scorer.version:
            return 0  # what is right is a matter of the scorer version's rules
        seqs = select(BoardState.shown_seq, BoardState.related_seq).where(BoardState.benchmark == pointer.benchmark)
        board = session.execute(seqs).one()
        if board.related_seq >= board.shown_seq or needs_snapshot(session, board.shown_seq):
            return 0
        tasks = _tasks(session, scorer, pointer, known)
    with scorer.trace("relations"):
        computed = _compute(database, scorer, tasks, known)
        return _record(database, pointer, board.shown_seq, computed)


def revisions(session: Session, scorer: Scorer, benchmark: str) -> list[PairwiseRevision]:
    """Return all but the drafts. Imported labels are public where maintainers said so, or once they are retired."""
    rows = session.execute(
        select(RegisteredLabelSet.revision, RegisteredLabelSet.digest).where(RegisteredLabelSet.benchmark == benchmark)
    )
    levels = merged(scorer.hidden, label_imports.hidden_revisions(session, benchmark))
    drafts = label_imports.drafts(session, benchmark)
    known = [PairwiseRevision(name, digest, levels.get(name, PUBLIC)) for name, digest in rows if name not in drafts]
    return sorted(known)


def kept_back(
    session: Session, pointer: ActiveBoard, revisions: Sequence[PairwiseRevision], spec: BenchmarkSpec
) -> dict[str, frozenset[str]]:
    """Entry -> label revisions under which no number of it is shown (benchmark/ladder.py)."""
    hidden = {revision.name: revision.level for revision in revisions if revision.level != PUBLIC}
    result: dict[str, frozenset[str]] = {}
    for entry, revision, version in ladder.withheld(session, spec, hidden):
        if version == pointer.scorer_version:
            result[entry] = result.get(entry, frozenset()) | {revision}
    return result


class Origin(Protocol):
    """Columns that identify an entry's judge, as a query's row has them."""

    @property
    def id(self) -> str: ...
    @property
    def owner(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def organisation(self) -> str | None: ...
    @property
    def base_model(self) -> str | None: ...


def judges_of(shown: Sequence[Origin], others: Sequence[Origin], unnamed: Collection[str]) -> dict[str, str]:
    """Entry -> its judge, of those shown and of the others that count as variants of theirs.

    An anonymous entry is a judge of its own: if it took another one's place here, it would tell whose it is.
    """
    made = [[_variant(one, unnamed) for one in group] for group in (shown, others)]
    return counted_variants(made[0], made[1])


def _variant(origin: Origin, unnamed: Collection[str]) -> Variant:
    named = origin.id not in unnamed
    return Variant(
        origin.id, origin.owner, origin.model, origin.organisation or "", origin.base_model or "", named=named
    )


def identities(judges: Mapping[str, str], shown: Collection[str]) -> dict[str, str]:
    """Map each entry to its text in the digest: its id, its judge, and whether it is on the board."""
    return {name: f"{name} {judge} {int(name in shown)}" for name, judge in judges.items()}


def inputs(revision: PairwiseRevision, scorer_version: str, identities: Sequence[str]) -> str:
    """Return a digest of all that relations depend on: votes and labels never change, so ids and digests represent
    them."""
    return hashlib.sha256(orjson.dumps([VERSION, scorer_version, *revision, identities])).hexdigest()


def summaries(session: Session, benchmark: str, wanted: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """revision -> inputs in, revision -> summary out, of those that are computed already."""
    result = stored_relations.summaries(session, benchmark, wanted)
    return {revision: orjson.loads(result[digest]) for revision, digest in wanted.items() if digest in result}


def _tasks(session: Session, scorer: Scorer, pointer: ActiveBoard, memory: RelationsMemory) -> list[_Task]:
    board = (pointer.benchmark, pointer.label_revision, pointer.scorer_version)
    shown, others = entries_on_board(session, *board), entries_off_board(session, *board)
    unnamed = set(session.scalars(visibility.anonymous_ids()))
    judges = judges_of(shown, others, unnamed)
    known = identities(judges, {entry.id for entry in shown})
    counted = [entry for entry in (*shown, *others) if entry.id in judges]
    tasks, known_revisions = [], revisions(session, scorer, pointer.benchmark)
    spec = scorer.table.spec
    not_shown = kept_back(session, pointer, known_revisions, spec)
    for revision in known_revisions:
        if revision.name not in scorer.labels:
            continue
        scored = _scored(session, pointer, revision.name)
        scored -= {name for name, under in not_shown.items() if revision.name in under}
        under = [entry for entry in counted if entry.id in scored]
        digest = inputs(revision, pointer.scorer_version, [known[name] for name in known if name in scored])
        same = (StoredRelations.benchmark == pointer.benchmark, StoredRelations.inputs == digest)
        done = select(StoredRelations.inputs).where(*same)
        if any(entry.id in scored for entry in shown) and session.execute(done).first() is None:
            ids = [entry.id for entry in under]
            rules = (revision.name, pointer.scorer_version)
            counts = memory.counts(
                rules, ids, partial(stored_counts, session, spec=spec, revision=rules[0], version=rules[1])
            )
            # The choice of a judge's best version is visible, so it depends only on scores as they are shown.
            counts = redact_counts(counts, revision.level, spec)
            task = _task(revision, digest, _Candidates(under, counts, judges, {one.id for one in shown}), spec)
            tasks.append(replace(task, named=task.named - unnamed))
    return tasks


def _scored(session: Session, pointer: ActiveBoard, revision: str) -> set[str]:
    rules = (Score.label_revision == revision, Score.scorer_version == pointer.scorer_version)
    return set(session.scalars(select(Score.submission_id).where(Score.benchmark == pointer.benchmark, *rules)))


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Scored entries and their counts, the judge of each, and which are shown."""

    entries: Sequence[BoardEntry]
    counts: npt.NDArray[np.int64]
    judges: Mapping[str, str]
    shown: Collection[str]


def _task(revision: PairwiseRevision, digest: str, among: _Candidates, spec: BenchmarkSpec) -> _Task:
    """Return the statistics to compute, as if the owners of all entries were named."""
    judges, counts = among.judges, among.counts
    candidates = [JudgeCandidate(entry.id, judges[entry.id], entry.created_at) for entry in among.entries]
    on_board = [index for index, entry in enumerate(among.entries) if entry.id in among.shown]
    best = comparable([candidates[index] for index in on_board], counts[on_board], spec)
    entries = [candidates[on_board[index]].id for index in best.chosen]
    alone = [candidate._replace(judge=candidate.id) for candidate in candidates]
    ranked = comparable(alone, counts, spec, at_most=len(candidates)).chosen
    tried = members({candidates[index].id: candidates[index].judge for index in ranked})
    variants = {name: tried[judges[name]] for name in entries}
    return _Task(revision, digest, entries, best.judges, variants, frozenset(entries))


def _compute(database: Database, scorer: Scorer, tasks: Sequence[_Task], memory: RelationsMemory) -> list[NewRelations]:
    """Outside any transaction but for the reading of votes."""
    wanted = {name for task in tasks for names in task.variants.values() for name in names[:VARIANTS_AT_MOST]}
    wanted |= {name for task in tasks for name in task.entries}
    verdicts = memory.majorities(wanted, partial(_verdicts, database, items=len(scorer.table)))
    computed = []
    for task in tasks:
        entries, variants = _joined(task, verdicts, memory.selections)
        labels, public = scorer.labels[task.revision.name], task.revision.public
        rows = np.stack([verdicts[name] for name in entries])
        related = compare_all(entries, rows, labels, scorer.table, public=public, variants=variants)
        packed = pack(related.relations)
        fixed = (
            {name: one.to_json() for name, one in constant_judge_tallies(labels, scorer.table).items()}
            if public
            else {}
        )
        judges = task.judges - len(task.entries) + len(entries)
        summary = {"id": packed.id, "judges": judges, "fixed": fixed, **related.summary}
        stored = orjson.dumps(summary).decode()
        computed.append(NewRelations(task.inputs, packed.id, task.revision.name, stored, packed.body))
    return computed


def _joined(
    task: _Task, verdicts: Mapping[str, Matrix], known: dict[bytes, Selection]
) -> tuple[list[str], dict[str, Variants]]:
    """Return the best entry of each judge, when entries whose votes are alike are of one; and the variants it was
    best of."""
    alike = alike_pairs(task.entries, np.stack([verdicts[name] for name in task.entries]))
    origins = [Variant(name, "", name, named=name in task.named) for name in task.entries]
    judges = members(group_variants(origins, alike))  # of each the first, which is its best
    result = {}
    for best, joined in judges.items():
        tried = [name for one in joined for name in task.variants[one]]
        near = [name for name in tried if name != best and name in verdicts][: VARIANTS_AT_MOST - 1]
        if len(tried) > 1:
            result[best] = Variants(len(tried), np.stack([verdicts[name] for name in near]), known)
    return list(judges), result


def _verdicts(database: Database, names: Collection[str], items: int) -> dict[str, Matrix]:
    """Majority verdicts (items,) by entry; votes are read some at a time, for they take five times the space."""
    ordered = sorted(names)
    result: dict[str, Matrix] = {}
    for start in range(0, len(ordered), CHUNK):
        wanted = select(Submission.id, Submission.votes, Submission.votes_per_item).where(
            Submission.id.in_(ordered[start : start + CHUNK])
        )
        with database.read() as session:
            rows = session.execute(wanted.order_by(Submission.votes_per_item)).all()
        for k, group in groupby(rows, key=lambda row: row.votes_per_item):
            same = list(group)
            matrix = majority(unpack_many([row.votes for row in same], items, k))
            result.update(zip((row.id for row in same), matrix, strict=True))
    return result


def _record(database: Database, pointer: ActiveBoard, through: int, computed: Sequence[NewRelations]) -> int:
    """Store nothing where the board has changed or another worker was faster meanwhile."""
    with database.read() as session:
        prepared = [stored_relations.prepare(session, pointer.benchmark, row) for row in computed]
    with database.write() as session:
        label_sets.lock_board(session, pointer.benchmark)  # one at a time
        ours = BoardState.benchmark == pointer.benchmark
        related = session.scalars(select(BoardState.related_seq).where(ours)).one()
        if (
            label_sets.current(session, pointer.benchmark) != pointer
            or related >= through
            or needs_snapshot(session, through)
        ):
            return 0
        for columns in prepared:
            stored_relations.store(session, columns)
        session.execute(update(BoardState).where(ours).values(related_seq=through))
        if computed:
            summaries = {row.label_revision: row_commitments.sha256(row.summary) for row in computed}
            names = {row.label_revision: row.id for row in computed}
            facts = {"relations": names, "summaries_sha256": summaries}
            audit.append(session, COMPUTED, facts | audit.scope(session, pointer.benchmark))
    for row in computed:
        log.info(COMPUTED, extra={"data": {"label_revision": row.label_revision, "relations": row.id}})
    return len(computed)
