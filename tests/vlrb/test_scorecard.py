"""The scorecard says everything that follows from the counts, in the documented shape."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.factories.labels import BEHAVIOUR, SIZES, labels, random_matrix, random_tally, table
from tests.factories.specs import GROUPINGS, PROTOCOLS, VL
from vlrb.protocols import category_counts, scores
from vlrb.scorecard import scorecard
from vlrb.scoring import tally
from vlrb.statistics.reliability import k_curve
from vlrb.statistics.uncertainty import mover_macro, wilson
from vlrb.votes import ABSENT, Votes

KEYS = {
    "benchmark", "label_revision", "scorer_version", "items", "votes_per_item", "decided_rate", "parse_rate",
    "missing_items", "tally", "protocols", "groupings", "sources", "error_tags", "half_right", "k_curve", "behaviour",
    "rerun", "calibration", "decided_accuracy",
}  # fmt: skip


def card(counted):
    return scorecard(counted, BEHAVIOUR, benchmark="invented", label_revision="r1")


def test_the_scorecard_has_the_documented_shape_and_is_json() -> None:
    found = card(random_tally(table()))
    assert set(found) == KEYS
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert set(found["protocols"]) == set(PROTOCOLS) and set(found["groupings"]) == set(GROUPINGS)
    assert set(found["tally"]["general"]) == {"n", "agree", "reject", "undecided"}
    assert set(found["error_tags"]) == {"existence", "recognition", "attribute", "counting", "other", "reasoning"}
    assert found["behaviour"]["first_shown_rate"] == 0.5 and found["behaviour"]["self_consistency"] == 0.8


def test_accuracies_and_intervals_are_those_of_the_counts() -> None:
    counted = random_tally(table(SIZES))
    found = card(counted)
    rows = found["tally"]
    for category, row in rows.items():
        assert found["protocols"]["strict"][category] == row["agree"] / row["n"]
        assert found["protocols"]["strict"]["interval"][category] == list(wilson(row["agree"], row["n"]))
        assert found["protocols"]["paper"][category] == row["agree"] / (row["agree"] + row["reject"])
    macro = found["protocols"]["strict"]["interval"]["macro"]
    assert macro == pytest.approx(list(mover_macro([(r["agree"], r["n"]) for r in rows.values()])))
    assert "interval" not in found["protocols"]["lmms-eval"]
    assert found["groupings"]["official"] == found["protocols"]


@pytest.mark.parametrize(
    ("parse_rate", "first_shown_rate", "given"),
    [(1.0, 0.5, True), (0.99, 0.5, False), (0.9, None, True)],
    ids=["every reply is read", "some replies are not", "votes without replies"],
)
def test_a_file_with_replies_that_only_a_tool_reads_has_no_number_under_the_name_of_the_tool(
    parse_rate: float, first_shown_rate: float | None, given: bool
) -> None:
    behaviour = replace(BEHAVIOUR, parse_rate=parse_rate, first_shown_rate=first_shown_rate)
    found = scorecard(random_tally(table(SIZES)), behaviour, benchmark="invented", label_revision="r1")["protocols"]
    for tool in ("vlmevalkit", "lmms-eval"):
        assert [found[tool][name] is not None for name in VL.score_names] == [given] * len(VL.score_names)
    assert found["strict"]["overall"] is not None and found["paper"]["overall"] is not None


def test_tags_are_null_where_the_revision_has_none() -> None:
    items = table()
    counted = tally(Votes(random_matrix(len(items), 1, seed=0)), labels(items, tags=False), table=items)
    assert card(counted)["error_tags"] is None


def test_the_k_curve_ends_at_the_strict_score() -> None:
    counted = random_tally(table(SIZES), k=5)
    curve = card(counted)["k_curve"]
    assert [point["k"] for point in curve] == [1, 3, 5]
    assert curve[-1]["macro"] == pytest.approx(scores(counted)["macro"])
    assert curve[-1]["overall"] == pytest.approx(scores(counted)["overall"])
    assert k_curve(category_counts(counted.agreeing, VL)).shape == (3, 3)


def test_an_even_number_of_votes_counts_what_one_vote_less_counts_on_average() -> None:
    counted = random_tally(table(SIZES), k=10)
    found = card(counted)
    last = found["k_curve"][-1]
    assert last["k"] == 9
    for name in ("macro", "overall"):
        assert found["protocols"]["strict"][name] == pytest.approx(last[name])
    rows = found["tally"].values()
    halves = sum(found["half_right"]["tally"].values())
    assert halves > 0
    right = sum(row["agree"] for row in rows)
    assert found["protocols"]["strict"]["overall"] == pytest.approx((right + halves / 2) / found["items"])
    assert found["protocols"]["strict"]["interval"]["overall"] == list(wilson(right + halves / 2, found["items"]))
    assert found["protocols"]["paper"]["overall"] == right / (right + sum(row["reject"] for row in rows))
    tag, half = found["error_tags"]["existence"], found["half_right"]["error_tags"]["existence"]
    assert tag["error_rate"]["strict"] == pytest.approx(1 - (tag["agree"] + half / 2) / tag["n"])


def test_two_votes_a_pair_also_say_on_how_many_pairs_both_are_right() -> None:
    counted = random_tally(table(SIZES), k=2)
    found = card(counted)
    assert found["behaviour"]["both_votes_right"] == sum(row["agree"] for row in found["tally"].values()) / 1250
    assert card(random_tally(table(SIZES), k=4))["behaviour"]["both_votes_right"] is None


def test_a_judge_that_decides_nothing_scores_zero_and_has_no_paper_score() -> None:
    items = table()
    found = card(tally(Votes(np.full((len(items), 3), -1, dtype=np.int8)), labels(items), table=items))
    assert found["decided_rate"] == 0.0 and found["protocols"]["strict"]["macro"] == 0.0
    assert found["protocols"]["paper"]["macro"] is None
    assert found["protocols"]["paper"]["interval"]["macro"] is None
    assert found["error_tags"]["existence"]["error_rate"] == {"strict": 1.0, "paper": None}


def test_items_that_the_file_lacks_are_counted_as_missing_and_not_as_unanswered() -> None:
    items = table()
    matrix = np.zeros((len(items), 1), dtype=np.int8)
    matrix[:2] = ABSENT
    found = card(tally(Votes(matrix), labels(items), table=items))
    assert (found["missing_items"], found["decided_rate"]) == (2, 1.0)
