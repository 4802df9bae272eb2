"""Colours of the public pages as values, for charts and the Gradio theme.

The same tokens as in `static/`; a test holds the two together. Colour means category; beside those there is one accent
for actions and one colour for warnings.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from vlrb.benchmarks.spec import BenchmarkSpec

FONT_STACK = ("system-ui", "-apple-system", "Segoe UI", "Roboto", "Helvetica Neue", "sans-serif")
FONTS = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, sans-serif"


@dataclass(frozen=True, slots=True)
class Palette:
    """One ground with everything that is drawn on it; text colours have AA contrast on `ground` and `raised`."""

    ink: str
    soft: str
    faint: str
    line: str
    ground: str
    raised: str
    accent: str
    warning: str  # something went wrong, or is to be known before a number is believed
    chance: str  # the mark of chance: fainter than the data, plainer than a hairline
    shade: str  # the strong end of a heat map on which ink still has AA contrast

    dark: bool

    def of(self, name: str, spec: BenchmarkSpec) -> str:
        """Return the colour of a category; everything that is none is ink."""
        result = next((category for category in spec.categories if category.key == name), None)
        if result is None:
            return self.ink
        return (result.dark or result.colour) if self.dark else result.colour


LIGHT = Palette(
    ink="#1b1f24",
    soft="#5b6470",
    faint="#6b7480",
    line="#e3e6ea",
    ground="#ffffff",
    raised="#f6f7f9",
    accent="#1f5fbf",
    warning="#a3195b",
    chance="#aab1ba",
    shade="#8d96a1",
    dark=False,
)
DARK = Palette(
    ink="#e7e9ec",
    soft="#a4acb6",
    faint="#8d95a0",
    line="#2b3036",
    ground="#121417",
    raised="#1a1d21",
    accent="#7fb0ff",
    warning="#ff8cb8",
    chance="#565d66",
    shade="#5c6570",
    dark=True,
)

JUDGES = {"#0b6fb8": "#5aaef0", "#c2500a": "#ff9a5c", "#0a7f5e": "#45c8a0"}
JUDGES |= {"#a8508c": "#e493c8", "#806300": "#d9b43c", "#1b1f24": "#e7e9ec"}
"""Colours of judges on one axis, on a light ground and on a dark one; each has a symbol of its own beside."""


def dark_colours(spec: BenchmarkSpec) -> dict[str, str]:
    """Return what the script of a page writes for each colour of a figure on a dark ground, as hex and as rgba()."""
    tokens = [name for name, value in asdict(LIGHT).items() if isinstance(value, str)]
    pairs = {getattr(LIGHT, name): getattr(DARK, name) for name in tokens}
    pairs |= {one.colour: one.dark for one in spec.categories if one.dark} | JUDGES
    return pairs | {_numbers(light): _numbers(dark) for light, dark in pairs.items()}


def _numbers(colour: str) -> str:
    return ",".join(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5))
