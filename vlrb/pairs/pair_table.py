"""Item table of a benchmark's labelled pairs: items from its own file, and labels over these items.

Where the benchmark's file names the preferred response, its order is the label. Then the items have their responses in
the order of fingerprints, and a vote for "the preferred one" keeps that meaning (`benchmark.votes.PREFERRED`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from vlrb.benchmarks.items import Item, ItemTable, presentation_order
from vlrb.benchmarks.labels import LabelSet, make_label_set
from vlrb.benchmarks.spec import TIE, BenchmarkSpec
from vlrb.pairs.labelled_pairs import LabelledPair, PairsError, PairSet

_LISTED = 5


def pair_table(editions: Sequence[PairSet]) -> ItemTable:
    """Return the items of one or more editions of a benchmark, in the order in which they first occur.

    A pair that occurs again within an edition is another item. Text-identical items have keys that end in ``-2``, ...

    Raises:
        ValueError: there is no edition.
    """
    if not editions:
        raise ValueError("a manifest needs at least one edition")
    spec = editions[0].spec
    facts: dict[tuple[str, str, int], dict[str, Any]] = {}
    texts: Counter[str] = Counter()
    for edition in editions:
        occurred: Counter[tuple[str, str]] = Counter()
        for row, pair in enumerate(edition.pairs):
            occurred[pair.id, pair.key] += 1
            identity = (pair.id, pair.key, occurred[pair.id, pair.key])
            if identity not in facts:
                texts[pair.key] += 1
                facts[identity] = _facts(pair, texts[pair.key], spec=spec)
            facts[identity]["ids"][edition.edition] = pair.id
            facts[identity]["rows"][edition.edition] = row
    return ItemTable(spec, [edition.edition for edition in editions], items=(Item(**item) for item in facts.values()))


def pair_manifest(editions: Sequence[PairSet]) -> dict[str, Any]:
    """Return the manifest of one or more editions: facts about items, no text and no label.

    Raises:
        ValueError: there is no edition.
    """
    manifest = pair_table(editions).to_json()
    return {"benchmark": manifest["benchmark"], "editions": manifest["revisions"], **manifest}


def _facts(pair: LabelledPair, occurrence: int, *, spec: BenchmarkSpec) -> dict[str, Any]:
    first, second = presentation_order(pair.responses) if spec.preferred_is_named else (0, 1)
    return {
        "key": pair.key if occurrence == 1 else f"{pair.key}-{occurrence}",
        "source": source_of_pair(pair, spec),
        "category": pair.category,
        "responses": (pair.responses[first], pair.responses[second]),
        "ids": {},
        "rows": {},
        "characters": (pair.characters[first], pair.characters[second]),
        "words": (pair.words[first], pair.words[second]),
        "query_characters": pair.query_characters,
        "query_words": pair.query_words,
    }


def source_of_pair(pair: LabelledPair, spec: BenchmarkSpec) -> str:
    """Return the source of a pair: the one whose prefix its id has, or else the first of its category."""
    fitting = [source for source in spec.sources if source.category == pair.category]
    named = [source.key for source in fitting if source.id_prefixes and pair.id.startswith(source.id_prefixes)]
    return named[0] if named else fitting[0].key


class PairFinder:
    """Finds items of a table by id and both responses, every item once."""

    def __init__(self, table: ItemTable, revision: str | None = None) -> None:
        self._table = table
        self._revision = revision
        self.free = set(table.in_revision(revision) if revision is not None else range(len(table)))
        self._by_key: dict[str, list[int]] = defaultdict(list)
        for index, item in enumerate(table.items):
            self._by_key[item.key].append(index)
            if item.key != item.fingerprint:
                self._by_key[item.fingerprint].append(index)

    def named(self, name: str) -> Sequence[int]:
        """Return the items of an id, in order, those that were taken too."""
        return self._table.by_id(name, self._revision)

    def keyed(self, key: str) -> Sequence[int]:
        """Return the items of a key; of a fingerprint also the text-identical ones."""
        return self._by_key.get(key, ())

    def with_responses(self, known: Sequence[int], responses: tuple[str, str]) -> list[int]:
        """Return those with both responses (fingerprints), the ones that have them in the same order first."""
        items, turned = self._table.items, (responses[1], responses[0])
        indexes = [index for index in known if items[index].responses in (responses, turned)]
        return sorted(indexes, key=lambda index: items[index].responses != responses)

    def take(self, known: Sequence[int]) -> int | None:
        """Return the first that is free, which then is taken; None where none is."""
        index = next((index for index in known if index in self.free), None)
        self.free.discard(-1 if index is None else index)
        return index


def labels_of_pairs(pairs: PairSet, revision: str, *, table: ItemTable) -> LabelSet:
    """Return the labels of pairs over the items of a table.

    Raises:
        PairsError: a pair is no item of the table, or items of the revision have no label.
    """
    finder = PairFinder(table)
    preferred: dict[int, int] = {}
    problems: list[str] = []
    for row, pair in enumerate(pairs.pairs, start=1):
        index = finder.take(finder.with_responses(finder.named(pair.id), pair.responses))
        if index is None:
            problems.append(
                f"row {row}: no pair of {table.benchmark} has this id and these responses, or it occurs twice"
            )
        else:
            preferred[index] = _stored_label(pair, table.items[index])
    problems = problems or _missing(preferred, revision, table=table)
    if problems:
        more = len(problems) - _LISTED
        raise PairsError("; ".join(problems[:_LISTED]) + (f"; and {more} more problems" if more > 0 else ""))
    return make_label_set(revision, table, preferred=preferred, tags=None)


def _stored_label(pair: LabelledPair, item: Item) -> int:
    """Return the label in the item's order of responses."""
    if pair.label == TIE or pair.responses == item.responses:
        return pair.label
    return 1 - pair.label


def _missing(preferred: Mapping[int, int], revision: str, *, table: ItemTable) -> list[str]:
    """Return a known revision labels all its items; a new one may leave some out, but no category."""
    if revision in table.revisions:
        missing = [table.items[index].ids[revision] for index in table.in_revision(revision) if index not in preferred]
        named = ", ".join(missing[:_LISTED])
        return [f"{len(missing)} pairs of revision {revision} have no label: {named}"] if missing else []
    labelled = {table.items[index].category for index in preferred}
    return [f"no pair of {key} has a label" for key in sorted({item.category for item in table.items} - labelled)]
