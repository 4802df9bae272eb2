"""Ensemble filter: the pairs that stay, and those that each judge and combination of judges removes. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from vlrb.arrays import BoolArray
from vlrb.editions.pools.near_duplicates import LEFT_OUT, Duplicate
from vlrb.editions.pools.pool import PoolPair
from vlrb.editions.runs import JudgeFile, RunVerdicts, collect, kept_by
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
