"""Rank ranges of the board under labels that it does not show yet, by the same tests as on the board."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from storage.database import Database
from storage.integrity import stored_votes
from storage.labels.label_sets import ActiveBoard
from vlrb.arrays import IntArray
from vlrb.benchmarks.labels import LabelSet
from vlrb.disclosure import redact_counts
from vlrb.scoring import tally_many
from vlrb.statistics.pairwise import RankRange, rank_ranges_of, ranking_keys
from vlrb.votes import unpack_many
from workers.board_index import BoardIndex, BoardView, PairwiseRevision
from workers.jobs.pairwise_statistics import CHUNK, compare_under
from workers.jobs.relations_memory import RelationsMemory
from workers.scorer import Scorer


@dataclass(frozen=True, slots=True)
class LeveledLabels:
    """A label set, and what may be shown of scores under it (vlrb/disclosure.py)."""

    labels: LabelSet
    level: str

    @property
    def revision(self) -> PairwiseRevision:
        """Return what the comparison of judges needs to know of it."""
        return PairwiseRevision(self.labels.revision, self.labels.digest, level=self.level)


def board_view(database: Database, scorer: Scorer, *, board: ActiveBoard) -> BoardView:
    """Return the entries of the board, with those off it that count as variants of a judge."""
    with database.read() as session:
        return BoardIndex().view(session, scorer, pointer=board)


def rank_ranges_under(
    database: Database, scorer: Scorer, *, view: BoardView, under: LeveledLabels
) -> Mapping[str, RankRange]:
    """Return entry -> rank range of the default board; only the best entry of each judge has one."""
    counts = _counts(database, scorer, names=[entry.id for entry in view.entries], labels=under.labels)
    names, spec = list(counts), scorer.table.spec
    if not any(entry.compared for entry in view.entries):
        return {}
    stacked = redact_counts(np.stack([counts[name] for name in names]), under.level, spec=spec)
    keys = dict(zip(names, ranking_keys(stacked, spec), strict=True))
    ages = {entry.id: entry.order.created_at for entry in view.entries}
    ranked = sorted(names, key=lambda name: (*keys[name], ages[name], name))
    knowing = replace(scorer, labels={**scorer.labels, under.labels.revision: under.labels})
    compared = compare_under(database, knowing, revision=under.revision, board=(view, ranked), memory=RelationsMemory())
    return rank_ranges_of(compared.summary, spec.official, order=spec.headline)


def _counts(database: Database, scorer: Scorer, *, names: Collection[str], labels: LabelSet) -> dict[str, IntArray]:
    """Return entry -> CELLS x FIELDS under a label set."""
    ordered = sorted(names)
    result: dict[str, IntArray] = {}
    for start in range(0, len(ordered), CHUNK):
        entries = stored_votes.read(database, ordered[start : start + CHUNK])
        for k, group in groupby(entries, key=lambda entry: entry.k):
            same = list(group)
            matrix = unpack_many([entry.packed for entry in same], len(scorer.table), k=k)
            counted = tally_many(matrix, labels, table=scorer.table)
            result |= {entry.id: pair_counts.counts for entry, pair_counts in zip(same, counted, strict=True)}
    return result
