"""Rendering of pages and fragments: Jinja templates, hashed static files, and the column file of the script.

No web framework here: the Gradio pages use the same header, board and tokens.
"""

from __future__ import annotations

import hashlib
import mimetypes
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, lru_cache
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import orjson
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from leaderboard.board import filter_judges
from leaderboard.board.columns import ALWAYS, Column, columns_of, drawn, usual
from leaderboard.board.hints import misread_words, stated_names, unstated_judges
from leaderboard.board.names import (
    breakable_parts,
    is_shortened,
    monogram,
    monogram_colour,
    name_parts,
    owner_of,
    short_name,
)
from leaderboard.board.opening import BestSet, finding, strips, untested
from leaderboard.board.query import FILTERS, PAGE, PRESETS, BoardQuery, SelectedRows, row_test, select
from leaderboard.board.rank_info import RankInfo, band_classes, order_of
from leaderboard.board.rows import Board, BoardRow
from leaderboard.board.scoring_rules import scoring_rules, scoring_text
from leaderboard.board.script_texts import board_texts, counted
from leaderboard.board.search import fields, known_values, searched
from leaderboard.cache import BoardVersion, CachedResponse
from leaderboard.render_context import RenderContext
from leaderboard.share import social_meta
from leaderboard.share.exports import FORMATS
from storage.clock import minute
from vlrb.benchmarks.spec import DEFAULT_BENCHMARK, BenchmarkSpec
from vlrb.benchmarks.spec_file import load_spec
from vlrb.common.messages import Message, _, in_words, joined
from vlrb.common.rounding import percent, tenths, units
from vlrb.common.template_translations import translate_templates
from vlrb.common.translations import Translations, languages, translations
from vlrb.judges import TYPES
from vlrb.pairs.reported_definitions import stated_overall
from vlrb.protocols import protocols

_HERE = Path(__file__).parent
NEWS = timedelta(days=30)  # for how long the board tells that its labels are others than before
_SNAPSHOT_DIGITS = 16  # of a snapshot's id in addresses
LIBRARIES = ("plotly-cartesian.min.js",)
"""Scripts of others, as they were published."""
STATIC = (
    "site.css",
    "tools.css",
    "judges.css",
    "board.js",
    "nav.js",
    "submit.js",
    "analyse.js",
    "icon.svg",
    *LIBRARIES,
)
NAVIGATION = (
    ("Board", "/"),
    ("Analyse", "/analyse"),
    ("Compare", "/compare"),
    ("Explore", "/explore"),
    ("Check my numbers", "/check-numbers"),
    ("About", "/about"),
)
ACTION = ("Submit predictions", "/app/submit")
HEADER_ID, FOOTER_ID = "vl-header", "vl-footer"  # of the header and the footer in Gradio's pages

PUBLIC_LABELS = _(
    "Everybody can look these labels up. A score here says how a judge answered, not that it had not seen the answers."
)
"""What the mark of a benchmark with public labels means."""
TYPE_NAMES: Mapping[str, str] = TYPES


@dataclass(frozen=True, slots=True)
class Asset:
    """A static file under the address that its content gives it."""

    name: str
    url: str
    body: CachedResponse


@cache
def assets(spec: BenchmarkSpec | None = None) -> Mapping[str, Asset]:
    """Return the static files by name, styles with the colours of a benchmark's categories (None: the default one).

    Read once: they are part of the program.
    """
    benchmark = spec or load_spec(DEFAULT_BENCHMARK)
    return MappingProxyType({name: _asset(name, benchmark if name.endswith(".css") else None) for name in STATIC})


@cache
def _asset(name: str, spec: BenchmarkSpec | None) -> Asset:
    content = (_HERE / "static" / name).read_bytes()
    if spec is not None:
        content = style_sheet(content.decode(), spec).encode()
    if name.endswith((".css", ".js")) and name not in LIBRARIES:
        content = without_comments(content.decode()).encode()
    stem, _, suffix = name.rpartition(".")
    digest = hashlib.sha256(content).hexdigest()[:10]
    media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    charset = "" if media_type.startswith("image/") else "; charset=utf-8"
    return Asset(name, f"/static/{stem}.{digest}.{suffix}", body=CachedResponse.of(content, media_type + charset))


