"""Item browser: filter, search, one item. Neither the label nor the stored order of responses is shown."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from common.image_files import image_reply
from leaderboard.explore.item_catalog import ItemCatalog, ItemTexts
from leaderboard.ranking.differences import Pair
from leaderboard.ranking.parameters import address, one_of, page_number
from leaderboard.site.cache import BoardCache, BoardVersion
from leaderboard.site.pages import add_page, not_found_page, status_page
from leaderboard.site.render import render
from leaderboard.site.responses import REVALIDATE, SECURITY, respond
from vlrb.benchmarks.items import Item, ItemTable, presentation_order
from vlrb.common.messages import _
from vlrb.statistics.pairwise import BANDS, PairwiseArrays

PAGE = 25
PREFIX = 12  # digits of a fingerprint in an address
MOST_WORDS = 200  # letters of a search
_NAME = re.compile(r"([0-9a-f]{8,64})(-[0-9]{1,3})?")
RIGHT: Mapping[str, tuple[str, range]] = {
    "few": (_("under 30%"), range(0, 3)),
    "some": (_("30 to 70%"), range(3, 7)),
    "most": (_("70% or more"), range(7, BANDS)),
}
"""Filters by the share of judges that were right: name -> words, bands."""


def build(cache: BoardCache, catalog: ItemCatalog) -> APIRouter:
    """Return the routes of the list, of single pairs, and of their images."""
    router = APIRouter(include_in_schema=False)

    def view(version: BoardVersion, parameters: Mapping[str, str]) -> tuple[str, Callable[[], str]]:
        query = read_query(parameters, version)
        return query.url(), partial(explore_page, version, catalog, query=query)

    add_page(router, cache, "/explore", view)

    @router.api_route("/explore/{name}", methods=["GET", "HEAD"])
    async def one_pair(name: str, request: Request) -> Response:
        page = await asyncio.to_thread(item_page, await cache.current(), catalog, name=name)
        if page is None:
            return not_found_page(cache.context, request.headers)
        return respond(status_page(page), request.headers)

    @router.api_route("/explore/{name}/image", methods=["GET", "HEAD"])
    async def image(name: str, request: Request) -> Response:
        board_version = await cache.current()
        path = await asyncio.to_thread(image_of, board_version, catalog, name=name)
        reply = image_reply(path, {**SECURITY, "Cache-Control": REVALIDATE})
        return reply or not_found_page(cache.context, request.headers)

    return router


@dataclass(frozen=True, slots=True)
class ItemQuery:
    """What a visitor wants to see. ``only`` and ``other``: ids of a judge that is right and of one that is wrong."""

    search: str = ""
    category: str = ""
    source: str = ""
    right: str = ""
    only: str = ""
    other: str = ""
    page: int = 1

    def url(self, **changes: Any) -> str:
        """Return the address of this view, with changes; what is usual is left out."""
        view = replace(self, **changes)
        named = {
            "q": view.search,
            "category": view.category,
            "source": view.source,
            "right": view.right,
            "only": view.only,
            "not": view.other,
            "page": str(view.page) if view.page > 1 else "",
        }
        return address("/explore", named)


@dataclass(frozen=True, slots=True)
class ItemView:
    """One pair as it is shown. ``words`` of the responses in the order shown; ``right`` in words, "" if not known."""

    name: str  # in the address
    item: Item
    number: int  # from 1, in the order of the table
    texts: ItemTexts | None
    words: tuple[int, int]
    right: str
    id: str

    @property
    def url(self) -> str:
        """Its permanent address."""
        return f"/explore/{self.name}"


@dataclass(frozen=True, slots=True)
class ItemPage:
    """One page of pairs."""

    shown: tuple[ItemView, ...]
    total: int
    page: int
    pages: int


@dataclass(frozen=True, slots=True)
class ItemSearch:
    """All that there is to browse. ``judges``: how many were compared, for the shares of those that were right."""

    table: ItemTable
    texts: Sequence[ItemTexts | None] | None
    bands: Sequence[int] | None
    judges: int

    @classmethod
    def of(
        cls, table: ItemTable, texts: Sequence[ItemTexts | None] | None, *, relations: PairwiseArrays | None
    ) -> ItemSearch:
        """``relations`` None, without bands or of another benchmark: nothing is said about judges."""
        bands = relations.bands if relations is not None else None
        if relations is None or bands is None or len(bands) != len(table) or not (bands >= 0).any():
            return cls(table, texts, bands=None, judges=0)
        return cls(table, texts, bands=bands.tolist(), judges=len(relations.entries))

    def show(self, index: int) -> ItemView:
        """Return one pair by its item index."""
        item = self.table.items[index]
        first, second = presentation_order(item.responses)
        return ItemView(
            self.name(item),
            item,
            number=index + 1,
            texts=self.texts[index] if self.texts else None,
            words=(item.words[first], item.words[second]),
            right=self._right(index),
            id=next(iter(item.ids.values())),
        )

    def name(self, item: Item) -> str:
        """Return the address of an item; those of equal texts differ at the end of their keys."""
        return item.key[:PREFIX] + item.key[64:]

    def find(self, name: str) -> int | None:
        """Return the item index that an address names: a key, or enough of its digits to be the only one."""
        match = _NAME.fullmatch(name)
        if not match:
            return None
        end, keys = match[2] or "", enumerate(item.key for item in self.table.items)
        result = [index for index, key in keys if key.startswith(match[1]) and key[64:] == end]
        return result[0] if len(result) == 1 else None

    def _right(self, index: int) -> str:
        band = self.bands[index] if self.bands is not None else -1
        return f"{band * 10}–{band * 10 + 10}%" if band >= 0 else ""

    def select(self, query: ItemQuery, among: Collection[int] | None = None) -> ItemPage:
        """Filter and cut. ``among``: item indices, None for all."""
        wanted = query.search.lower().split()
        bands = RIGHT[query.right][1] if query.right else None
        indexes = [
            index
            for index, item in enumerate(self.table.items)
            if (among is None or index in among)
            and query.category in ("", item.category)
            and query.source in ("", item.source)
            and (bands is None or (self.bands is not None and self.bands[index] in bands))
            and (not wanted or _holds(item, self.texts[index] if self.texts else None, wanted=wanted))
        ]
        pages = max(1, -(-len(indexes) // PAGE))
        page = min(query.page, pages)
        part = indexes[(page - 1) * PAGE : page * PAGE]
        return ItemPage(tuple(self.show(index) for index in part), len(indexes), page=page, pages=pages)


def _holds(item: Item, texts: ItemTexts | None, *, wanted: Sequence[str]) -> bool:
    """Return whether every word is somewhere: in the texts, an id, or at the start of the key."""
    words = [*item.ids.values(), item.source, item.category, *((texts.query, *texts.responses) if texts else ())]
    text = "\n".join(words).lower()
    return all(word in text or (len(word) >= 8 and item.key.startswith(word)) for word in wanted)


def read_query(parameters: Mapping[str, str], board_version: BoardVersion) -> ItemQuery:
    """Return the view of a query string. A value that means nothing is as good as none: a link never breaks."""
    spec, named = board_version.spec, [parameters.get(name, "") for name in ("only", "not")]
    only, other = named if named[0] != named[1] and all(map(board_version.entry, named)) else ("", "")
    return ItemQuery(
        " ".join(parameters.get("q", "").split())[:MOST_WORDS],
        one_of(parameters, "category", spec.category_keys),
        source=one_of(parameters, "source", spec.shown_sources),
        right=one_of(parameters, "right", RIGHT),
        only=only,
        other=other,
        page=page_number(parameters),
    )


def only_right_links(pair: Pair, relations: PairwiseArrays | None) -> list[tuple[str, int, str]]:
    """Return for each of two judges its id, how many pairs only it is right on, and the address of these; [] where they
    are not compared pair by pair."""
    ids = (pair.first.id, pair.second.id)
    if relations is None or not pair.paired:
        return []
    return [
        (only, len(items), ItemQuery(only=only, other=other).url())
        for only, other in (ids, ids[::-1])
        if (items := relations.only_right(only, other)) is not None
    ]


# Pages ---------------------------------------------------------------------------------------------------------------


def _pairs(board_version: BoardVersion, catalog: ItemCatalog) -> ItemSearch:
    """Return what there is to browse now."""
    return ItemSearch.of(catalog.table, catalog.texts, relations=catalog.relations(board_version))


def _two_judges(
    board_version: BoardVersion, catalog: ItemCatalog, query: ItemQuery
) -> tuple[Pair | None, Collection[int] | None]:
    """Return the judges that a query names, and the items on which only the first is right; none where that is not
    told. Both None where it names no judges."""
    board = board_version.board()
    first, second = (board.find(name) if name else None for name in (query.only, query.other))
    if first is None or second is None:
        return None, None
    relations = catalog.relations(board_version)
    items = None if relations is None else relations.only_right(first.id, second.id)
    reason = _("No pairs can be listed for these two; their comparison says why.") if items is None else ""
    return Pair(first, second, reason=reason, differences=(), spec=board.spec), items or ()


def explore_page(board_version: BoardVersion, catalog: ItemCatalog, *, query: ItemQuery) -> str:
    """Return a page of pairs; the shares of judges are those of the board version."""
    pairs = _pairs(board_version, catalog)
    pair, among = _two_judges(board_version, catalog, query)
    held = {item.source for item in pairs.table.items}
    categories = {item.category for item in pairs.table.items}
    return render(
        board_version.context,
        "explore.html",
        current="/explore",
        pairs=pairs,
        query=query,
        item_page=(result := pairs.select(query, among)),
        pair=pair,
        thumbnails={view.name for view in result.shown if catalog.has_thumbnail(view.texts)},
        sources=[
            (key, board_version.spec.source_category[key]) for key in board_version.spec.shown_sources if key in held
        ],
        categories=[key for key in board_version.spec.category_keys if key in categories],
        right=RIGHT if pairs.bands is not None else {},
        broken=catalog.has_item_file and pairs.texts is None,
    )


def item_page(board_version: BoardVersion, catalog: ItemCatalog, *, name: str) -> str | None:
    """Return one pair; None if no item, or more than one, has this name."""
    pairs = _pairs(board_version, catalog)
    index = pairs.find(name)
    if index is None:
        return None
    view = pairs.show(index)
    near = {
        word: pairs.show(at)
        for word, at in (("previous", index - 1), ("next", index + 1))
        if 0 <= at < len(pairs.table)
    }
    image = view.texts.image if view.texts else ""
    return render(
        board_version.context,
        "explore_item.html",
        current="/explore",
        shown=view,
        image=f"/explore/{view.name}/image" if catalog.image(image) else "",
        near=near,
        judges=pairs.judges,
        all_pairs=ItemQuery(),
        total=len(pairs.table),
        broken=catalog.has_item_file and pairs.texts is None,
    )


def image_of(board_version: BoardVersion, catalog: ItemCatalog, *, name: str) -> Path | None:
    """Return the image file of one pair."""
    pairs = _pairs(board_version, catalog)
    index = pairs.find(name)
    texts = pairs.texts[index] if index is not None and pairs.texts else None
    return catalog.image(texts.image) if texts else None
