"""Tallies of labelled pairs give, under every protocol, what a slow count pair by pair and group by group gives."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tests.factories.oracles.pair_oracle import UNREADABLE, Verdicts, groups_of, labels_of, score_protocol
from tests.pair_files import mm_rlhf_items, mmrb_items
from tests.vlrb.test_spec import folder
from vlrb.baselines import board_majority
from vlrb.benchmarks.pairs import PairSet, label_set, pair_table, read_pairs
from vlrb.benchmarks.spec import TIE
from vlrb.benchmarks.spec_file import load_spec
from vlrb.protocols import category_counts, group_sums, protocols
from vlrb.scorecard import score_row
from vlrb.scoring import Tally, tally
from vlrb.statistics.pairwise import compare_all
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


_PAIRS = 60
_HEAD = """
id = "options"
title = "Options"
citation = "-"
dataset = "https://example.org/options"
verdict_format = "double-brackets"
ties = {ties}

[fields]
id = "name"
question = "ask"
responses = ["left", "right"]
category = ["kind"]
label = "better"
label_values = {{ left = "first", right = "second", same = "tie" }}
"""
_CATEGORY = """
[[categories]]
key = "{key}"
title = "{key}"
colour = "#000000"

[[source_rules]]
equals = "{key}"
source = "{key}"
"""
_PROTOCOL = """
[[protocols]]
key = "{votes}-{unreadable}"
rule = "-"
votes = "{votes}"
unreadable = "{unreadable}"
"""
_OVERALLS = f"""
[[overalls]]
key = "micro"
title = "All pairs"
kind = "micro"

[[overalls]]
key = "two"
title = "Two categories"
kind = "micro"
categories = ["round", "square"]

[[overalls]]
key = "mean"
title = "Mean"
kind = "mean"

[[overalls]]
key = "mean-of-two"
title = "Mean of two"
kind = "mean"
categories = ["square", "flat"]

[[overalls]]
key = "complete"
title = "Of all pairs alone"
kind = "micro"
pairs = {_PAIRS}

[[overalls]]
key = "incomplete"
title = "Of more pairs than there are"
kind = "micro"
pairs = {_PAIRS + 1}
"""
_UNTIED = """
[[overalls]]
key = "untied"
title = "Pairs that people decided"
kind = "micro"
without_ties = true

[[overalls]]
key = "untied-two"
title = "Those of two categories"
kind = "micro"
categories = ["round", "flat"]
without_ties = true
"""
_GROUPED = """
[[overalls]]
key = "whole"
title = "All pairs of a question"
kind = "groups"
"""


def definition(root: Path, *, ties: bool, grouped: bool) -> PairSet:
    """Return pairs of a benchmark with all rules and overall numbers that go with these options."""
    rules = product(("majority", "first"), ("wrong",) if grouped else ("wrong", "excluded", "half", "first"))
    text = [_HEAD.format(ties=str(ties).lower())]
    text += [_CATEGORY.format(key=key) for key in ("round", "square", "flat")]
    text += [_PROTOCOL.format(votes=votes, unreadable=unreadable) for votes, unreadable in rules]
    text += [_OVERALLS, _UNTIED if ties else "", _GROUPED if grouped else ""]
    text[0] = 'headline = "micro"\n' + text[0]
    spec = load_spec("options", folder(root, "options", text="".join(text)))
    dice = np.random.default_rng(3)
    rows = [
        {
            "name": f"{number // 3}",
            "ask": "?",
            "left": f"left {number}",
            "right": f"right {number}",
            "kind": ("round", "square", "flat")[number // 3 % 3],
            "better": ("left", "right", "same")[int(dice.integers(3 if ties else 2))],
        }
        for number in range(_PAIRS)
    ]
    return read_pairs(rows, spec)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize(("ties", "grouped"), [*product((False, True), (False, True))])
def test_scores_and_intervals_are_those_of_the_oracle(tmp_path: Path, ties: bool, grouped: bool, k: int) -> None:
    pairs = definition(tmp_path, ties=ties, grouped=grouped)
    options = np.array([UNREADABLE, 0, 1, TIE], dtype=np.int8)
    verdicts: Verdicts = np.random.default_rng(k).choice(options, (_PAIRS, k), p=(0.1, 0.4, 0.4, 0.1))
    assert_scores(counted(verdicts, pairs), verdicts, pairs=pairs)


def test_pairs_that_people_did_not_decide_rank_nothing_where_a_score_leaves_them_out(tmp_path: Path) -> None:
    pairs = definition(tmp_path, ties=True, grouped=False)
    table = pair_table([pairs])
    labels = label_set(pairs.rows, "v1", table=table)
    right = labels.preferred
    wrong_on_ties = np.where(right == TIE, 0, right).astype(np.int8)
    found = compare_all("ab", np.stack([right, wrong_on_ties])[:, :, np.newaxis], labels=labels, table=table)
    ranges = found.summary["ranges"][pairs.spec.official]
    assert [ranges[name]["worst"] for name in ("micro", "untied")] == [[1, 2], [2, 2]]
    official = {"spec": pairs.spec, "grouping": pairs.spec.official}
    assert found.relations.tests("ab", "untied", **official) is None
    differences = found.relations.pair("a", "b", pairs.spec)
    assert differences is not None and "micro" in differences and "untied" not in differences