_NO_CODE = re.compile(r"^(//.*|/\*[^*]*\*/|)\n", re.MULTILINE)  # empty lines, and comments on lines of their own


def without_comments(text: str) -> str:
    """Return a script or a style sheet without indentation, empty lines, and comments that fill a line.

    No string or template literal of it may go over several lines.
    """
    return _NO_CODE.sub("", "\n".join(line.lstrip() for line in text.split("\n")))


_USUAL_CHANCE = 0.5  # where the style sheets have its mark
_FEW_CATEGORIES, _SOME_CATEGORIES = 3, 5
_SHORT_NAME = 7  # letters
_LABEL = re.compile(r'(.+)(::before\{content:)"([^"]*[A-Za-z][^"]*)"(.*)')  # of a figure, where a table has no head


def style_sheet(text: str, spec: BenchmarkSpec) -> str:
    """Return a style sheet with what it says of categories said of those of a benchmark.

    A line with ``$category`` stands for one such line per category; with ``$other``, for one per overall number beside
    the headline, whose title is ``$named``; with ``$column``, for one per column of the board that is no score, whose
    title is ``$heading``, and ``$cells`` are the cells of these that a phone shows. ``$pooled`` is the first overall
    number beside the headline, ``$label`` its title; ``$beside`` has room for title and number. ``$categories`` and
    ``$heads`` are lists of selectors, ``$drawing`` and ``$compared`` are widths of drawn intervals, ``$light`` and
    ``$dark`` are the variables that hold the colours. A label is there in every language.
    """
    keys, categories = spec.category_keys, spec.categories
    labelled = [column for column in columns_of(spec) if column.key not in (*ALWAYS, *spec.score_names)]
    others = [key for key in spec.headline_first if spec.overall(key) and key != spec.headline] or ["none"]
    values = {
        "$categories": ",".join(f".{key}" for key in keys),
        "$cells": ",".join(f":is(.chosen,.by-{column.key}) td.{column.key}" for column in labelled),
        "$heads": ",".join(f"[data-head={key}]" for key in keys),
        "$headline": spec.headline,
        "$pooled": others[0],
        "$label": spec.title_of(others[0]),
        "$beside": "84px" if max(map(len, map(spec.title_of, others))) <= _SHORT_NAME else "116px",
        "$drawing": _drawing_width(len(categories)),
        "$compared": "clamp(40px,6vw,88px)" if len(categories) <= _FEW_CATEGORIES else "clamp(24px,2.6vw,40px)",
        "$light": "".join(f"--{category.key}:{category.colour};" for category in categories),
        "$dark": "".join(f"--{category.key}:{category.dark or category.colour};" for category in categories),
    }
    for name, value in values.items():
        text = text.replace(name, value)
    text += "".join(_chance_mark(key, spec) for key in spec.overall_first if spec.chance(key) != _USUAL_CHANCE)
    lines = [
        line.replace("$other", key).replace("$named", spec.title_of(key))
        for line in text.split("\n")
        for key in (others if "$other" in line else [""])
    ]
    lines = [
        line.replace("$column", column.key).replace("$heading", column.title)
        for line in lines
        for column in (labelled if "$column" in line else labelled[:1])
    ]
    lines = [
        line.replace("$category", category.key).replace("$title", category.title)
        for line in lines
        for category in (categories if "$category" in line else categories[:1])
    ]
    return "\n".join(same for line in lines for same in (line, *_in_languages(line)))


def _chance_mark(key: str, spec: BenchmarkSpec) -> str:
    """Return the rule that moves the mark of chance on the axes of a score."""
    cells = f"td.{key} .ci"
    if key == spec.pooled:  # a cell of the board has another class
        cells += ",td.headline .ci"
    return f"{cells},.strip.{key} svg{{background-position:{bar_position(spec.chance(key))}% 0,0 50%}}\n"


