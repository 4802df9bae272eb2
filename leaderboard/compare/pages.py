"""Page ``GET /compare``: the entries chosen, their differences, and others to add."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fastapi import APIRouter

from leaderboard.analyse.pages import find_judge
from leaderboard.compare import separation
from leaderboard.compare import service as compare
from leaderboard.explore import pages as explore
from leaderboard.explore.item_catalog import ItemCatalog
from leaderboard.ranking.parameters import MAX_QUERY, BoardQuery, compare_url, one_of, read_as_of
from leaderboard.share.exports import FORMATS
from leaderboard.site.cache import BoardCache, BoardVersion
from leaderboard.site.pages import add_page
from leaderboard.site.render import past_board_context, render
from vlrb.benchmarks.spec import BenchmarkSpec

_IN_THE_FIELD = 200  # of them that the field completes


def build(cache: BoardCache, catalog: ItemCatalog) -> APIRouter:
    """Return the route."""
    router = APIRouter(include_in_schema=False)

    def view(version: BoardVersion, parameters: Mapping[str, str]) -> tuple[str, Callable[[], str]]:
        choice = read_choice(parameters, version)
        return choice.url(), partial(compare_page, version, catalog, choice=choice)

    add_page(router, cache, "/compare", view, dated=True)
    return router


def read_entries(text: str) -> tuple[str, ...]:
    """Return ids, separated by commas."""
    return tuple(dict.fromkeys(name.strip() for name in text[:400].split(",") if name.strip()))


@dataclass(frozen=True, slots=True)
class CompareQuery:
    """What a visitor of the compare page asked for; what means nothing has become what is usual."""

    spec: BenchmarkSpec
    ids: tuple[str, ...] = ()
    grouping: str = ""  # "" is the official one
    revision: str = ""
    as_of: str = ""
    search: str = ""

    def url(self, **changes: Any) -> str:
        """Return the address of this choice, with changes."""
        view = replace(self, **changes)
        return compare_url(view.ids, view.grouping, revision=view.revision, as_of=view.as_of, q=view.search)


def read_choice(parameters: Mapping[str, str], board_version: BoardVersion) -> CompareQuery:
    """Return the choice of a query string; a search adds the judge that it means."""
    spec = board_version.spec
    grouping = one_of(parameters, "grouping", spec.groupings)
    search = parameters.get("q", "").strip()[:MAX_QUERY]
    ids, found = read_entries(parameters.get("entries", "")), find_judge(search, board_version)
    return CompareQuery(
        spec,
        tuple(dict.fromkeys((*ids, *found))),
        grouping="" if grouping == spec.official else grouping,
        revision=one_of(parameters, "revision", board_version.revisions),
        as_of=read_as_of(parameters),
        search="" if found else search,
    )


def compare_page(board_version: BoardVersion, catalog: ItemCatalog, *, choice: CompareQuery) -> str:
    """Chosen entries, their differences, and others to add."""
    grouping, revision, search = choice.grouping or choice.spec.official, choice.revision, choice.search
    ids = choice.ids
    relations = catalog.relations(board_version, revision)
    result = compare.compare(board_version, ids, relations=relations, grouping=grouping, revision=revision)
    chosen = [row.id for row in result.rows]

    def url(names: Sequence[str], **changes: str) -> str:
        return choice.url(ids=tuple(names), **changes)

    own = {row.id: compare.own_grouping(board_version, row) for row in result.rows}
    return render(
        board_version.context,
        "compare.html",
        current="/compare",
        comparison=result,
        export_formats=FORMATS,
        chosen=chosen,
        search=search,
        url=url,
        grouping=grouping,
        revision=revision,
        parts=result.board.values,
        **past_board_context(board_version, choice.as_of, now=choice.url(as_of="")),
        unknown=[name for name in ids[: compare.MOST * 2] if name not in chosen],
        listed=compare.offered(result, [row for row in result.board.rows if row.tier != "baseline"])[:_IN_THE_FIELD],
        letters=compare.letters(result),
        full=len(chosen) >= compare.MOST,
        own=own,
        words=compare,
        separating=partial(separation.sentences, board_version, revision=revision),
        only_right_links=partial(explore.only_right_links, relations=None if revision or choice.as_of else relations),
        api="/api/v1" + url(chosen, search=""),
        board_url=BoardQuery(
            choice.spec, grouping=grouping, revision=revision, as_of=choice.as_of, compare=tuple(chosen)
        ).only_compared,
    )
