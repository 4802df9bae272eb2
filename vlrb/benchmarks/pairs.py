"""Rows of a benchmark's own file, read under its definition: its items, and the labels of a table's items.

Ids repeat, so an item is known by its id and both responses; rows that agree in all of that are distinguished by their
order. A file of labels may leave texts out: then the k-th row of an id is the k-th item of it. Where the benchmark's
file names the preferred response, its order is the label. Then the items have their responses in the order of
fingerprints, and a vote for "the preferred one" keeps that meaning (`vlrb.votes.PREFERRED`).

Problems name row and field, never a label: the messages leave the worker.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vlrb.benchmarks.items import (
    Item,
    ItemTable,
    LabelsError,
    item_of,
    presentation_order,
    response_fingerprint,
    table_of,
)
from vlrb.benchmarks.labels import LabelSet, coverage_problems, error_tags, make_label_set, refuse_labels
from vlrb.benchmarks.spec import TIE, BenchmarkSpec, value_at
from vlrb.common.messages import _

LabelRow = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PairSet:
    """The labelled pairs of one edition, in the order of their file: ids with items, and the rows."""

    spec: BenchmarkSpec
    edition: str
    pairs: tuple[tuple[str, Item], ...]
    rows: tuple[LabelRow, ...]


def read_pairs(rows: Sequence[LabelRow], spec: BenchmarkSpec, *, edition: str | None = None) -> PairSet:
    """Return the pairs of a benchmark's own rows.

    ``edition`` None: the edition is what the rows hold, under the name of a released edition if they are as many.

    Raises:
        LabelsError: a row lacks a field, has an unknown category, or the rows are not those of the edition.
    """
    if not rows:
        raise LabelsError(f"holds no row; a file of {spec.title} is needed")
    pairs: list[tuple[str, Item]] = []
    problems: list[str] = []
    for number, row in enumerate(rows, start=1):
        try:
            _label(row, spec)
            pairs.append((_id(row, spec), _item(row, spec)))
        except ValueError as error:
            problems.append(_("row {number}: {error}", number=number, error=str(error)))
    refuse_labels(problems)
    return PairSet(spec, _edition_name(pairs, spec, wanted=edition), pairs=tuple(pairs), rows=tuple(rows))


def build_table(spec: BenchmarkSpec, revisions: Mapping[str, Sequence[LabelRow]]) -> ItemTable:
    """Return the table of a benchmark's own rows, revision by revision.

    A row of a later revision may have ``v0_row``, the row number of the same pair in the first one, in place of texts.

    Raises:
        ValueError: a revision holds one pair twice, or a row tells no pair or no source.
    """
    first = next(iter(revisions))
    return table_of(
        spec,
        {
            name: [
                (_id(row, spec), int(row["v0_row"]) if name != first and "v0_row" in row else _item(row, spec))
                for row in rows
            ]
            for name, rows in revisions.items()
        },
    )


def pair_table(editions: Sequence[PairSet]) -> ItemTable:
    """Return the items of one or more editions of a benchmark, in the order in which they first occur."""
    return table_of(editions[0].spec, {each.edition: each.pairs for each in editions})


def label_set(rows: Sequence[LabelRow], revision: str, *, table: ItemTable) -> LabelSet:
    """Return the labels of rows over the items of a table. Raises LabelsError with every kind of problem it found."""
    preferred: dict[int, int] = {}
    tags: dict[int, frozenset[str]] = {}
    problems: list[str] = []
    for number, row in enumerate(rows, start=1):
        try:
            index, label = _placed(row, revision, table=table, used=preferred)
            tags[index] = _tags(row, table.spec)
            preferred[index] = label
        except ValueError as error:
            problems.append(_("row {number}: {error}", number=number, error=str(error)))
    refuse_labels(problems or coverage_problems(preferred, revision, table=table))
    tagged = any(value_at(row, table.spec.fields.tags) for row in rows)
    return make_label_set(revision, table, preferred=preferred, tags=tags if tagged else None)


def recognise(rows: Sequence[LabelRow], table: ItemTable) -> str:
    """Return the first revision of the table that has exactly the rows' ids. Raises LabelsError where none has."""
    ids = Counter(str(value_at(row, table.spec.fields.id)) for row in rows)
    for revision in table.revisions:
        if ids == Counter(table.items[index].ids[revision] for index in table.in_revision(revision)):
            return revision
    raise LabelsError(
        _("the ids are those of no known revision ({names}); name the revision", names=", ".join(table.revisions))
    )


