"""The filter keeps exactly what its rule says, whatever format the runs have, and its report can be recomputed."""

from __future__ import annotations

import json
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.factories.suite.programs import edition_main as main
from tests.vlrb.editions.synthetic import (
    JUDGES,
    RUNS,
    SOURCES,
    SyntheticPool,
    invent,
    lines,
    write_runs,
    write_sources,
)
from vlrb.editions.pool import write_lines
from vlrb.editions.wrong_labels import true_shares

PAIRS = 500
COPIES = PAIRS // 25


class FilteredPool(NamedTuple):
    """A pool on disk, with what was planted."""

    planted: SyntheticPool
    folder: Path
    runs: list[str]


@pytest.fixture(scope="module")
def pooled(tmp_path_factory: pytest.TempPathFactory) -> FilteredPool:
    folder = tmp_path_factory.mktemp("pool")
    planted = invent(folder, PAIRS)
    for source, path in write_sources(planted, folder).items():
        given = ["--source", source, "--licence", "CC0-1.0", "--into", str(folder / "pool")]
        assert main(["pool", "import", str(path), *given]) == 0
    assert main(["pool", "duplicates", str(folder / "pool")]) == 0
    *runs, other = write_runs(planted, folder, JUDGES)
    for run in range(RUNS):  # of the last judge a file for each
        part = [line | {"votes": line["votes"][run : run + 1]} for line in lines(Path(other))]
        write_lines(folder / f"{run}.jsonl", part)
        runs.append(f"other={folder / f'{run}.jsonl'}")
    return FilteredPool(planted, folder / "pool", runs=runs)


@pytest.fixture(scope="module")
def usual(pooled: FilteredPool, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that the usual rule filled."""
    output = tmp_path_factory.mktemp("usual")
    run_filter(pooled, output)
    return output


def report_of(output: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((output / "filter.json").read_text())
    return report


def run_filter(pooled: FilteredPool, output: Path, *more: str) -> dict[str, Any]:
    """The report of a filter."""
    assert main(["filter", str(pooled.folder), "--runs", *pooled.runs, "--output", str(output), *more]) == 0
    return report_of(output)


def verdicts(planted: SyntheticPool, judge: str, *, name: str) -> list[str]:
    """What each run says about a pair, against its label."""
    label = planted.pairs[name]["preferred"]
    return ["undecided" if c < 0 else "right" if c == label else "wrong" for c in planted.votes[judge][name]]


def slow_filter(planted: SyntheticPool, judges: tuple[str, ...], *, at_least: int, runs: int = RUNS) -> set[str]:
    """The ids that stay: no copies, and so many wrong verdicts."""
    stay = set()
    for name in planted.pairs:
        if name not in planted.copies:
            wrong = sum(verdicts(planted, judge, name=name)[:runs].count("wrong") for judge in judges)
            if wrong >= at_least:
                stay.add(name)
    return stay


def test_the_copies_that_were_planted_are_found_and_no_others(pooled: FilteredPool) -> None:
    found = json.loads((pooled.folder / "duplicates.json").read_text())["duplicates"]
    left_out = {one["pair"] for one in found if one["kind"] != "similar-image"}
    assert left_out == pooled.planted.copies
    assert len(pooled.planted.copies) == COPIES


def test_the_usual_rule_keeps_exactly_what_all_runs_get_wrong(pooled: FilteredPool, usual: Path) -> None:
    report, kept = report_of(usual), lines(usual / "candidates.jsonl")
    assert {one["id"] for one in kept} == slow_filter(pooled.planted, tuple(JUDGES), at_least=12)
    assert report["pairs"]["kept"] == len(kept) >= 20
    assert report["pairs"] | {"kept": 0} == {
        "considered": PAIRS - COPIES, "kept": 0, "duplicates": COPIES, "without_preference": 0,
    }  # fmt: skip
    assert all(one["votes"] == {"wrong": 12, "right": 0, "runs": 12} for one in kept)
    wrong = {one["id"] for one in kept} & pooled.planted.wrong_labels
    assert len(wrong) / len(kept) > len(pooled.planted.wrong_labels) / len(pooled.planted.pairs)


def test_every_number_of_the_report_can_be_recomputed(pooled: FilteredPool, usual: Path) -> None:
    report, planted = report_of(usual), pooled.planted
    single = [name for name in planted.pairs if name not in planted.copies]
    everything = slow_filter(planted, tuple(JUDGES), at_least=12)
    sizes = [size for size in report["sizes"] if size["table"] == "combinations"]
    for size in sizes:
        judges = tuple(size["judges"].split(" + "))
        stay = slow_filter(planted, judges, at_least=3 * len(judges))
        here = {name for name in single if size["source"] == "all" or name.startswith(size["source"])}
        assert (size["considered"], size["kept"], size["removed"]) == (len(here), len(stay & here), len(here - stay))
    every = {" + ".join(chosen) for count in range(1, 5) for chosen in combinations(JUDGES, count)}
    assert {(size["judges"], size["source"]) for size in sizes} == set(product(every, ("all", *SOURCES)))
    for one in report["judges"]:
        said = [verdict for name in single for verdict in verdicts(planted, one["judge"], name=name)]
        others = tuple(judge for judge in JUDGES if judge != one["judge"])
        assert one["accuracy"] == pytest.approx(said.count("right") / len(said))
        assert one["undecided"] == pytest.approx(said.count("undecided") / len(said))
        assert one["stay_without_it"] == len(slow_filter(planted, others, at_least=9))
        assert one["removed_by_it_only"] == one["stay_without_it"] - len(everything)
        assert one["accuracy_on_kept"] == 0
    row = next(row for row in report["wrong_labels"] if row["in_pool"] == 0.05)
    right = np.array([one["accuracy"] for one in report["judges"]])
    wrong = 1 - right - [one["undecided"] for one in report["judges"]]
    better, worse = (share.prod() for share in true_shares(right, wrong, label_error=0.05))
    assert row["runs_agree"] == pytest.approx(0.05 * better / (0.05 * better + 0.95 * worse))
    by_runs = [one for one in report["sizes"] if (one["table"], one["source"]) == ("by_runs", "all")]
    assert [one["kept"] for one in by_runs] == [
        len(slow_filter(planted, tuple(JUDGES), at_least=4 * runs, runs=runs)) for runs in range(1, RUNS + 1)
    ]


def test_a_run_about_other_pairs_or_some_is_refused_by_line(
    pooled: FilteredPool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.jsonl"
    whole = next(Path(path) for path in pooled.runs if path.endswith("large.jsonl")).read_text()
    other.write_text(whole.partition("\n")[0] + '\n{"id": "nobody", "votes": [1, 1, 1]}\n')
    assert main(["filter", str(pooled.folder), "--runs", str(other)]) == 2
    said = capsys.readouterr().err
    assert "line 2" in said
    assert "nobody" in said and "missing: Alpha-3" in said
    assert "pairs.jsonl" in said


def test_names_of_judges_and_sources_are_text_in_the_report(pooled: FilteredPool, tmp_path: Path) -> None:
    name = "<img src=x onerror=alert(1)>"
    assert main(
        ["filter", str(pooled.folder), "--runs", f"{name}={pooled.runs[0]}", "--output", str(tmp_path)]
    ) == 0  # fmt: skip
    text = (tmp_path / "filter.md").read_text()
    assert "<img" not in text
    assert "&lt;img src=x" in text
