"""Interactive file of a chart: a page of its own in which Plotly draws the figure, to zoom and to point at marks."""

from __future__ import annotations

from html import escape

from common.json_types import Json


def interactive_page(drawn: Json, title: str, *, language: str) -> str:
    """Return a page to keep. It loads Plotly's script from the address of the Plotly project, checked by its digest."""
    import plotly.io

    drawing = plotly.io.to_html(
        {"data": drawn["data"], "layout": _with_zoom(drawn["layout"])},
        config={"displaylogo": False, "responsive": False},
        include_plotlyjs="cdn",
        full_html=False,
        div_id="figure",
        validate=False,
    )
    head = f'<meta charset="utf-8"><title>{escape(title)}</title>'
    return f'<!doctype html>\n<html lang="{language}"><head>{head}</head>\n<body>{drawing}</body></html>\n'


def _with_zoom(layout: Json) -> Json:
    """Return the layout in which axes in the units of the data can be zoomed; those of names in pixels cannot."""
    free = {name: {**axis, "fixedrange": False} for name, axis in layout.items() if "axis" in name and "anchor" in axis}
    return {**layout, **free, "dragmode": "zoom" if free else False}
