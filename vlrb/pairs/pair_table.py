"""Item table of a benchmark's labelled pairs: items from its own file, and labels over these items.

Where the benchmark's file names the preferred response, its order is the label. Then the items have their responses in
the order of fingerprints, and a vote for "the preferred one" keeps that meaning (`benchmark.votes.PREFERRED`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from vlrb.benchmarks.items import Item, ItemTable, presentation_order
from vlrb.benchmarks.labels import LabelSet, coverage_problems, make_label_set, refuse_labels
from vlrb.benchmarks.spec import TIE, BenchmarkSpec
from vlrb.pairs.labelled_pairs import LabelledPair, PairSet


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


def labels_of_pairs(pairs: PairSet, revision: str, *, table: ItemTable) -> LabelSet:
    """Return the labels of pairs over the items of a table.

    Raises:
        LabelsError: a pair is no item of the table, or items of the revision have no label.
    """
    preferred: dict[int, int] = {}
    problems: list[str] = []
    for row, pair in enumerate(pairs.pairs, start=1):
        same = [i for i in table.by_id(pair.id) if set(table.items[i].responses) == set(pair.responses)]
        # Of the same responses in both orders, the one in the order of the row comes first.
        same.sort(key=lambda i: table.items[i].responses != pair.responses)
        index = next((i for i in same if i not in preferred), None)
        if index is None:
            problems.append(
                f"row {row}: no pair of {table.benchmark} has this id and these responses, or it occurs twice"
            )
        else:
            preferred[index] = _stored_label(pair, table.items[index])
    refuse_labels(problems or coverage_problems(preferred, revision, table=table))
    return make_label_set(revision, table, preferred=preferred, tags=None)


def _stored_label(pair: LabelledPair, item: Item) -> int:
    """Return the label in the item's order of responses."""
    if pair.label == TIE or pair.responses == item.responses:
        return pair.label
    return 1 - pair.label
