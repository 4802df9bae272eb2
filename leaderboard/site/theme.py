"""Gradio theme, CSS and `<head>` that match the public pages.

Everything comes from `palette` and from the public pages' own style sheet; fonts are the system's, nothing is fetched.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import gradio as gr
from gradio.themes.utils import sizes

from common.script_texts import script_texts
from leaderboard.site.colours import DARK, FONT_STACK, LIGHT, Palette
from leaderboard.site.render import render
from leaderboard.site.render_context import RenderContext
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _
from vlrb.common.translations import ENGLISH

CSS_PATH = Path(__file__).with_name("page.css")
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


def theme() -> gr.themes.Base:
    """Return the sizes and fonts of the public pages as Gradio's; colours are in page.css."""
    return gr.themes.Base(radius_size=_RADIUS, spacing_size=_SPACING, text_size=_TEXT, font=FONT_STACK, font_mono=_MONO)


def css(spec: BenchmarkSpec) -> str:
    """Return the tokens under the theme that Gradio has chosen, and what its variables cannot say."""
    return f"body{{{_tokens(LIGHT, spec)}}}\nbody.dark{{{_tokens(DARK, spec)}}}\n{CSS_PATH.read_text()}"


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
