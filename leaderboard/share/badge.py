"""SVG badge for a README: name of the benchmark, score, rank. Loads no remote resource."""

from __future__ import annotations

import unicodedata
from xml.etree import ElementTree as ET

from leaderboard.share.escape import xml
from leaderboard.share.summary import EntrySummary

_INK, _SOFT, _LIGHT = "#1b1f24", "#4b535d", "#ffffff"
_HEIGHT, _PAD = 20, 7
_NARROW, _WIDE = frozenset("ijlt.,:;'|!I()[] ·"), frozenset("mwMW@%±")


def badge(line: EntrySummary) -> bytes:
    """Return the badge as a file."""
    return _file(drawing(line))


def withdrawn(name: str, brand: str) -> bytes:
    """Return the badge of an entry that was withdrawn, as a file."""
    return _file(_drawing(brand, name, message="withdrawn", title="withdrawn"))


def drawing(line: EntrySummary) -> str:
    """Return the badge as an SVG for a page."""
    return _drawing(line.brand, line.name, message=line.short, title=_title(line))


def _file(svg: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{svg}'.encode()


def _drawing(brand: str, name: str, *, message: str, title: str) -> str:
    """20 pixels in height. Each text says how long it is, so that any font fits the box drawn for it."""
    left, right = brand, message
    widths = [_width(text) for text in (left, right)]
    total = sum(widths) + 4 * _PAD
    svg = ET.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "width": str(total),
            "height": str(_HEIGHT),
            "viewBox": f"0 0 {total} {_HEIGHT}",
            "role": "img",
            "aria-label": xml(f"{brand}: {name}, {right}"),
        },
    )
    ET.SubElement(svg, "title").text = xml(f"{name}: {title}")
    middle = widths[0] + 2 * _PAD
    ET.SubElement(svg, "rect", {"width": str(total), "height": str(_HEIGHT), "rx": "3", "fill": _INK})
    shape = f"M3 0H{middle}V{_HEIGHT}H3A3 3 0 0 1 0 {_HEIGHT - 3}V3A3 3 0 0 1 3 0Z"
    ET.SubElement(svg, "path", {"d": shape, "fill": _SOFT})
    text = {"fill": _LIGHT, "font-family": "Verdana,Geneva,DejaVu Sans,sans-serif", "font-size": "11"}
    group = ET.SubElement(svg, "g", text)
    for x, width, words in ((_PAD, widths[0], left), (middle + _PAD, widths[1], right)):
        place = {"x": str(x), "y": "14", "textLength": str(width), "lengthAdjust": "spacingAndGlyphs"}
        ET.SubElement(group, "text", place).text = xml(words)
    markup: str = ET.tostring(svg, encoding="unicode")
    return markup


def _title(line: EntrySummary) -> str:
    spread = f", 95% interval {line.interval}" if line.interval else ""
    return f"{line.score.partition(' ±')[0]}{spread}{f', {line.place}' if line.place else ''}"


def _width(text: str) -> int:
    """About what 11 px Verdana needs."""
    return round(sum(_advance(sign) for sign in text))


def _advance(sign: str) -> float:
    if unicodedata.east_asian_width(sign) in "WF":
        return 11.0
    if sign in _NARROW:
        return 4.2
    if sign in _WIDE:
        return 9.6
    return 7.6 if sign.isupper() else 6.9
