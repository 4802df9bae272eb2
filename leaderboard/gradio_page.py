"""Gradio pages of the leaderboard: the board, the same as at /, and charts of chosen judges.

`build_board` and `build_analyse` lay out inside the caller's Blocks. Nothing is read while laying out; what a page
shows is asked from the site when a visitor opens it. The state of the analyse page is in its address.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal

import gradio as gr
from gradio.components import Navbar
from gradio.components.plot import PlotData
from gradio.context import Context
from gradio.events import api

from benchmark.protocols import protocols
from benchmark.spec import BenchmarkSpec
from leaderboard import analysis_tab
from leaderboard.analysis_tab import AnalysisQuery, read_choice
from leaderboard.api import shown_json
from leaderboard.board.rows import UnknownRevision
from leaderboard.cache import BoardCache, BoardVersion
from leaderboard.charts.catalog import CHARTS, charts_of
from leaderboard.charts.paper_reference import paper_figures
from leaderboard.pages.item_catalog import ItemCatalog
from leaderboard.render import FOOTER_ID, HEADER_ID, board_fragment, footer_markup, header_markup
from leaderboard.render_context import RenderContext
from leaderboard.serial_executor import QueueFull
from leaderboard.share.exports import file_stem

_SKELETON = '<div class="vl-ghost" aria-hidden="true">' + "<i></i>" * 8 + "</div>"
_LEAD = """<h1>Where do judges differ?</h1><p class="lead">Choose judges. Filled marks were <b>scored here</b>,
hollow ones are <b>reported</b>. Figures that need individual votes show uploaded judges only. The link keeps your
selection. Download any figure with its data.</p>"""
_BENCHMARKS = (
    '<p class="lead">Of several benchmarks: <a href="/agreement"><u>do they agree on judges?</u></a> '
    '<a href="/judges/compare"><u>Compare two judges on all of them</u></a></p>'
)

_MOUNT = """
const start = (tries) => {
  const board = element.querySelector("[data-board]");
  if (board && window.mountBoard) window.mountBoard(board);
  else if (tries && board) setTimeout(() => start(tries - 1), 50);
};
start(100);
watch("value", () => start(100));
"""

# What the server cannot know: the address, the ground that Gradio has chosen, and the room for a figure.
_PAGE = """const page = JSON.stringify({
  query: location.search, dark: document.body.classList.contains("dark"),
  width: document.querySelector(".vl-choices")?.clientWidth || innerWidth - 32});"""
_OPEN = (
    "(_) => {"
    + _PAGE
    + """
  if (!window.vlWatching) {
    window.vlWatching = true;
    let width = innerWidth, waiting = 0;
    const again = () => document.querySelector("#vl-redraw")?.click();
    new MutationObserver(again).observe(document.body, {attributes: true, attributeFilter: ["class"]});
    addEventListener("resize", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => { if (Math.abs(innerWidth - width) > 24) { width = innerWidth; again(); } }, 200);
    });
  }
  return [page];
}"""
)
_CHANGE = (
    "(entries, protocol, grouping, revision, chart, paper, _) => {"
    + _PAGE
    + """
  const query = new URLSearchParams(location.search);
  const usual = $usual;
  query.set("entries", entries.join(","));
  for (const [name, value] of Object.entries({protocol, grouping, revision, chart, paper: paper ? "1" : ""})) {
    if (!value || value === usual[name]) query.delete(name); else query.set(name, value);
  }
  history.replaceState(null, "", location.pathname + "?" + query.toString().replaceAll("%2C", ","));
  return [entries, protocol, grouping, revision, chart, paper, page];
}"""
)
_SAVE = """
const describe = () => {
  const figure = document.querySelector("#vl-figure");
  const title = element.querySelector("[data-title]")?.dataset.title;
  if (title && !figure) requestAnimationFrame(describe);  // Gradio has not put it on the page yet
  if (figure && title) { figure.setAttribute("role", "img"); figure.setAttribute("aria-label", title); }
};
const save = (name, url) => {
  const link = document.createElement("a");
  link.download = name; link.href = url; link.click();
};
element.addEventListener("click", async (event) => {
  const kind = event.target.closest("button")?.dataset.save;
  const drawn = document.querySelector("#vl-figure .js-plotly-plot");
  if (!kind || !drawn) return;
  const name = "$stem-" + element.querySelector("[data-chart]").dataset.chart;
  const texts = {
    csv: () => new Blob(["\\ufeff" + drawn.layout.meta.csv], {type: "text/csv;charset=utf-8"}),
    json: () => new Blob([JSON.stringify(drawn.layout.meta.data, null, 1)], {type: "application/json"}),
  };
  if (texts[kind]) {
    const url = URL.createObjectURL(texts[kind]());
    save(name + "." + kind, url);
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  } else {
    const size = {width: drawn.offsetWidth, height: drawn.offsetHeight, scale: kind === "png" ? 2 : 1};
    save(name + "." + kind, await window.Plotly.toImage(drawn, {format: kind, ...size}));
  }
});
describe();
watch("value", describe);
"""


def _usual(spec: BenchmarkSpec) -> str:
    """Return what the address leaves out, as JavaScript."""
    return f'{{protocol: "{spec.ranking}", grouping: "{spec.official}", chart: "categories"}}'


@contextmanager
def frame(context: RenderContext, current: str, *classes: str) -> Iterator[tuple[gr.HTML, gr.HTML]]:
    """Provide the public pages' header and footer instead of Gradio's, and their column; yields header and footer.

    `current`: the page's address. A page of several benchmarks is laid out for the first; web/page_values.py serves
    it with what is another's."""
    Navbar(visible=False)
    bare: dict[str, Any] = {"apply_default_css": False, "js_on_load": None}
    head = gr.HTML(header_markup(context, current), elem_id=HEADER_ID, elem_classes=["site", "vl-head"], **bare)
    foot = gr.HTML(footer_markup(context), elem_id=FOOTER_ID, elem_classes=["site", "vl-foot"], render=False, **bare)
    with gr.Column(elem_id="main", elem_classes=["vl-page", *classes]):
        yield head, foot
    foot.render()  # type: ignore[no-untyped-call]  # of Gradio


