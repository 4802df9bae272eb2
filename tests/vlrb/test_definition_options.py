"""Every combination of a definition's options counts as the slow oracle does."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tests.factories.oracles.pair_oracle import UNREADABLE, Verdicts
from tests.vlrb.test_pair_tallies import assert_scores, counted
from tests.vlrb.test_spec import folder
from vlrb.benchmarks.pairs import PairSet, label_set, pair_table, read_pairs
from vlrb.benchmarks.spec import TIE
from vlrb.benchmarks.spec_file import load_spec
from vlrb.statistics.pairwise import compare_all

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
title = "-"
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
