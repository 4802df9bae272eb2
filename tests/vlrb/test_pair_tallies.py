"""Tallies of labelled pairs give, under every protocol, what a slow count pair by pair and group by group gives."""

from __future__ import annotations

import numpy as np
import pytest

from tests.factories.oracles.pair_oracle import Verdicts, groups_of, labels_of, score_protocol
from tests.pair_files import mm_rlhf_items, mmrb_items
from vlrb.baselines import board_majority
from vlrb.benchmarks.pairs import PairSet, label_set, pair_table, read_pairs
from vlrb.benchmarks.spec import TIE
from vlrb.benchmarks.spec_file import load_spec
from vlrb.protocols import category_counts, group_sums, protocols
from vlrb.scorecard import score_row
from vlrb.scoring import Tally, tally
from vlrb.votes import OTHER, PREFERRED, UNDECIDED, Votes, resolved


def pairs_of(benchmark: str) -> PairSet:
    items = mm_rlhf_items(seed=5) if benchmark == "mm-rlhf-rewardbench" else mmrb_items(120, seed=5)
    return read_pairs(items, load_spec(benchmark))


def counted(verdicts: Verdicts, pairs: PairSet) -> Tally:
    table = pair_table([pairs])
    return tally(Votes(verdicts), label_set(pairs.rows, "v1", table=table), table=table)


def assert_scores(found: Tally, verdicts: Verdicts, *, pairs: PairSet) -> None:
    """Compare every score and interval under every protocol with the oracle's."""
    spec = pairs.spec
    assert set(protocols(spec)) == {protocol.key for protocol in spec.protocols}
    for protocol in spec.protocols:
        expected = score_protocol(verdicts, pairs, protocol=protocol)
        row = score_row(found, protocol.key, grouping=spec.official)
        named = {**expected.categories, **expected.overalls}
        if expected.groups is not None and spec.grouped is not None:
            named[spec.grouped.key] = expected.groups
        assert set(named) == set(row) - {"interval"} == set(spec.score_names)
        for name, accuracy in named.items():
            assert row[name] == pytest.approx(accuracy and accuracy.value), (protocol.key, name)
            bounds = None if accuracy is None else pytest.approx(list(accuracy.interval), abs=1e-9)
            assert row["interval"][name] == bounds, (protocol.key, name)


def test_a_group_is_right_where_every_pair_is_and_counts_in_the_category_of_its_pairs() -> None:
    pairs = pairs_of("mm-rlhf-rewardbench")
    verdicts = np.random.default_rng(9).integers(0, 2, (len(pairs.pairs), 1), dtype=np.int8)
    found = counted(verdicts, pairs)
    groups, right, *_ = group_sums(category_counts(found.counts, pairs.spec), pairs.spec, votes="majority")
    held = dict(zip(groups_of(pairs), (item.category for _, item in pairs.pairs), strict=True))
    wrong = set(groups_of(pairs)[verdicts[:, 0] != labels_of(pairs)])
    for key, n, all_right in zip(pairs.spec.category_keys, groups, right, strict=True):
        mine = {group for group, category in held.items() if category == key}
        assert (n, all_right) == (len(mine), len(mine - wrong))


def test_votes_about_the_preferred_response_are_right_whichever_it_is() -> None:
    pairs = pairs_of("multimodal-rewardbench")
    table = pair_table([pairs])
    labels = label_set(pairs.rows, "v1", table=table)
    votes = np.full((len(table), 2), PREFERRED, dtype=np.int8)
    assert tally(Votes(votes), labels, table=table).counts[: len(table.spec.sources), 1].sum() == len(table)
    votes[:, :] = OTHER
    assert tally(Votes(votes), labels, table=table).counts[: len(table.spec.sources), 2].sum() == len(table)
    assert resolved(votes[:, 0], labels.preferred).tolist() == (1 - labels.preferred).tolist()


def test_most_judges_may_say_that_neither_is_better() -> None:
    verdicts = np.array([[TIE, 0, 0, TIE], [TIE, 0, TIE, 0], [0, 1, UNDECIDED, UNDECIDED]], dtype=np.int8)
    found = board_majority(verdicts)
    assert found is not None
    assert found[:, 0].tolist() == [TIE, 0, UNDECIDED, UNDECIDED]


def test_only_protocols_that_a_tally_can_count_are_offered() -> None:
    spec = pairs_of("multimodal-rewardbench").spec
    assert tuple(protocols(spec)) == ("strict", "official", "lmms-eval")
    assert not spec.preferred_is_named
