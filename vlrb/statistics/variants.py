"""Grouping of entries into variants of one judge: the best of several is better by chance alone. Pure.

Entries are grouped by what their owners say of them, and by their votes. An entry whose owner is not named is a judge
of its own: a group with others would name the owner.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

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


def group_variants(variants: Sequence[Variant], alike: Iterable[tuple[str, str]] = ()) -> dict[str, str]:
    """id -> id of the first variant of its group, for all variants in their order.

    Two are of one group where account or organisation are the same and so is the model family (the name of the model
    or of its base model, either way round), where their judge is the same, or where ``alike`` says that the votes of
    two named ones are; and so is everything that is of one group with either.
    """
    groups = {variant.id: [variant.id] for variant in variants}

    def join(first: str, second: str) -> None:
        larger, smaller = sorted((groups[first], groups[second]), key=len, reverse=True)
        if larger is not smaller:
            larger += smaller
            groups.update(dict.fromkeys(smaller, larger))

    first_with: dict[tuple[str, ...], str] = {}
    for variant in variants:
        for key in _keys(variant):
            join(first_with.setdefault(key, variant.id), variant.id)
    named = {variant.id for variant in variants if variant.named}
    for left, right in alike:
        if left in named and right in named:
            join(left, right)
    result: dict[str, str] = {}
    for variant in variants:
        if variant.id not in result:
            result |= dict.fromkeys(groups[variant.id], variant.id)
    return result


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
