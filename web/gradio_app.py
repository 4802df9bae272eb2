"""Construction of the Gradio pages below /app, and the limits of their queue. Importing this imports Gradio."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr
from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware
from gradio.components import Navbar
from gradio.themes.utils import sizes
from gradio.utils import LRUCache

import submissions.submit.pages
import submissions.submit.render
from auth.limits.rate_limit import MOST_WAITING, limit_queue_per_client
from auth.settings import Mode
from common.script_texts import script_texts
from leaderboard.board.api import scorecard_on_board
from leaderboard.entry.pages import result_card
from leaderboard.site.colours import DARK, FONT_STACK, LIGHT, Palette
from leaderboard.site.render import FOOTER_ID, HEADER_ID, footer_markup, header_markup, render
from leaderboard.site.render_context import RenderContext
from settings import Settings
from submissions.submit.service import GradioSubmissions, PlaceOnBoard
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _
from vlrb.common.translations import ENGLISH
from web.benchmarks import requested_benchmark
from web.services import BenchmarkServices, Services

SESSIONS = 500  # whose values Gradio keeps at a time: each may be as large as a call
_FORGET = (600, 3000)  # seconds: how often Gradio looks for uploads that are how old, so none gets older than an hour
QUEUE_SLEEPS = {"sleep_when_free": 0.05, "progress_update_sleep_when_free": 0.1}
"""Seconds between two looks of Gradio's queue while it is empty: those that Gradio takes on Windows."""

_CSS_PATH = Path(__file__).with_name("page.css")
_MONO = ("ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace")
_RADIUS = sizes.Size("6px", "6px", "6px", "6px", "6px", "6px", "6px", name="radius_six")
_SPACING = sizes.Size("2px", "4px", "6px", "8px", "12px", "16px", "24px", name="spacing_four")
_TEXT = sizes.Size("11px", "12px", "13px", "14px", "16px", "20px", "26px", name="text_quiet")
SENTENCES = (
    _("Uploading and checking the file…"),
    _("Submitting…"),
    _("Click to upload or drop files"),
    _("File upload"),
)
"""Sentences of submit.js."""


def build_gradio_app(services: Services) -> tuple[FastAPI, gr.Blocks]:
    """Return an application with the Gradio pages, whose lifespan and CORS rules Gradio then takes over; and the
    pages."""
    settings, pages = services.settings, _build_pages(services)
    if settings.requests_per_minute and settings.identity.mode is not Mode.LOCAL:
        limit_gradio_queue(pages)
    calm_queue(pages)
    pages.state_session_capacity = SESSIONS
    shell = _mount(settings, pages, language=services.first.context.language)
    # Mounted pages are never "launched", and until then Gradio copies every file that a call names.
    pages.has_launched = True
    return shell, pages


def _build_pages(services: Services) -> gr.Blocks:
    settings, context = services.settings, services.first.context
    submitting = {benchmark.id: _submitting(settings, benchmark) for benchmark in services.benchmarks}

    def of_call(request: gr.Request | None) -> GradioSubmissions:
        call = None if request is None else request.request
        wanted = "" if call is None else requested_benchmark(call, tuple(submitting))
        return submitting[wanted or services.first.id]

    pages = gr.Blocks(title=settings.spec.brand, analytics_enabled=False, delete_cache=_FORGET)
    with pages.route("Submit", "/submit"), _frame(context):
        submissions.submit.pages.build(
            of_call, spec=settings.spec, limit_mb=settings.upload_limit_bytes / 2**20, language=context.language
        )
    return pages


@contextmanager
def _frame(context: RenderContext) -> Iterator[None]:
    """Provide the public pages' header and footer instead of Gradio's, and their column."""
    Navbar(visible=False)
    bare: dict[str, Any] = {"apply_default_css": False, "js_on_load": None}
    gr.HTML(
        header_markup(context, submissions.submit.render.PAGE),
        elem_id=HEADER_ID,
        elem_classes=["site", "vl-head"],
        **bare,
    )
    foot = gr.HTML(footer_markup(context), elem_id=FOOTER_ID, elem_classes=["site", "vl-foot"], render=False, **bare)
    with gr.Column(elem_id="main", elem_classes=["vl-page", "vl-submit"]):
        yield
    foot.render()  # type: ignore[no-untyped-call]  # of Gradio


