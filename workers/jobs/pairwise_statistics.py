"""Pairwise statistics of all judges: paired counts, rank ranges, agreement, difficulty.

It takes seconds where a snapshot takes a moment, so scores are published first; relations follow with the next
snapshot. They are found again by a digest of what they are computed from, so a snapshot only ever carries those of
exactly its own entries, and nothing is computed twice.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import orjson
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from storage.database import Database
from storage.integrity import audit, integrity_alarms, stored_votes
from storage.integrity.integrity_alarms import RecordChanged
from storage.integrity.integrity_check import Mismatch
from storage.labels import label_sets
from storage.labels.label_sets import ActiveBoard
from storage.models.core import BoardState, StoredRelations
from vlrb.arrays import IntArray
from vlrb.baselines import constant_judge_tallies
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.commitments import sha256
from vlrb.common.messages import _
from vlrb.disclosure import redact_counts
from vlrb.protocols import ranking_keys
from vlrb.scoring import FIELDS, outcomes
from vlrb.statistics.pairwise import ComparableJudges, Variants, comparable, compare_all, pack
from vlrb.statistics.variants import Variant, alike_pairs, group_variants, members
from vlrb.votes import Matrix, condensed, majority
from workers.board_entries import ScoredEntry
from workers.board_view import BoardView, PairwiseRevision, needs_snapshot, read_board
from workers.queries import stored_counts
from workers.scorer import Scorer

COMPUTED = "relations.computed"
CHUNK = 100
VARIANTS_AT_MOST = 50  # of a judge whose votes are looked at; others count all the same

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Task:
    """Relations to be computed: under which revision, from what, between whom."""

    revision: PairwiseRevision
    inputs: str
    entries: list[str]  # to compare, best first
    judges: Mapping[str, str]  # of these and of all that count as their variants, best first; some are not on the board
    named: frozenset[str]  # entries whose owner is named


class JudgeComparison(NamedTuple):
    """Result of a comparison: what the snapshot says of it, and the arrays."""

    summary: dict[str, Any]
    body: bytes


def compute_if_changed(database: Database, scorer: Scorer) -> int:
    """Compute the relations that the current snapshot lacks; returns how many were stored.

    The event it appends makes the next snapshot. While scores are still unpublished it waits: they come first, and
    would make its work worthless.
    """
    with database.read() as session:
        pointer = label_sets.current(session, scorer.benchmark)
        if pointer is None or pointer.scorer_version != scorer.version:
            return 0  # what is right is a matter of the scorer version's rules
        scorer = scorer.under(pointer.rules)
        seqs = select(BoardState.shown_seq, BoardState.related_seq).where(BoardState.benchmark == pointer.benchmark)
        board = session.execute(seqs).one()
        if board.related_seq >= board.shown_seq or needs_snapshot(session, board.shown_seq):
            return 0
        tasks = _tasks(session, scorer, pointer=pointer)
    try:
        computed = _compute(database, scorer, tasks=tasks)
    except RecordChanged:
        return 0  # an alarm; without relations, the board shows no ranges
    return _record(database, pointer, through=board.shown_seq, computed=computed)


def summaries(session: Session, benchmark: str, *, wanted: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """revision -> inputs in, revision -> summary out, of those that are computed already."""
    ours = (StoredRelations.benchmark == benchmark, StoredRelations.inputs.in_(wanted.values()))
    found = dict(session.execute(select(StoredRelations.inputs, StoredRelations.summary).where(*ours)).all())
    return {revision: orjson.loads(found[digest]) for revision, digest in wanted.items() if digest in found}


def _tasks(session: Session, scorer: Scorer, *, pointer: ActiveBoard) -> list[_Task]:
    board = read_board(session, pointer)
    tasks = []
    for revision in board.revisions:
        if revision.name not in scorer.labels:
            continue
        entries = [entry for entry in board.entries if revision.name in entry.revisions]
        same = (StoredRelations.benchmark == pointer.benchmark, StoredRelations.inputs == board.inputs[revision.name])
        done = select(StoredRelations.inputs).where(*same)
        if any(entry.compared for entry in entries) and session.execute(done).first() is None:
            counts = stored_counts(
                session,
                [entry.id for entry in entries],
                spec=scorer.table.spec,
                revision=revision.name,
                version=pointer.scorer_version,
            )
            ranked = best_first(entries, counts, spec=scorer.table.spec, level=revision.level)
            tasks.append(_task(revision, board, ranked=ranked))
    return tasks


def best_first(entries: Sequence[ScoredEntry], counts: IntArray, *, spec: BenchmarkSpec, level: str) -> list[str]:
    """Return entries best first. The choice of a judge's best version is visible, so it depends only on scores as they
    are shown. ``counts``: entries x CELLS x FIELDS."""
    keys = ranking_keys(redact_counts(counts, level, spec=spec), spec)
    ordered = sorted(zip(keys, entries, strict=True), key=lambda pair: (*pair[0], pair[1].created_at, pair[1].id))
    return [entry.id for _, entry in ordered]


def compare_under(
    database: Database, scorer: Scorer, *, revision: PairwiseRevision, board: BoardView, ranked: Sequence[str]
) -> JudgeComparison:
    """Return the comparison of a board's judges under a revision, which the board need not show. Stores nothing.

    ``ranked``: ids of its entries, best first under that revision.
    """
    return _compare(database, scorer, task=_task(revision, board, ranked=ranked))


def _task(revision: PairwiseRevision, board: BoardView, *, ranked: Sequence[str]) -> _Task:
    """Return the statistics to compute. ``ranked``: entries under the revision, best first."""
    compared_ids = {entry.id for entry in board.entries if entry.compared}
    compared = {board.judges[name] for name in compared_ids}
    return _Task(
        revision,
        board.inputs.get(revision.name, ""),
        entries=[name for name in ranked if name in compared_ids],
        judges={name: judge for name in ranked if (judge := board.judges[name]) in compared},
        named=frozenset(entry.id for entry in board.entries if entry.variant.named),
    )


def _compute(database: Database, scorer: Scorer, *, tasks: Sequence[_Task]) -> list[StoredRelations]:
    """Outside any transaction but for the reading of votes."""
    computed = []
    for task in tasks:
        related = _compare(database, scorer, task=task)
        row = StoredRelations(benchmark=scorer.benchmark, inputs=task.inputs, body=related.body)
        row.label_revision, row.id = task.revision.name, hashlib.sha256(related.body).hexdigest()
        summary = {"id": row.id, "fixed": _fixed(scorer, task.revision), **related.summary}
        row.summary = orjson.dumps(summary).decode()
        computed.append(row)
    return computed


def _fixed(scorer: Scorer, revision: PairwiseRevision) -> dict[str, Any]:
    """Return the tallies of constant judges, where labels are public."""
    if not revision.public:
        return {}
    tallies = constant_judge_tallies(scorer.labels[revision.name], scorer.table)
    return {name: tally.to_json() for name, tally in tallies.items()}


def _compare(database: Database, scorer: Scorer, *, task: _Task) -> JudgeComparison:
    tried = members(task.judges).values()
    wanted = {*task.entries, *(name for names in tried for name in names[:VARIANTS_AT_MOST])}
    votes = _votes(database, wanted, items=len(scorer.table))
    best, variants = _joined(task, votes)
    labels, public = scorer.labels[task.revision.name], task.revision.public
    rows = np.stack([votes[name] for name in best.chosen])
    if task.inputs:  # the board shows the revision, so that all have scores under it
        _check_scores(database, scorer, revision=labels.revision, names=best.chosen, votes=rows)
    related = compare_all(best.chosen, rows, labels=labels, table=scorer.table, public=public, variants=variants)
    summary = {"judges": best.judges, "versions": best.version_of, **related.summary}
    return JudgeComparison(summary, pack(related.relations))


def _check_scores(database: Database, scorer: Scorer, *, revision: str, names: Sequence[str], votes: Matrix) -> None:
    """Refuse judges whose stored scores are not the sums of their outcomes, so that the differences of relations are
    those of scores. Raises RecordChanged."""
    spec = scorer.table.spec
    with database.read() as session:
        counts = stored_counts(session, names, spec=spec, revision=revision, version=scorer.version)
    agree, half = (counts[:, : len(spec.sources), FIELDS.index(name)].sum(axis=1) for name in ("agree", "half_right"))
    sums = outcomes(votes, scorer.labels[revision]).sum(axis=1)
    for name, right, score in zip(names, sums, agree + half / 2, strict=True):
        if right != score:
            why = _("the tally under label revision {revision} is not that of the votes", revision=revision)
            integrity_alarms.refuse(database, Mismatch("scores", name, event=None, why=why), subject=name)


def _joined(task: _Task, votes: Mapping[str, Matrix]) -> tuple[ComparableJudges, dict[str, Variants]]:
    """Return the best entry of each judge, and the variants it was best of. Entries whose votes are alike are of one
    judge, whichever of its versions they are like."""
    alike = alike_pairs(task.entries, majority(np.stack([votes[name] for name in task.entries])))
    origins = [
        Variant(name, "", model=name, judge=judge, named=name in task.named) for name, judge in task.judges.items()
    ]
    judges = group_variants(origins, alike)
    best, tried = comparable(task.entries, judges), members(judges)
    result = {}
    for name in best.chosen:
        others = [other for other in tried[judges[name]] if other != name]
        near = [other for other in others if other in votes][: VARIANTS_AT_MOST - 1]
        if others:
            result[name] = Variants(1 + len(others), np.stack([votes[other] for other in near]))
    return best, result


def _votes(database: Database, names: Collection[str], *, items: int) -> dict[str, Matrix]:
    """Condensed votes (items, 2) by entry; votes are read some at a time, for they may take eight times the space."""
    result: dict[str, Matrix] = {}
    for same, matrix in stored_votes.matrices(database, names, items=items, page=CHUNK):
        result.update(zip((entry.id for entry in same), condensed(matrix), strict=True))
    return result


def _record(database: Database, pointer: ActiveBoard, *, through: int, computed: Sequence[StoredRelations]) -> int:
    """Store nothing where the board has changed or another worker was faster meanwhile."""
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
        session.add_all(computed)
        session.execute(update(BoardState).where(ours).values(related_seq=through))
        if computed:
            summaries = {row.label_revision: sha256(row.summary) for row in computed}
            names = {row.label_revision: row.id for row in computed}
            facts = {"relations": names, "summaries_sha256": summaries}
            audit.append(session, COMPUTED, data=facts | {"benchmark": pointer.benchmark})
    for row in computed:
        log.info(COMPUTED, extra={"data": {"label_revision": row.label_revision, "relations": row.id}})
    return len(computed)
