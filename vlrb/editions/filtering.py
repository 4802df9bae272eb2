"""`vlrb edition filter`: the pairs that stay, and those that each judge and combination of judges removes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vlrb.arrays import BoolArray
from vlrb.editions.compared_editions import read_duplicates
from vlrb.editions.errors import CurateError, follow
from vlrb.editions.markdown_report import ReportPart, markdown
from vlrb.editions.near_duplicates import LEFT_OUT, Duplicate
from vlrb.editions.pool import PoolPair, read_pool, write_json, write_lines, write_text
from vlrb.editions.runs import WRONG_IN_ALL, JudgeFile, RunVerdicts, collect, kept_by, pool_table, read_judge_file
from vlrb.editions.wrong_labels import wrong_label_rows

if TYPE_CHECKING:
    import pandas as pd


_ALL_COMBINATIONS = 6  # judges; of more, only single judges, pairs and all but one


class EnsembleFilter:
    """One rule over the runs of several judges."""

    def __init__(
        self,
        rule: str,
        pairs: Sequence[PoolPair],
        *,
        files: Sequence[JudgeFile],
        duplicates: Sequence[Duplicate],
    ) -> None:
        self._rule, self._files = rule, files
        repeated = {one.pair for one in duplicates if one.kind in LEFT_OUT}
        single = [number for number, pair in enumerate(pairs) if pair["id"] not in repeated]
        considered = [number for number in single if pairs[number].get("preferred") is not None]
        self.left_out = {
            "duplicates": len(pairs) - len(single),
            "without_preference": len(single) - len(considered),
        }
        self._pairs = [pairs[number] for number in considered]
        self.verdicts: RunVerdicts = collect(files, pairs, numbers=considered)
        self.kept: BoolArray = kept_by(rule, self.verdicts)

    def kept_lines(self) -> Iterator[dict[str, Any]]:
        """Yield the pairs that stay, each with the number of runs that are wrong about it."""
        wrong, right = self.verdicts.wrong.sum(axis=1), self.verdicts.right.sum(axis=1)
        for number in np.flatnonzero(self.kept):
            votes = {"wrong": int(wrong[number]), "right": int(right[number]), "runs": len(self.verdicts.judge)}
            yield {**self._pairs[number], "votes": votes}

    def report(self) -> dict[str, Any]:
        """Return all numbers of the report."""
        return {
            "rule": self._rule,
            "pairs": {"considered": len(self._pairs), "kept": int(self.kept.sum()), **self.left_out},
            **{f"by_{trait}": self._table(trait).to_dict("records") for trait in ("source", "category")},
            "judges": [self._judge(number) for number in range(len(self.verdicts.judges))],
            "sizes": [*self._sizes()],
            "wrong_labels": wrong_label_rows(self._rule, self.verdicts),
            "files": [
                {"judge": file.judge, "file": file.name, "sha256": file.sha256, "format": file.format}
                | {"runs": file.votes.shape[1], "pairs": len(file.votes)}
                for file in self._files
            ],
        }

    def _table(self, trait: str, stays: BoolArray | None = None) -> pd.DataFrame:
        """Return how many pairs are considered and stay, by source or category."""
        import pandas as pd

        values = [pair[trait] for pair in self._pairs]
        frame = pd.DataFrame({trait: values, "kept": self.kept if stays is None else stays})
        table = frame.groupby(trait)["kept"].agg(considered="size", kept="sum").reset_index()
        return table.assign(share=table["kept"] / table["considered"])

    def _sizes(self) -> Iterator[dict[str, Any]]:
        """Yield how many pairs stay with some judges alone, and with the first runs of all: in all, and by source."""
        count, judge = len(self.verdicts.judges), self.verdicts.judge
        sizes = range(1, count + 1) if count <= _ALL_COMBINATIONS else sorted({1, 2, count - 1, count})
        for chosen in (chosen for size in sizes for chosen in combinations(range(count), size)):
            yield from self._size("combinations", self.verdicts.runs_of(chosen), judges=chosen)
        order = np.array([np.count_nonzero(judge[:run] == judge[run]) for run in range(len(judge))])
        for most in range(1, order.max() + 2):
            yield from self._size("by_runs", np.flatnonzero(order < most), judges=range(count))

    def _size(self, table: str, runs: Any, *, judges: Sequence[int]) -> Iterator[dict[str, Any]]:
        stays = kept_by(self._rule, self.verdicts.only(runs))
        names = " + ".join(self.verdicts.judges[judge] for judge in judges)
        sums = [("all", len(stays), int(stays.sum()))]
        by_source = self._table("source", stays)[["source", "considered", "kept"]]
        for source, total, number in [*sums, *by_source.itertuples(index=False)]:
            yield {
                "table": table, "judges": names, "runs": len(runs), "source": source,
                "considered": int(total), "kept": int(number), "removed": int(total - number),
            }  # fmt: skip

    def _judge(self, number: int) -> dict[str, Any]:
        runs = self.verdicts.runs_of([number])
        right, wrong = self.verdicts.right[:, runs], self.verdicts.wrong[:, runs]
        others = [other for other in range(len(self.verdicts.judges)) if other != number]
        alone = kept_by(self._rule, self.verdicts.only(runs))
        without = (
            int(kept_by(self._rule, self.verdicts.only(self.verdicts.runs_of(others))).sum())
            if others
            else len(self._pairs)
        )
        return {
            "judge": self.verdicts.judges[number],
            "runs": len(runs),
            "accuracy": float(right.mean()),
            "undecided": float((~right & ~wrong).mean()),
            "removes_alone": int((~alone).sum()),
            "stay_without_it": without,
            "removed_by_it_only": without - int(self.kept.sum()),
            "accuracy_on_kept": float(right[self.kept].mean()) if self.kept.any() else None,
        }


CANDIDATES, REPORT = "candidates.jsonl", "filter.json"
BELOW_CHANCE = (
    "These judges score below chance on what this filter keeps, by construction: a pair stays because they are wrong "
    "about it. Their scores on the edition say nothing about them, nor do those of their near relatives; read other "
    "scores as a gain over these judges. The edition records them, so that a board can mark their rows."
)
WRONG_LABELS = (
    "A filter that keeps what judges get wrong also keeps pairs whose label is wrong. The table says which share of "
    "the kept pairs that is, for some shares in the pool, if judges err independently of one another: once with the "
    "runs of one judge always agreeing, once with independent runs. People have to check what stays."
)


def add_filter_command(commands: Any) -> None:
    """Add `filter`."""
    parser = commands.add_parser("filter", help="keep what several judges get wrong", allow_abbrev=False)
    parser.add_argument("directory", type=Path, metavar="DIR", help="the pool")
    parser.add_argument(
        "--runs", nargs="+", required=True, metavar="[JUDGE=]FILE", help="predictions, or directories of `judge run`"
    )
    about = f"an expression of wrong and judges_wrong, which are shares ({WRONG_IN_ALL})"
    parser.add_argument("--rule", default=WRONG_IN_ALL, metavar="RULE", help=about)
    parser.add_argument("--output", type=Path, metavar="DIR", help="where the candidates go (DIR/filtered)")
    parser.set_defaults(run=filter_command)


def filter_command(arguments: argparse.Namespace) -> int:
    """Filter a pool. Returns the exit code."""
    pool: Path = arguments.directory
    pairs = read_pool(pool)
    table = pool_table(pairs)
    files = [read_judge_file(name, table) for name in follow(arguments.runs, "Reading runs")]
    duplicates, compared = read_duplicates(pool)
    ensemble = EnsembleFilter(arguments.rule, pairs, files=files, duplicates=duplicates)
    if not len(ensemble.kept):
        reasons = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in ensemble.left_out.items())
        raise CurateError(f"No pair can be filtered: {reasons}.")
    report = ensemble.report()
    report["duplicates_current"] = compared == len(pairs)
    folder = arguments.output or pool / "filtered"
    write_lines(folder / CANDIDATES, ensemble.kept_lines())
    write_json(folder / REPORT, report)
    write_text(folder / "filter.md", markdown("Ensemble filter", _parts(report)))
    print(*_summary(report), f"Candidates and report: {folder}", sep="\n")
    return 0


def _summary(report: Mapping[str, Any]) -> Iterator[str]:
    pairs = report["pairs"]
    yield f"{pairs['kept']:,} of {pairs['considered']:,} pairs stay: {report['rule']}."
    for one in report["judges"]:
        yield f"{one['judge']}: right on {one['accuracy']:.1%}; without it {one['stay_without_it']:,} stay"
    if not report["duplicates_current"]:
        yield "Near duplicates were not looked for: `vlrb edition pool duplicates` does it."


def _parts(report: Mapping[str, Any]) -> Iterator[ReportPart]:
    import pandas as pd

    yield from _summary(report)
    yield BELOW_CHANCE
    yield pd.DataFrame([report["pairs"]])
    yield "## By source and category"
    yield pd.DataFrame(report["by_source"])
    yield pd.DataFrame(report["by_category"])
    yield "## By judge"
    yield pd.DataFrame(report["judges"])
    yield "## By combination of judges, and by number of runs"
    yield "The shares in the rule are then those of the judges and runs that are left."
    rows: dict[tuple[Any, ...], dict[str, int]] = {}
    for size in report["sizes"]:
        rows.setdefault((size["table"], size["judges"], size["runs"]), {})[size["source"]] = size["kept"]
    yield pd.DataFrame([{"table": key[0], "judges": key[1], "runs": key[2]} | stay for key, stay in rows.items()])
    yield "## Expected share of wrong labels among what stays"
    yield WRONG_LABELS
    yield pd.DataFrame(report["wrong_labels"])
    yield "## Files"
    yield pd.DataFrame(report["files"])
