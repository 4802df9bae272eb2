"""Filter rules as data: which pairs stay, given every run's verdict. Pure.

A rule is a JSON object with ``rule`` and, where it takes one, ``at_least`` or ``rules``:

* ``wrong-in-all``: every run prefers the response that people reject.
* ``wrong-at-least``: so do ``at_least`` runs.
* ``judges-wrong-at-least``: at least ``at_least`` judges are wrong in more than half of their runs.
* ``unstable``: at least ``at_least`` judges (1) prefer one response in one order and the other in the other order, each
  by more than half of the votes in that order.
* ``any``, ``all``, ``not``: of other rules.

Undecided is not wrong, unless ``undecided`` is "wrong".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from vlrb.arrays import BoolArray
from vlrb.common.json_files import JsonFileFault, read_shaped
from vlrb.common.messages import _, joined
from vlrb.editions.errors import CurateError
from vlrb.editions.runs import RunVerdicts

WRONG_IN_ALL, WRONG_AT_LEAST, JUDGES_WRONG, UNSTABLE = (
    "wrong-in-all", "wrong-at-least", "judges-wrong-at-least", "unstable",
)  # fmt: skip
_DEEPEST = 32  # rules within rules
COUNTED = {WRONG_AT_LEAST, JUDGES_WRONG, UNSTABLE}
COMBINED = {"any", "all", "not"}
SHORT = {"all-wrong": WRONG_IN_ALL, "at-least": WRONG_AT_LEAST, "judges": JUDGES_WRONG, "unstable": UNSTABLE}
"""Names on the command line; a number follows after a colon."""


@dataclass(frozen=True, slots=True)
class FilterRule:
    """A rule. ``undecided_is_wrong`` counts for the whole tree."""

    kind: str
    at_least: int = 1
    rules: tuple[FilterRule, ...] = ()
    undecided_is_wrong: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the rule as data."""
        result: dict[str, Any] = {"rule": self.kind}
        result |= {"at_least": self.at_least} if self.kind in COUNTED else {}
        result |= {"rules": [rule.to_json() for rule in self.rules]} if self.rules else {}
        return result | ({"undecided": "wrong"} if self.undecided_is_wrong else {})

    def words(self) -> str:
        """Return the rule in words."""
        if self.kind in COMBINED:
            between = _(" or ") if self.kind == "any" else _(" and ")
            inner = joined((_("({rule})", rule=rule.words()) for rule in self.rules), between)
            return _("not {rule}", rule=inner) if self.kind == "not" else inner
        return {
            WRONG_IN_ALL: _("wrong in every run of every judge"),
            WRONG_AT_LEAST: _("wrong in at least {count} runs", count=self.at_least),
            JUDGES_WRONG: _("at least {count} judges wrong in more than half of their runs", count=self.at_least),
            UNSTABLE: _("at least {count} judges prefer different responses in the two orders", count=self.at_least),
        }[self.kind]

    def scaled(self, runs: float, judges: float) -> FilterRule:
        """Return the rule for a share of the runs and of the judges; counts are rounded up."""
        share = runs if self.kind == WRONG_AT_LEAST else judges
        at_least = max(1, int(np.ceil(self.at_least * share - 1e-9)))
        return replace(self, at_least=at_least, rules=tuple(rule.scaled(runs, judges) for rule in self.rules))


def read_rule(text: str, *, undecided_is_wrong: bool = False) -> FilterRule:
    """Return the rule of `all-wrong`, `at-least:M`, `judges:M`, `unstable[:M]` or a JSON file.

    Raises:
        CurateError: it is none of these.
    """
    name, colon, number = text.partition(":")
    if name in SHORT and (not colon or (number.isdecimal() and SHORT[name] in COUNTED)):
        if (not colon and SHORT[name] in (WRONG_AT_LEAST, JUDGES_WRONG)) or (colon and not int(number)):
            raise CurateError(_("--rule {text} needs a number from 1: {name}:3.", text=text, name=name))
        return FilterRule(SHORT[name], int(number or 1), undecided_is_wrong=undecided_is_wrong)
    if not Path(text).is_file():
        raise CurateError(_("--rule {text}: give all-wrong, at-least:M, judges:M, unstable or a JSON file.", text=text))
    try:
        rule = rule_from_json(read_shaped(Path(text), dict))
    except (JsonFileFault, CurateError) as error:
        raise CurateError(_("The rule in {text} cannot be used: {error}", text=text, error=str(error))) from None
    return replace(rule, undecided_is_wrong=rule.undecided_is_wrong or undecided_is_wrong)


