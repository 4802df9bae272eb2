"""Everything about judges together: paired counts, rank ranges, agreement, difficulty. See benchmark/relations.py.

It takes seconds where a snapshot takes a moment, so scores are published first; relations follow with the next
snapshot. They are found again by a digest of what they are computed from, so a snapshot only ever carries those of
exactly its own entries, and nothing is computed twice.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import orjson
from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from benchmark.baselines import fixed_tallies
from benchmark.behaviour import majority
from benchmark.relations import VERSION, Candidate, comparable, pack, relate
from benchmark.votes import Matrix, unpack_many
from storage import audit, label_imports, label_sets, ladder, visibility
from storage.database import Database
from storage.label_sets import Pointer
from storage.tables import Board, LabelSet, Score, StoredRelations, Submission
from workers.boards import entries_on_board, stored_counts
from workers.changes import changed_since
from workers.scorer import Scorer

COMPUTED = "relations.computed"
CHUNK = 100

log = logging.getLogger(__name__)


class Revision(NamedTuple):
    """A label revision that the public may know of, and whether what depends on its single labels may be shown."""

    name: str
    digest: str
    public: bool


@dataclass(frozen=True, slots=True)
class _Task:
    """Relations to be computed: under which revision, from what, between whom."""

    revision: Revision
    inputs: str
    entries: list[str]  # best first
    judges: int  # how many there were to choose from


@dataclass(frozen=True, slots=True)
class _Computed:
    """A row to be stored."""

    id: str
    inputs: str
    label_revision: str
    summary: str
    body: bytes


def relate_if_changed(database: Database, scorer: Scorer) -> int:
    """Computes the relations that the current snapshot lacks; returns how many were stored.

    The event it appends makes the next snapshot. While scores are still unpublished it waits: they come first, and
    would make its work worthless.
    """
    with database.read() as session:
        pointer = label_sets.current(session)
        if pointer is None or pointer.benchmark != scorer.table.benchmark or pointer.scorer_version != scorer.version:
            return 0  # what is right is a matter of the scorer version's rules
        board = session.execute(select(Board.shown_seq, Board.related_seq)).one()
        if board.related_seq >= board.shown_seq or changed_since(session, board.shown_seq):
            return 0
        tasks = _tasks(session, scorer, pointer)
    computed = _compute(database, scorer, tasks)
    return _record(database, pointer, board.shown_seq, computed)


def revisions(session: Session, scorer: Scorer, benchmark: str) -> list[Revision]:
    """All but the drafts. Imported labels are public where maintainers said so, or once they are retired."""
    rows = session.execute(select(LabelSet.revision, LabelSet.digest).where(LabelSet.benchmark == benchmark))
    hidden = scorer.hidden | label_imports.hidden(session)
    drafts = label_imports.drafts(session)
    known = [Revision(name, digest, name not in hidden) for name, digest in rows if name not in drafts]
    return sorted(known)


def kept_back(session: Session, revisions: Sequence[Revision], scorer_version: str) -> dict[str, frozenset[str]]:
    """Entry -> label revisions under which no number of it is shown (benchmark/ladder.py)."""
    hidden = {revision.name: "hidden" for revision in revisions if not revision.public}
    found: dict[str, frozenset[str]] = {}
    for entry, revision, version in ladder.withheld(session, hidden):
        if version == scorer_version:
            found[entry] = found.get(entry, frozenset()) | {revision}
    return found


def judge(entry_id: str, owner: str, model: str, unnamed: Collection[str]) -> tuple[str, str]:
    """Whose judge an entry is of: the best of all that share it is compared with others.

    An unnamed entry is a judge of its own: if it took another one's place here, it would tell whose it is.
    """
    return ("", entry_id) if entry_id in unnamed else (owner, model)


def identity(entry_id: str, owner: str, model: str, unnamed: Collection[str]) -> str:
    """An entry in the digest: which votes, and whose judge they are of."""
    owner, model = judge(entry_id, owner, model, unnamed)
    return f"{entry_id} {len(owner)} {owner} {model}"


def inputs(revision: Revision, scorer_version: str, identities: Sequence[str]) -> str:
    """A digest of all that relations depend on: votes and labels never change, so ids and digests stand for them."""
    return hashlib.sha256(orjson.dumps([VERSION, scorer_version, *revision, identities])).hexdigest()


def summaries(session: Session, wanted: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """revision -> inputs in, revision -> summary out, of those that are computed already."""
    rows = session.execute(
        select(StoredRelations.inputs, StoredRelations.summary).where(StoredRelations.inputs.in_(wanted.values()))
    )
    found = {row.inputs: row.summary for row in rows}
    return {revision: orjson.loads(found[digest]) for revision, digest in wanted.items() if digest in found}


def _tasks(session: Session, scorer: Scorer, pointer: Pointer) -> list[_Task]:
    entries = entries_on_board(session, pointer.benchmark, pointer.label_revision, pointer.scorer_version)
    unnamed = set(session.scalars(visibility.unnamed()))
    tasks, known_revisions = [], revisions(session, scorer, pointer.benchmark)
    not_shown = kept_back(session, known_revisions, pointer.scorer_version)
    for revision in known_revisions:
        if revision.name not in scorer.labels:
            continue
        scored = set(
            session.scalars(
                select(Score.submission_id).where(
                    Score.label_revision == revision.name, Score.scorer_version == pointer.scorer_version
                )
            )
        )
        under = [entry for entry in entries if entry.id in scored and revision.name not in not_shown.get(entry.id, ())]
        identities = [identity(entry.id, entry.owner, entry.model, unnamed) for entry in under]
        digest = inputs(revision, pointer.scorer_version, identities)
        known = select(StoredRelations.inputs).where(StoredRelations.inputs == digest)
        if under and session.execute(known).first() is None:
            counts = stored_counts(session, [entry.id for entry in under], revision.name, pointer.scorer_version)
            candidates = [
                Candidate(entry.id, judge(entry.id, entry.owner, entry.model, unnamed), entry.created_at)
                for entry in under
            ]
            best = comparable(candidates, counts)
            tasks.append(_Task(revision, digest, [candidates[index].id for index in best.chosen], best.judges))
    return tasks


def _compute(database: Database, scorer: Scorer, tasks: Sequence[_Task]) -> list[_Computed]:
    """Outside any transaction but for the reading of votes."""
    verdicts = _verdicts(database, {name for task in tasks for name in task.entries}, len(scorer.table))
    computed = []
    for task in tasks:
        rows = np.stack([verdicts[name] for name in task.entries])
        labels, public = scorer.labels[task.revision.name], task.revision.public
        related = relate(task.entries, rows, labels, scorer.table, public=public)
        packed = pack(related.relations)
        fixed = {name: one.to_json() for name, one in fixed_tallies(labels, scorer.table).items()} if public else {}
        summary = {"id": packed.id, "judges": task.judges, "fixed": fixed, **related.summary}
        stored = orjson.dumps(summary).decode()
        computed.append(_Computed(packed.id, task.inputs, task.revision.name, stored, packed.body))
    return computed


def _verdicts(database: Database, names: set[str], items: int) -> dict[str, Matrix]:
    """Majority verdicts (items,) by entry; votes are read some at a time, for they take five times the space."""
    ordered = sorted(names)
    found: dict[str, Matrix] = {}
    for start in range(0, len(ordered), CHUNK):
        wanted = select(Submission.id, Submission.votes, Submission.votes_per_item).where(
            Submission.id.in_(ordered[start : start + CHUNK])
        )
        with database.read() as session:
            rows = session.execute(wanted.order_by(Submission.votes_per_item)).all()
        for k, group in groupby(rows, key=lambda row: row.votes_per_item):
            same = list(group)
            matrix = majority(unpack_many([row.votes for row in same], items, k))
            found.update(zip((row.id for row in same), matrix, strict=True))
    return found


def _record(database: Database, pointer: Pointer, through: int, computed: Sequence[_Computed]) -> int:
    """Stores nothing where the board has changed or another worker was faster meanwhile."""
    with database.write() as session:
        related = session.scalars(select(Board.related_seq).with_for_update()).one()  # one at a time
        if label_sets.current(session) != pointer or related >= through or changed_since(session, through):
            return 0
        for row in computed:
            session.execute(insert(StoredRelations).values({name: getattr(row, name) for name in row.__slots__}))
        session.execute(update(Board).where(Board.id == 1).values(related_seq=through))
        if computed:
            audit.append(session, COMPUTED, {"relations": {row.label_revision: row.id for row in computed}})
    for row in computed:
        log.info(COMPUTED, extra={"data": {"label_revision": row.label_revision, "relations": row.id}})
    return len(computed)
