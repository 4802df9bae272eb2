"""Pairs with their labels, read from a benchmark's own rows under its definition.

A pair's identity is its id and both responses: ids repeat. Pairs that agree in all of that are distinguished by their
order in the file. Where the benchmark's file names the preferred response, its order is the label. Then the items have
their responses in the order of fingerprints, and a vote for "the preferred one" keeps that meaning
(`vlrb.votes.PREFERRED`).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vlrb.benchmarks.items import (
    Item,
    ItemTable,
    item_of,
    presentation_order,
    response_fingerprint,
    source_of,
    table_of,
)
from vlrb.benchmarks.labels import LabelsError, LabelSet, coverage_problems, make_label_set, refuse_labels
from vlrb.benchmarks.spec import TIE, BenchmarkSpec, ItemFields, SpecError, UnknownCategory, value_at


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """One pair. ``label``: 0, 1, or TIE, in the order of the item's responses."""

    id: str
    label: int
    item: Item


@dataclass(frozen=True, slots=True)
class PairSet:
    """The labelled pairs of one edition, in the order of their file."""

    spec: BenchmarkSpec
    edition: str
    pairs: tuple[LabelledPair, ...]


def read_pairs(rows: Sequence[Mapping[str, Any]], spec: BenchmarkSpec, *, edition: str | None = None) -> PairSet:
    """Return the pairs of a benchmark's own rows.

    ``edition`` None: the edition is what the rows hold, under the name of a released edition if they are as many.

    Raises:
        LabelsError: a row lacks a field, has an unknown category, or the rows are not those of the edition.
    """
    if spec.fields is None:
        raise LabelsError(f"{spec.title} is scored by label revision, not from a file of pairs")
    if not rows:
        raise LabelsError(f"holds no row; a file of {spec.title} is needed")
    pairs: list[LabelledPair] = []
    problems: list[str] = []
    for number, row in enumerate(rows, start=1):
        try:
            pairs.append(_pair(row, spec, fields=spec.fields))
        except (LabelsError, UnknownCategory) as error:
            problems.append(f"row {number}: {error}")
    refuse_labels(problems)
    return PairSet(spec, _edition_name(pairs, spec, wanted=edition), pairs=tuple(pairs))


def holds_pairs_of(row: Mapping[str, Any], spec: BenchmarkSpec) -> bool:
    """Return whether a row has the fields of this benchmark's own file."""
    if spec.fields is None:
        return False
    names = [spec.fields.id, *spec.fields.responses, *([spec.fields.label] if spec.fields.label else [])]
    return all(value_at(row, name) is not None for name in names) and any(
        value_at(row, name) for name in spec.fields.category
    )


def _pair(row: Mapping[str, Any], spec: BenchmarkSpec, *, fields: ItemFields) -> LabelledPair:
    item_id = _text(row, fields.id)
    texts = tuple(_text(row, name) for name in fields.responses)
    stated = value_at(row, fields.question)
    values = [value for name in fields.category if isinstance(value := value_at(row, name), str) and value]
    if not values:
        raise LabelsError(f"no field {' or '.join(f'`{name}`' for name in fields.category)}, which tells the category")
    source = source_of(item_id, spec, category=spec.category_of(values[0], item_id))
    label = _label(row, fields)
    first, second = 0, 1
    if spec.preferred_is_named:
        first, second = presentation_order((response_fingerprint(texts[0]), response_fingerprint(texts[1])))
        label = first  # the preferred response is stored where the first one of the row is: at 0, or turned at 1
    question = stated if isinstance(stated, str) else ""
    return LabelledPair(item_id, label, item=item_of(question, (texts[first], texts[second]), source=source, spec=spec))


def _text(row: Mapping[str, Any], name: str) -> str:
    value = value_at(row, name)
    if not isinstance(value, str):
        raise LabelsError(f"the field `{name}` must be a text")
    return value


def _label(row: Mapping[str, Any], fields: ItemFields) -> int:
    if fields.label is None:
        return 0
    value = value_at(row, fields.label)
    if not isinstance(value, str) or value not in fields.label_values:
        raise LabelsError(f"the field `{fields.label}` must be one of {', '.join(fields.label_values)}")
    return fields.label_values[value]


def _edition_name(pairs: Sequence[LabelledPair], spec: BenchmarkSpec, *, wanted: str | None) -> str:
    """Return the edition's key; for a part of a benchmark ``part-`` and a digest of its pairs."""
    sizes = Counter(pair.item.category for pair in pairs)
    if wanted is not None:
        try:
            edition = spec.edition(wanted)
        except SpecError as error:
            raise LabelsError(str(error)) from error
        if not edition.fits(len(pairs), sizes):
            raise LabelsError(
                f"holds {len(pairs)} pairs, which are not those of the edition {wanted} ({edition.pairs})"
            )
        return wanted
    fitting = [edition.key for edition in spec.editions if edition.fits(len(pairs), sizes)]
    return fitting[0] if fitting else f"part-{_digest(pairs)[:8]}"


def _digest(pairs: Iterable[LabelledPair]) -> str:
    lines = sorted("\n".join((pair.id, *pair.item.responses, "")) for pair in pairs)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def pair_table(editions: Sequence[PairSet]) -> ItemTable:
    """Return the items of one or more editions of a benchmark, in the order in which they first occur."""
    return table_of(
        editions[0].spec, {each.edition: [(pair.id, pair.item) for pair in each.pairs] for each in editions}
    )


def labels_of_pairs(pairs: PairSet, revision: str, *, table: ItemTable) -> LabelSet:
    """Return the labels of pairs over the items of a table.

    Raises:
        LabelsError: a pair is no item of the table, or items of the revision have no label.
    """
    preferred: dict[int, int] = {}
    problems: list[str] = []
    for row, pair in enumerate(pairs.pairs, start=1):
        responses = pair.item.responses
        same = [i for i in table.by_id(pair.id) if set(table.items[i].responses) == set(responses)]
        # Of the same responses in both orders, the one in the order of the row comes first.
        same.sort(key=lambda i: table.items[i].responses != responses)
        index = next((i for i in same if i not in preferred), None)
        if index is None:
            problems.append(
                f"row {row}: no pair of {table.benchmark} has this id and these responses, or it occurs twice"
            )
        else:
            as_stored = pair.label == TIE or responses == table.items[index].responses
            preferred[index] = pair.label if as_stored else 1 - pair.label
    refuse_labels(problems or coverage_problems(preferred, revision, table=table))
    return make_label_set(revision, table, preferred=preferred, tags=None)
