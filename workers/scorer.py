"""Items and label sets that a worker has loaded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vlrb.benchmarks import board_rules
from vlrb.benchmarks.items import ItemTable, load_table
from vlrb.benchmarks.label_files import LabelsError, load_labels, load_pairs
from vlrb.benchmarks.labels import NOT_LABELLED, LabelSet
from vlrb.benchmarks.pairs import pair_table
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _
from vlrb.disclosure import BY_CATEGORY, PUBLIC, category_steps, gain_of
from vlrb.scorecard import SCORER_VERSION


@dataclass(frozen=True, slots=True)
class Scorer:
    """The items and label sets, by revision, that this process scores with; loaded once."""

    table: ItemTable
    labels: Mapping[str, LabelSet]
    version: str

    @property
    def benchmark(self) -> str:
        """Return the id of the benchmark."""
        return self.table.benchmark

    @property
    def revisions(self) -> tuple[str, ...]:
        """Return the label revisions this process can score under."""
        return tuple(self.labels)

    @property
    def rules(self) -> str:
        """Return the rules of the definition, as a board keeps them."""
        return board_rules.rules_of(self.table.spec)

    def under(self, rules: str) -> Scorer:
        """Return what scores by the rules of a board."""
        spec = board_rules.under(self.table.spec, rules)
        return self if spec is self.table.spec else replace(self, table=self.table.under(spec))

    def sizes(self, revision: str) -> dict[str, int]:
        """Labelled items per source; public, for it is no more than what the benchmark is made of."""
        labelled = self.labels[revision].preferred != NOT_LABELLED
        counts = [
            int((labelled & (self.table.source_index == index)).sum()) for index in range(len(self.table.spec.sources))
        ]
        return dict(zip(self.table.spec.source_keys, counts, strict=True))


def measured_disclosure(labels: LabelSet, table: ItemTable, *, level: str) -> dict[str, Any]:
    """Return what scores at a level give away: the gain of an attacker in points of macro, and how coarse categories
    are shown; nothing of public labels."""
    if level == PUBLIC:
        return {}
    labelled, keys = labels.preferred != NOT_LABELLED, table.spec.category_keys
    sizes = [int((labelled & (table.category_index == code)).sum()) for code in range(len(keys))]
    steps = {key: found.step for key, found in zip(keys, category_steps(sizes), strict=True)}
    return {"gain": round(gain_of(level, sizes), 1)} | ({"steps": steps} if level == BY_CATEGORY else {})


def load_scorer(
    items_file: Path | None, specs: Iterable[tuple[str, str]], *, benchmark: BenchmarkSpec, token: str = ""
) -> Scorer:
    """Return all that is needed to score, from (revision, file or Hub dataset) pairs.

    ``items_file`` None: the items of the definition. ``token``: who may read private datasets. Raises LabelsError.
    """
    table = load_table(items_file, benchmark)
    labels = {revision: load_labels(spec, revision, table=table, token=token) for revision, spec in specs}
    return Scorer(table, labels, version=SCORER_VERSION)


def table_of_sources(spec: BenchmarkSpec, sources: Iterable[str], *, token: str = "") -> ItemTable:
    """Return the items of the sources, for a benchmark whose definition has none.

    Raises:
        LabelsError: a source is not the benchmark's own file, or there is none.
    """
    editions = {pairs.edition: pairs for pairs in (load_pairs(source, spec, token=token) for source in sources)}
    if not editions:
        raise LabelsError(_("{title} has no pairs; name its own file in LABELS", title=spec.title))
    return pair_table(list(editions.values()))
