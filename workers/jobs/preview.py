"""Preview of the board under another label revision; only the comparison is stored.

The result holds counts and entries. It holds labels of single pairs only where both sets are public.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from storage.annotation import annotation_projects
from storage.annotation.pair_decisions import decided_pairs
from storage.database import Database
from storage.integrity import stored_votes
from storage.jobs import tasks
from storage.jobs.tasks import TaskKind
from storage.labels import label_levels, label_sets
from storage.labels.label_sets import ActiveBoard
from vlrb.arrays import IntArray
from vlrb.benchmarks import board_rules
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.label_files import LabelsError
from vlrb.benchmarks.labels import LabelSet
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _
from vlrb.disclosure import PUBLIC, readers_words
from vlrb.label_quality.label_diff import diff_labels, label_changes
from vlrb.scoring import tally_many
from vlrb.statistics.pairwise import RankRange, rank_ranges_of
from workers.board_view import BoardView, PairwiseRevision, read_board
from workers.jobs.pairwise_statistics import best_first, compare_under
from workers.queries import BoardEntry, RankedBoard, entries_on_board, rank_both, stored_counts
from workers.scorer import Scorer

_DRAFTS = 200  # tasks that are looked through
ReportProgress = Callable[[int, int], None]  # entries done, entries in all


def preview(
    database: Database,
    scorer: Scorer,
    *,
    labels: LabelSet,
    report: ReportProgress,
    rules: str | None = None,
) -> dict[str, Any]:
    """Return what applying `labels`, and `rules` where they are given, would change. Raises LabelsError where the
    board's own labels are not known here."""
    with database.read() as session:
        board = label_sets.current(session, scorer.benchmark)
        if board is None or board.label_revision not in scorer.labels:
            raise LabelsError(_("there is no board yet, or this worker does not have the labels that it shows"))
        sides = scorer.under(board.rules), scorer.under(board.rules if rules is None else rules)
        spec_before, spec = (side.table.spec for side in sides)
        where = {"revision": board.label_revision, "version": board.scorer_version}
        entries = entries_on_board(session, spec.id, **where)
        view = read_board(session, board)
        names = [entry.id for entry in view.entries]  # those, and what counts as a variant of theirs
        stored = dict(zip(names, stored_counts(session, names, spec=spec, **where), strict=True))
        levels = label_levels.levels(session, spec.id)
    # The rules of another scorer version are not here any more, so its paired tests cannot be made again.
    same_version = board.scorer_version == scorer.version
    old = scorer.labels[board.label_revision]
    result: dict[str, Any] = _head(board, sides[1], labels=labels, old=old)
    level_before, level_after = (levels.get(revision, PUBLIC) for revision in (board.label_revision, labels.revision))
    result["disclosure"] = {
        "from": level_before,
        "to": level_after,
        "readers": readers_words(level_before, level_after),
    }
    # Labels of pairs leave the worker only where both sets are public anyway.
    if level_before == level_after == PUBLIC:
        answers = _answers_behind(database, scorer, revision=labels.revision)
        changes = label_changes(old, labels, table=scorer.table)
        result["pairs"] = [{**asdict(change), "answers": answers.get(change.item, {})} for change in changes]
    if not entries:
        return {**result, "summary": _summary([], spec=spec), "entries": []}
    counts = stored, _counted(database, scorer.table, names=names, labels=labels, report=report)
    stacked = [np.stack([side[entry.id] for entry in entries]) for side in counts]
    before, after = rank_both(entries, stacked, specs=(spec_before, spec))
    rows = [_row(entry, index, boards=(before, after), spec=spec) for index, entry in enumerate(entries)]
    leveled = [
        PairwiseRevision(one.revision, one.digest, level=level)
        for one, level in ((old, level_before), (labels, level_after))
    ]
    both = zip((before, after), sides, leveled, counts, strict=True)
    for ranked, side, revision, counted in both if same_version else ():
        knowing = replace(side, labels={**side.labels, labels.revision: labels})
        ranks = {entry.id: rank for entry, rank in zip(entries, ranked.ranks, strict=True) if rank is not None}
        found = _rank_ranges_under(database, knowing, view=view, revision=revision, counts=counted)
        ranges = ranges_in_ranks(found, ranks)
        for row in rows:
            row["rank_range"].append(ranges.get(row["id"]))
    return {**result, "summary": _summary(rows, spec=spec), "entries": [rows[index] for index in after.order]}


