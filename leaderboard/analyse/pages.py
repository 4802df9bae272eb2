"""Analyse page: a figure of chosen judges or of the whole board, drawn by Plotly; its numbers as files."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import Response

from leaderboard.charts.base import Chart, ChartQuery, empty_chart
from leaderboard.charts.catalog import CHARTS, GROUPS, ChartKind, charts_of
from leaderboard.charts.estimates import SnapshotEntry, display_name
from leaderboard.charts.layout import Page
from leaderboard.explore.item_catalog import ItemCatalog
from leaderboard.ranking.parameters import MAX_QUERY, BoardQuery, listed, one_of, read_as_of
from leaderboard.ranking.parameters import chosen as rows_asked_for
from leaderboard.ranking.rows import BoardRow
from leaderboard.ranking.scoring_rules import scoring_context
from leaderboard.share.exports import file_stem
from leaderboard.site.cache import BoardCache, BoardVersion, CachedResponse
from leaderboard.site.colours import dark_colours
from leaderboard.site.pages import add_page, not_found_page
from leaderboard.site.render import past_board_context, permanent, render
from leaderboard.site.render_context import RenderContext
from leaderboard.site.responses import OF_A_LANGUAGE, query_of, requested_version, respond
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _
from vlrb.protocols import protocols

PATH = "/analyse"
FIRST_SHOWN = 5
MOST_CHOSEN = 100  # judges in a figure; it draws the best of them
MOST_OFFERED = 200  # judges in the list to choose from; others are found by their names
FILES: Mapping[str, str] = {"csv": "text/csv; charset=utf-8", "json": "application/json"}
"""Files of a figure: ending -> media type."""
_ROWS = 400  # of the table; the files have all
_AGREEMENT_DECIMALS = 3
_WORDS = ("scored", "reported", "yes", "no", "longer", "shorter", "confidence", "coverage")  # in cells of the numbers
_PICKED = re.compile(r"\[(e[0-9a-z]{11}|r-[\w-]{1,78})\]$")  # an id, as a choice of the field ends


def build(cache: BoardCache, catalog: ItemCatalog) -> APIRouter:
    """Return the routes of the page and of the files of figures."""
    router = APIRouter(include_in_schema=False)

    def view(version: BoardVersion, parameters: Mapping[str, str]) -> tuple[str, Callable[[], str]]:
        query = read_query(parameters, version)
        return f"{query.url()}|{query.add}", partial(analyse_page, version, query, catalog=catalog)

    add_page(router, cache, PATH, view, dated=True, drawing=True)

    @router.api_route(f"{PATH}.{{kind}}", methods=["GET", "HEAD"])
    async def figure(kind: str, request: Request) -> Response:
        board_version = await requested_version(cache, request) if kind in FILES else None
        if board_version is None:
            return not_found_page(cache.context, request.headers)
        query = await asyncio.to_thread(read_query, query_of(request, board_version), board_version)
        key, make = query.url(kind), partial(figure_file, board_version, query, catalog)
        response = board_version.get_cached(key) or await board_version.executor.take(make, kind)
        if response is None:
            return not_found_page(cache.context, request.headers)
        reply = respond(board_version.get_or_render(key, lambda: response), request.headers)
        reply.headers["Vary"] = OF_A_LANGUAGE
        reply.headers["Content-Disposition"] = f'attachment; filename="{query.stem}.{kind}"'
        return reply

    return router


@dataclass(frozen=True, slots=True)
class AnalyseQuery:
    """What a visitor asked for; what means nothing has become what is usual, which is "".

    ``entries`` None: the address says nothing, so the best judges are shown. ``add``: what was typed to add a judge.
    """

    spec: BenchmarkSpec
    chart: str
    entries: tuple[str, ...] | None = None
    protocol: str = ""
    grouping: str = ""
    revision: str = ""
    as_of: str = ""
    add: str = ""
    narrow: bool = False  # whether a drawing is for a telephone

    @property
    def kind(self) -> ChartKind:
        """The figure."""
        return CHARTS[self.chart]

    @property
    def stem(self) -> str:
        """What files of the figure are called, without their endings."""
        return f"{file_stem(self.spec)}-{self.chart}"

    def url(self, kind: str = "", **changes: Any) -> str:
        """Return the address of this choice, with changes; ``kind``: the ending of a file, such as csv."""
        query = replace(self, **changes)
        pairs = [
            ("chart", "" if query.chart == next(iter(charts_of(query.spec))) else query.chart),
            ("entries", ",".join(query.entries or ())),
            ("protocol", query.protocol),
            ("grouping", query.grouping),
            ("revision", query.revision),
            ("as_of", query.as_of),
            ("narrow", "1" if query.narrow else ""),
        ]
        named = [(name, value) for name, value in pairs if value or (name == "entries" and query.entries == ())]
        path = f"{PATH}.{kind}" if kind else PATH
        return f"{path}?{urlencode(named, safe=',')}" if named else path


# --- what was asked for -----------------------------------------------------------------------------------------------


def read_query(parameters: Mapping[str, str], board_version: BoardVersion) -> AnalyseQuery:
    """Return a choice that can be drawn, whatever an address says."""
    spec = board_version.spec
    revision = one_of(parameters, "revision", board_version.revisions)
    hidden = board_version.is_redacted(
        revision or str(board_version.snapshot["label_revision"])
    )  # one rule and one grouping
    protocol = "" if hidden else one_of(parameters, "protocol", protocols(spec))
    grouping = "" if hidden else one_of(parameters, "grouping", spec.groupings)
    chart = one_of(parameters, "chart", charts_of(spec)) or next(iter(charts_of(spec)))
    typed = parameters.get("add", "").strip()[:MAX_QUERY]
    matches = find_judge(typed, board_version)
    return AnalyseQuery(
        spec,
        chart,
        entries=_read_entries(parameters, board_version, kind=CHARTS[chart], added=matches),
        protocol="" if protocol == spec.ranking else protocol,
        grouping="" if grouping == spec.official else grouping,
        revision="" if revision == board_version.snapshot["label_revision"] else revision,
        as_of=read_as_of(parameters),
        add="" if matches else typed,
        narrow=parameters.get("narrow") == "1",
    )


def _read_entries(
    parameters: Mapping[str, str], board_version: BoardVersion, *, kind: ChartKind, added: Sequence[str]
) -> tuple[str, ...] | None:
    """Return the judges that an address names, each once, with those added; None where it says nothing."""
    if "entries" not in parameters and not added:
        return None
    named = listed(parameters, "entries") if "entries" in parameters else best(board_version, kind)
    known = {entry["id"] for entry in board_version.snapshot["entries"]} | {row.id for row in _reported(board_version)}
    return tuple(key for key in dict.fromkeys([*named, *added]) if key in known)[:MOST_CHOSEN]


def find_judge(text: str, board_version: BoardVersion) -> list[str]:
    """Return the judge that a text means: by its id, by its name, or the best one that a search finds."""
    if picked := _PICKED.search(text):
        return [picked[1]]
    if not text:
        return []
    called = [row for row in board_version.board().rows if row.model.casefold() == text.casefold()]
    matching = rows_asked_for(board_version.board(), BoardQuery(board_version.spec, search=text))
    return [row.id for row in called or matching if row.tier != "baseline"][:1]


def _reported(board_version: BoardVersion) -> list[BoardRow]:
    """Return the reported results, best first."""
    return [row for row in board_version.board().rows if row.tier == "reported"]


def best(board_version: BoardVersion, kind: ChartKind, most: int = FIRST_SHOWN) -> tuple[str, ...]:
    """Return the best judges scored here that a figure can show, else the best ones, else the best reported ones."""
    board = board_version.board()
    known = {entry["id"]: entry for entry in board_version.snapshot["entries"]}
    rows = [row for row in board.rows if row.value(board.headline) is not None]
    scored = [row.id for row in rows if row.tier == "scored"]
    able = [key for key in scored if kind.suits is None or kind.suits(known[key])]
    return tuple((able or scored or [row.id for row in rows if row.tier == "reported"])[:most])


def names(board_version: BoardVersion, chosen: Sequence[str]) -> dict[str, str]:
    """Return id -> name of what can be chosen: judges scored here, best first, then reported ones, each with its
    source. Equal names are told apart by their ids."""
    scored = [row.id for row in board_version.board().rows if row.tier == "scored"]
    reported = {row.id: f"{row.model} · {row.source}" for row in _reported(board_version)}
    known = {entry["id"]: display_name(entry) for entry in board_version.snapshot["entries"]} | reported
    result = {key: known[key] for key in dict.fromkeys([*chosen, *scored, *reported]) if key in known}
    times = Counter(result.values())
    return {key: name if times[name] == 1 else f"{name} ({key})" for key, name in result.items()}


def chosen_entries(board_version: BoardVersion, query: AnalyseQuery) -> tuple[str, ...]:
    """Return the judges that a figure is about; none for a figure of all results."""
    if not query.kind.of_judges:
        return ()
    return best(board_version, query.kind) if query.entries is None else query.entries


# --- the figure -------------------------------------------------------------------------------------------------------


def draw(board_version: BoardVersion, query: AnalyseQuery, catalog: ItemCatalog) -> Chart:
    """Return the figure of a choice, for one width. Before the first snapshot there are the reported rows alone."""
    chosen = chosen_entries(board_version, query)
    if not chosen and query.kind.of_judges:
        return _nobody(board_version)
    known: dict[str, SnapshotEntry] = {entry["id"]: entry for entry in board_version.snapshot["entries"]}
    revision = query.revision or str(board_version.snapshot["label_revision"])
    rows = board_version.board(query.protocol, query.grouping, revision=query.revision).rows
    view = ChartQuery(
        revision,
        Page(board_version.spec, query.narrow, language=board_version.context.language),
        protocol=query.protocol,
        grouping=query.grouping,
        hidden=board_version.is_redacted(revision),
        rows=rows,
        reported=[row for row in rows if row.tier == "reported" and row.id in chosen],
        relations=catalog.relations(board_version, revision) if query.chart == "agreement" else None,
        summary=board_version.relations_summary(revision),
        as_of=str(board_version.snapshot["created_at"]),
    )
    return query.kind.draw([known[key] for key in chosen if key in known], view)


def _nobody(board_version: BoardVersion) -> Chart:
    """Return an empty figure that says how to fill it."""
    if names(board_version, ()):
        return empty_chart((_("Choose one or more above."),), _("No judge chosen"))
    return empty_chart((_("Figures appear with the first judge that is scored."),), _("No judge has been scored yet"))


def figure_file(
    board_version: BoardVersion, query: AnalyseQuery, catalog: ItemCatalog, kind: str
) -> CachedResponse | None:
    """Return a figure as a file of one of FILES, with all that its numbers depend on. None where there is nothing to
    draw."""
    chart = draw(board_version, query, catalog)
    depends_on = {
        "figure": query.chart,
        "benchmark": board_version.spec.id,
        "label_revision": query.revision or board_version.snapshot["label_revision"],
        "protocol": query.protocol or board_version.spec.ranking,
        "grouping": query.grouping or board_version.spec.official,
        "snapshot": board_version.snapshot_id,
        "as_of": board_version.snapshot["created_at"],
    }
    return None if chart.figure is None else chart_file(chart, board_version.spec, kind, **depends_on)


def chart_file(chart: Chart, spec: BenchmarkSpec, kind: str, **depends_on: Any) -> CachedResponse:
    """Return the numbers of a figure as a file of one of FILES; JSON has the drawing for Plotly too."""
    content = {
        **depends_on,
        "title": chart.words.title,
        "subtitle": chart.words.subtitle,
        "notes": list(chart.notes),
        "columns": list(chart.header),
        "rows": [list(row) for row in chart.rows],
        "plotly": chart.figure.to_plotly_json() if chart.figure else None,
        "dark": dark_colours(spec),
    }
    text = chart.csv if kind == "csv" else json.dumps(content, ensure_ascii=False, indent=1)
    return CachedResponse.of(text.encode(), FILES[kind], quick=True)


# --- the page ---------------------------------------------------------------------------------------------------------


def analyse_page(board_version: BoardVersion, query: AnalyseQuery, *, catalog: ItemCatalog) -> str:
    """Return the page, whose script draws the figure."""
    context = board_version.context
    chart = draw(board_version, query, catalog)
    board = board_version.board(query.protocol, query.grouping, revision=query.revision)
    known = charts_of(board_version.spec)
    return render(
        context,
        "analyse.html",
        current=PATH,
        query=query,
        chart=chart,
        charts=known,
        groups={
            title: keys
            for group, title in GROUPS.items()
            if (keys := [key for key, kind in known.items() if kind.group == group])
        },
        rows=chart.rows[:_ROWS],
        shown=partial(_shown, context, _AGREEMENT_DECIMALS if query.chart == "agreement" else 1),
        lasting=_lasting(board_version, query),
        **_choice_context(board_version, query),
        **scoring_context(board, board_version.snapshot["label_revision"]),
        redacted=board_version.is_redacted(board.label_revision),
        **past_board_context(board_version, query.as_of, now=query.url(as_of="")),
    )


def _shown(context: RenderContext, decimals: int, cell: object) -> str:
    """Return a cell of the numbers as the page shows it: keys of the definition by their names."""
    if isinstance(cell, float):
        return f"{cell:.{decimals}f}"
    if cell in context.spec.score_names or cell in context.spec.tags:
        return context.translations.known(context.spec.title_of(str(cell)))
    if cell in _WORDS:
        return context.translations.known(str(cell))
    return "" if cell is None else str(cell)


def _lasting(board_version: BoardVersion, query: AnalyseQuery) -> str:
    """Return the address that always shows this: with its board, labels and judges."""
    return query.url(
        as_of=permanent(board_version.board()),
        entries=chosen_entries(board_version, query) or None,
        revision=query.revision or str(board_version.snapshot["label_revision"]),
    )


def _choice_context(board_version: BoardVersion, query: AnalyseQuery) -> dict[str, Any]:
    """Return what the list of judges shows; nothing is chosen for a figure of all judges."""
    chosen = chosen_entries(board_version, query)
    known = names(board_version, chosen)
    return {
        "of_judges": query.kind.of_judges,
        "chosen": chosen,
        "offered": list(known.items())[:MOST_OFFERED],
        "any_judge": bool(known),
        "suited": query.url(entries=None) if query.kind.of_judges and query.entries is not None and known else "",
        "quick": _quick_choices(board_version, query),
    }


def _quick_choices(board_version: BoardVersion, query: AnalyseQuery) -> list[tuple[str, str]]:
    """Return choices that one click makes: title, address."""
    result = [
        (_("Best {n}", n=most), query.url(entries=found))
        for most in (FIRST_SHOWN, 2 * FIRST_SHOWN, 4 * FIRST_SHOWN)
        if len(found := best(board_version, query.kind, most)) > most - FIRST_SHOWN
    ]
    return [*result, (_("None"), query.url(entries=()))]
