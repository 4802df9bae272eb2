"""Items of a benchmark: preference pairs, their fingerprints, and lookup by content or id.

An item is never identified by its id alone (ids repeat, and differ between revisions) nor by its text alone (five pairs
of VL-RewardBench are text-identical under different ids). Its key is the fingerprint of its normalised texts, with
``-2``, ``-3`` appended for text-identical pairs in the row order of the first revision.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from vlrb.benchmarks.spec import DEFAULT_BENCHMARK, DEFINITIONS, MANIFEST, BenchmarkSpec
from vlrb.benchmarks.spec_file import SPEC, load_spec
from vlrb.common.command_line import CommandError
from vlrb.common.messages import _

_WHITE_TO_SPACE = bytes(32 if chr(octet).isspace() and octet < 128 else octet for octet in range(256))


class LabelsError(CommandError, ValueError):
    """Items or labels cannot be used; the message says where and why."""


def normalise_response(text: str) -> str:
    """NFC, white space collapsed and stripped: what all revisions of a response have in common."""
    if text.isascii():  # the same at a tenth of the cost: NFC, and all there is to white space in ASCII
        octets = text.encode().translate(_WHITE_TO_SPACE)
        while b"  " in octets:
            octets = octets.replace(b"  ", b" ")
        return octets.strip(b" ").decode()
    return " ".join(unicodedata.normalize("NFC", text).split())


def normalise_query(text: str, dropped: Sequence[str] = ()) -> str:
    """Normalise as a response, without the literals (``<image>``) that some revision writes before or after a query."""
    text = unicodedata.normalize("NFC", text)
    for literal in dropped:
        text = text.replace(literal, " ")
    return normalise_response(text)


def fingerprint(query: str, responses: Sequence[str], *, dropped: Sequence[str] = ()) -> str:
    """SHA-256 (64 hex digits) of the compact JSON array ``[query, *sorted(responses)]`` of the normalised texts.

    ``dropped``: ``drop_from_questions`` of the benchmark's definition.
    """
    texts = [normalise_query(query, dropped), *sorted(normalise_response(response) for response in responses)]
    # As json.dumps(texts, ensure_ascii=False, separators=(",", ":")), without making an encoder for each pair.
    return hashlib.sha256(f"[{','.join(map(encode_basestring, texts))}]".encode()).hexdigest()


def response_fingerprint(text: str) -> str:
    """Return the first 16 hex digits of the SHA-256 of a normalised response; tells a pair's two responses apart."""
    return hashlib.sha256(normalise_response(text).encode()).hexdigest()[:16]


def presentation_order(stored: tuple[str, str]) -> tuple[int, int]:
    """Return the indices in stored order of the responses as people see them, A and B: the smaller fingerprint first.

    That order says nothing about the label; the stored one would: nearly all preferred responses of one revision are
    stored first.
    """
    return (1, 0) if stored[1] < stored[0] else (0, 1)


@dataclass(frozen=True, slots=True)
class Item:
    """One preference pair. Facts about its texts, never the texts, and no label."""

    key: str
    source: str
    category: str  # of the source under the official grouping
    responses: tuple[str, str]  # fingerprints, in stored order
    ids: dict[str, str]  # revision -> id
    rows: dict[str, int]  # revision -> row number
    characters: tuple[int, int]  # of the raw stored responses
    words: tuple[int, int]  # of the raw stored responses
    query_words: int

    @property
    def fingerprint(self) -> str:
        """Return the key without the suffix that distinguishes text-identical pairs."""
        return self.key[:64]

    @property
    def swapped_by_parity(self) -> bool:
        """Whether lmms-eval and VLMEvalKit show the responses in reverse: their joint length in characters is odd.

        The raw responses are equal in all revisions, so one answer serves them all.
        """
        return sum(self.characters) % 2 == 1