def build_board(site: BoardCache) -> None:
    """Build the board with the public page's markup and script, and the endpoint `leaderboard` for gradio_client."""
    warnings.filterwarnings("ignore", message="A `<script>` tag was found")  # it is data for the script, not a script
    spec = site.spec
    with frame(site.context, "/"):
        board = gr.HTML(_SKELETON, elem_classes=["site"], apply_default_css=False, js_on_load=_MOUNT)
    _on_open(lambda: board_fragment(_edition(site), embedded=True), [board])

    def leaderboard(protocol: str = spec.ranking, grouping: str = spec.official, revision: str = "") -> dict[str, Any]:
        """Return the board as JSON, the same as GET /api/v1/leaderboard."""
        try:
            result: dict[str, Any] = shown_json(_edition(site), protocol, grouping, revision)
            return result
        except UnknownRevision as error:
            raise gr.Error(str(error), print_exception=False) from error
        except KeyError as error:
            known = f"protocol is one of {', '.join(protocols(spec))}; grouping one of {', '.join(spec.groupings)}"
            raise gr.Error(known, print_exception=False) from error

    api(leaderboard, api_name="leaderboard", queue=False)


def build_analyse(site: BoardCache, materials: ItemCatalog | None = None) -> None:
    """Figures about chosen judges; ``materials`` has the relations between them, without it some figures say less."""
    spec = site.spec
    materials = materials or ItemCatalog(spec=spec)
    with frame(site.context, "/app/analyse", "vl-analyse"):
        gr.HTML(
            _LEAD + (_BENCHMARKS if site.context.benchmarks else ""),
            elem_classes=["site"],
            apply_default_css=False,
            js_on_load=None,
        )
        with gr.Row(elem_classes=["vl-choices"]):
            entries = gr.Dropdown([], multiselect=True, label="Judges", elem_classes=["vl-judges"])
            rules = [(rule.title, rule.key) for rule in protocols(spec).values()]
            protocol = gr.Dropdown(rules, value=spec.ranking, label="Rule")
            names = [(spec.grouping_text(name).title, name) for name in spec.groupings]
            grouping = gr.Dropdown(names, value=spec.official, label="Categories")
            revision = gr.Dropdown([], label="Labels")
        titles = [(kind.title, name) for name, kind in charts_of(spec).items()]
        chart = gr.Radio(titles, value="categories", label="Figure", show_label=False, elem_classes=["vl-seg"])
        paper = gr.Checkbox(False, label="Show the paper's figures", container=False, elem_classes=["vl-paper"])
        when = gr.HTML("", elem_classes=["site"], apply_default_css=False, js_on_load=None)
        figure = gr.Plot(
            visible=False, show_label=False, container=False, elem_id="vl-figure", elem_classes=["vl-figure"]
        )
        html = gr.HTML(
            _SKELETON,
            elem_classes=["site"],
            apply_default_css=False,
            js_on_load=_SAVE.replace("$stem", file_stem(spec)),
        )
        page = gr.Textbox(visible=False)
        redraw = gr.Button(visible="hidden", elem_id="vl-redraw")
    controls: list[Any] = [entries, protocol, grouping, revision, chart, paper]

    async def start(state: str) -> list[Any]:
        try:
            edition = await _asked(site, state)
            if edition is None:
                return _nothing_drawn(len(controls), analysis_tab.no_board(site.context))
            return await site.turns.take(lambda one: _opened(edition, one, materials), state)
        except QueueFull:
            return _nothing_drawn(len(controls), analysis_tab.busy(site.context))

    async def draw(*values: Any) -> list[Any]:
        named = dict(zip(("entries", "protocol", "grouping", "revision", "chart", "paper"), values, strict=False))
        try:
            edition = await _asked(site, values[-1])
            if edition is None:
                return _nothing_drawn(3, analysis_tab.no_board(site.context))
            choose = partial(read_choice, edition, named)
            return await site.turns.take(lambda state: _changed(edition, choose(state), materials), values[-1])
        except QueueFull:
            return _nothing_drawn(3, analysis_tab.busy(site.context))

    _on_open(start, [*controls, when, figure, html], inputs=[page], js=_OPEN)
    gr.on(
        [control.input for control in controls] + [redraw.click],
        draw,
        [*controls, page],
        [protocol, grouping, paper, when, figure, html],
        js=_CHANGE.replace("$usual", _usual(spec)),
        preprocess=False,  # a session that the server has forgotten must not make a judge "not in the list"
        **_QUIETLY,
    )


