"""Gradio theme, CSS and `<head>` that match the public pages.

Everything comes from `palette` and from the public pages' own style sheet; fonts are the system's, nothing is fetched.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.themes.utils import sizes

from common.script_texts import script_texts
from leaderboard.charts.colours import DARK, FONT_STACK, LIGHT, Palette
from leaderboard.render import render
from leaderboard.render_context import RenderContext
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _
from vlrb.common.translations import ENGLISH

CSS_PATH = Path(__file__).with_name("page.css")
_MONO = ("ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace")
_RADIUS = sizes.Size("6px", "6px", "6px", "6px", "6px", "6px", "6px", name="radius_six")
_SPACING = sizes.Size("2px", "4px", "6px", "8px", "12px", "16px", "24px", name="spacing_four")
_TEXT = sizes.Size("11px", "12px", "13px", "14px", "16px", "20px", "26px", name="text_quiet")
SENTENCES = (
    _("Upload"),
    _("Uploading {name}: {share}% of {size}"),
    _("Checking {name} ({size})…"),
    _("The upload was interrupted."),
    _("Submitting…"),
    _("Click to upload or drop files"),
    _("File upload"),
)
"""Sentences of submit.js."""


def theme() -> gr.themes.Base:
    """Return tokens of the public pages as Gradio's variables: hairlines, no shadows, one accent, no orange."""
    base = gr.themes.Base(radius_size=_RADIUS, spacing_size=_SPACING, text_size=_TEXT, font=FONT_STACK, font_mono=_MONO)
    light, dark = _variables(LIGHT), _variables(DARK)
    both = {
        "color_accent": "var(--accent)",  # the one variable without a dark twin
        "body_text_weight": "400",
        "block_border_width": "0px",
        "block_shadow": "none",
        "block_padding": "0px",
        "block_label_text_weight": "400",
        "block_title_text_weight": "400",
        "block_title_text_size": "13px",
        "block_label_text_size": "13px",
        "block_title_background_fill": "none",
        "block_title_border_width": "0px",
        "block_title_padding": "0px",
        "form_gap_width": "0px",
        "layout_gap": "12px",
        "input_border_width": "1px",
        "input_shadow": "none",
        "input_shadow_focus": "none",
        "input_padding": "7px 10px",
        "input_text_size": "14px",
        "button_border_width": "1px",
        "button_transition": "none",
        "button_large_text_weight": "600",
        "button_large_text_size": "15px",
        "button_large_padding": "7px 14px",
        "button_medium_text_size": "14px",
        "button_small_text_size": "14px",
        "button_medium_text_weight": "400",
        "button_small_text_weight": "400",
        "button_primary_shadow": "none",
        "button_secondary_shadow": "none",
        "checkbox_label_padding": "6px 12px",
        "checkbox_label_shadow": "none",
        "checkbox_shadow": "none",
        "checkbox_border_radius": "4px",
        "section_header_text_weight": "650",
    }
    return base.set(**both, **light, **{f"{name}_dark": value for name, value in dark.items()})


def _variables(p: Palette) -> dict[str, Any]:
    """Return the variables that differ between light and dark."""
    grounds = ("body_background_fill", "background_fill_primary", "block_background_fill", "panel_background_fill")
    raised = ("background_fill_secondary", "button_secondary_background_fill_hover", "checkbox_label_background_fill")
    lines = ("border_color_primary", "border_color_accent_subdued", "block_border_color", "input_border_color")
    quiet = ("body_text_color_subdued", "block_title_text_color", "block_label_text_color", "block_info_text_color")
    accents = ("border_color_accent", "input_border_color_focus", "loader_color", "slider_color")
    links = ("link_text_color", "link_text_color_hover", "link_text_color_active", "link_text_color_visited")
    inputs = ("input_background_fill", "input_background_fill_focus", "button_secondary_background_fill")
    primary = ("button_primary_background_fill", "button_primary_background_fill_hover", "button_primary_border_color")
    checked = ("checkbox_background_color_selected", "checkbox_border_color_selected", "checkbox_border_color_focus")
    result = dict.fromkeys(grounds, p.ground) | dict.fromkeys(raised, p.raised) | dict.fromkeys(lines, p.line)
    result |= dict.fromkeys(quiet, p.soft) | dict.fromkeys(accents, p.accent) | dict.fromkeys(links, p.ink)
    result |= dict.fromkeys(inputs, p.ground) | dict.fromkeys(primary, p.accent) | dict.fromkeys(checked, p.accent)
    return result | {
        "body_text_color": p.ink,
        "color_accent_soft": p.raised,
        "input_placeholder_color": p.faint,
        "button_primary_text_color": p.ground,
        "button_primary_border_color_hover": p.accent,
        "button_secondary_text_color": p.ink,
        "button_secondary_border_color": p.line,
        "button_secondary_border_color_hover": p.line,
        "checkbox_label_background_fill_selected": p.raised,
        "checkbox_label_border_color": p.line,
        "checkbox_border_color": p.faint,
        "error_text_color": p.warning,
        "error_icon_color": p.warning,
        "error_border_color": p.warning,
        "error_background_fill": p.ground,
        "table_border_color": p.line,
        "table_even_background_fill": p.ground,
        "table_odd_background_fill": p.ground,
    }


def css(spec: BenchmarkSpec) -> str:
    """Return the tokens under the theme that Gradio has chosen, and what its variables cannot say."""
    return f"body{{{_tokens(LIGHT, spec)}}}\nbody.dark{{{_tokens(DARK, spec)}}}\n{CSS_PATH.read_text()}"


def _tokens(p: Palette, spec: BenchmarkSpec) -> str:
    colours = {name: value for name, value in asdict(p).items() if name != "dark"}
    colours |= {key: p.of(key, spec) for key in spec.category_keys}
    return "".join(f"--{name}:{value};" for name, value in colours.items())


def head(spec: BenchmarkSpec, language: str = ENGLISH) -> str:
    """Return the public pages' style sheet, scripts and icon, and what submit.js says in this language.

    The script of the board does nothing before one is mounted.
    """
    context = RenderContext(spec, language=language)
    texts = script_texts(context.translations, SENTENCES)
    written = json.dumps(texts, ensure_ascii=False).replace("<", "\\u003c") if texts else ""
    return render(context, "gradio/head.html", texts=written)