class ItemTable:
    """The items of a benchmark in the row order of its first revision; a position in it is an *item index*."""

    def __init__(self, spec: BenchmarkSpec, revisions: Sequence[str], *, items: Iterable[Item]) -> None:
        self.spec = spec
        self.revisions = tuple(revisions)
        self.items = tuple(items)
        place = {source: index for index, source in enumerate(spec.source_keys)}
        self.source_index: npt.NDArray[np.int8] = np.array([place[i.source] for i in self.items], dtype=np.int8)
        self._rows: dict[str, tuple[int, ...]] = {}
        self._index: dict[tuple[str, str | None, str], tuple[int, ...]] = {}
        for index, item in enumerate(self.items):
            self._add("texts", item.fingerprint, index=index)
            for response in set(item.responses):
                self._add("response", response, index=index)
            for name in set(item.ids.values()):
                self._add("id", name, index=index)
        for revision in self.revisions:
            held = [i for i, item in enumerate(self.items) if revision in item.rows]
            self._rows[revision] = tuple(sorted(held, key=lambda i: self.items[i].rows[revision]))
            for index in self._rows[revision]:
                self._add("id", self.items[index].ids[revision], index=index, revision=revision)

    def _add(self, what: str, value: str, *, index: int, revision: str | None = None) -> None:
        key = (what, revision, value)
        self._index[key] = (*self._index.get(key, ()), index)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def benchmark(self) -> str:
        """Id of the benchmark."""
        return self.spec.id

    def under(self, spec: BenchmarkSpec) -> ItemTable:
        """Return the same items under other rules of the definition."""
        table = copy(self)
        table.spec = spec
        vars(table).pop("category_index", None)
        return table

    @cached_property
    def category_index(self) -> npt.NDArray[np.int8]:
        """Items -> the place of their category in the definition, under the official grouping."""
        places = [self.spec.category_keys.index(source.category) for source in self.spec.sources]
        return np.array(places, dtype=np.int8)[self.source_index]

    @cached_property
    def group_index(self) -> npt.NDArray[np.int64]:
        """Items -> the number of their group: items of one id in the first revision that has them."""
        numbers: dict[str, int] = {}
        names = (next(item.ids[name] for name in self.revisions if name in item.ids) for item in self.items)
        return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)

    @cached_property
    def word_counts(self) -> npt.NDArray[np.int64]:
        """Items x 2: words of the raw responses, in stored order."""
        return np.array([item.words for item in self.items], dtype=np.int64).reshape(-1, 2)

    def fingerprint(self, query: str, responses: Sequence[str]) -> str:
        """Return the fingerprint of texts under this benchmark's rules."""
        return fingerprint(query, responses, dropped=self.spec.drop_from_questions)

    def by_fingerprint(self, fingerprint: str) -> tuple[int, ...]:
        """Return item indices with these texts; several for text-identical pairs, none if unknown."""
        return self._index.get(("texts", None, fingerprint), ())

    def by_response(self, fingerprint: str) -> tuple[int, ...]:
        """Return item indices of which this is a response; twins of one question share a response."""
        return self._index.get(("response", None, fingerprint), ())

    def by_id(self, name: str, revision: str | None = None) -> tuple[int, ...]:
        """Return item indices of an id in the row order of a revision, or over all revisions in table order."""
        return self._index.get(("id", revision, name), ())

    def in_revision(self, revision: str) -> tuple[int, ...]:
        """Return item indices of a revision, in its row order.

        Raises:
            KeyError: the table does not know the revision.
        """
        return self._rows[revision]

    def to_json(self) -> dict[str, Any]:
        """Return a manifest: facts about items, no text and no label. A category follows from the source."""
        facts = [{name: value for name, value in asdict(item).items() if name != "category"} for item in self.items]
        return {"benchmark": self.benchmark, "revisions": list(self.revisions), "items": facts}

    @classmethod
    def from_json(cls, manifest: Mapping[str, Any], spec: BenchmarkSpec) -> ItemTable:
        """Return the table of a manifest made by ``to_json``.

        Raises:
            ValueError: the manifest is of another benchmark.
        """
        if manifest["benchmark"] != spec.id:
            raise ValueError(f"the items are those of {manifest['benchmark']}, not of {spec.id}")
        items = [
            Item(
                **{**row, **{name: tuple(row[name]) for name in ("responses", "characters", "words")}},
                category=spec.source_category[row["source"]],
            )
            for row in manifest["items"]
        ]
        return cls(spec, manifest["revisions"], items=items)

    @classmethod
    @lru_cache(maxsize=32)
    def load(cls, spec: BenchmarkSpec) -> ItemTable:
        """Return the table in the folder of a definition, which is part of the program: read once.

        Raises:
            LabelsError: the folder has none.
        """
        content = spec.read(MANIFEST)
        if content is None:
            raise LabelsError(f"the definition of {spec.id} has no {MANIFEST}")
        return cls.from_json(json.loads(content), spec)


