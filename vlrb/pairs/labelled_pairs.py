"""Pairs with their labels, read from a benchmark's own rows under its definition.

A pair's identity is its id and both responses: ids repeat. Pairs that agree in all of that are distinguished by their
order in the file.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from vlrb.benchmarks.items import fingerprint, normalise_query, response_fingerprint
from vlrb.benchmarks.labels import LabelsError, refuse_labels
from vlrb.benchmarks.spec import BenchmarkSpec, ItemFields, SpecError, UnknownCategory, value_at


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """One pair. Facts about its texts, never the texts. ``label``: 0, 1, or TIE.

    ``responses``: fingerprints in stored order. ``characters``, ``words``: of the raw responses. ``key``: fingerprint
    of question and responses.
    """

    id: str
    category: str
    label: int
    responses: tuple[str, str]
    characters: tuple[int, int]
    words: tuple[int, int]
    query_characters: int
    query_words: int
    key: str


@dataclass(frozen=True, slots=True)
class PairSet:
    """The labelled pairs of one edition, in the order of their file."""

    spec: BenchmarkSpec
    edition: str
    pairs: tuple[LabelledPair, ...]

    @property
    def labels(self) -> npt.NDArray[np.int8]:
        """The labels of the pairs, in order."""
        return np.array([pair.label for pair in self.pairs], dtype=np.int8)

    @property
    def category_index(self) -> npt.NDArray[np.int64]:
        """The positions of the pairs' categories in the definition."""
        return np.array([self.spec.category_keys.index(pair.category) for pair in self.pairs], dtype=np.int64)

    @property
    def group_index(self) -> npt.NDArray[np.int64]:
        """The numbers of the pairs' groups: pairs of one id have one number, counted from 0 in order."""
        numbers: dict[str, int] = {}
        return np.array([numbers.setdefault(pair.id, len(numbers)) for pair in self.pairs], dtype=np.int64)


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
    first, second = (_text(row, name) for name in fields.responses)
    stated = value_at(row, fields.question)
    question = stated if isinstance(stated, str) else ""
    values = [value for name in fields.category if isinstance(value := value_at(row, name), str) and value]
    if not values:
        raise LabelsError(f"no field {' or '.join(f'`{name}`' for name in fields.category)}, which tells the category")
    return LabelledPair(
        id=item_id,
        category=spec.category_of(values[0], item_id),
        label=_label(row, fields),
        responses=(response_fingerprint(first), response_fingerprint(second)),
        characters=(len(first), len(second)),
        words=(len(first.split()), len(second.split())),
        query_characters=len(question),
        query_words=len(normalise_query(question, spec.drop_from_questions).split()),
        key=fingerprint(question, (first, second), dropped=spec.drop_from_questions),
    )


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
    sizes = Counter(pair.category for pair in pairs)
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
    lines = sorted(f"{pair.id}\n{pair.responses[0]}\n{pair.responses[1]}\n" for pair in pairs)
    return hashlib.sha256("".join(lines).encode()).hexdigest()