def _answers_behind(database: Database, scorer: Scorer, *, revision: str) -> dict[str, dict[str, int]]:
    """Return item key -> verdict -> number of answers, where people's answers made the draft."""
    with database.read() as session:
        drafted = tasks.latest(session, _DRAFTS, kind=TaskKind.DRAFT, benchmark=scorer.benchmark)
        numbers = [task.params["project"] for task in drafted if task.subject == revision and "project" in task.params]
        project = numbers and annotation_projects.project(session, scorer.benchmark, project_id=numbers[0])
        pairs = decided_pairs(session, project, tag_of=scorer.table.spec.tag_of) if project else []
    return {pair.item: pair.counts() for pair in pairs}


def _head(board: ActiveBoard, scorer: Scorer, *, labels: LabelSet, old: LabelSet) -> dict[str, Any]:
    changed = board_rules.changes(board.rules or scorer.rules, scorer.rules)
    return {
        "from": {"label_revision": board.label_revision, "scorer_version": board.scorer_version},
        "to": {"label_revision": labels.revision, "scorer_version": scorer.version},
        "labels": diff_labels(old, labels, table=scorer.table),
        "columns": list(scorer.table.spec.headline_first),
        **({"rules": dict(zip(("before", "after"), changed, strict=True))} if any(changed) else {}),
    }


def _row(
    entry: BoardEntry, index: int, *, boards: tuple[RankedBoard, RankedBoard], spec: BenchmarkSpec
) -> dict[str, Any]:
    before, after = boards
    pairs = zip(spec.headline_first, before.shares[index].tolist(), after.shares[index].tolist(), strict=True)
    return {
        "id": entry.id,
        "model": entry.model,
        "version": entry.version,
        "rank": [before.ranks[index], after.ranks[index]],
        "rank_range": [],
        **{name: [_number(old), _number(new)] for name, old, new in pairs},
    }


def ranges_in_ranks(ranges: Mapping[str, RankRange], ranks: Mapping[str, int]) -> dict[str, list[int]]:
    """Return entry -> range in ranks of entries, of which a judge may have several; `ranges` count judges.

    Only the best entry of each judge has one.
    """
    places = sorted(ranks[name] for name in ranges if name in ranks)
    return {
        name: [places[there.best - 1], places[there.worst - 1]]
        for name, there in ranges.items()
        if there.worst <= len(places)
    }


def _number(share: float) -> float | None:
    return None if share != share else share


def _summary(rows: Sequence[Mapping[str, Any]], *, spec: BenchmarkSpec) -> dict[str, Any]:
    deltas = [abs(new - old) for row in rows for old, new in (row[spec.headline],) if None not in (old, new)]
    return {
        "entries": len(rows),
        "changed": sum(any(row[name][0] != row[name][1] for name in spec.headline_first) for row in rows),
        "moved": sum(row["rank"][0] != row["rank"][1] for row in rows),
        "largest_change": max(deltas, default=None),
    }


def _rank_ranges_under(
    database: Database, scorer: Scorer, *, view: BoardView, revision: PairwiseRevision, counts: Mapping[str, IntArray]
) -> Mapping[str, RankRange]:
    """Return entry -> rank range of the default board; only the best entry of each judge has one."""
    spec = scorer.table.spec
    if not any(entry.compared for entry in view.entries):
        return {}
    stacked = np.stack([counts[entry.id] for entry in view.entries])
    ranked = best_first(view.entries, stacked, spec=spec, level=revision.level)
    compared = compare_under(database, scorer, revision=revision, board=view, ranked=ranked)
    return rank_ranges_of(compared.summary, spec.official, order=spec.headline)


def _counted(
    database: Database, table: ItemTable, *, names: Collection[str], labels: LabelSet, report: ReportProgress
) -> dict[str, IntArray]:
    """Return entry -> CELLS x FIELDS under a label set."""
    result: dict[str, IntArray] = {}
    report(0, len(names))
    for same, matrix in stored_votes.matrices(database, names, items=len(table)):
        counted = tally_many(matrix, labels, table=table)
        result |= {entry.id: pair_counts.counts for entry, pair_counts in zip(same, counted, strict=True)}
        report(len(result), len(names))
    return result
