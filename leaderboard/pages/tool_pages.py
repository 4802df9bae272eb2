"""HTML of the pages beside the board. Compare and explore are cached per snapshot; number checks are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from leaderboard.board.differences import Pair
from leaderboard.board.query import MAX_QUERY, BoardQuery, compare_url, read_as_of
from leaderboard.board.reported_results import find, load_published
from leaderboard.cache import BoardVersion
from leaderboard.pages import about, compare, explore, reported, separation
from leaderboard.pages.analyse import find_judge
from leaderboard.pages.explore import ItemQuery, ItemSearch
from leaderboard.pages.item_catalog import ItemCatalog
from leaderboard.render import past_board_context, render
from leaderboard.render_context import RenderContext
from leaderboard.share.exports import FORMATS
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.numbers import report as number_check
from vlrb.numbers.definition_check import by_printed_name, printed_names
from vlrb.numbers.definition_report import printed_title
from vlrb.numbers.figures import BadFigures

_IN_THE_FIELD = 200  # of them that the field completes


# Check my numbers


@cache
def _examples(spec: BenchmarkSpec) -> tuple[tuple[str, str, str], ...]:
    """(name, what it shows, address)."""
    rows = [(find(load_published(spec), name), remark) for name, remark in spec.number_check_examples.items()]
    return tuple((row.name, remark, number_check.url(row.figures)) for row, remark in rows if row)


def check_page(context: RenderContext, given: Mapping[str, str]) -> tuple[str, BadFigures | None]:
    """Return the form, the answer if something was asked, and what is wrong with it."""
    spec = context.spec
    asked = {name: text for name, text in by_printed_name(given, spec).items() if text}
    result, problem = None, None
    try:
        number_check.refuse_unknown(given, spec)
        result = number_check.answer(asked, spec) if asked else None
    except BadFigures as wrong:
        problem = wrong
    page = render(
        context,
        "check.html",
        current="/check-numbers",
        spec=spec,
        asked=asked,
        fields=[(name, printed_title(name, spec), asked.get(name, "")) for name in printed_names(spec)],
        problem=problem,
        result=result,
        api=number_check.url(asked, "/api/v1/check-numbers"),
        examples=_examples(spec),
        counts=reported.summary(load_published(spec)),
    )
    return page, problem


# Compare


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
    spec, revisions = board_version.spec, board_version.revisions
    grouping, revision = (parameters.get(name, "") for name in ("grouping", "revision"))
    search = parameters.get("q", "").strip()[:MAX_QUERY]
    ids, found = read_entries(parameters.get("entries", "")), find_judge(search, board_version)
    return CompareQuery(
        spec,
        tuple(dict.fromkeys((*ids, *found))),
        grouping=grouping if grouping in spec.groupings and grouping != spec.official else "",
        revision=revision if revision in revisions else "",
        as_of=read_as_of(parameters),
        search="" if found else search,
    )


def compare_page(board_version: BoardVersion, catalog: ItemCatalog, *, choice: CompareQuery) -> str:
    """Chosen entries, their differences, and others to add."""
    grouping, revision, search = choice.grouping or choice.spec.official, choice.revision, choice.search
    ids = choice.ids
    result = compare.compare(
        board_version, ids, relations=catalog.relations(board_version, revision), grouping=grouping, revision=revision
    )
    chosen = [row.id for row in result.rows]

    def url(names: Sequence[str], **changes: str) -> str:
        return choice.url(ids=tuple(names), **changes)

    own = {row.id: compare.own_grouping(board_version, row) for row in result.rows}
    return render(
        board_version.context,
        "compare.html",
        current="/compare",
        demo=board_version.spec.synthetic,
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
        spec=board_version.spec,
        api="/api/v1" + url(chosen, search=""),
        board_url=BoardQuery(
            choice.spec, grouping=grouping, revision=revision, as_of=choice.as_of, compare=tuple(chosen)
        ).only_compared,
    )


def nearest(board_version: BoardVersion, catalog: ItemCatalog, entry_id: str, revision: str) -> tuple[Pair, ...]:
    """Return the entries next to one, for its page."""
    return compare.nearest(
        board_version, entry_id, relations=catalog.relations(board_version, revision), revision=revision
    )


# Explore


def pairs_of(board_version: BoardVersion, catalog: ItemCatalog) -> ItemSearch:
    """Return what there is to browse now."""
    return ItemSearch.of(catalog.table, catalog.texts, relations=catalog.relations(board_version, with_anonymous=True))


def explore_page(board_version: BoardVersion, catalog: ItemCatalog, *, query: ItemQuery) -> str:
    """Return a page of pairs; the shares of judges are those of the board version."""
    pairs = pairs_of(board_version, catalog)
    held = {item.source for item in pairs.table.items}
    categories = {item.category for item in pairs.table.items}
    return render(
        board_version.context,
        "explore.html",
        current="/explore",
        demo=board_version.spec.synthetic,
        pairs=pairs,
        query=query,
        item_page=(result := pairs.select(query)),
        thumbnails={view.name for view in result.shown if catalog.has_thumbnail(view.texts)},
        spec=board_version.spec,
        sources=[
            (key, board_version.spec.source_category[key]) for key in board_version.spec.shown_sources if key in held
        ],
        categories=[key for key in board_version.spec.category_keys if key in categories],
        right=explore.RIGHT if pairs.bands is not None else {},
        per_page=explore.PAGE,
        broken=catalog.has_item_file and pairs.texts is None,
    )


def item_page(board_version: BoardVersion, catalog: ItemCatalog, *, name: str) -> str | None:
    """Return one pair; None if no item, or more than one, has this name."""
    pairs = pairs_of(board_version, catalog)
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
        demo=board_version.spec.synthetic,
        spec=board_version.spec,
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
    pairs = pairs_of(board_version, catalog)
    index = pairs.find(name)
    texts = pairs.texts[index] if index is not None and pairs.texts else None
    return catalog.image(texts.image) if texts else None


# About


def about_page(board_version: BoardVersion, catalog: ItemCatalog) -> str:
    """Return what is asked, how an answer is counted, how ranks and intervals are made, how to take part."""
    table = catalog.table
    return render(
        board_version.context,
        "about.html",
        current="/about",
        demo=board_version.spec.synthetic,
        board=board_version.board(),
        spec=board_version.spec,
        about=about.texts(board_version.spec),
        sizes=about.sizes(table),
        revisions=table.revisions,
        guides=about.guides(board_version.spec),
        explained=partial(about.explained, board_version.spec),
        names_of=lambda keys: [
            board_version.context.translations.known(board_version.spec.name_of(key)) for key in keys
        ],
        pairs=len(table),
    )