def _in_languages(line: str) -> Iterator[str]:
    """Yield a rule whose content is a label once more for each language that has another word for it."""
    match = _LABEL.fullmatch(line)
    if match is None:
        return
    selector, begins, label, ends = match.groups()
    for tag in languages():
        word = translations(tag).known(label.strip())
        if word != label.strip():
            yield f'{selector}:lang({tag}){begins}"{word}{" " if label.endswith(" ") else ""}"{ends}'


def _drawing_width(categories: int) -> str:
    """Return the width of a drawn interval: less where more of them stand side by side."""
    if categories <= _FEW_CATEGORIES:
        return "clamp(48px,4.5vw,80px)"
    return "clamp(28px,2.6vw,40px)" if categories <= _SOME_CATEGORIES else "clamp(16px,1.6vw,26px)"


@lru_cache(maxsize=32)
def environment(context: RenderContext) -> Environment:
    """Return the templates for the pages of a context, with everything escaped that does not say that it is markup."""
    jinja = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    translate_templates(jinja, context.translations)
    jinja.filters |= {
        "percent": percent,
        "count": context.translations.count,
        "axis": bar_position,
        "below": is_below_axis,
        "day": lambda value: value[:10],
        "minute": minute,
        "cell": lambda row, column: (
            context.translations.known(cell(row, column)) if not column.stated else cell(row, column)
        ),
        "code": code,
        "marked_parts": lambda text: marked_parts(context.translations.known(text)),
        "kind": lambda value: context.translations.known(TYPE_NAMES.get(value, value)),
        "range": interval_text,
        "breakable_parts": breakable_parts,
        "name_parts": name_parts,
        "title_of": lambda name: context.translations.known(context.spec.title_of(name)),
        "accuracy_text": lambda name: context.translations.known(context.spec.accuracy_text(name)),
    }
    jinja.globals |= {
        "languages": languages(),
        "asset": lambda name: asset_url(context, name),
        "brand": context.spec.brand,
        "homepage": context.spec.homepage,
        "prefix": context.prefix,
        "chosen_benchmark": f"?benchmark={context.spec.id}" if context.prefix else "",
        "benchmarks": context.benchmarks,
        "served": context.spec.id,
        "public_labels": PUBLIC_LABELS if context.spec.public_labels else "",
        "local_mode": context.local_mode,
        "navigation": [link for link in NAVIGATION if link[1] != "/check-numbers" or _checks_numbers(context.spec)],
        "action": ACTION,
        "filters": FILTERS,
        "export_formats": FORMATS,
        "always": ALWAYS,
        "protocols_of": protocols,
        "usual": usual,
        "in_words": in_words,
        "overall_of": overall_of,
        "safe_link": safe_link,
        "page_size": PAGE,
        "monogram": monogram,
        "monogram_colour": monogram_colour,
        "owner_of": owner_of,
        "short_name": short_name,
        "is_shortened": is_shortened,
        "filter_mark": filter_judges.MARK,
        "filter_explanation": filter_judges.EXPLANATION,
    }
    return jinja


def overall_of(row: BoardRow, board: Board) -> str:
    """Return the accuracy to show of a row: that which orders the board, or else the overall that its source states."""
    if row.value(board.headline) is not None:
        return board.headline
    return stated_overall(row.scores, board.spec) or board.headline


def _checks_numbers(spec: BenchmarkSpec) -> bool:
    """Return whether there is a page that checks published figures of a benchmark."""
    return bool(spec.splits) or (spec.scores_pairs and bool(spec.editions))


def asset_url(context: RenderContext, name: str) -> str:
    """Return the address of a static file; a style sheet has the colours of the context's benchmark."""
    url = assets(context.spec)[name].url
    return context.prefix + url if name.endswith(".css") else url


def render(context: RenderContext, template: str, **values: Any) -> str:
    """Return a page or fragment in a context."""
    return environment(context).get_template(template).render(**values)


