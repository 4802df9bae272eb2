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
from dataclasses import asdict, dataclass
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

CATEGORIES = ("general", "hallucination", "reasoning")
UNTAGGED_CATEGORY = "reasoning"
"""Its items carry no error tags, so that it is a bucket of errors itself."""
SOURCE_CATEGORY: Mapping[str, str] = {
    "VLFeedback": "general",
    "WildVision": "general",
    "POVID": "hallucination",
    "RLAIF-V": "hallucination",
    "RLHF-V": "hallucination",
    "MathVerse": "reasoning",
    "MMMU-Pro": "reasoning",
}
SOURCES = tuple(SOURCE_CATEGORY)
_SOURCE_BY_ID_PREFIX = {
    "hallucination_pair-": "POVID",
    "RLAIF-V-": "RLAIF-V",
    "RLHF-V-": "RLHF-V",
    "wildvision-battle-": "WildVision",
    "mathverse_": "MathVerse",
    "mmmu_pro_": "MMMU-Pro",
    "LRVInstruction-": "VLFeedback",
    "jailbreak-": "VLFeedback",
    "politics-": "VLFeedback",
    "svit-": "VLFeedback",
}
_WHITE_TO_SPACE = bytes(32 if chr(octet).isspace() and octet < 128 else octet for octet in range(256))
_DATA = Path(__file__).parent / "data"


def normalise_response(text: str) -> str:
    """NFC, white space collapsed and stripped: what all revisions of a response have in common."""
    if text.isascii():  # the same at a tenth of the cost: NFC, and all there is to white space in ASCII
        octets = text.encode().translate(_WHITE_TO_SPACE)
        while b"  " in octets:
            octets = octets.replace(b"  ", b" ")
        return octets.strip(b" ").decode()
    return " ".join(unicodedata.normalize("NFC", text).split())


def normalise_query(text: str) -> str:
    """As a response, without the literal ``<image>`` that one revision writes before or after a query."""
    return normalise_response(unicodedata.normalize("NFC", text).replace("<image>", " "))


def fingerprint(query: str, responses: Sequence[str]) -> str:
    """SHA-256 (64 hex digits) of the compact JSON array ``[query, *sorted(responses)]`` of the normalised texts."""
    texts = [normalise_query(query), *sorted(normalise_response(response) for response in responses)]
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


def source_from_id(row: Mapping[str, Any]) -> str:
    """Return one of SOURCES, from a dataset row: its own ``source`` or the prefix of its id.

    Raises:
        ValueError: the id starts with no known prefix.
    """
    if row.get("source") in SOURCE_CATEGORY:
        return str(row["source"])
    for prefix, source in _SOURCE_BY_ID_PREFIX.items():
        if str(row["id"]).startswith(prefix):
            return source
    raise ValueError(f"no source is known for the id {row['id']!r}; known prefixes: {', '.join(_SOURCE_BY_ID_PREFIX)}")


