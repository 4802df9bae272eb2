"""State of the analyse page, read from its URL, and the chart that it selects. Knows nothing of Gradio."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode

from benchmark.disclosure import OVERALL_ONLY
from benchmark.protocols import protocols
from common.messages import _, joined
from leaderboard.board.best_of_n import load_values
from leaderboard.board.query import read_as_of
from leaderboard.board.rows import BoardRow
from leaderboard.cache import BoardVersion
from leaderboard.charts.base import BoardContext, Chart, ChartQuery
from leaderboard.charts.catalog import CHARTS, charts_of
from leaderboard.charts.estimates import display_name
from leaderboard.charts.layout import Page
from leaderboard.charts.registry import Kind
from leaderboard.pages.item_catalog import ItemCatalog
from leaderboard.render import environment, permanent
from leaderboard.render_context import RenderContext

MOST_LISTED = 500  # judges scored here in the list to choose from; others are drawn too when the address names them
FIRST_SHOWN = 5
MOST_CHOSEN = 100  # judges in a figure; it draws the best of them
PATH = "/app/analyse"


@dataclass(frozen=True, slots=True)
class AnalysisQuery:
    """What a visitor asked for; anything that means nothing has become what is usual."""

    entries: tuple[str, ...]
    protocol: str
    grouping: str
    revision: str
    chart: str
    page: Page
    paper: bool = False
    as_of: str = ""

    def address(self, as_of: str, path: str = PATH) -> str:
        """Return where this choice is found; ``as_of`` "" is the current board."""
        pairs = [("entries", ",".join(self.entries)), ("revision", self.revision), ("as_of", as_of)]
        spec = self.page.spec
        usual = (("protocol", spec.ranking), ("grouping", spec.official), ("chart", next(iter(CHARTS))))
        pairs += [(name, value) for name, default in usual if (value := getattr(self, name)) != default]
        pairs += [("paper", "1")] if self.paper else []
        named = [(name, value) for name, value in pairs if value or name == "entries"]
        return f"{path}?{urlencode(named, safe=',')}"


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure as Plotly's JSON, None where there is nothing to draw, and what is above and beneath it, as HTML."""

    figure: str | None
    words: str
    when: str = ""


def from_address(state: str) -> dict[str, Any]:
    """Return the named values of the page's query string; `entries` as a list, absent if the address has none."""
    query = dict(parse_qsl(str(_measured(state).get("query", ""))[:20_000].removeprefix("?"), keep_blank_values=True))
    named: dict[str, Any] = dict(query)
    if "entries" in query:
        named["entries"] = [part for part in query["entries"].split(",") if part]
    return named


def as_of(state: str) -> str:
    """Return which board the address asks for; "" is the current one."""
    return read_as_of({name: str(value) for name, value in from_address(state).items()})


def _measured(state: object) -> Mapping[str, Any]:
    try:
        result = json.loads(str(state))
    except ValueError:
        return {}
    return result if isinstance(result, dict) else {}


def read_choice(edition: BoardVersion, named: Mapping[str, Any], state: object) -> AnalysisQuery:
    """Return a choice that can be drawn, whatever came from an address or a browser."""
    wanted = named.get("entries")
    ids = _best(edition) if not isinstance(wanted, list) else [key for key in wanted if isinstance(key, str)]
    known = {entry["id"] for entry in edition.snapshot["entries"]} | {row.id for row in _reported(edition)}
    spec, measured = edition.spec, _measured(state)
    width = measured.get("width")
    asked = named.get("revision")
    revision = str(asked if asked in edition.revisions else edition.snapshot["label_revision"])
    hidden = edition.is_redacted(revision)  # its board knows one rule and one grouping
    return AnalysisQuery(
        tuple(key for key in dict.fromkeys(ids) if key in known)[:MOST_CHOSEN],
        spec.ranking if hidden else _one_of(named.get("protocol"), tuple(protocols(spec))),
        spec.official if hidden else _one_of(named.get("grouping"), tuple(spec.groupings)),
        revision,
        _one_of(named.get("chart"), tuple(charts_of(spec))),
        Page(
            spec,
            min(max(int(width), 280), 2400) if isinstance(width, int | float) else 1200,
            measured.get("dark") is True,
            edition.context.language,
        ),
        named.get("paper") in (True, "1"),
        as_of(str(state)),
    )


def _one_of(value: object, known: Sequence[str]) -> str:
    return value if isinstance(value, str) and value in known else known[0]


def _reported(edition: BoardVersion) -> list[BoardRow]:
    """Return the reported results, best first."""
    return [row for row in edition.board().rows if row.tier == "reported"]


def _best(edition: BoardVersion) -> list[str]:
    """Return what an address without a choice shows: the best judges scored here, or else the best reported ones."""
    board = edition.board()
    rows = [row for row in board.rows if row.value(board.headline) is not None]
    tiers = ([row.id for row in rows if row.tier == tier] for tier in ("scored", "reported"))
    return next((tier[:FIRST_SHOWN] for tier in tiers if tier), [])


