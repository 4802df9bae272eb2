"""Views that an attacker has of the service, made by the service's own code, and views with the defences off."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from benchmark import demo
from benchmark.items import ItemTable
from benchmark.labels import LabelSet
from benchmark.scorecard import scorecard
from benchmark.scoring import Tally, tally
from benchmark.votes import Behaviour, Votes
from leaderboard.board.disclosure import category_level_only, redact_entry
from tests.factories.specs import CATEGORIES, GROUPINGS, VL
from tests.redteam.attackers import Groups, ShownCounts, Vector

_UNKNOWN = Behaviour(parse_rate=1.0, first_shown_rate=None, self_consistency=None)


@dataclass
class Secret:
    """The demo benchmark and its labels, which attackers must not see."""

    table: ItemTable = field(init=False)
    labels: LabelSet = field(init=False)

    def __post_init__(self) -> None:
        pairs = demo.demo_pairs()
        self.table = demo.demo_items(pairs)
        self.labels = demo.demo_labels(pairs, self.table)

    @property
    def truth(self) -> Vector:
        """The label of every item."""
        return self.labels.preferred

    @cached_property
    def categories(self) -> Groups:
        """Public: which item is in which category."""
        return Groups(np.array([CATEGORIES.index(item.category) for item in self.table.items]))

    def grouped(self, grouping: str) -> Groups:
        """Public: which item is in which category under one of the GROUPINGS."""
        of_source = {source: n for n, one in enumerate(CATEGORIES) for source in GROUPINGS[grouping][one]}
        return Groups(np.array([of_source[item.source] for item in self.table.items]))

    @cached_property
    def everything(self) -> Groups:
        """All items as one group."""
        return Groups(np.zeros(len(self.table), dtype=np.int64))

    @cached_property
    def fifteen(self) -> Groups:
        """Every category cut into five, as error tags would."""
        return Groups(self.categories.of * 5 + np.arange(len(self.table)) % 5)

    def disclosed(self, votes: Vector) -> dict[str, Any]:
        """Return the scorecard of a file under labels that are hidden, as the API gives it."""
        counted = tally(Votes(votes.reshape(-1, 1)), self.labels, table=self.table)
        left = Tally.from_json(category_level_only(counted.to_json(), VL), VL)
        return redact_entry(scorecard(left, _UNKNOWN, benchmark="demo", label_revision="demo"), VL)

    def by_category(self, votes: Vector) -> ShownCounts:
        """Return what three rounded accuracies tell."""
        return self.read_categories(self.disclosed(votes)["protocols"]["strict"])

    def overall_only(self, votes: Vector) -> ShownCounts:
        """Return what one rounded accuracy tells."""
        return np.array([self.disclosed(votes)["protocols"]["strict"]["overall"] * len(self.table)])

    def read_categories(self, shown: dict[str, Any], groups: Groups | None = None) -> ShownCounts:
        """Return three accuracies as counts: below 1,000 items a tenth of a point names the whole number."""
        sizes = np.bincount((groups or self.categories).of)
        return np.array([round(shown[name] * size) for name, size in zip(CATEGORIES, sizes, strict=True)], dtype=float)

    def undefended(self, votes: Vector, groups: Groups) -> ShownCounts:
        """Exact counts of any groups, as a board without a policy gives them."""
        agree = (votes == self.truth).astype(float)
        return np.bincount(groups.of, weights=agree, minlength=int(groups.of.max()) + 1)

    def judge(self, accuracy: float, dice: np.random.Generator) -> Vector:
        """Return an honest judge of this accuracy."""
        right = dice.random(len(self.truth)) < accuracy
        return np.where(right, self.truth, 1 - self.truth).astype(np.int8)
