"""Pools of 2,000 pairs, several seeds and rules: what the filter keeps, every size and the expected share of
wrong labels are computed again, slowly, from what was planted. Prints its figures with `-s`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from math import ceil, prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.factories.suite.programs import edition_main as main
from tests.vlrb.editions.synthetic import JUDGES, RUNS, SOURCES, SyntheticPool, invent, write_sources
from tests.vlrb.editions.test_filter import FilteredPool, lines, run_filter, verdicts, write_runs

SHARES = (0.01, 0.02, 0.05, 0.10, 0.20)
RULES: dict[str, tuple[str, ...]] = {
    "wrong-in-all": ("--rule", "all-wrong"),
    "wrong-in-all, undecided too": ("--rule", "all-wrong", "--undecided-is-wrong"),
    "wrong-at-least 7": ("--rule", "at-least:7"),
    "judges-wrong-at-least 3": ("--rule", "judges:3"),
}

pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]


def stays(rule: str, said: list[list[str]], *, runs: int, judges: int) -> bool:
    """Whether a pair stays by the runs given; counts of a rule for `runs` and `judges` in all shrink in proportion."""
    bad = ("wrong", "undecided") if "undecided" in rule else ("wrong",)
    every = [verdict in bad for one in said for verdict in one]
    number = int(rule.rpartition(" ")[2]) if rule[-1].isdigit() else 0
    if rule.startswith("wrong-in-all"):
        return all(every)
    if rule.startswith("wrong-at-least"):
        return sum(every) >= max(1, ceil(number * len(every) / runs - 1e-9))
    against = [2 * sum(verdict in bad for verdict in one) > len(one) for one in said]
    return sum(against) >= max(1, ceil(number * len(said) / judges - 1e-9))


class SlowFilter:
    """A filter in plain loops over what was planted."""

    def __init__(self, planted: SyntheticPool, rule: str) -> None:
        self.planted, self.rule = planted, rule
        self.pairs = [name for name in planted.pairs if name not in planted.copies]
        self.said = {name: [verdicts(planted, judge, name=name) for judge in JUDGES] for name in self.pairs}

    def kept(self, judges: Sequence[int] = range(len(JUDGES)), runs: int = RUNS) -> set[str]:
        """The ids that stay by these judges and their first runs."""
        whole = RUNS * len(JUDGES)
        chosen = {name: [said[judge][:runs] for judge in judges] for name, said in self.said.items()}
        return {name for name, said in chosen.items() if stays(self.rule, said, runs=whole, judges=len(JUDGES))}

    def rows(self, table: str, judges: Sequence[int], *, runs: int = RUNS) -> list[list[Any]]:
        """The sizes of some judges: all sources together, then each."""
        kept, names = self.kept(judges, runs), " + ".join(list(JUDGES)[judge] for judge in judges)
        result = []
        for source in ("all", *SOURCES):
            here = [name for name in self.pairs if source == "all" or name.startswith(f"{source}-")]
            stay = sum(name in kept for name in here)
            result.append([table, names, runs * len(judges), source, len(here), stay, len(here) - stay])
        return result

    def sizes(self) -> list[list[Any]]:
        """All rows about sizes."""
        every = range(len(JUDGES))
        rows = [row for size in range(1, 5) for chosen in combinations(every, size) for row in self.rows(
            "combinations", chosen)]  # fmt: skip
        return rows + [row for runs in range(1, RUNS + 1) for row in self.rows("by_runs", every, runs=runs)]

    def accuracy(self, judge: int, among: Sequence[str] | set[str]) -> float:
        """The share of right verdicts of a judge."""
        said = [verdict for name in among for verdict in self.said[name][judge]]
        return said.count("right") / len(said)

    def share(self, verdicts: Sequence[str], judge: int) -> float:
        """The share of some verdicts among those of a judge."""
        said = [one for name in self.pairs for one in self.said[name][judge]]
        return sum(one in verdicts for one in said) / len(said)

    def wrong_share(self, prior: float, *, independent: bool) -> float:
        """The expected share of wrong labels among what stays, over all patterns of errors."""
        units = [judge for judge in range(len(JUDGES)) for _ in range(RUNS if independent else 1)]
        mix = np.array(
            [[1 - prior, prior], [prior, 1 - prior]]
        )  # what a label makes of a right verdict, of a wrong one
        measured = [[self.share((said,), judge) for said in ("right", "wrong")] for judge in units]
        better, worse = np.linalg.solve(mix, np.transpose(measured)).clip(min=0)
        undecided = "undecided" in self.rule
        errors, accuracies = (1 - better, 1 - worse) if undecided else (worse, better)
        right = wrong = 0.0
        for pattern in product((False, True), repeat=len(units)):
            errs = [pattern[judge * RUNS : (judge + 1) * RUNS] if independent else [pattern[judge]] * RUNS
                    for judge in range(len(JUDGES))]  # fmt: skip
            said = [["wrong" if err else "right" for err in one] for one in errs]
            if stays(self.rule, said, runs=RUNS * len(JUDGES), judges=len(JUDGES)):
                right += prod(chance if err else 1 - chance for err, chance in zip(pattern, errors, strict=True))
                wrong += prod(chance if err else 1 - chance for err, chance in zip(pattern, accuracies, strict=True))
        return prior * wrong / (prior * wrong + (1 - prior) * right)


@pytest.fixture(scope="module", params=[1, 2, 3])
def pooled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> FilteredPool:
    folder = tmp_path_factory.mktemp("whole")
    planted = invent(folder, seed=request.param)
    for source, path in write_sources(planted, folder).items():
        given = ["--source", source, "--licence", "CC0-1.0", "--into", str(folder / "pool")]
        assert main(["pool", "import", str(path), *given]) == 0
    assert main(["pool", "duplicates", str(folder / "pool")]) == 0
    return FilteredPool(planted, folder / "pool", runs=write_runs(planted, folder))


def test_the_copies_that_were_planted_are_found_and_no_others(pooled: FilteredPool) -> None:
    found = lines(pooled.folder / "duplicates.jsonl")
    assert {one["pair"] for one in found if one["kind"] != "similar-image"} == pooled.planted.copies


@pytest.mark.parametrize("rule", RULES)
def test_all_of_the_report_is_what_a_slow_script_finds(
    pooled: FilteredPool, tmp_path: Path, rule: str, capfd: pytest.CaptureFixture[str]
) -> None:
    report, slow = run_filter(pooled, tmp_path, *RULES[rule]), SlowFilter(pooled.planted, rule)
    kept, candidates = slow.kept(), lines(tmp_path / "candidates.jsonl")
    assert {one["id"] for one in candidates} == kept
    for one in candidates:
        said = [verdict for judge in slow.said[one["id"]] for verdict in judge]
        assert one["votes"] == {"wrong": said.count("wrong"), "right": said.count("right"), "runs": len(said)}
    names = ["table", "judges", "runs", "source", "considered", "kept", "removed"]
    assert [[size[name] for name in names] for size in report["sizes"]] == slow.sizes()
    for row in report["wrong_labels"]:
        for name, independent in (("runs_agree", False), ("runs_independent", True)):
            assert row[name] == pytest.approx(slow.wrong_share(row["in_pool"], independent=independent))
    assert [row["in_pool"] for row in report["wrong_labels"]] == list(SHARES)
    check_judges(report, slow, kept=kept)
    check_traits(report, slow, kept=kept)
    with capfd.disabled():
        wrong = len(kept & pooled.planted.wrong_labels)
        print(f"\n{rule}: {len(kept):,} of {len(slow.pairs):,} stay, {wrong} with a wrong label")


def check_judges(report: dict[str, Any], slow: SlowFilter, *, kept: set[str]) -> None:
    every = range(len(JUDGES))
    for number, one in enumerate(report["judges"]):
        without = len(slow.kept([judge for judge in every if judge != number]))
        said = [verdict for name in slow.pairs for verdict in slow.said[name][number]]
        assert one["accuracy"] == pytest.approx(slow.accuracy(number, slow.pairs))
        assert one["accuracy_on_kept"] == pytest.approx(slow.accuracy(number, kept))
        assert one["undecided"] == pytest.approx(said.count("undecided") / len(said))
        assert one["removes_alone"] == len(slow.pairs) - len(slow.kept([number]))
        assert (one["stay_without_it"], one["removed_by_it_only"]) == (without, without - len(kept))


def check_traits(report: dict[str, Any], slow: SlowFilter, *, kept: set[str]) -> None:
    for trait, of in (
        ("source", lambda name: name.partition("-")[0]),
        ("category", lambda name: slow.planted.pairs[name]["category"]),
    ):
        for one in report[f"by_{trait}"]:
            here = [name for name in slow.pairs if of(name) == one[trait]]
            stay = sum(name in kept for name in here)
            assert (one["considered"], one["kept"], one["share"]) == (len(here), stay, pytest.approx(stay / len(here)))
    assert report["pairs"]["considered"] == len(slow.pairs)