def names(edition: BoardVersion, chosen: Sequence[str]) -> dict[str, str]:
    """Return id -> name of what can be chosen: judges scored here, best first, then reported ones, each with its
    source.

    Equal names are distinguished by their ids.
    """
    scored = [row.id for row in edition.board().rows if row.tier == "scored"][:MOST_LISTED]
    reported = {row.id: f"{row.model} · {row.source}" for row in _reported(edition)}
    known = {entry["id"]: display_name(entry) for entry in edition.snapshot["entries"]} | reported
    result = {key: known[key] for key in dict.fromkeys([*chosen, *scored, *reported]) if key in known}
    times = Counter(result.values())
    return {key: name if times[name] == 1 else f"{name} ({key})" for key, name in result.items()}


def draw(edition: BoardVersion, choice: AnalysisQuery, materials: ItemCatalog) -> Drawn:
    """Return the figure and what is said beneath it."""
    kind, when = CHARTS[choice.chart], _when(edition, choice)
    if not choice.entries and not kind.alone:
        return Drawn(None, str(_parts(edition.context).nothing_chosen(bool(names(edition, ())))), when)
    known = {entry["id"]: entry for entry in edition.snapshot["entries"]}
    around = _around(edition, choice, materials)
    hidden = edition.is_redacted(choice.revision)
    view = ChartQuery(
        choice.revision,
        choice.page,
        choice.protocol,
        choice.grouping,
        choice.paper,
        hidden,
        around,
        edition.level(choice.revision) == OVERALL_ONLY,
    )
    chart = kind.draw([known[key] for key in choice.entries if key in known], view)
    if chart.figure is None:
        notes = (*chart.notes, *_remedy(kind, choice, edition))
        sentences = " ".join(map(edition.context.translations.text, notes))
        return Drawn(None, _nothing(edition.context, chart.title, sentences), when)
    drawn = {**chart.figure, "config": {"displayModeBar": False}}
    drawn["layout"]["meta"]["data"] = _data(chart, edition, choice)
    return Drawn(json.dumps(drawn), _said(chart, edition, choice), when)


def _remedy(kind: Kind, choice: AnalysisQuery, edition: BoardVersion) -> tuple[str, ...]:
    """Return which judges would fill an empty figure, the best ones first."""
    if kind.suits is None or edition.is_redacted(choice.revision):
        return ()
    known = {entry["id"]: entry for entry in edition.snapshot["entries"]}
    suited = [known[row.id] for row in edition.board().rows if row.id in known and kind.suits(known[row.id])]
    named = joined(display_name(entry) for entry in suited[:FIRST_SHOWN])
    return (_("Choose judges that have it: {names}.", names=named),) if suited else ()


def _around(edition: BoardVersion, choice: AnalysisQuery, materials: ItemCatalog) -> BoardContext:
    """Return the board around the judges chosen. Before the first snapshot there are the reported rows alone."""
    revision = choice.revision if choice.revision in edition.revisions else ""
    rows = edition.board(choice.protocol, choice.grouping, revision).rows
    summary = (edition.snapshot.get("relations") or {}).get(choice.revision) or {}
    relations = materials.relations(edition, choice.revision) if choice.chart == "agreement" else None
    compared = len(summary.get("entries", ()))
    moment = str(edition.snapshot["created_at"])
    wanted = set(choice.entries)
    reported = [row for row in rows if row.tier == "reported" and row.id in wanted]
    return BoardContext(
        rows, relations, summary.get("difficulty"), compared, load_values(edition.spec), moment, reported
    )


def path_of(context: RenderContext) -> str:
    """Return the address of the analyse page of a benchmark."""
    return f"{PATH}-{context.spec.id}" if context.prefix else PATH


def busy(context: RenderContext) -> str:
    """Return what a reader gets while too many others wait for figures."""
    sentences = "Figures for others are being made. Try again in a few seconds."
    return _nothing(context, "Too many readers at the moment", sentences)


def no_board(context: RenderContext) -> str:
    """Return what an ``as_of`` without a board gets."""
    return str(_parts(context).no_board(path_of(context)))


def _nothing(context: RenderContext, title: str, sentences: str) -> str:
    return str(_parts(context).nothing(title, sentences))


def _parts(context: RenderContext) -> Any:
    """Return the macros of figure_parts.html."""
    return environment(context).get_template("parts/figure_parts.html").module


def _data(chart: Chart, edition: BoardVersion, choice: AnalysisQuery) -> dict[str, Any]:
    """Return the numbers of a figure with all that they depend on."""
    return {
        "figure": choice.chart,
        "title": chart.title,
        "benchmark": edition.benchmark,
        "label_revision": choice.revision,
        "protocol": choice.protocol,
        "grouping": choice.grouping,
        "snapshot": edition.snapshot_id,
        "as_of": edition.snapshot["created_at"],
        "notes": list(chart.notes),
        "columns": list(chart.header),
        "rows": [list(row) for row in chart.rows],
    }


def _when(edition: BoardVersion, choice: AnalysisQuery) -> str:
    """Return whose numbers these are, where the address asks for a board of the past."""
    if not choice.as_of:
        return ""
    return str(
        _parts(edition.context).then(str(edition.snapshot["created_at"]), choice.address("", path_of(edition.context)))
    )


def _said(chart: Chart, edition: BoardVersion, choice: AnalysisQuery) -> str:
    """Return downloads, sentences, and the numbers as a table for readers who do not use the figure."""
    lasting = choice.address(permanent(edition.board()), path_of(edition.context))
    return str(_parts(edition.context).details(choice.chart, chart, lasting))
