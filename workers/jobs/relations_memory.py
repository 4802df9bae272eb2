"""Facts that a worker keeps between two computations of relations: they never change, so it reads each once.

Votes and counts of an entry are stored once and for all; a selection follows from the votes of a judge's variants.
Everything here would be computed again with the same result: a worker that starts has none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from benchmark.statistics.selection import Selection
from benchmark.votes import Matrix

_MOST_SELECTIONS = 50_000
Counts = npt.NDArray[np.int64]


@dataclass(slots=True)
class RelationsMemory:
    """``selections``: by digest of what they follow from."""

    selections: dict[bytes, Selection] = field(default_factory=dict)
    _verdicts: Mapping[str, Matrix] = field(default_factory=dict)
    _counts: dict[tuple[str, str], dict[str, Counts]] = field(default_factory=dict)

    def counts(self, rules: tuple[str, str], names: Sequence[str], read: Callable[[Sequence[str]], Counts]) -> Counts:
        """Return the counts of entries under a label revision and a scorer version; ``read`` is asked for new ones."""
        known = self._counts.get(rules, {})
        if unread := [name for name in names if name not in known]:
            known = known | dict(zip(unread, read(unread), strict=True))
        self._counts[rules] = known = {name: known[name] for name in names}
        return np.stack([known[name] for name in names]) if names else read(names)

    def majorities(
        self, names: Collection[str], read: Callable[[Collection[str]], Mapping[str, Matrix]]
    ) -> Mapping[str, Matrix]:
        """Return the majority verdicts of entries; ``read`` is asked for new ones. Others are forgotten."""
        known = {name: self._verdicts[name] for name in names if name in self._verdicts}
        known |= read([name for name in names if name not in known])
        self._verdicts = known
        if len(self.selections) > _MOST_SELECTIONS:
            self.selections = {}
        return known