def load_table(
    path: Path | None = None, spec: BenchmarkSpec | None = None, *, definitions: Path = DEFINITIONS
) -> ItemTable:
    """Return the table of a manifest file; without a path that of the definition, or of the default one.

    A manifest in the folder of a definition belongs to that definition; another to the one given, or else to the one in
    ``definitions`` that it names.

    Raises:
        LabelsError: there is no such file, it is no manifest, or of another or an unknown benchmark.
    """
    if path is None:
        return ItemTable.load(spec or load_spec(DEFAULT_BENCHMARK, definitions))
    if not path.is_file():
        what = _("no pairs in {items_file}: `python app.py` makes the demo benchmark, or set LABELS", items_file=path)
        raise LabelsError(what)
    try:
        manifest = json.loads(path.read_bytes())
        return ItemTable.from_json(manifest, spec or _spec_of(path.absolute(), manifest["benchmark"], definitions))
    except (ValueError, KeyError) as error:
        problem = _("{file} cannot be read as an item manifest: {error}", file=path, error=str(error))
        raise LabelsError(problem) from None


def _spec_of(path: Path, benchmark: str, definitions: Path) -> BenchmarkSpec:
    own = (path.parent / SPEC).is_file() and path.parent.name == benchmark
    return load_spec(benchmark, path.parents[1] if own else definitions)


def item_of(question: str, responses: tuple[str, str], *, source: str, spec: BenchmarkSpec) -> Item:
    """Return the item of a pair's texts, which no revision holds yet."""
    first, second = responses
    return Item(
        key=fingerprint(question, responses, dropped=spec.drop_from_questions),
        source=source,
        category=spec.source_category[source],
        responses=(response_fingerprint(first), response_fingerprint(second)),
        ids={},
        rows={},
        characters=(len(first), len(second)),
        words=(len(first.split()), len(second.split())),
        query_words=len(normalise_query(question, spec.drop_from_questions).split()),
    )


def table_of(spec: BenchmarkSpec, revisions: Mapping[str, Iterable[tuple[str, Item | int]]]) -> ItemTable:
    """Return the items of revisions in the order in which they first occur. A row is an id with its item, or with the
    number of the row of the first revision that has the same item.

    Texts that occur again within a revision are another item; in another revision they are the same one, of several
    the one with the id.

    Raises:
        ValueError: a revision holds one pair twice.
    """
    items: list[Item] = []
    same_texts: dict[str, list[int]] = {}
    for revision, rows in revisions.items():
        for number, (name, item) in enumerate(rows):
            if isinstance(item, int):
                index = item
            else:
                same = same_texts.setdefault(item.key, [])
                free = [i for i in same if revision not in items[i].rows]
                named = [i for i in free if name in items[i].ids.values()]
                index = next(iter(named or free), len(items))
                if index == len(items):
                    same.append(index)
                    key = item.key if len(same) == 1 else f"{item.key}-{len(same)}"
                    items.append(replace(item, key=key, ids={}, rows={}))
            held = items[index]
            if revision in held.rows:
                raise ValueError(f"{revision} row {number} ({name}) is the same pair as row {held.rows[revision]}")
            held.ids[revision], held.rows[revision] = name, number
    return ItemTable(spec, tuple(revisions), items=items)