def _submitting(settings: Settings, of: BenchmarkServices) -> GradioSubmissions:
    return GradioSubmissions(
        of.submissions,
        of.submission_status,
        result=partial(scorecard_on_board, of.board),
        uploads=settings.gradio_dir,
        limit=settings.upload_limit_bytes,
        spec=of.served.spec,
        prefix=of.context.prefix,
        place=partial(_place, of, of.context.language),
    )


def _place(of: BenchmarkServices, language: str, entry_id: str, base: str) -> PlaceOnBoard:
    board_version = of.board.refresh().in_language(language)
    entry = board_version.entry(entry_id)
    waited = 0.0 if entry is None else time.time() - datetime.fromisoformat(entry["submitted_at"]).timestamp()
    return PlaceOnBoard(
        *result_card(board_version, of.items, entry_id=entry_id, base=board_version.public_base or base, waited=waited)
    )


def _mount(settings: Settings, pages: gr.Blocks, *, language: str) -> FastAPI:
    warnings.filterwarnings("ignore", message="SSR mode is not supported")  # nor wanted, and it is off
    shell = FastAPI()
    shell.add_middleware(CORSMiddleware, allow_origins=[])  # Gradio's own would let every site in, with credentials
    gr.mount_gradio_app(
        shell,
        pages,
        "/app",
        ssr_mode=False,
        mcp_server=False,
        run_history=False,
        footer_links=[],
        show_error=False,
        max_file_size=settings.upload_limit_bytes,
        theme=_theme(),
        css=_css(settings.spec),
        css_paths=[submissions.submit.pages.CSS_PATH],
        head=head(settings.spec, language),
        enable_monitoring=False,
    )
    return shell


def calm_queue(pages: gr.Blocks) -> None:
    """Have the queue look for calls every 50 ms. Gradio looks every millisecond, in each language, and has no parameter
    for that."""
    vars(pages._queue).update(QUEUE_SLEEPS)


def limit_gradio_queue(pages: Any) -> None:
    """Limit Gradio's queue: at most MOST_WAITING pending calls, served round-robin per visitor, and results of at
    most 500 sessions (Gradio's default is 2,000 and leaks the event ids)."""
    pages.queue(max_size=MOST_WAITING, api_open=False)  # /run and /api would call past it
    limit_queue_per_client(pages._queue)
    pages._queue.pending_messages_per_session = LRUCache(SESSIONS)
    pages._queue.pending_event_ids_session = LRUCache(SESSIONS)


# --- how the pages look: as the public ones, with the fonts of the system ---------------------------------------------


def _theme() -> gr.themes.Base:
    """Return the sizes and fonts of the public pages as Gradio's; colours are in page.css."""
    return gr.themes.Base(radius_size=_RADIUS, spacing_size=_SPACING, text_size=_TEXT, font=FONT_STACK, font_mono=_MONO)


def _css(spec: BenchmarkSpec) -> str:
    """Return the tokens under the theme that Gradio has chosen, and what its variables cannot say."""
    return f"body{{{_tokens(LIGHT, spec)}}}\nbody.dark{{{_tokens(DARK, spec)}}}\n{_CSS_PATH.read_text()}"


def _tokens(p: Palette, spec: BenchmarkSpec) -> str:
    colours = {name: value for name, value in asdict(p).items() if name != "dark"}
    colours |= {key: p.of(key, spec) for key in spec.category_keys}
    return "".join(f"--{name}:{value};" for name, value in colours.items())


def head(spec: BenchmarkSpec, language: str = ENGLISH) -> str:
    """Return the public pages' style sheet, scripts and icon, and what submit.js says in this language."""
    context = RenderContext(spec).in_language(language)
    texts = script_texts(context.translations, SENTENCES)
    written = json.dumps(texts, ensure_ascii=False).replace("<", "\\u003c") if texts else ""
    return render(context, "gradio/head.html", texts=written)
