"""Ensemble filter: the pairs that stay, and those that each judge and combination of judges removes. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from vlrb.arrays import BoolArray
from vlrb.editions.label_quality import SHARES, kept_chances, true_shares
from vlrb.editions.pools.near_duplicates import LEFT_OUT, Duplicate
from vlrb.editions.pools.pairs import PoolPair
from vlrb.editions.rules import FilterRule, kept
from vlrb.editions.runs import JudgeFile, RunVerdicts, collect, judged_by_all, runs_per_pair

_ALL_COMBINATIONS = 6  # judges; of more, only single judges, pairs and all but one


@dataclass(frozen=True, slots=True)
class PoolSelection:
    """The pairs that a filter looks at, as numbers in the pool, and why others are not among them."""

    considered: tuple[int, ...]
    duplicates: int
    without_preference: int
    unjudged: int


@dataclass(frozen=True, slots=True)
class SubsetSize:
    """How many pairs stay with some judges alone, or with the first runs of each."""

    judges: tuple[str, ...]
    runs: int
    kept: int
    by_source: dict[str, int]

    def to_json(self, considered: dict[str, int]) -> dict[str, Any]:
        """Return the size, and what is removed by source."""
        removed = {source: total - self.by_source.get(source, 0) for source, total in considered.items()}
        return {
            "judges": list(self.judges),
            "runs": self.runs,
            "kept": self.kept,
            "removed": sum(removed.values()),
            "kept_by_source": {source: self.by_source.get(source, 0) for source in considered},
            "removed_by_source": removed,
        }


def select(pairs: Sequence[PoolPair], files: Sequence[JudgeFile], *, duplicates: Sequence[Duplicate]) -> PoolSelection:
    """Return which pairs can be filtered: no duplicates, with a preference, and judged in every run."""
    repeated = {duplicate.pair for duplicate in duplicates if duplicate.kind in LEFT_OUT}
    judged = set(judged_by_all(files, len(pairs)))
    single = [number for number, pair in enumerate(pairs) if pair.id not in repeated]
    labelled = [number for number in single if pairs[number].preferred is not None]
    considered = tuple(number for number in labelled if number in judged)
    return PoolSelection(
        considered,
        len(pairs) - len(single),
        without_preference=len(single) - len(labelled),
        unjudged=len(labelled) - len(considered),
    )


class EnsembleFilter:
    """One rule over the runs of several judges."""

    def __init__(
        self, rule: FilterRule, pairs: Sequence[PoolPair], *, files: Sequence[JudgeFile], selection: PoolSelection
    ) -> None:
        self._rule, self._files, self.selection = rule, files, selection
        self._pairs = [pairs[number] for number in selection.considered]
        self.verdicts: RunVerdicts = collect(files, pairs, numbers=selection.considered)
        self.kept: BoolArray = kept(rule, self.verdicts)

    def kept_lines(self) -> Iterator[dict[str, Any]]:
        """Yield the pairs that stay, each with the number of runs that are wrong about it."""
        wrong, right = self.verdicts.wrong.sum(axis=1), self.verdicts.right.sum(axis=1)
        runs = len(self.verdicts.judge)
        for number in np.flatnonzero(self.kept):
            votes = {"wrong": int(wrong[number]), "right": int(right[number]), "runs": runs}
            yield {**self._pairs[number].to_json(), "votes": votes}

    def report(self, priors: Sequence[float] = SHARES, accuracies: dict[str, float] | None = None) -> dict[str, Any]:
        """Return all numbers of the report. ``priors``: shares of wrong labels in the pool to reckon with."""
        selection, considered = self.selection, self._by(np.ones(len(self._pairs), dtype=bool), "source")
        sizes = [self._subset(judges) for judges in self._combinations()]
        return {
            "rule": self._rule.to_json(),
            "rule_in_words": self._rule.words(),
            "pairs": {
                "considered": len(self._pairs),
                "kept": int(self.kept.sum()),
                "duplicates": selection.duplicates,
                "without_preference": selection.without_preference,
                "unjudged": selection.unjudged,
            },
            "by_source": self._table("source"),
            "by_category": self._table("category"),
            "judges": [self._judge(number) for number in range(len(self.verdicts.judges))],
            "combinations": [size.to_json(considered) for size in sizes],
            "leave_one_out": [self._without(number).to_json(considered) for number in self._leaving_one()],
            "by_runs": [self._first_runs(runs).to_json(considered) for runs in range(1, self._most_runs() + 1)],
            "wrong_labels": self._wrong_labels(priors, accuracies or {}),
            "files": [
                {"judge": file.judge, "file": file.name, "sha256": file.sha256, "format": file.format}
                | {"runs": runs_per_pair(file), "pairs": len(file.votes)}
                for file in self._files
            ],
        }

    def _by(self, chosen: BoolArray, trait: str) -> dict[str, int]:
        values = (getattr(pair, trait) for pair, stays in zip(self._pairs, chosen, strict=True) if stays)
        return dict(sorted(Counter(values).items()))

    def _table(self, trait: str) -> list[dict[str, Any]]:
        all_pairs, stay = self._by(np.ones(len(self._pairs), dtype=bool), trait), self._by(self.kept, trait)
        return [
            {trait: name, "considered": total, "kept": stay.get(name, 0), "share": stay.get(name, 0) / total}
            for name, total in all_pairs.items()
        ]

    def _combinations(self) -> Iterator[tuple[int, ...]]:
        count = len(self.verdicts.judges)
        sizes = range(1, count + 1) if count <= _ALL_COMBINATIONS else sorted({1, 2, count - 1, count})
        for size in sizes:
            yield from combinations(range(count), size)

    def _leaving_one(self) -> Iterator[int]:
        return iter(range(len(self.verdicts.judges)) if len(self.verdicts.judges) > 1 else ())

    def _subset(self, judges: Sequence[int]) -> SubsetSize:
        runs = self.verdicts.runs_of(judges)
        return self._size(runs, tuple(self.verdicts.judges[judge] for judge in judges))

    def _without(self, judge: int) -> SubsetSize:
        others = [other for other in range(len(self.verdicts.judges)) if other != judge]
        return self._subset(others)

    def _first_runs(self, count: int) -> SubsetSize:
        judge = self.verdicts.judge
        runs = np.concatenate([np.flatnonzero(judge == index)[:count] for index in range(len(self.verdicts.judges))])
        return self._size(runs, self.verdicts.judges)

    def _most_runs(self) -> int:
        return max(Counter(self.verdicts.judge.tolist()).values(), default=0)

    def _size(self, runs: Any, judges: tuple[str, ...]) -> SubsetSize:
        rule = self._rule.scaled(len(runs) / len(self.verdicts.judge), len(judges) / len(self.verdicts.judges))
        stays = kept(rule, self.verdicts.only(runs))
        return SubsetSize(judges, len(runs), kept=int(stays.sum()), by_source=self._by(stays, "source"))

    def _judge(self, number: int) -> dict[str, Any]:
        runs = self.verdicts.runs_of([number])
        right, wrong = self.verdicts.right[:, runs], self.verdicts.wrong[:, runs]
        alone = self._subset([number]).kept
        single = len(self.verdicts.judges) == 1
        without = len(self._pairs) if single else self._without(number).kept
        return {
            "judge": self.verdicts.judges[number],
            "runs": len(runs),
            "accuracy": _mean(right),
            "undecided": _mean(~right & ~wrong),
            "removes_alone": len(self._pairs) - alone,
            "stay_without_it": without,
            "removed_by_it_only": without - int(self.kept.sum()),
            "accuracy_on_kept": _mean(right[self.kept]),
        }

    def _wrong_labels(self, priors: Sequence[float], given: dict[str, float]) -> dict[str, Any]:
        measured = {name: self._measured(number) for number, name in enumerate(self.verdicts.judges)}
        rows = []
        for prior in priors:
            shares = [
                _known_accuracy(given[name], shares) if name in given else true_shares(*shares, label_error=prior)
                for name, shares in measured.items()
            ]
            models = {"runs_agree": False, "runs_independent": True}
            row: dict[str, Any] = {"in_pool": prior}
            rows.append(row | {name: self._wrong_share(prior, shares, independent=how) for name, how in models.items()})
        return {
            "accuracies": {name: given.get(name, right) for name, (right, _wrong) in measured.items()},
            "rows": rows,
        }

    def _measured(self, judge: int) -> tuple[float, float]:
        """Return the shares of a judge's verdicts that agree and disagree with the labels."""
        here = self.verdicts.runs_of([judge])
        return _mean(self.verdicts.right[:, here]) or 0.0, _mean(self.verdicts.wrong[:, here]) or 0.0

    def _wrong_share(self, prior: float, shares: Sequence[tuple[float, float]], *, independent: bool) -> float | None:
        """``shares``: by judge, how often it prefers the better and the worse response."""
        runs = [len(self.verdicts.runs_of([number])) for number in range(len(shares))]
        better, worse = zip(*shares, strict=True)
        chances = kept_chances(self._rule, runs, accuracies=better, errors=worse, independent_runs=independent)
        return None if chances is None else chances.wrong_share(prior)


def _known_accuracy(accuracy: float, measured: tuple[float, float]) -> tuple[float, float]:
    """Return a judge's accuracy that somebody knows, and its errors: as many verdicts are undecided as were
    measured."""
    return accuracy, max(0.0, sum(measured) - accuracy)


def _mean(values: BoolArray) -> float | None:
    return float(values.mean()) if values.size else None
