"""What a worker keeps between two computations of relations: facts that never change, so that it reads each once.

Votes and counts of an entry are stored once and for all; a selection follows from the votes of a judge's variants.
Everything here would be computed again with the same result: a worker that starts has none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from benchmark.statistics.selection import Selection
from benchmark.votes import Matrix

_MOST_SELECTIONS = 50_000
Counts = npt.NDArray[np.int64]


@dataclass(slots=True)
class RelationsMemory:
    """``verdicts``: majority verdicts by entry. ``selections``: by digest of what they follow from."""

    verdicts: dict[str, Matrix] = field(default_factory=dict)
    selections: dict[bytes, Selection] = field(default_factory=dict)
    _counts: dict[tuple[str, str], dict[str, Counts]] = field(default_factory=dict)

    def counts(self, rules: tuple[str, str], names: Sequence[str], read: Callable[[Sequence[str]], Counts]) -> Counts:
        """Return the counts of entries under a label revision and a scorer version; ``read`` is asked for new ones."""
        known = self._counts.get(rules, {})
        if unread := [name for name in names if name not in known]:
            known = known | dict(zip(unread, read(unread), strict=True))
        self._counts[rules] = {name: known[name] for name in names}
        return np.stack(list(self._counts[rules].values())) if names else read(names)

    def forget_but(self, names: Collection[str]) -> None:
        """Forget votes that are no longer compared; and all selections, where they have become many."""
        self.verdicts = {name: one for name, one in self.verdicts.items() if name in names}
        if len(self.selections) > _MOST_SELECTIONS:
            self.selections.clear()
