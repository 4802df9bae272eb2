"""Gradio page of the leaderboard: the board, the same as at /; and the frame of every Gradio page.

`build_board` lays out inside the caller's Blocks. Nothing is read while laying out; what the page shows is asked from
the site when a visitor opens it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import gradio as gr
from gradio.components import Navbar
from gradio.context import Context
from gradio.events import api

from leaderboard.api import shown_json
from leaderboard.board.rows import UnknownRevision
from leaderboard.cache import BoardCache, BoardVersion
from leaderboard.render import FOOTER_ID, HEADER_ID, board_fragment, footer_markup, header_markup, render
from leaderboard.render_context import RenderContext
from vlrb.protocols import protocols


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


def build_board(cache: BoardCache) -> None:
    """Build the board with the public page's markup, and the endpoint `leaderboard` for gradio_client."""
    spec = cache.spec
    with frame(cache.context, "/"):
        skeleton = render(cache.context, "gradio/skeleton.html")
        board = gr.HTML(skeleton, elem_classes=["site"], apply_default_css=False, js_on_load=None)
    _on_open(lambda: board_fragment(_board_version(cache)), [board])

    def leaderboard(protocol: str = spec.ranking, grouping: str = spec.official, revision: str = "") -> dict[str, Any]:
        """Return the board as JSON, the same as GET /api/v1/leaderboard."""
        try:
            result: dict[str, Any] = shown_json(_board_version(cache), protocol, grouping=grouping, revision=revision)
            return result
        except UnknownRevision as error:
            raise gr.Error(str(error), print_exception=False) from error
        except KeyError as error:
            known = f"protocol is one of {', '.join(protocols(spec))}; grouping one of {', '.join(spec.groupings)}"
            raise gr.Error(known, print_exception=False) from error

    api(leaderboard, api_name="leaderboard", queue=False)


_QUIETLY: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}


def _on_open(fn: Any, outputs: Sequence[Any], **options: Any) -> None:
    blocks = Context.root_block
    assert blocks is not None, "pages are laid out inside gr.Blocks"
    blocks.load(fn, outputs=list(outputs), **options, **_QUIETLY)


def _board_version(cache: BoardCache) -> BoardVersion:
    """Return the current board version; listeners run in threads, so the look at the database may block."""
    return cache.peek() or cache.refresh()
