"""Items, their texts and the pairwise statistics for the pages. Never a label."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from leaderboard.ranking.anonymity import anonymous_entries
from leaderboard.ranking.disclosure import without_counts
from leaderboard.ranking.opening import BestSet
from leaderboard.ranking.parameters import BoardQuery
from leaderboard.site.cache import BoardVersion
from storage.files.import_folders import path_below
from vlrb.benchmarks.items import ItemTable, load_table, response_fingerprint
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.statistics.pairwise import PairwiseArrays, unpack

ALLOWED = frozenset({"key", "id", "query", "response", "image", "category", "source", "query_source"})
"""The columns of an item file. Any other might tell a label, so a file with one is not read."""
THUMBNAIL_BYTES = 100_000
"""A page of pairs loads no larger image: it has many."""
_KEPT = 4  # relations; each a few megabytes at most

log = logging.getLogger(__name__)


class ItemFileError(Exception):
    """The item file cannot be used; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class ItemTexts:
    """What an item asks. ``responses`` stand in the order of their fingerprints, which tells nothing about the label
    (the stored order would: nearly all preferred responses of one revision are stored first). ``image`` is a path
    relative to the file."""

    query: str
    responses: tuple[str, str]
    image: str


class ItemCatalog:
    """Items, texts and relations, each read when first asked for. Methods block: call them from a thread."""

    def __init__(
        self,
        manifest: Path | None = None,
        item_file: Path | None = None,
        *,
        relations_body: Callable[[str], bytes | None] = lambda _: None,
        spec: BenchmarkSpec | None = None,
    ) -> None:
        """``manifest`` None is that of the definition; without ``item_file`` there are no texts.
        ``relations_body`` gives stored relations by their id.
        """
        self._spec = spec
        self._manifest = manifest
        self._item_file = item_file
        self._relations_body = relations_body
        self._relations: dict[str, PairwiseArrays] = {}
        self._lock = threading.Lock()

    @cached_property
    def table(self) -> ItemTable:
        """The items of the benchmark."""
        return load_table(self._manifest, self._spec)

    @cached_property
    def texts(self) -> Sequence[ItemTexts | None] | None:
        """By item index; None without an item file, or with one that cannot be used (the log says why)."""
        if self._item_file is None:
            return None
        try:
            return read_item_file(self._item_file, self.table)
        except (OSError, ItemFileError) as error:
            log.error("item_file.unusable", extra={"data": {"reason": str(error)}})
            return None

    @property
    def has_item_file(self) -> bool:
        """Whether one is configured, usable or not."""
        return self._item_file is not None

    def image(self, name: str) -> Path | None:
        """Return the file of an item's image; None where it would lie outside the item file's directory."""
        if self._item_file is None or not name:
            return None
        return path_below(name, [self._item_file.parent], is_wanted=Path.is_file)

    def has_thumbnail(self, texts: ItemTexts | None) -> bool:
        """Return whether an item has an image that is small enough to stand in a list."""
        path = self.image(texts.image) if texts else None
        return path is not None and path.stat().st_size <= THUMBNAIL_BYTES

    def relations(self, board_version: BoardVersion, revision: str = "") -> PairwiseArrays | None:
        """Return the relations of a snapshot under a label revision; None while the worker has not computed them.

        Without anonymous entries: two versions of one judge agree far more than two judges do, so what tells on which
        pairs an anonymous one is right tells whose it is.
        """
        summary = board_version.relations_summary(revision or board_version.snapshot["label_revision"])
        if not summary.get("id"):
            return None
        name = str(summary["id"])
        with self._lock:  # also keeps two visitors from unpacking the same one
            if name not in self._relations:
                body = self._body(name)
                if body is None:
                    return None
                self._relations[name] = unpack(body)
                while len(self._relations) > _KEPT:
                    self._relations.pop(next(iter(self._relations)))
            relation = self._relations[name]
        named = relation.without(anonymous_entries(board_version.snapshot))
        return without_counts(named) if board_version.is_redacted(relation.label_revision) else named

    def best_set(self, board_version: BoardVersion, view: BoardQuery) -> BestSet:
        """Return a test of who could be first among some entries of a view's board, by its counts of pairs."""
        board = board_version.board(view.protocol, view.grouping, revision=view.revision)

        def test(names: Sequence[str], order: str) -> Collection[str] | None:
            relations = self.relations(board_version, board.label_revision)
            if relations is None or board.protocol != board.spec.ranking:
                return None
            tried = {row.id: row.best_of.variants for row in board.rows if row.best_of is not None}
            return relations.best_set(names, order, spec=board.spec, grouping=board.grouping, tried=tried)

        return test

    def _body(self, name: str) -> bytes | None:
        try:
            return self._relations_body(name)
        except Exception:  # the edge: while the database is away pages say less instead of failing
            log.exception("relations.unreadable")
            return None


def read_item_file(path: Path, table: ItemTable) -> list[ItemTexts | None]:
    """Return the texts of an item file by item index; None for items that it lacks. Pairs of other benchmarks are
    passed over.

    Raises:
        OSError, ItemFileError: it cannot be read, or it holds something that might be a label.
    """
    texts: list[ItemTexts | None] = [None] * len(table)
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
        if not line.strip():
            continue
        row = _row(line, number, path=path)
        for index in _items_of(row, table, texts=texts):
            texts[index] = _texts(row)
    return texts


def _row(line: str, number: int, *, path: Path) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
        usable = isinstance(row["query"], str) and [type(text) for text in row["response"]] == [str, str]
    except (ValueError, KeyError, TypeError):
        usable = False
    if not usable:
        raise ItemFileError(f"{path.name}, line {number}: a pair needs a `query` and a `response` of two texts")
    if more := set(row) - ALLOWED:
        raise ItemFileError(
            f"{path.name}, line {number} holds {', '.join(sorted(more))}, which might reveal a label. "
            "Make the file with `python -m maintenance items`, which keeps texts only."
        )
    return dict(row)


def _items_of(row: Mapping[str, Any], table: ItemTable, *, texts: Sequence[ItemTexts | None]) -> Sequence[int]:
    """Return the item that a row is about: by key, else by texts and, where several pairs have the same ones, the
    next."""
    result = table.by_fingerprint(table.fingerprint(row["query"], row["response"]))
    if row.get("key"):
        return [index for index in result if table.items[index].key == row["key"]]
    named = [index for index in result if row.get("id") in table.items[index].ids.values()]
    return [index for index in named or result if texts[index] is None][:1]


def _texts(row: Mapping[str, Any]) -> ItemTexts:
    first, second = sorted(row["response"], key=response_fingerprint)
    return ItemTexts(row["query"], (first, second), image=str(row.get("image") or ""))