def _placed(row: LabelRow, revision: str, *, table: ItemTable, used: Mapping[int, int]) -> tuple[int, int]:
    """Return the item of a row, and its label in the order in which the item has its responses."""
    name, texts, label = _id(row, table.spec), _texts(row, table.spec), _label(row, table.spec)
    known = revision if revision in table.revisions else None
    given = texts and (response_fingerprint(texts[0]), response_fingerprint(texts[1]))
    candidates = _with_responses(given, name, known, table=table) if given else table.by_id(name, known)
    if not candidates:
        by = _("this id and these responses") if given else _("this id")
        raise LabelsError(_("no pair of {benchmark} has {by}", benchmark=table.benchmark, by=by))
    index = next((index for index in candidates if index not in used), None)
    if index is None:
        raise LabelsError(_("the pair is labelled twice"))
    as_stored = given is None or label == TIE or given == table.items[index].responses
    return index, label if as_stored else 1 - label


def _with_responses(given: tuple[str, str], name: str, revision: str | None, *, table: ItemTable) -> list[int]:
    """Return the items with both responses: of several those with the id, and first those that have the same order."""
    same = [index for index in table.by_response(given[0]) if {*table.items[index].responses} == {*given}]
    ids = {index: table.items[index].ids for index in same}
    named = [i for i in same if (ids[i].get(revision) == name if revision else name in ids[i].values())]
    found = named or (same if len(same) == 1 else [])
    return sorted(found, key=lambda index: table.items[index].responses != given)


def _item(row: LabelRow, spec: BenchmarkSpec) -> Item:
    """Return the item of a row; its source is its own ``source``, or that of its id or category."""
    name, texts, question = _id(row, spec), _texts(row, spec), value_at(row, spec.fields.question)
    if texts is None:
        raise LabelsError(f"the field `{spec.fields.responses[0]}` must be a text")
    source = row.get("source")
    if source not in spec.source_category:
        values = (value_at(row, field) for field in spec.fields.category)
        source = spec.source_of(next((value for value in values if value and isinstance(value, str)), ""), name)
    if spec.preferred_is_named:
        order = presentation_order((response_fingerprint(texts[0]), response_fingerprint(texts[1])))
        texts = texts[order[0]], texts[order[1]]
    return item_of(question if isinstance(question, str) else "", texts, source=str(source), spec=spec)


def _id(row: LabelRow, spec: BenchmarkSpec) -> str:
    value = value_at(row, spec.fields.id)
    if not isinstance(value, str):
        raise LabelsError(_("the field `{name}` must be a text", name=spec.fields.id))
    return value


def _texts(row: LabelRow, spec: BenchmarkSpec) -> tuple[str, str] | None:
    """Return the two responses in the order of the row; None where it has none."""
    first, second = (value_at(row, name) for name in spec.fields.responses)
    if first is None and second is None:
        return None
    for name, text in zip(spec.fields.responses, (first, second), strict=True):
        if not isinstance(text, str):
            raise LabelsError(_("the field `{name}` must be a text", name=name))
    return first, second


def _label(row: LabelRow, spec: BenchmarkSpec) -> int:
    fields = spec.fields
    if fields.label is None:
        return 0
    value = value_at(row, fields.label)
    label = fields.label_values.get(value if isinstance(value, str) else json.dumps(value, default=repr))
    if label is None:
        known = ", ".join(fields.label_values)
        raise LabelsError(_("the field `{name}` must be one of {known}", name=fields.label, known=known))
    return label


def _tags(row: LabelRow, spec: BenchmarkSpec) -> frozenset[str]:
    raw = value_at(row, spec.fields.tags) if spec.tags else None
    if raw in (None, ""):
        return frozenset()
    if not isinstance(raw, list) or not all(isinstance(tag, str) for tag in raw):
        raise LabelsError(_("{name} is not a list of texts", name=spec.fields.tags))
    return error_tags(raw, spec)


def _edition_name(pairs: Sequence[tuple[str, Item]], spec: BenchmarkSpec, *, wanted: str | None) -> str:
    """Return the edition's key; for a part of a benchmark ``part-`` and a digest of its pairs."""
    sizes = Counter(item.category for _id, item in pairs)
    fitting = [edition.key for edition in spec.editions if edition.fits(len(pairs), sizes)]
    if wanted in fitting:
        return wanted
    if wanted is not None:
        known = ", ".join(edition.key for edition in spec.editions) or "none"
        raise LabelsError(f"holds {len(pairs)} pairs, which are not those of the edition {wanted}; known: {known}")
    lines = sorted("\n".join((name, *item.responses, "")) for name, item in pairs)
    return fitting[0] if fitting else f"part-{hashlib.sha256(''.join(lines).encode()).hexdigest()[:8]}"