def cell(row: BoardRow, column: Column) -> str:
    """Return what is in a cell without a drawing."""
    value = row.value(column.key)
    return "" if value is None else column.text(value)


def code(text: str) -> Markup:
    """Return text of the program as content of an element; quotation marks stay as they are."""
    return Markup(escape(text, quote=False))  # noqa: S704 (escaped)


_MARKED = re.compile(r"`([^`]+)`|\[([^]]+)\]\((https://[^)\"]+)\)")


def marked_parts(text: str) -> list[str]:
    """Return plain text, `code`, words and address of a [link](https://...), in turns; "" for what is not there."""
    return [part or "" for part in _MARKED.split(text)]


def bar_position(share: float) -> str:
    """Return where a share is on the axis from 20 to 100, in percent of its width; clamped to it."""
    return _axis(tenths(share))


def _axis(value: int) -> str:
    return f"{min(max((value - 200) * 10 // 8, 0), 1000) / 10:g}"


def is_below_axis(share: float) -> bool:
    """Return whether a share is before the axis: an arrow at its edge then says so."""
    return tenths(share) < 200


def interval_text(bounds: Sequence[float] | None) -> str:
    """Return an interval as people read it."""
    return f"{percent(bounds[0])}–{percent(bounds[1])}" if bounds else ""


def safe_link(url: str) -> str:
    """Return the address if a browser may be sent there: http or https, with a host, no control characters; else
    nothing."""
    if any(ord(character) <= 32 or character == "\\" for character in url):
        return ""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        usable = False
    return url if usable else ""


def header_markup(context: RenderContext, current: str) -> str:
    """Return the header with the navigation; ``current`` is the address of the page it is on."""
    return render(context, "parts/header.html", current=current)


def footer_markup(context: RenderContext) -> str:
    """Return the links at the end of every page."""
    return render(context, "parts/footer.html")


def board_fragment(board_version: BoardVersion, view: BoardQuery | None = None, *, embedded: bool = False) -> str:
    """Return the controls and the table of the board. ``embedded``: on a page whose address is not the board's own."""
    values = _board_context(board_version, view or BoardQuery(board_version.spec), embedded=embedded)
    return render(board_version.context, "parts/board_fragment.html", **values)


def board_page(board_version: BoardVersion, view: BoardQuery, *, best_set: BestSet = untested) -> str:
    """Return the page at /. ``best_set``: tests who is first of the judges that a search or filter leaves."""
    values = _board_context(board_version, view, embedded=False, best_set=best_set)
    return render(board_version.context, "board.html", current="/", **values)


def _board_context(
    board_version: BoardVersion, view: BoardQuery, *, embedded: bool, best_set: BestSet = untested
) -> dict[str, Any]:
    board = board_version.board(view.protocol, view.grouping, revision=view.revision)
    view = view.on(board)
    selection = select(board, view)
    ranked_by = view.sort if view.sort in board.spec.score_names else board.headline
    standings = board.standings(view.sort)
    return {
        "spec": board.spec,
        "columns": board.columns,
        "shown": view.shown(board),
        "board": board,
        "view": view,
        "embedded": embedded,
        "selection": selection,
        "counted": count_text(selection),
        "standings": standings,
        "marks": _marks(view, selection, standings=standings),
        "ranked_by": ranked_by,
        "misread": misread_words(board, view),
        "unstated": unstated_judges(board, view),
        "presets": _presets(board, view),
        "rules": scoring_rules(board.spec),
        "scoring": scoring_text(board),
        "editions": {
            edition.key: f"{edition.title}, {edition.pairs:,} pairs."
            for edition in board.spec.editions
            if edition.pairs
        },
        "references": reference_text(selection.baselines, ranked_by),
        "ranges": bool(board.ranges.get(order_of(view.sort, board.spec))),
        "judges": any(row.tier != "baseline" for row in board.rows),
        **past_board_context(board_version, view.as_of, now=view.url(as_of="", page=1)),
        "picked": [row for row in map(board.find, view.compare) if row is not None],
        "turned": _turned(board_version, view, board=board),
        "permalink": view.url(as_of=permanent(board), embed=False),
        "social": social_meta.of_board(board, board_version.public_base),
        "state": _state(board_version, board, view=view, selection=selection),
        "subtitles": {key: f"n {n:,}" for key, n in board.sizes.items() if n},
        "demo": board.spec.synthetic,
        "delayed": board_version.delayed_since if not view.as_of else None,
        "clock": _clock(board_version.delayed_since),
        "paused": board_version.paused if not view.as_of else None,
        "findings": finding(board, view, best_set=best_set),
        "strips": strips(board),
    }


