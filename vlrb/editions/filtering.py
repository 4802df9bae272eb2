"""`vlrb edition filter`: the pairs that stay, and those that each judge and combination of judges removes."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from vlrb.arrays import BoolArray
from vlrb.common.command_line import CommandError
from vlrb.common.json_files import write_json
from vlrb.editions.compared_editions import read_duplicates
from vlrb.editions.markdown_report import ReportPart, markdown
from vlrb.editions.near_duplicates import LEFT_OUT, Duplicate
from vlrb.editions.pool import PoolPair, read_pool, write_lines, write_text
from vlrb.editions.runs import (
    NEITHER,
    RIGHT,
    WRONG,
    WRONG_IN_ALL,
    JudgeFile,
    collect,
    kept_by,
    pool_table,
    read_judge_file,
)
from vlrb.editions.sources import follow
from vlrb.editions.wrong_labels import wrong_label_rows


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
        self.verdicts = collect(files, pairs, numbers=considered)
        self.kept: BoolArray = kept_by(rule, self.verdicts)

    def kept_lines(self) -> Iterator[dict[str, Any]]:
        """Yield the pairs that stay, each with the number of runs that are wrong about it."""
        counts = {name: (self.verdicts == one).sum(axis=1) for name, one in (("wrong", WRONG), ("right", RIGHT))}
        for number in np.flatnonzero(self.kept):
            votes = {name: int(count[number]) for name, count in counts.items()}
            yield {**self._pairs[number], "votes": {**votes, "runs": self.verdicts.shape[1]}}

    def report(self) -> dict[str, Any]:
        """Return all numbers of the report."""
        return {
            "rule": self._rule,
            "pairs": {"considered": len(self._pairs), "kept": int(self.kept.sum()), **self.left_out},
            **{f"by_{trait}": self._table(trait).to_dict("records") for trait in ("source", "category")},
            "judges": [self._judge(name) for name in self.verdicts.columns.unique("judge")],
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
        values = [pair[trait] for pair in self._pairs]
        frame = pd.DataFrame({trait: values, "kept": self.kept if stays is None else stays})
        table = frame.groupby(trait)["kept"].agg(considered="size", kept="sum").reset_index()
        return table.assign(share=table["kept"] / table["considered"])

    def _sizes(self) -> Iterator[dict[str, Any]]:
        """Yield how many pairs stay with one judge, two, all but one and all, and with the first runs of all: in all,
        and by source."""
        judges, runs = self.verdicts.columns.unique("judge"), self.verdicts.columns.get_level_values("run")
        for size in sorted({1, 2, len(judges) - 1, len(judges)} & {*range(1, len(judges) + 1)}):
            for chosen in combinations(judges, size):
                yield from self._size("combinations", self.verdicts[[*chosen]], judges=chosen)
        for most in range(1, runs.max() + 2):
            yield from self._size("by_runs", self.verdicts.loc[:, runs < most], judges=judges)

    def _size(self, table: str, verdicts: pd.DataFrame, *, judges: Iterable[str]) -> Iterator[dict[str, Any]]:
        stays = kept_by(self._rule, verdicts)
        sums = [("all", len(stays), int(stays.sum()))]
        by_source = self._table("source", stays)[["source", "considered", "kept"]]
        for source, total, number in [*sums, *by_source.itertuples(index=False)]:
            yield {
                "table": table, "judges": " + ".join(judges), "runs": verdicts.shape[1], "source": source,
                "considered": int(total), "kept": int(number), "removed": int(total - number),
            }  # fmt: skip

    def _judge(self, name: str) -> dict[str, Any]:
        own, others = self.verdicts[[name]], self.verdicts.drop(columns=name, level="judge")
        without = int(kept_by(self._rule, others).sum()) if others.shape[1] else len(self._pairs)
        return {
            "judge": name,
            "runs": own.shape[1],
            "accuracy": float((own == RIGHT).to_numpy().mean()),
            "undecided": float((own == NEITHER).to_numpy().mean()),
            "removes_alone": int((~kept_by(self._rule, own)).sum()),
            "stay_without_it": without,
            "removed_by_it_only": without - int(self.kept.sum()),
            "accuracy_on_kept": float((own[self.kept] == RIGHT).to_numpy().mean()) if self.kept.any() else None,
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
        raise CommandError(f"No pair can be filtered: {reasons}.")
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
    sizes, rows = pd.DataFrame(report["sizes"]), ["table", "judges", "runs"]
    yield sizes.pivot_table("kept", rows, "source", aggfunc="first", sort=False).reset_index()
    yield "## Expected share of wrong labels among what stays"
    yield WRONG_LABELS
    yield pd.DataFrame(report["wrong_labels"])
    yield "## Files"
    yield pd.DataFrame(report["files"])
