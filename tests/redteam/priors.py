"""Attackers who know much before they begin: labels that differ from public ones in few pairs, or a good public judge.

What they see is made of the service's own scoring; what a disclosure level, the rule about missing votes and the Ladder
leave of it is a function of the defences, so that each can be switched off.

* Sparse difference: adaptive group testing with additive answers. Each file is the public labels with chosen stretches
  turned over or left out; a category's count tells how many differing pairs lie in them (Du & Hwang 2000, Combinatorial
  Group Testing and Its Applications, ch. 11, quantitative; Lindström 1965). The attacker is told how many pairs differ.
* A judge as prior: random stretches of its answers are turned over; least squares from the prior (attackers.py).

Under the Ladder both plan their scores: every file is made to score higher than the one before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import comb
from typing import Literal

import numpy as np
import numpy.typing as npt

from benchmark.arrays import FloatArray, IntArray
from benchmark.ladder import Try, rounded, shown
from benchmark.statistics.reliability import abstaining
from tests.redteam.attackers import ShownCounts, Vector

Level = Literal["categories", "overall"]
ProbeShape = Literal["null", "complement"]

ACCOUNTS, YEAR = 3, 12
MARGIN, NULLS = 0.015, 0.15
_MOST_CANDIDATES = 20_000
_QUERIES = 48  # that are looked at for each file
_DITHER = 7  # pairs: a step of half a point of 1,250 has 6.25


@dataclass(frozen=True, slots=True)
class Defence:
    """What an installation shows, and which rules it has. ``files``: in all, of all accounts."""

    level: Level = "categories"
    ladder: bool = False
    nulls: bool = False
    files: int = ACCOUNTS * YEAR


@dataclass
class PriorBoard:
    """What comes back of each file under a defence; accounts take turns."""

    truth: Vector
    groups: IntArray  # of each pair, its category
    defence: Defence
    sent: int = 0
    waiting: int = 0  # files that a maintainer would have to approve, which tell nothing
    numbers: int = 0  # files of which a number was shown
    tries: list[list[Try]] = field(default_factory=lambda: [[] for _ in range(ACCOUNTS)])

    @property
    def open(self) -> bool:
        """Whether another file is taken."""
        return self.sent < self.defence.files

    @property
    def bar(self) -> float:
        """The score that the next file has to reach to be shown."""
        mine = self.tries[self.sent % ACCOUNTS]
        known = [one.score for one, is_shown in zip(mine, shown(mine), strict=True) if is_shown and one.score]
        return max(known) + MARGIN if self.defence.ladder and known else 0.0

    def look(self, votes: Vector) -> ShownCounts | None:
        """Send a file; its right answers by group (one for all where the overall alone is shown), None where no number
        is shown."""
        account = self.tries[self.sent % ACCOUNTS]
        self.sent += 1
        if self.defence.nulls and abstaining(votes.reshape(-1, 1)) > NULLS:
            self.waiting += 1
            return None
        seen, score = self.answer(np.bincount(self.groups, weights=votes == self.truth))
        account.append(Try(score, MARGIN if self.defence.ladder else None))
        if not shown(account)[-1]:
            return None
        self.numbers += 1
        return seen

    def answer(self, right: FloatArray) -> tuple[ShownCounts, float]:
        """Return what is shown of the right answers by group, and the score that the Ladder compares."""
        sizes = np.bincount(self.groups)
        if self.defence.level == "overall":
            overall = rounded(float(right.sum() / sizes.sum()), "overall")
            return np.array([overall * sizes.sum()]), overall
        return right, rounded(float((right / sizes).mean()), "categories")


# Sparse difference ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Search:
    """What is known of the pairs that differ within one group: disjoint intervals with a number each.

    An open interval is about to be halved: ``left`` holds, row by row, the possible numbers in the left halves of the
    open intervals, and ``weight`` how likely each row is.
    """

    closed: list[tuple[IntArray, int]]  # nothing differs in it, or everything
    open: list[tuple[IntArray, int]]
    left: IntArray
    weight: FloatArray

    @classmethod
    def of(cls, pairs: IntArray, differing: int) -> Search:
        """Return a group in which so many pairs differ."""
        search = cls([], [], left=np.zeros((1, 0), dtype=np.int64), weight=np.ones(1))
        search._add([(pairs, differing)])
        return search

    def _add(self, intervals: Sequence[tuple[IntArray, int]]) -> None:
        for pairs, count in intervals:
            if count in (0, len(pairs)):
                self.closed.append((pairs, count))
                continue
            half = len(pairs) // 2
            low, high = max(0, count - (len(pairs) - half)), min(count, half)
            values = np.arange(low, high + 1)
            chances = np.array([comb(half, v) * comb(len(pairs) - half, count - v) for v in values], dtype=float)
            self.open.append((pairs, count))
            rows = len(self.left)
            self.left = np.column_stack([np.repeat(self.left, len(values), axis=0), np.tile(values, rows)])
            self.weight = np.repeat(self.weight, len(values)) * np.tile(chances / chances.sum(), rows)

    def settle(self) -> None:
        """Halve the intervals whose left half is known; the halves may be open in their turn."""
        while self.open:
            known = [at for at in range(len(self.open)) if (self.left[:, at] == self.left[0, at]).all()]
            if not known or len(self.left) * 4 > _MOST_CANDIDATES:
                if not known:
                    return
                known = known if len(self.left) == 1 else known[:1]
            halves: list[tuple[IntArray, int]] = []
            for at in known:
                pairs, count = self.open[at]
                half, there = len(pairs) // 2, int(self.left[0, at])
                halves += [(pairs[:half], there), (pairs[half:], count - there)]
            rest = [at for at in range(len(self.open)) if at not in known]
            self.open = [self.open[at] for at in rest]
            self.left = self.left[:, rest]
            self._add(halves)

    def keep(self, rows: npt.NDArray[np.bool_]) -> None:
        """Drop what an answer has ruled out."""
        self.left, self.weight = self.left[rows], self.weight[rows] / self.weight[rows].sum()
        self.settle()

    def found(self) -> IntArray:
        """Return the pairs that are known to differ."""
        return np.concatenate([pairs for pairs, count in self.closed if count] or [np.zeros(0, dtype=np.int64)])

    def clean(self) -> IntArray:
        """Return the pairs that are known not to differ."""
        return np.concatenate([pairs for pairs, count in self.closed if not count] or [np.zeros(0, dtype=np.int64)])


def entropy(keys: IntArray, weight: FloatArray) -> float:
    """Return the bits that an answer tells, given the answer of every candidate."""
    _, places = np.unique(keys, return_inverse=True)
    chances = np.bincount(places, weights=weight)
    chances = chances[chances > 0] / chances.sum()
    return float(-(chances * np.log2(chances)).sum())


@dataclass(frozen=True, slots=True)
class _Query:
    """A stretch to be turned over or left out, and how many differing pairs it holds by candidate."""

    pairs: IntArray
    holds: IntArray


def _queries(search: Search, dice: np.random.Generator, *, count: int) -> list[_Query]:
    """Random choices: of each open interval the left half, the right half or neither."""
    made, spare = [], search.clean()[:_DITHER]
    for number in range(count):
        sides = dice.choice([-1, 0, 1], len(search.open), p=[0.4, 0.2, 0.4])
        pairs, holds = [np.zeros(0, dtype=np.int64)], np.zeros(len(search.left), dtype=np.int64)
        for at, side in enumerate(sides):
            (members, count_here), half = search.open[at], len(search.open[at][0]) // 2
            if side:
                pairs.append(members[:half] if side < 0 else members[half:])
                holds = holds + (search.left[:, at] if side < 0 else count_here - search.left[:, at])
        # Rounding hides less of a sum that lies beside a step: some pairs that are known to be right move it there.
        pairs.append(spare[: number % (len(spare) + 1)])
        made.append(_Query(np.concatenate(pairs), holds))
    return made


def sparse(public: Vector, board: PriorBoard, *, shape: ProbeShape, dice: np.random.Generator) -> IntArray:
    """Return the pairs that the attacker knows to differ from the public labels when no further file is taken."""
    groups = board.groups if board.defence.level == "categories" else np.zeros_like(board.groups)
    differing = public != board.truth
    searches = [_start(groups == group, differing, board=board, dice=dice) for group in range(int(groups.max()) + 1)]
    while board.open and any(search.open for search in searches):
        chosen = [_best(search, board, shape=shape, dice=dice, whole=len(searches) == 1) for search in searches]
        filler = _filler(searches, chosen, board=board, pairs=len(public), shape=shape, dice=dice)
        file = public.copy()
        for pairs in (*(one.pairs for one in chosen), filler):
            file[pairs] = -1 if shape == "null" else 1 - file[pairs]
        bar, waiting = board.bar, board.waiting
        seen = board.look(file)
        if board.waiting == waiting:
            _learn(searches, chosen, seen=seen, bar=bar, file=file, public=public, board=board, shape=shape)
    return np.concatenate([search.found() for search in searches])


def _start(
    inside: npt.NDArray[np.bool_], differing: npt.NDArray[np.bool_], *, board: PriorBoard, dice: np.random.Generator
) -> Search:
    """Return a group, and how many of its pairs differ. Where sums are rounded, a few pairs that the attacker is
    sure of."""
    sure = dice.choice(np.flatnonzero(inside & ~differing), _DITHER * (board.defence.level == "overall"), replace=False)
    search = Search.of(np.setdiff1d(np.flatnonzero(inside), sure), int(differing[inside].sum()))
    search.closed.append((sure, 0))
    return search


def _best(search: Search, board: PriorBoard, *, shape: ProbeShape, dice: np.random.Generator, whole: bool) -> _Query:
    """Return the query that tells most; of a whole that is rounded, as far as rounding and the Ladder leave it."""
    if not search.open:
        return _Query(np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64))
    queries = _queries(search, dice, count=_QUERIES)

    def told(query: _Query) -> float:
        if not whole:
            return entropy(query.holds, search.weight)
        steps = _steps(_right(search, query.holds, equal=len(board.truth) - len(query.pairs), shape=shape), board)
        return entropy(np.where(steps < 200 * board.bar - 1e-6, -1, steps), search.weight)

    return max(queries, key=told)


def _right(search: Search, holds: IntArray, *, equal: int, shape: ProbeShape) -> IntArray:
    """By candidate, the right answers of a file that equals the public labels on so many pairs: those that do not
    differ of what is left as it was, and those that do of what was turned over."""
    total = sum(count for _, count in (*search.open, *search.closed))
    return equal - (total - holds) + (holds if shape == "complement" else 0)


def _steps(right: IntArray, board: PriorBoard) -> IntArray:
    """Right answers of all pairs in half points, as they are shown."""
    return np.round(right / len(board.truth) * 200).astype(np.int64)


def _filler(
    searches: Sequence[Search],
    chosen: Sequence[_Query],
    *,
    board: PriorBoard,
    pairs: int,
    shape: ProbeShape,
    dice: np.random.Generator,
) -> IntArray:
    """Return pairs known not to differ that are given up, so that the score lands just above the bar."""
    clean = np.concatenate([search.clean() for search in searches])
    if not board.defence.ladder:
        return clean[:0]
    used = sum(len(one.pairs) for one in chosen)
    room = 1.0 - board.bar - 0.01 - used / pairs
    spare = int(max(0.0, room) * pairs * 0.9)
    later = (board.defence.files - board.sent) // ACCOUNTS * (MARGIN + 0.003)
    return dice.permutation(clean)[: min(spare, int(later * pairs))]


def _learn(
    searches: Sequence[Search],
    chosen: Sequence[_Query],
    *,
    seen: ShownCounts | None,
    bar: float,
    file: Vector,
    public: Vector,
    board: PriorBoard,
    shape: ProbeShape,
) -> None:
    """Drop the candidates that another answer would have been given of; that none is shown tells something too."""
    groups = board.groups if len(searches) > 1 else np.zeros_like(board.groups)
    for group, (search, query) in enumerate(zip(searches, chosen, strict=True)):
        inside = groups == group
        right = _right(search, query.holds, equal=int((file[inside] == public[inside]).sum()), shape=shape)
        if not search.open:
            continue
        if len(searches) == 1:
            steps = _steps(right, board)
            search.keep(steps < 200 * bar - 1e-6 if seen is None else steps == round(200 * seen[0] / len(public)))
        elif seen is not None:
            search.keep(right == round(seen[group]))


# A judge as prior ----------------------------------------------------------------------------------------------------


def judge_prior(
    judge: Vector, accuracy: float, *, board: PriorBoard, shape: ProbeShape, dice: np.random.Generator
) -> Vector:
    """Return what the attacker believes of all labels after turning over, or leaving out, parts of a judge's answers.

    Least squares from the prior: the labels nearest to what the judge says that give the counts that were shown.
    """
    files: list[Vector] = []
    views: list[ShownCounts] = []
    while board.open:
        file = judge.copy()
        share = _share(board, accuracy)
        changed = dice.random(len(judge)) < share
        file[changed] = -1 if shape == "null" else 1 - file[changed]
        seen = board.look(file)
        if seen is not None:
            files.append(file)
            views.append(seen)
    return _least_squares(files, views, judge=judge, accuracy=accuracy, board=board)


def _share(board: PriorBoard, accuracy: float) -> float:
    """Return how much of the judge's answers is given up: half without the Ladder, else so much that each file
    climbs."""
    if not board.defence.ladder:
        return 0.5
    steps = (board.defence.files - board.sent - 1) // ACCOUNTS
    top = accuracy - steps * (MARGIN + 0.02)  # two standard deviations of a file's score above the margin
    return float(np.clip((accuracy - top) / (2 * accuracy - 1), 0.02, 0.98))


def _least_squares(
    files: Sequence[Vector], views: Sequence[ShownCounts], *, judge: Vector, accuracy: float, board: PriorBoard
) -> Vector:
    """Return the sign of the mean of labels (1 and -1) given linear equations, each label with the judge's prior.

    Votes v of 1, -1 or 0 for none, and labels s: the right answers of a file are (sum of v s + votes given) / 2.
    """
    prior = (2 * accuracy - 1) * (2.0 * judge - 1.0)
    belief = prior.copy()
    if not files:
        return (belief > 0).astype(np.int8)
    votes = np.where(np.array(files) < 0, 0.0, 2.0 * np.array(files) - 1.0)
    whole = board.defence.level == "overall"
    groups = np.zeros_like(board.groups) if whole else board.groups
    noise = (0.01 * len(judge)) ** 2 / 12 if whole else 1e-6  # of a rounded sum
    variance = 1 - (2 * accuracy - 1) ** 2
    for group in range(int(groups.max()) + 1):
        inside = np.flatnonzero(groups == group)
        x = votes[:, inside]
        sums = 2 * np.array([view[group] for view in views]) - np.abs(x).sum(axis=1)
        kernel = variance * x @ x.T + noise * np.eye(len(files))
        belief[inside] += variance * x.T @ np.linalg.solve(kernel, sums - x @ prior[inside])
    return (belief > 0).astype(np.int8)


# What comes of it ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Recovered:
    """``share``: of the differing pairs that are named, or by how much a judge is better, as a fraction."""

    share: float
    sent: int
    shown: int
    waiting: int


SPARSE_SHAPE = (1, 0, 15)
"""Pairs by category in which the published revisions v0 and v2 of the real benchmark differ."""


def corrected(
    truth: Vector, groups: IntArray, *, dice: np.random.Generator, shape: Sequence[int] = SPARSE_SHAPE
) -> Vector:
    """Public labels that differ from hidden ones in so many pairs of each category."""
    public = truth.copy()
    for group, count in enumerate(shape):
        wrong = dice.choice(np.flatnonzero(groups == group), count, replace=False)
        public[wrong] = 1 - public[wrong]
    return public


def run_sparse(truth: Vector, groups: IntArray, *, defence: Defence, shape: ProbeShape, seed: int) -> Recovered:
    """Return the sparse difference against a defence."""
    dice = np.random.default_rng(seed)
    public, board = corrected(truth, groups, dice=dice), PriorBoard(truth, groups, defence=defence)
    found = sparse(public, board, shape=shape, dice=dice)
    wrong = np.flatnonzero(public != truth)
    assert np.isin(found, wrong).all()  # what it names it knows
    return Recovered(len(found) / len(wrong), board.sent, shown=board.numbers, waiting=board.waiting)


def run_judge(
    truth: Vector, groups: IntArray, *, defence: Defence, shape: ProbeShape, seed: int, accuracy: float = 0.85
) -> Recovered:
    """Return a judge of this accuracy as prior against a defence."""
    dice = np.random.default_rng(seed)
    judge = np.where(dice.random(len(truth)) < accuracy, truth, 1 - truth).astype(np.int8)
    board = PriorBoard(truth, groups, defence=defence)
    belief = judge_prior(judge, accuracy, board=board, shape=shape, dice=dice)
    gain = float((belief == truth).mean() - (judge == truth).mean())
    return Recovered(gain, board.sent, shown=board.numbers, waiting=board.waiting)
