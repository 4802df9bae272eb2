"""Check of benchmarks with several definitions of overall: rows of papers, one of each kind."""

from __future__ import annotations

import pytest

from tests.factories.suite.programs import numbers_main as main
from vlrb.benchmarks.spec_file import load_spec
from vlrb.numbers import report
from vlrb.numbers.figures import BadFigures, figure

MM_RLHF, MMRB = load_spec("mm-rlhf-rewardbench"), load_spec("multimodal-rewardbench")
# arXiv 2509.16127, Table 8: mcq, long, short, safety, video, ACC, ACC+; then what no count gives
TABLE_8 = [
    ("GPT-4o", "64.28 78.37 44.11 56.25 40.00 58.23 26.01", "groups"),
    ("SliME-8B", "23.81 10.81 14.71 12.50 7.52 17.10 1.76", "video overall groups"),
    ("MM-RLHF-Reward", "83 97 74 69 88 82 63", ""),
    ("BaseReward (Qwen2.5-VL)", "95.74 97.38 94.13 81.25 88 91.76 80.43", "mcq long short"),
]
KEYS = (*MM_RLHF.category_keys, "overall", "groups")
# arXiv 2509.16127, Table 10: overall, correctness, preference, knowledge, math, coding, bias, VQA; overalls that fit
TABLE_10 = [
    ("GPT-4o", "70.8 62.6 69.0 72.0 67.6 62.1 74.8 87.2", "mean-of-seven"),
    ("R1-Reward", "82.2 77.5 74.0 74.9 83.1 79.6 99.6 86.5", "micro micro-released mean-of-seven"),
    ("BaseReward (Qwen2.5-VL)", "72.8 65.7 65.0 70.6 82.7 50.3 81.5 85.0", "micro micro-released"),
    ("ensemble", "73.6 68.5 68.0 70.3 82.8 51.2 81.3 85.6", ""),
]
SEVEN = ("correctness", "preference", "knowledge", "math", "coding", "bias", "vqa")


@pytest.mark.parametrize(("model", "row", "impossible"), TABLE_8, ids=[row[0] for row in TABLE_8])
def test_table_8_is_reachable_but_for_these_values(model: str, row: str, impossible: str) -> None:
    found = report.answer(dict(zip(KEYS, row.split(), strict=True)), MM_RLHF)
    assert {figure["name"] for figure in found["unreachable"]} == set(impossible.split())
    assert found["adds_up"] is (not impossible or impossible == "groups")


@pytest.mark.parametrize(("model", "row", "overalls"), TABLE_10, ids=[row[0] for row in TABLE_10])
def test_table_10_mixes_two_definitions_of_overall(model: str, row: str, overalls: str) -> None:
    found = report.answer(dict(zip(("overall", *SEVEN), row.split(), strict=True)), MMRB)
    assert [one["key"] for one in found["definitions"] if one["fits"]] == overalls.split()
    names = {"mean-of-seven": "Mean of 7", "micro": "No toxicity", "": "fits none"}
    assert names[overalls.partition(" ")[0]] in found["headline"] or len(overalls.split()) == 3
    assert not any(key in sentence for key in MMRB.overall_keys for sentence in found["sentences"])


def test_a_percentage_stands_for_counts_that_round_or_cut_off_to_it() -> None:
    counts = {("45.94", 37): (17, 17), ("45.95", 37): (17, 17), ("100", 25): (25, 25), ("83", 42): (35, 35)}
    assert {(text, n): figure(text).counts(n, "either") for text, n in counts} == counts
    assert figure("26.09").counts(46, "either") == (12, 12)


def test_a_value_that_no_count_gives_is_named_with_its_neighbours_by_either_name_of_groups(
    capsys: pytest.CaptureFixture[str],
) -> None:
    by_board, by_check = (report.answer({name: "26.01"}, MM_RLHF) for name in ("acc-plus", "groups"))
    assert by_board == by_check and by_board["verdict"] == "impossible"
    assert "46 groups: 11 of 46 is 23.91, 12 of 46 is 26.09" in by_board["sentences"][0]
    assert main(["--benchmark", "mm-rlhf-rewardbench", "--acc-plus", "26.01"]) == 1
    assert "12 of 46 is 26.09" in capsys.readouterr().out


def test_a_name_that_is_no_figure_is_refused_with_those_that_are() -> None:
    with pytest.raises(BadFigures, match=r"mean-of-seven.+ is not .+ overall, correctness, ") as refused:
        report.refuse_unknown(["overall", "benchmark", "lang", "mean-of-seven"], MMRB)
    assert (refused.value.field, refused.value.known[:2]) == ("mean-of-seven", ("overall", "correctness"))
