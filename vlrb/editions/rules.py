"""Filter rules: which pairs stay, given every run's verdict. Pure.

* ``all-wrong``: every run prefers the response that people reject.
* ``at-least:M``: so do M runs.
* ``judges:M``: at least M judges are wrong in more than half of their runs.
* ``unstable:M``: at least M judges (1) prefer one response in one order and the other in the other order, each by more
  than half of the votes in that order.

Of several rules all must hold; one with "not-" before it must not. Undecided is not wrong, unless the rule says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
import numpy.typing as npt

from vlrb.arrays import BoolArray
from vlrb.editions.errors import CurateError
from vlrb.editions.runs import RunVerdicts

_RULE = re.compile(r"(not-)?(?:(all-wrong)|(unstable)|(at-least|judges|unstable):([1-9][0-9]{0,5}))")
_WORDS = {
    "all-wrong": "wrong in every run of every judge",
    "at-least": "wrong in at least {} runs",
    "judges": "at least {} judges wrong in more than half of their runs",
    "unstable": "at least {} judges prefer different responses in the two orders",
}


@dataclass(frozen=True, slots=True)
class Condition:
    """A part of a rule. ``expected``: whether it must hold or must not."""

    kind: str
    at_least: int = 1
    expected: bool = True

    def words(self) -> str:
        """Return the condition in words."""
        return ("" if self.expected else "not ") + _WORDS[self.kind].format(self.at_least)

    def scaled(self, runs: float, judges: float) -> Condition:
        """Return the condition for a share of the runs and of the judges; a count is rounded up."""
        share = runs if self.kind == "at-least" else judges
        return replace(self, at_least=max(1, ceil(self.at_least * share - 1e-9)))


@dataclass(frozen=True, slots=True)
class FilterRule:
    """Conditions that must all hold."""

    conditions: tuple[Condition, ...]
    undecided_is_wrong: bool = False

    def words(self) -> str:
        """Return the rule in words."""
        undecided = "; undecided counts as wrong" if self.undecided_is_wrong else ""
        return " and ".join(condition.words() for condition in self.conditions) + undecided

    def scaled(self, runs: float, judges: float) -> FilterRule:
        """Return the rule for a share of the runs and of the judges."""
        return replace(self, conditions=tuple(one.scaled(runs, judges) for one in self.conditions))


def read_rule(texts: Sequence[str], *, undecided_is_wrong: bool = False) -> FilterRule:
    """Return the rule of `all-wrong`, `at-least:M`, `judges:M`, `unstable[:M]`.

    Raises:
        CurateError: a text is none of these.
    """
    conditions = []
    for text in texts:
        if (parts := _RULE.fullmatch(text)) is None:
            raise CurateError(f"--rule {text}: give all-wrong, at-least:M, judges:M or unstable:M, with M from 1.")
        kind = parts[2] or parts[3] or parts[4]
        conditions.append(Condition(kind, int(parts[5] or 1), expected=not parts[1]))
    return FilterRule(tuple(conditions), undecided_is_wrong)


def check_rule(rule: FilterRule, verdicts: RunVerdicts) -> None:
    """Raise CurateError for a rule that counts more runs or judges than there are, or orders that no run records."""
    runs, judges = len(verdicts.judge), len(verdicts.judges)
    for condition in rule.conditions:
        if condition.at_least > (runs if condition.kind == "at-least" else judges):
            raise CurateError(
                f"The rule “{condition.words()}” tells nothing: there are {judges} judges with {runs} runs in all."
            )
        if condition.kind == "unstable" and (verdicts.shown < 0).all():
            raise CurateError("No run records which response was shown first: no judge can be unstable.")


def kept(rule: FilterRule, verdicts: RunVerdicts) -> BoolArray:
    """Return which pairs a rule keeps: (pairs,)."""
    stays = np.ones(len(verdicts.wrong), dtype=bool)
    if len(verdicts.judge):  # nobody else has removed anything
        wrong = ~verdicts.right if rule.undecided_is_wrong else verdicts.wrong
        for condition in rule.conditions:
            stays &= _holds(condition, verdicts, wrong=wrong) == condition.expected
    return stays


def _holds(condition: Condition, verdicts: RunVerdicts, *, wrong: BoolArray) -> BoolArray:
    if condition.kind == "all-wrong":
        return np.asarray(wrong.all(axis=1))
    if condition.kind == "at-least":
        return np.asarray(wrong.sum(axis=1) >= condition.at_least)
    by_judge = [np.flatnonzero(verdicts.judge == judge) for judge in np.unique(verdicts.judge)]
    if condition.kind == "judges":
        counts = [2 * wrong[:, runs].sum(axis=1) > len(runs) for runs in by_judge]
    else:
        counts = [_unstable(verdicts, runs) for runs in by_judge]
    return np.asarray(np.sum(counts, axis=0) >= condition.at_least)


def _unstable(verdicts: RunVerdicts, runs: npt.NDArray[np.intp]) -> BoolArray:
    """Return where a judge's majorities in the two orders differ."""
    right, wrong, shown_first = verdicts.right[:, runs], verdicts.wrong[:, runs], verdicts.shown[:, runs]
    here = [shown_first == order for order in (0, 1)]
    for_right, for_wrong = (
        [2 * (verdict & shown).sum(axis=1) > shown.sum(axis=1) for shown in here] for verdict in (right, wrong)
    )
    return np.asarray((for_right[0] & for_wrong[1]) | (for_wrong[0] & for_right[1]))
