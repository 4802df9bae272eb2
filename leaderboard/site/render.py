"""Rendering of pages and fragments: Jinja templates and hashed static files.

No web framework here: the Gradio pages use the same header, board and tokens.
"""

from __future__ import annotations

import hashlib
import mimetypes
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from auth.render import AccountPages
from leaderboard.ranking import filter_judges
from leaderboard.ranking.columns import ALWAYS, Column, usual
from leaderboard.ranking.names import breakable_parts, is_shortened, name_parts
from leaderboard.ranking.parameters import FILTERS, PAGE
from leaderboard.ranking.rows import Board, BoardRow
from leaderboard.site.cache import SNAPSHOT_DIGITS, BoardVersion, CachedResponse
from leaderboard.site.render_context import RenderContext
from storage.clock import minute
from vlrb.benchmarks.spec import DEFAULT_BENCHMARK, BenchmarkSpec
from vlrb.benchmarks.spec_file import load_spec
from vlrb.common.messages import _, in_words
from vlrb.common.rounding import percent, percent_range, tenths
from vlrb.common.template_translations import translate_templates
from vlrb.common.translations import languages
from vlrb.judges import TYPES
from vlrb.numbers.reported import stated_overall
from vlrb.protocols import protocols

_HERE = Path(__file__).parent
_ROOT = Path(__file__).parents[2]
_PACKAGES = ("leaderboard", "auth", "maintenance", "review", "submissions", "web")
_TEMPLATES = [folder for package in _PACKAGES for folder in sorted((_ROOT / package).rglob("templates"))]
_MOST_FOLDED = 3  # other results below a row; the page of its judge has all
_SCRIPTS = ("board.js", "nav.js", "submit.js", "analyse.js", "annotate.js", "plotly-cartesian.min.js")
STATIC = ("account.css", "site.css", "board.css", "tools.css", "judges.css", "review.css", *_SCRIPTS, "icon.svg")
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
    files = (name, "site.css") if name == "board.css" else (name,)  # the front page waits for one style sheet
    content = b"".join((_HERE / "static" / file).read_bytes() for file in files)
    if spec is not None:
        content = style_sheet(content.decode(), spec).encode()
    stem, _, suffix = name.rpartition(".")
    digest = hashlib.sha256(content).hexdigest()[:10]
    media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    charset = "" if media_type.startswith("image/") else "; charset=utf-8"
    return Asset(name, f"/static/{stem}.{digest}.{suffix}", body=CachedResponse.of(content, media_type + charset))


_USUAL_CHANCE = 0.5  # where the style sheets have its mark
_FEW_CATEGORIES = 3


def style_sheet(text: str, spec: BenchmarkSpec) -> str:
    """Return a style sheet with what it says of categories said of those of a benchmark.

    A line with ``$category`` stands for one such line per category. ``$pooled`` is the first overall number beside the
    headline, ``$dots`` draws the categories on an axis, ``$axis``, ``$number`` and ``$compared`` are widths, ``$light``
    and ``$dark`` are the variables that hold the colours.
    """
    keys, categories = spec.category_keys, spec.categories
    others = (key for key in spec.headline_first if spec.overall(key) and key != spec.headline)
    few = len(categories) <= _FEW_CATEGORIES
    values = {
        "$headline": spec.headline,
        "$pooled": next(others, "none"),
        "$dots": ",".join(map(_dot, keys)),
        "$axis": "390px" if few else "220px",
        "$number": "114px" if few else "80px",
        "$compared": "clamp(40px,6vw,88px)" if few else "clamp(24px,2.6vw,40px)",
        "$light": "".join(f"--{category.key}:{category.colour};" for category in categories),
        "$dark": "".join(f"--{category.key}:{category.dark or category.colour};" for category in categories),
    }
    for name, value in values.items():
        text = text.replace(name, value)
    text += "".join(_chance_mark(key, spec) for key in spec.overall_first if spec.chance(key) != _USUAL_CHANCE)
    lines = ((line, keys if "$category" in line else keys[:1]) for line in text.split("\n"))
    return "\n".join(line.replace("$category", key) for line, named in lines for key in named)


def _dot(key: str) -> str:
    """Return the background that draws the dot of a category on the axis of a row (board.css, ``td.scale``)."""
    colour, place = f"var(--{key})", f"var(--x-{key},-99%) calc(50% + var(--y-{key},0px))"
    return f"radial-gradient(circle 5px,var(--fill,{colour}) 50%,{colour} 60% 90%,#0000) {place}/var(--tile) 28px"


