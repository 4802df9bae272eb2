"""Interactive drawing of a chart, for a page of its own: Plotly draws the figure, to zoom and to point at marks."""

from __future__ import annotations

from vlrb.common.json_types import Json


def interactive_drawing(drawn: Json) -> str:
    """Return the markup of a figure.

    It loads Plotly's script from the address of the Plotly project, checked by its digest.
    """
    import plotly.io

    markup: str = plotly.io.to_html(
        {"data": drawn["data"], "layout": _with_zoom(drawn["layout"])},
        config={"displaylogo": False, "responsive": False},
        include_plotlyjs="cdn",
        full_html=False,
        div_id="figure",
        validate=False,
    )
    return markup


def _with_zoom(layout: Json) -> Json:
    """Return the layout in which axes in the units of the data can be zoomed; those of names in pixels cannot."""
    free = {name: {**axis, "fixedrange": False} for name, axis in layout.items() if "axis" in name and "anchor" in axis}
    return {**layout, **free, "dragmode": "zoom" if free else False}