def _presets(board: Board, view: BoardQuery) -> list[tuple[str, str, BoardQuery]]:
    """Return the filters of one click as label, query and view; none on a board where the narrowest leaves nothing."""
    views = [(label, urlencode(values), view.with_preset(values)) for label, values in PRESETS]
    narrowest = row_test(BoardQuery(board.spec, filters=PRESETS[-1][1]))
    return views if any(map(narrowest, board.rows)) else []


def _marks(view: BoardQuery, selection: SelectedRows, *, standings: Mapping[str, RankInfo]) -> Mapping[str, str]:
    """Return the classes that draw bands over the rows: only where the rows stand in the order of their ranks."""
    if view.sort not in (*view.spec.score_names, "rank"):
        return {}
    return band_classes([row.id for row in selection.of("scored")], standings)


def reference_text(baselines: Sequence[BoardRow], ranked_by: str) -> Message:
    """Return the baselines in one line, with what orders the ranks."""
    known = [(row.model, value) for row in baselines if (value := row.value(ranked_by)) is not None]
    return joined([joined((model, percent(value)), " ") for model, value in known], " · ")


def past_board_context(board_version: BoardVersion, as_of: str, *, now: str) -> dict[str, str]:
    """Return what pages of a board of the past say about it. ``now`` is the address of the same page of the current
    board."""
    return {
        "as_of": as_of,
        "as_of_query": f"?as_of={quote(as_of)}" if as_of else "",
        "old": board_version.snapshot["created_at"] if as_of else "",
        "old_snapshot": board_version.snapshot_id[:12],
        "snapshot": board_version.snapshot_id[:_SNAPSHOT_DIGITS],
        "snapshot_of": board_version.snapshot["created_at"],
        "now": now,
    }


def _turned(board_version: BoardVersion, view: BoardQuery, *, board: Board) -> Mapping[str, Any] | None:
    """Return the decision to show these labels instead of others, where that is not long ago and the reader asks for
    today."""
    turn: Mapping[str, Any] | None = board_version.snapshot.get("turned")
    if turn is None or view.as_of or turn["to"] != board.label_revision:
        return None
    created, decided = (datetime.fromisoformat(text) for text in (board_version.snapshot["created_at"], turn["at"]))
    return turn if created - decided < NEWS else None


def permanent(board: Board) -> str:
    """Return the ``as_of`` value that always finds this board."""
    return board.snapshot_id[:_SNAPSHOT_DIGITS]


def count_text(selection: SelectedRows) -> str:
    """Return how much was found, as it is under the table."""
    first = (selection.page - 1) * PAGE
    span = f"{first + 1:,}–{first + len(selection.rows):,}" if selection.total > PAGE else ""
    return joined(counted(span, selection.total, baselines=len(selection.baselines), pinned=len(selection.pinned)))


def _clock(moment: datetime | None) -> str:
    return f"{moment:%H:%M} UTC" if moment else ""


