"""Difference of two label revisions: counts, and the labels behind them. Pure."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from vlrb.benchmarks.items import ItemTable, presentation_order
from vlrb.benchmarks.labels import NOT_LABELLED, LabelSet


def diff_labels(before: LabelSet, after: LabelSet) -> dict[str, int | None]:
    """Return one revision against another, in counts; which items they are, the counts do not tell.

    `tags_changed`: items of both with other error tags; None where only one revision has tags.

    Raises:
        ValueError: the two are not about the same table.
    """
    if before.preferred.shape != after.preferred.shape:
        raise ValueError("the label revisions are about different items")
    there, here = before.preferred != NOT_LABELLED, after.preferred != NOT_LABELLED
    both = there & here
    changed: int | None = None
    if before.tags is not None and after.tags is not None:
        changed = sum(before.tags[i] != after.tags[i] for i in np.flatnonzero(both))
    elif before.tags is None and after.tags is None:
        changed = 0
    return {
        "items_before": int(there.sum()),
        "items_after": int(here.sum()),
        "flipped": int((both & (before.preferred != after.preferred)).sum()),
        "added": int((here & ~there).sum()),
        "dropped": int((there & ~here).sum()),
        "tags_changed": changed,
    }


@dataclass(frozen=True, slots=True)
class LabelChange:
    """A pair whose label differs between two revisions. Its labels: "A", "B" or "tie", as people see the responses
    (``vlrb.benchmarks.items.presentation_order``); "" where a revision lacks the pair."""

    pair: str
    item: str  # key
    category: str
    before: str
    after: str
    tags_before: tuple[str, ...]
    tags_after: tuple[str, ...]

    @property
    def change(self) -> str:
        """Return the kind of change, as `diff_labels` counts it."""
        if not self.before or not self.after:
            return "added" if self.after else "dropped"
        return "flipped" if self.before != self.after else "tags"

    def to_json(self) -> dict[str, Any]:
        """Return all fields by name."""
        return {"change": self.change, **asdict(self)}


def label_changes(before: LabelSet, after: LabelSet, *, table: ItemTable) -> list[LabelChange]:
    """Return the pairs that `diff_labels` counts, in the order of the table."""
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
    sides = [_preferred(labels, index, shown=order) for labels in (before, after)]
    tags = [tuple(sorted(labels.tags[index])) if labels.tags is not None else () for labels in (before, after)]
    return LabelChange(
        name, item.key, category=item.category, before=sides[0], after=sides[1], tags_before=tags[0], tags_after=tags[1]
    )


def _preferred(labels: LabelSet, index: int, *, shown: tuple[int, int]) -> str:
    preferred = int(labels.preferred[index])
    if preferred == NOT_LABELLED:
        return ""
    return "AB"[shown.index(preferred)] if preferred in shown else "tie"
