"""Facts that a worker keeps between two computations of relations: they never change, so it reads each once.

Votes and counts of an entry are stored once and for all. Everything here would be computed again with the same result:
a worker that starts has none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.votes import Matrix
from workers.board_entries import EntryOrder
from workers.board_index import BoardIndex


class CountingRules(NamedTuple):
    """Rules by which entries are counted and shown."""

    spec: BenchmarkSpec
    revision: str
    level: str  # benchmark.disclosure
    scorer_version: str


@dataclass(slots=True)
class RelationsMemory:
    """``index``: entries of the board."""

    index: BoardIndex = field(default_factory=BoardIndex)
    _votes: dict[str, Mapping[str, Matrix]] = field(default_factory=dict)  # by label revision
    _keys: dict[tuple[str, ...], Mapping[str, tuple[float, ...]]] = field(default_factory=dict)  # by rules, of entries

    def ranked(
        self,
        rules: CountingRules,
        places: Mapping[str, EntryOrder],
        *,
        read: Callable[[Sequence[str]], Sequence[tuple[float, ...]]],
    ) -> list[str]:
        """Return entries best first; ``read`` is asked for the keys of new ones."""
        known = self._keys.get(rules[1:], {})
        new = [name for name in places if name not in known]
        keys = {**known, **(dict(zip(new, read(new), strict=True)) if new else {})}
        self._keys[rules[1:]] = {name: keys[name] for name in places}
        return sorted(places, key=lambda name: (*keys[name], places[name].created_at, name))

    def votes(
        self, revision: str, names: Collection[str], *, read: Callable[[Collection[str]], Mapping[str, Matrix]]
    ) -> Mapping[str, Matrix]:
        """Return the condensed votes of entries; ``read`` is asked for new ones. Others are forgotten, but for those
        that were asked for last under another label revision."""
        before = {name: votes for held in self._votes.values() for name, votes in held.items()}
        known = {name: before[name] for name in names if name in before}
        known |= read([name for name in names if name not in known])
        self._votes[revision] = known
        return known