def _state(board_version: BoardVersion, board: Board, *, view: BoardQuery, selection: SelectedRows) -> str:
    """Return what the script has to know about the rows that stand on the page already."""
    parameters = dict(view.parameters())
    state = {
        "q": view.search,
        "tier": view.tier,
        "protocol": view.protocol,
        "grouping": view.grouping,
        "revision": view.revision,
        "as_of": view.as_of,
        "embed": "1" if view.embed else "",
        "baselines": parameters.get("baselines", ""),
        "unstated": parameters.get("unstated", ""),
        **{choice.key: view.filter(choice.key) for choice in FILTERS},
        "cols": parameters.get("cols", ""),
        "pin": ",".join(view.pins),
        "compare": ",".join(view.compare),
        "sort": view.sort,
        "dir": "desc" if view.descending else "asc",
        "page": selection.page,
        "prefix": board_version.context.prefix,
        "snapshot": permanent(board),
        "level": board.level,
        **({"texts": texts} if (texts := board_texts(board_version.context.translations)) else {}),
        "values": board.spec.headline_first,
        "pooled": board.spec.pooled,
        "names": {
            key: board_version.context.translations.known(board.spec.category_text(key))
            for key in board.spec.headline_first
        },
        "titles": {
            column.key: board_version.context.translations.known(board.spec.title_of(column.key))
            for column in board.columns
            if column.kind == "interval"
        },
        "usual": [board.spec.ranking, board.spec.official],
        "filters": [[choice.key, choice.term] for choice in FILTERS],
        "stated": {
            key: board_version.context.translations.text(name) for key, name in stated_names(board.spec).items()
        },
        "columns": [
            [column.key, column.kind, "desc" if column.descending else "asc", int(column.key in usual(board.spec))]
            + [1] * column.stated
            for column in board.columns
        ],
    }
    return orjson.dumps(state).decode()


_TIER_NUMBERS: Mapping[str, int] = {"scored": 0, "reported": 1, "baseline": 2}


def board_data(board: Board, context: RenderContext | None = None) -> bytes:
    """Return all rows as columns, in display order: what the script sorts, searches and draws.

    Shares are integers in units of 0.001 percent; interval bounds are distances from the share in tenths of a percent.
    """
    rows, of = board.rows, (context or RenderContext(board.spec)).translations
    data: dict[str, Any] = {
        "snapshot": board.snapshot_id,
        "sizes": dict(board.sizes),
        "revision": board.label_revision,
        "level": board.level,
        "scoring": of.text(scoring_text(board)),
        "opening": opening_markup(board, context),
        "id": [row.id for row in rows],
        "reports": {"groups": _report_data(board)},
        "rank": [row.rank for row in rows],
        "ranges": _range_data(board),
        "unled": {"rows": [place for place, row in enumerate(rows) if not row.leads]},
        "tier": [_TIER_NUMBERS[row.tier] for row in rows],
        **{column.key: _column_data(column, rows) for column in columns_of(board.spec) if column.key != "rank"},
        "fields": ", ".join(fields(board.spec)),
        "values": known_values(board.spec),
        "terms": {column.term: [column.key, _searched_as(column)] for column in columns_of(board.spec) if column.term},
        "shown": {
            column.key: texts for column in columns_of(board.spec) if (texts := _shown_texts(column, rows, of=of))
        },
    }
    data["model"] = _texts([of.text(row.model) for row in rows])
    for name in ("version", "source", "note", "about"):
        data[name] = _texts([of.sentence(getattr(row, name) or "") for row in rows])
    for name in ("model", "source", "note", "about"):
        words = [searched(text) if isinstance(text := getattr(row, name), Message) else "" for row in rows]
        if any(words):
            data[f"words:{name}"] = _texts(words)
    for name in dict.fromkeys((*drawn(board.spec), board.headline)):
        data[f"{name}-"] = [_distance(row, name, side=0) for row in rows]
        data[f"{name}+"] = [_distance(row, name, side=1) for row in rows]
    return orjson.dumps(data)


def opening_markup(
    board: Board,
    context: RenderContext | None = None,
    *,
    view: BoardQuery | None = None,
    best_set: BestSet = untested,
) -> str:
    """Return the sentence and the strips of dots above the table of a view, in the language of a context."""
    where, sentences = context or RenderContext(board.spec), finding(board, view, best_set=best_set)
    return render(where, "parts/opening.html", spec=board.spec, findings=sentences, strips=strips(board))