def rule_from_json(data: Any, depth: int = 0) -> FilterRule:
    """Return the rule of an object. Raises CurateError."""
    if depth > _DEEPEST:
        raise CurateError(_("rules lie within one another more than {most} times", most=_DEEPEST))
    if not isinstance(data, Mapping):
        raise CurateError(_('a rule is an object such as {"rule": "wrong-in-all"}'))
    kind, at_least, inner = data.get("rule"), data.get("at_least", 1), data.get("rules", [])
    if not isinstance(kind, str) or kind not in {WRONG_IN_ALL, *COUNTED, *COMBINED}:
        raise CurateError(
            _(
                "`rule` is {kind!r}; known are {names}",
                kind=kind,
                names=", ".join(sorted({WRONG_IN_ALL, *COUNTED, *COMBINED})),
            )
        )
    if type(at_least) is not int or at_least < 1:
        raise CurateError(_("`at_least` must be a number from 1, not {at_least!r}", at_least=at_least))
    if kind in COMBINED and (not isinstance(inner, list) or not inner or (kind == "not" and len(inner) != 1)):
        raise CurateError(
            _(
                "`rules` of {kind} must be a list of rules ({number})",
                kind=kind,
                number=_("one") if kind == "not" else _("one or more"),
            )
        )
    rules = tuple(rule_from_json(rule, depth + 1) for rule in inner) if kind in COMBINED else ()
    return FilterRule(kind, at_least, rules=rules, undecided_is_wrong=data.get("undecided") == "wrong")


def check_counts(rule: FilterRule, *, runs: int, judges: int) -> None:
    """Raise CurateError for a rule that counts more runs or judges than there are: it would tell nothing."""
    most = runs if rule.kind == WRONG_AT_LEAST else judges
    if rule.kind in COUNTED and rule.at_least > most:
        raise CurateError(
            _(
                "The rule “{rule}” can never hold: there are {judges} judges with {runs} runs in all.",
                rule=rule.words(),
                judges=judges,
                runs=runs,
            )
        )
    for inner in rule.rules:
        check_counts(inner, runs=runs, judges=judges)


def needs_order(rule: FilterRule) -> bool:
    """Return whether a rule asks which response was shown first."""
    return rule.kind == UNSTABLE or any(map(needs_order, rule.rules))


def kept(rule: FilterRule, verdicts: RunVerdicts) -> BoolArray:
    """Return which pairs a rule keeps: (pairs,)."""
    if not len(verdicts.judge):
        return np.ones(len(verdicts.wrong), dtype=bool)  # nobody has removed anything
    return _kept(rule, verdicts, wrong=~verdicts.right if rule.undecided_is_wrong else verdicts.wrong)


def _kept(rule: FilterRule, verdicts: RunVerdicts, *, wrong: BoolArray) -> BoolArray:
    if rule.kind in COMBINED:
        parts = np.array([_kept(part, verdicts, wrong=wrong) for part in rule.rules])
        if rule.kind == "not":
            return np.asarray(~parts[0])
        return np.asarray(parts.any(axis=0) if rule.kind == "any" else parts.all(axis=0))
    if rule.kind == WRONG_IN_ALL:
        return np.asarray(wrong.all(axis=1))
    if rule.kind == WRONG_AT_LEAST:
        return np.asarray(wrong.sum(axis=1) >= rule.at_least)
    by_judge = [np.flatnonzero(verdicts.judge == judge) for judge in np.unique(verdicts.judge)]
    if rule.kind == JUDGES_WRONG:
        counts = np.array([2 * wrong[:, runs].sum(axis=1) > len(runs) for runs in by_judge])
    else:
        counts = np.array([_unstable(verdicts, runs) for runs in by_judge])
    return np.asarray(counts.sum(axis=0) >= rule.at_least)


def _unstable(verdicts: RunVerdicts, runs: npt.NDArray[np.intp]) -> BoolArray:
    """Return where a judge's majorities in the two orders differ."""
    right, wrong, shown_first = verdicts.right[:, runs], verdicts.wrong[:, runs], verdicts.shown[:, runs]
    majorities = []
    for order in (0, 1):
        here = shown_first == order
        votes = here.sum(axis=1)
        majorities.append(
            ((right & here).sum(axis=1) * 2 > votes, (wrong & here).sum(axis=1) * 2 > votes),
        )
    (right_0, wrong_0), (right_1, wrong_1) = majorities
    return np.asarray((right_0 & wrong_1) | (wrong_0 & right_1))