def _chance_mark(key: str, spec: BenchmarkSpec) -> str:
    """Return the rule that moves the mark of chance on the axes of a score."""
    chance = f"{bar_position(spec.chance(key))}%"
    return (
        f"td.{key} .ci,.strip.{key} svg{{background-position:{chance} 0,0 50%}}.ranked-{key}{{--chance-at:{chance}}}\n"
    )


def environment(context: RenderContext) -> Environment:
    """Return the templates for the pages of a context, with everything escaped that does not say that it is markup."""
    return _environment(context.in_language(context.language))


@lru_cache(maxsize=32)
def _environment(context: RenderContext) -> Environment:
    jinja = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    translate_templates(jinja, context.translations)
    jinja.filters |= {
        "percent": percent,
        "count": "{:,}".format,
        "axis": bar_position,
        "below": is_below_axis,
        "day": lambda value: value[:10],
        "minute": minute,
        "cell": lambda row, column: (
            context.translations.known(cell(row, column)) if not column.stated else cell(row, column)
        ),
        "code": code,
        "marked_parts": lambda text: marked_parts(context.translations.known(text)),
        "kind": lambda value: context.translations.known(TYPES.get(value, value)),
        "range": percent_range,
        "breakable_parts": breakable_parts,
        "name_parts": name_parts,
        "title_of": lambda name: context.translations.known(context.spec.title_of(name)),
        "accuracy_text": lambda name: context.translations.known(context.spec.accuracy_text(name)),
    }
    jinja.globals |= {
        "languages": languages(),
        "asset": lambda name: asset_url(context, name),
        "style": lambda name: Markup(assets(context.spec)[name].body.encodings["identity"].decode()),  # noqa: S704 (ours)
        "spec": context.spec,
        "demo": context.spec.synthetic,
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
        "always": ALWAYS,
        "protocols_of": protocols,
        "usual": usual,
        "in_words": in_words,
        "overall_of": overall_of,
        "safe_link": safe_link,
        "page_size": PAGE,
        "most_folded": _MOST_FOLDED,
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
    return bool(spec.splits or spec.editions)


def asset_url(context: RenderContext, name: str) -> str:
    """Return the address of a static file; a style sheet has the colours of the context's benchmark."""
    url = assets(context.spec)[name].url
    return context.prefix + url if name.endswith(".css") else url


_AFTER_A_MARK = re.compile(r"(?<=[，。！？；：、）])[ \n]+(?=\S)")


def render(context: RenderContext, template: str, **values: Any) -> str:
    """Return a page or fragment in a context. Sentences stand apart by a blank; after a Chinese mark there is none."""
    return _AFTER_A_MARK.sub("", environment(context).get_template(template).render(**values))


def account_pages(context: RenderContext) -> AccountPages:
    """Return what makes the pages of accounts in a context."""
    return AccountPages(context.prefix, lambda: context.language, partial(render, context))


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
    return f"{min(max((tenths(share) - 200) * 10 // 8, 0), 1000) / 10:g}"


def is_below_axis(share: float) -> bool:
    """Return whether a share is before the axis: an arrow at its edge then says so."""
    return tenths(share) < 200


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


def past_board_context(board_version: BoardVersion, as_of: str, *, now: str) -> dict[str, str]:
    """Return what pages of a board of the past say about it. ``now`` is the address of the same page of the current
    board."""
    return {
        "as_of": as_of,
        "as_of_query": f"?as_of={quote(as_of)}" if as_of else "",
        "old": board_version.snapshot["created_at"] if as_of else "",
        "old_snapshot": board_version.snapshot_id[:12],
        "snapshot": board_version.snapshot_id[:SNAPSHOT_DIGITS],
        "snapshot_of": board_version.snapshot["created_at"],
        "now": now,
    }


def permanent(board: Board) -> str:
    """Return the ``as_of`` value that always finds this board."""
    return board.snapshot_id[:SNAPSHOT_DIGITS]


_OF_THE_BENCHMARK = ("/", "/analyse", "/compare", "/explore", "/about")


def message_page(
    context: RenderContext, title: str, *, lead: str, links: Iterable[tuple[str, str]] = (), search: bool = False
) -> str:
    """Return a page that says one thing: nothing here, or something went wrong, and what to do.

    ``links``: texts and addresses; "/" is the board of the context. ``search``: whether to offer its search field.
    """
    placed = tuple((text, context.prefix + url if url in _OF_THE_BENCHMARK else url) for text, url in links)
    return render(context, "message.html", current="", title=title, lead=lead, links=placed, search=search)
