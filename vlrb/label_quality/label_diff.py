"""Difference of two label revisions: counts, and the labels behind them. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from vlrb.benchmarks.items import ItemTable, presentation_order
from vlrb.benchmarks.labels import NOT_LABELLED, LabelSet


@dataclass(frozen=True, slots=True)
class LabelChange:
    """A pair whose label differs between two revisions. Its labels: "A", "B" or "tie", as people see the responses
    (``vlrb.benchmarks.items.presentation_order``); "" where a revision lacks the pair."""

    change: str  # added, dropped, flipped, or tags
    pair: str
    item: str  # key
    category: str
    before: str
    after: str
    tags_before: tuple[str, ...]
    tags_after: tuple[str, ...]


def diff_labels(before: LabelSet, after: LabelSet, *, table: ItemTable) -> dict[str, int | None]:
    """Return one revision against another, in counts; which items they are, the counts do not tell.

    `tags_changed`: items of both with other error tags; None where only one revision has tags.
    """
    changes = label_changes(before, after, table=table)
    kinds = Counter(change.change for change in changes)
    retagged = sum(bool(one.before and one.after) and one.tags_before != one.tags_after for one in changes)
    return {
        "items_before": before.items,
        "items_after": after.items,
        **{kind: kinds[kind] for kind in ("flipped", "added", "dropped")},
        "tags_changed": retagged if (before.tags is None) == (after.tags is None) else None,
    }


def label_changes(before: LabelSet, after: LabelSet, *, table: ItemTable) -> list[LabelChange]:
    """Return the pairs whose label or tags differ, in the order of the table."""
    different = before.preferred != after.preferred
    if before.tags is not None and after.tags is not None:
        both = (before.preferred != NOT_LABELLED) & (after.preferred != NOT_LABELLED)
        tagged = np.array([a != b for a, b in zip(before.tags, after.tags, strict=True)], dtype=bool)
        different |= both & tagged
    return [_change(before, after, table=table, index=int(index)) for index in np.flatnonzero(different)]


def _change(before: LabelSet, after: LabelSet, *, table: ItemTable, index: int) -> LabelChange:
    item = table.items[index]
    name = next(item.ids[revision] for revision in reversed(table.revisions) if revision in item.ids)
    order = presentation_order(item.responses)
    old, new = (_preferred(labels, index, shown=order) for labels in (before, after))
    change = "tags" if old == new else "flipped" if old and new else "added" if new else "dropped"
    tags = [tuple(sorted(labels.tags[index])) if labels.tags is not None else () for labels in (before, after)]
    return LabelChange(change, name, item.key, item.category, old, new, *tags)


def _preferred(labels: LabelSet, index: int, *, shown: tuple[int, int]) -> str:
    preferred = int(labels.preferred[index])
    if preferred == NOT_LABELLED:
        return ""
    return "AB"[shown.index(preferred)] if preferred in shown else "tie"