_QUIETLY: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}


def _on_open(fn: Any, outputs: Sequence[Any], **options: Any) -> None:
    blocks = Context.root_block
    assert blocks is not None, "pages are laid out inside gr.Blocks"
    blocks.load(fn, outputs=list(outputs), **options, **_QUIETLY)


def _edition(site: BoardCache) -> BoardVersion:
    """Return the current edition; listeners run in threads, so the look at the database may block."""
    return site.peek() or site.refresh()


async def _asked(site: BoardCache, state: str) -> BoardVersion | None:
    """Return the edition that the page's address asks for; None where there was none, or where that means nothing."""
    try:
        return await site.at(analysis_tab.as_of(state))
    except ValueError:
        return None


def _nothing_drawn(controls: int, words: str) -> list[Any]:
    """Return the unchanged controls, no figure, and the reason."""
    return [*[gr.skip()] * controls, "", gr.update(value=None, visible=False), words]


def _opened(edition: BoardVersion, state: str, materials: ItemCatalog) -> list[Any]:
    """Return every control, the figure, and the words beneath it, for a page that was just opened."""
    choice = read_choice(edition, analysis_tab.from_address(state), state)
    listed = [(name, key) for key, name in analysis_tab.names(edition, choice.entries).items()]
    protocol, grouping, *rest = _changed(edition, choice, materials)
    return [
        gr.update(choices=listed, value=list(choice.entries)),
        protocol,
        grouping,
        gr.update(choices=list(edition.revisions), value=choice.revision),
        choice.chart,
        *rest,
    ]


def _changed(edition: BoardVersion, choice: AnalysisQuery, materials: ItemCatalog) -> list[Any]:
    """Return the controls that follow from others, the figure, and the words beneath it."""
    drawn = analysis_tab.draw(edition, choice, materials)
    plot = None if drawn.figure is None else PlotData(type="plotly", plot=drawn.figure)
    free = not edition.is_redacted(choice.revision)  # labels that are not public have one rule and one grouping
    return [
        gr.update(value=choice.protocol, interactive=free),
        gr.update(value=choice.grouping, interactive=free),
        gr.update(value=choice.paper, visible=_offers_paper(choice)),
        drawn.when,
        gr.update(value=plot, visible=plot is not None),
        drawn.words,
    ]


def _offers_paper(choice: AnalysisQuery) -> bool | Literal["hidden"]:
    """Return whether the box has a meaning for the figure; hidden it stays on the page, so that it keeps its state."""
    return True if CHARTS[choice.chart].paper and paper_figures(choice.page.spec).paper else "hidden"