@dataclass(frozen=True, slots=True)
class Item:
    """One preference pair. Facts about its texts, never the texts, and no label."""

    key: str
    source: str
    responses: tuple[str, str]  # fingerprints, in stored order
    ids: Mapping[str, str]  # revision -> id
    rows: Mapping[str, int]  # revision -> row number
    characters: tuple[int, int]  # of the raw stored responses
    words: tuple[int, int]  # of the raw stored responses
    query_characters: int
    query_words: int

    @property
    def category(self) -> str:
        """One of CATEGORIES, under the official grouping."""
        return SOURCE_CATEGORY[self.source]

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

    def __init__(self, benchmark: str, revisions: Sequence[str], items: Iterable[Item]) -> None:
        self.benchmark = benchmark
        self.revisions = tuple(revisions)
        self.items = tuple(items)
        self.source_index: npt.NDArray[np.int8] = np.array([SOURCES.index(i.source) for i in self.items], dtype=np.int8)
        self._by_fingerprint: dict[str, tuple[int, ...]] = {}
        self._by_response: dict[str, tuple[int, ...]] = {}
        self._by_id: dict[str, tuple[int, ...]] = {}
        self._by_revision_id: dict[tuple[str, str], tuple[int, ...]] = {}
        for index, item in enumerate(self.items):
            _append(self._by_fingerprint, item.fingerprint, index)
            for response in set(item.responses):
                _append(self._by_response, response, index)
            for name in set(item.ids.values()):
                _append(self._by_id, name, index)
        self._rows: dict[str, tuple[int, ...]] = {}
        for revision in self.revisions:
            held = [i for i, item in enumerate(self.items) if revision in item.rows]
            self._rows[revision] = tuple(sorted(held, key=lambda i: self.items[i].rows[revision]))
            for index in self._rows[revision]:
                _append(self._by_revision_id, (revision, self.items[index].ids[revision]), index)

    def __len__(self) -> int:
        return len(self.items)

    def by_fingerprint(self, fingerprint: str) -> tuple[int, ...]:
        """Return item indices with these texts; several for text-identical pairs, none if unknown."""
        return self._by_fingerprint.get(fingerprint, ())

    def by_response(self, fingerprint: str) -> tuple[int, ...]:
        """Return item indices of which this is a response; twins of one question share a response."""
        return self._by_response.get(fingerprint, ())

    def by_id(self, name: str, revision: str | None = None) -> tuple[int, ...]:
        """Return item indices of an id in the row order of a revision, or over all revisions in table order."""
        if revision is None:
            return self._by_id.get(name, ())
        return self._by_revision_id.get((revision, name), ())

    def in_revision(self, revision: str) -> tuple[int, ...]:
        """Return item indices of a revision, in its row order.

        Raises:
            KeyError: the table does not know the revision.
        """
        return self._rows[revision]

    def to_json(self) -> dict[str, Any]:
        """Return a manifest: facts about items, no text and no label."""
        return {
            "benchmark": self.benchmark,
            "revisions": list(self.revisions),
            "items": [asdict(item) for item in self.items],
        }

    @classmethod
    def from_json(cls, manifest: Mapping[str, Any]) -> ItemTable:
        """Return the table of a manifest made by ``to_json``."""
        items = [
            Item(**{**row, **{name: tuple(row[name]) for name in ("responses", "characters", "words")}})
            for row in manifest["items"]
        ]
        return cls(manifest["benchmark"], manifest["revisions"], items)

    @classmethod
    def from_file(cls, path: Path) -> ItemTable:
        """Return the table of a manifest file."""
        return cls.from_json(json.loads(path.read_bytes()))

    @classmethod
    def load(cls, benchmark: str = "vl-rewardbench") -> ItemTable:
        """Return the table that this package ships."""
        return cls.from_file(_DATA / f"{benchmark}.json")


def build_table(benchmark: str, revisions: Mapping[str, Sequence[Mapping[str, Any]]]) -> ItemTable:
    """Return the table of dataset rows, revision by revision; the first defines the items and their order.

    A row has ``id`` and either ``query`` and ``response`` (two texts) or, in later revisions, ``v0_row`` (the row
    number of the same pair in the first revision).

    Raises:
        ValueError: a later revision holds a pair that the first one lacks, or one pair twice.
    """
    first, *later = revisions
    ids: list[dict[str, str]] = []
    rows: list[dict[str, int]] = []
    prints: list[str] = []
    for number, row in enumerate(revisions[first]):
        prints.append(fingerprint(row["query"], row["response"]))
        ids.append({first: row["id"]})
        rows.append({first: number})
    for revision in later:
        for number, row in enumerate(revisions[revision]):
            index = _same_pair(row, prints, ids, first)
            if revision in rows[index]:
                raise ValueError(
                    f"{revision} row {number} ({row['id']}) is the same pair as row {rows[index][revision]}"
                )
            ids[index][revision] = row["id"]
            rows[index][revision] = number
    keys = _keys(prints)
    items = [_item(row, keys[i], ids[i], rows[i]) for i, row in enumerate(revisions[first])]
    return ItemTable(benchmark, tuple(revisions), items)


def _same_pair(row: Mapping[str, Any], prints: Sequence[str], ids: Sequence[Mapping[str, str]], first: str) -> int:
    if "v0_row" in row:
        return int(row["v0_row"])
    wanted = fingerprint(row["query"], row["response"])
    found = [i for i, candidate in enumerate(prints) if candidate == wanted]
    named = [i for i in found if ids[i][first] == row["id"]] if len(found) > 1 else found
    if len(named) != 1:
        raise ValueError(f"{row['id']}: {len(named)} pairs of {first} have its texts, one is needed")
    return named[0]


def _keys(prints: Sequence[str]) -> list[str]:
    seen: dict[str, int] = {}
    keys = []
    for value in prints:
        seen[value] = seen.get(value, 0) + 1
        keys.append(value if seen[value] == 1 else f"{value}-{seen[value]}")
    return keys


def _item(row: Mapping[str, Any], key: str, ids: Mapping[str, str], rows: Mapping[str, int]) -> Item:
    one, two = row["response"]
    return Item(
        key=key,
        source=source_from_id(row),
        responses=(response_fingerprint(one), response_fingerprint(two)),
        ids=ids,
        rows=rows,
        characters=(len(one), len(two)),
        words=(len(one.split()), len(two.split())),
        query_characters=len(row["query"]),
        query_words=len(normalise_query(row["query"]).split()),
    )


def _append(index: dict[Any, tuple[int, ...]], key: Any, value: int) -> None:
    index[key] = (*index.get(key, ()), value)