def _column_data(column: Column, rows: Sequence[BoardRow]) -> object:
    values = [row.value(column.key) for row in rows]
    if column.kind in ("interval", "share"):
        return [None if value is None else units(value) for value in values]
    if column.value_type == "flag":
        return [None if value is None else int(value) for value in values]
    return _texts(values) if column.value_type in ("text", "day", "moment") else values


def _searched_as(column: Column) -> str:
    """Return how the script compares the values of a column."""
    if column.value_type == "flag":
        return "flag"
    return "number" if column.value_type in ("whole", "number") else "text"


def _shown_texts(column: Column, rows: Sequence[BoardRow], *, of: Translations) -> dict[str, str]:
    """Return what is in the cells of a column for a value that is not shown as it is."""
    if column.kind in ("rank", "judge", "interval", "share", "date") or column.stated:
        return {}
    # In the order of the rows: each process writes the same bytes for a snapshot.
    values = [value for value in dict.fromkeys(row.value(column.key) for row in rows) if value not in (None, "")]
    plain = {value: _as_in_script(value) for value in values}
    return {plain[value]: of.known(text) for value in values if (text := column.text(value)) != plain[value]}


def _as_in_script(value: Any) -> str:
    """Return a value as JavaScript writes it, a flag as it is in the file: 0 or 1."""
    return (
        str(int(value)) if isinstance(value, bool) or (isinstance(value, float) and value.is_integer()) else str(value)
    )


def _report_data(board: Board) -> list[list[int]]:
    """Return the rows (by place in the file) of each judge with several reports, the one that leads first."""
    places = {row.id: place for place, row in enumerate(board.rows) if row.tier == "reported"}
    return [[places[name] for name in same] for same in board.reports.values() if len(same) > 1]


def _range_data(board: Board) -> dict[str, dict[str, list[int]]]:
    """order -> rows that have a range (by place in the file), and what it is."""
    places = {row.id: place for place, row in enumerate(board.rows)}
    result = {}
    for order in board.ranges:
        tested = sorted(
            (places[name], at.best, at.worst, at.band or 0)
            for name, at in board.standings(order).items()
            if at.best is not None and at.worst is not None
        )
        columns = zip(*tested, strict=True)
        result[order] = dict(zip(("at", "best", "worst", "band"), map(list, columns), strict=False))
    return result


def _texts(values: Sequence[str]) -> list[str] | dict[str, Any]:
    """Return a column of texts; as distinct texts and their numbers where that is shorter."""
    distinct = dict.fromkeys(values)
    if len(distinct) * 2 > len(values):
        return list(values)
    numbers = {value: number for number, value in enumerate(distinct)}
    return {"texts": list(distinct), "at": [numbers[value] for value in values]}


def _distance(row: BoardRow, name: str, *, side: int) -> int | None:
    bounds = row.interval.get(name)
    if bounds is None:
        return None
    value = tenths(row.value(name))
    return tenths(bounds[1]) - value if side else value - tenths(bounds[0])


def withdrawn_page(context: RenderContext, stub: Mapping[str, Any]) -> str:
    """Return what is left of an entry that was withdrawn, or of a reported result that was removed."""
    title = " ".join(filter(None, (stub["model"], stub["version"])))
    what, did = ("reported result", "removed") if stub.get("reported") else ("entry", "withdrawn")
    about = {"at": stub["at"], "reason": stub["reason"], "entry_id": stub["id"]}
    return render(context, "withdrawn.html", current="", title=title, what=what, did=did, **about)


_OF_THE_BENCHMARK = ("/", "/analyse", "/compare", "/explore", "/about")


def message_page(
    context: RenderContext, title: str, *, lead: str, links: Iterable[tuple[str, str]] = (), search: bool = False
) -> str:
    """Return a page that says one thing: nothing here, or something went wrong, and what to do.

    ``links``: texts and addresses; "/" is the board of the context. ``search``: whether to offer its search field.
    """
    placed = tuple((text, context.prefix + url if url in _OF_THE_BENCHMARK else url) for text, url in links)
    return render(context, "message.html", current="", title=title, lead=lead, links=placed, search=search)
