"""Grouping of entries into variants of one judge: the best of several is better by chance alone. Pure.

Entries are grouped by what their owners say of them, and by their votes. An entry whose owner is not named is a judge
of its own: a group with others would name the owner.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from vlrb.arrays import BoolArray, FloatArray
from vlrb.votes import ABSENT, UNDECIDED, Matrix

ALIKE_FROM = 0.95
"""Of the items that two files share: equal majority verdicts, for two entries of whomever to be one judge. On the real
files two readings of the same votes agree on all items, two runs of one judge on at most .86, two judges trained from
one base model on less than .60. Judges whose errors are independent reach it when 97.4% of their answers are right."""
_VERDICTS = (0, 1, UNDECIDED)
_BLOCK = 512  # entries
_NUMBERED = re.compile(r"[\s_.-]+(v|ver|version|attempt|run|variant)[\s_.-]*\d+(\.\d+)*$")


@dataclass(frozen=True, slots=True)
class Variant:
    """Origin of an entry; "" for unknown fields. ``judge`` is its slug where it has one."""

    id: str
    owner: str
    model: str
    organisation: str = ""
    base_model: str = ""
    judge: str = ""
    named: bool = True  # whether its owner may be named


@dataclass(slots=True)
class _Group:
    order: tuple[Any, ...]
    first: str
    members: list[str]


class VariantGroups:
    """Variants that are grouped one by one.

    Two are of one group where account or organisation are the same and so is the model family (the name of the model
    or of its base model, either way round), or where their judge is the same; and so is everything that is of one group
    with either.
    """

    def __init__(self) -> None:
        self._groups: dict[str, _Group] = {}  # by variant
        self._accounts: dict[str, str] = {}  # of the variants that are shown, and whose owner is named
        self._first_with: dict[tuple[str, ...], str] = {}

    def add(self, variant: Variant, order: tuple[Any, ...], *, shown: bool = True) -> None:
        """Add a variant. Of a group the one with the smallest ``order`` is the first."""
        if shown and variant.named:
            self._accounts[variant.id] = variant.owner
        self._groups[variant.id] = _Group(order, variant.id, members=[variant.id])
        for key in _keys(variant):
            self.join(self._first_with.setdefault(key, variant.id), variant.id)

    def join(self, first: str, second: str) -> None:
        """Make one group of those of two variants."""
        larger, smaller = self._groups[first], self._groups[second]
        if larger is smaller:
            return
        if len(larger.members) < len(smaller.members):
            larger, smaller = smaller, larger
        if smaller.order < larger.order:
            larger.order, larger.first = smaller.order, smaller.first
        larger.members += smaller.members
        self._groups.update(dict.fromkeys(smaller.members, larger))

    def first(self, name: str) -> str:
        """Return the first variant of the group of one."""
        return self._groups[name].first

    def shows(self, name: str, account: str) -> bool:
        """Return whether an account has a variant shown in the group of one.

        A variant that was scored and is not shown counts where its account shows another: it was tried. Who is not on
        the board with this judge is nobody's business.
        """
        return any(self._accounts.get(member) == account for member in self._groups[name].members)


def group_variants(variants: Sequence[Variant], alike: Iterable[tuple[str, str]] = ()) -> dict[str, str]:
    """id -> id of the first variant of its group, for all variants; also where ``alike`` says that the votes of two
    named ones are.
    """
    groups = VariantGroups()
    for place, variant in enumerate(variants):
        groups.add(variant, (place,))
    named = {variant.id for variant in variants if variant.named}
    for left, right in alike:
        if left in named and right in named:
            groups.join(left, right)
    return {variant.id: groups.first(variant.id) for variant in variants}


def _keys(variant: Variant) -> tuple[tuple[str, ...], ...]:
    """Anyone who shares one of these is of the same group."""
    if not variant.named:
        return ()
    judge = (("judge", variant.judge),) if variant.judge else ()
    return judge + _made_by(variant.owner, variant.organisation, variant.model, variant.base_model)


@lru_cache(maxsize=1 << 16)  # every snapshot asks for every entry
def _made_by(owner: str, organisation: str, *models: str) -> tuple[tuple[str, ...], ...]:
    families = {family(model) for model in models} - {""}
    makers = {("account", owner), ("organisation", _plain(organisation))}
    return tuple((kind, maker, name) for kind, maker in sorted(makers) for name in sorted(families) if maker)


def family(name: str) -> str:
    """Return a model's name without publisher, spelling and the number of a version: "Lab/My-Judge v2" is "myjudge"."""
    return _plain(_NUMBERED.sub("", name.rpartition("/")[2].casefold().strip()))


def _plain(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def alike_pairs(entries: Sequence[str], verdicts: Matrix) -> list[tuple[str, str]]:
    """Return every two entries with equal majority verdicts on ALIKE_FROM of the items that both files have."""
    options = (*_VERDICTS, *range(2, int(verdicts.max(initial=1)) + 1))
    result: list[tuple[str, str]] = []
    for start in range(0, len(entries), _BLOCK):  # all of a large board at once would take gigabytes
        block, later = verdicts[start : start + _BLOCK], verdicts[start:]
        shared = _products(block != ABSENT, later != ABSENT)
        equal = sum((_products(block == verdict, later == verdict) for verdict in options), np.zeros_like(shared))
        alike = np.argwhere(np.triu((equal >= ALIKE_FROM * shared) & (shared > 0), k=1))
        result += [(entries[start + i], entries[start + j]) for i, j in alike.tolist()]
    return result


def _products(block: BoolArray, later: BoolArray) -> FloatArray:
    return np.asarray(block.astype(np.float32) @ later.astype(np.float32).T)


def members(groups: Mapping[str, str]) -> dict[str, list[str]]:
    """Group -> its variants, in the order given."""
    result: dict[str, list[str]] = {}
    for name, group in groups.items():
        result.setdefault(group, []).append(name)
    return result
