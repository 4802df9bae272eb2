"""Open Graph image of the board or of an entry: PNG, 1200 x 630.

Drawn with the font that Pillow carries, which has ASCII: accents are dropped, and a name in another script gives way
to the entry's id; the page's title has it in full.
"""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from leaderboard.board.rows import Board, BoardRow
from leaderboard.charts.colours import LIGHT
from leaderboard.share.summary import summarize
from vlrb.benchmarks.spec import BenchmarkSpec, capital
from vlrb.common.rounding import percent, tenths

if TYPE_CHECKING:
    from PIL import Image
    from PIL.ImageFont import FreeTypeFont, ImageFont

WIDTH, HEIGHT = 1200, 630
_LEFT, _RIGHT = 72, WIDTH - 72
_AXIS = (20, 100)  # percent; as on the board


def of_entry(row: BoardRow, board: Board) -> bytes:
    """Return name, macro accuracy, rank; and the four accuracies with their intervals on the board's axis."""
    summary = summarize(row, board)
    canvas = _Canvas(board.spec)
    canvas.heading(board)
    canvas.name(_drawable(summary.name) or f"Entry {row.id}")
    place = _ascii(summary.place) or ""
    spread = f"95% interval {_ascii(summary.interval)}" if summary.interval else ""
    canvas.text(_LEFT, 214, text=summary.value or "-", size=132, colour=LIGHT.ink, bold=True)
    after = _LEFT + canvas.width(summary.value or "-", 132) + 36
    canvas.text(after, 240, text=f"{summary.what} accuracy, %", size=32, colour=LIGHT.soft)
    canvas.text(after, 286, text=", ".join(filter(None, (spread, place))), size=32, colour=LIGHT.soft)
    for number, name in enumerate(
        (summary.what, *board.spec.category_keys) if summary.what == board.spec.headline else (summary.what,)
    ):
        canvas.accuracy(404 + 48 * number, name, row=row)
    return canvas.png()


def of_board(board: Board) -> bytes:
    """Return the first five that were scored here."""
    canvas = _Canvas(board.spec)
    canvas.heading(board)
    canvas.text(_LEFT, 120, text="Which AI judges agree with people?", size=60, colour=LIGHT.ink, bold=True)
    message = f"{board.scored:,} scored here, {len(board.rows) - board.scored:,} other rows"
    canvas.text(
        _LEFT,
        204,
        text=f"{capital(board.spec.accuracy_text(board.headline))} with 95% intervals. {message}.",
        size=30,
        colour=LIGHT.soft,
    )
    for number, row in enumerate([row for row in board.rows if row.tier == "scored" and row.leads][:5]):
        top = 282 + 62 * number
        canvas.text(_LEFT, top, text=str(row.rank or "-"), size=34, colour=LIGHT.soft)
        name = _drawable(f"{row.model} {row.version}".strip()) or f"Entry {row.id}"
        canvas.text(_LEFT + 64, top, text=canvas.cut(name, 34, room=500), size=34, colour=LIGHT.ink)
        canvas.text(700, top, text=percent(row.value(board.headline)) or "-", size=34, colour=LIGHT.ink, bold=True)
        canvas.interval(top + 22, 810, right=_RIGHT, row=row, name=board.headline)
    return canvas.png()


class _Canvas:
    """A white sheet and the few marks that we make on it."""

    def __init__(self, spec: BenchmarkSpec) -> None:
        from PIL import Image, ImageDraw  # a tenth of a second, which only a preview should wait for

        self._spec = spec
        self._image = Image.new("RGB", (WIDTH, HEIGHT), LIGHT.ground)
        self._draw = ImageDraw.Draw(self._image)

    def text(self, x: float, y: float, *, text: str, size: int, colour: str, bold: bool = False) -> None:
        self._draw.text((x, y), text, fill=colour, font=_font(size), stroke_width=size / 60 if bold else 0)

    def width(self, text: str, size: int) -> float:
        return self._draw.textlength(text, font=_font(size))

    def cut(self, text: str, size: int, *, room: float) -> str:
        """Return the text, or as much of it as there is room for."""
        if self.width(text, size) <= room:
            return text
        while text and self.width(text + "...", size) > room:
            text = text[:-1]
        return text.rstrip() + "..."

    def heading(self, board: Board) -> None:
        demo = " (demo)" if board.spec.synthetic else ""
        self.text(_LEFT, 56, text=f"{board.spec.brand} leaderboard{demo}", size=30, colour=LIGHT.soft)
        day = _ascii(board.as_of[:10])
        self.text(_RIGHT - self.width(day, 30), 56, text=day, size=30, colour=LIGHT.faint)

    def name(self, name: str) -> None:
        size = next((size for size in (68, 56, 46) if self.width(name, size) <= _RIGHT - _LEFT), 46)
        self.text(_LEFT, 118, text=self.cut(name, size, room=_RIGHT - _LEFT), size=size, colour=LIGHT.ink, bold=True)

    def accuracy(self, top: int, name: str, *, row: BoardRow) -> None:
        self.text(_LEFT, top, text=self._spec.title_of(name), size=30, colour=LIGHT.of(name, self._spec))
        value = percent(row.value(name)) or "-"
        self.text(400 - self.width(value, 30), top, text=value, size=30, colour=LIGHT.ink)
        self.interval(top + 19, 450, right=_RIGHT, row=row, name=name)

    def interval(self, y: int, left: int, *, right: int, row: BoardRow, name: str) -> None:
        """Draw a dot with its interval on the axis from 20 to 100, and the mark of chance."""
        chance = _place(tenths(self._spec.chance(name)), left, right=right)
        self._draw.line([(left, y), (right, y)], fill=LIGHT.line, width=2)
        self._draw.line([(chance, y - 16), (chance, y + 16)], fill=LIGHT.chance, width=2)
        value, bounds = row.value(name), row.interval.get(name)
        if value is None:
            return
        if bounds:
            ends = [_place(tenths(bound), left, right=right) for bound in bounds]
            self._draw.line([(ends[0], y), (ends[1], y)], fill=LIGHT.of(name, self._spec), width=6)
        x = _place(tenths(value), left, right=right)
        hollow = row.tier == "reported"
        circle = [(x - 9, y - 9), (x + 9, y + 9)]
        colour = LIGHT.of(name, self._spec)
        self._draw.ellipse(circle, fill=LIGHT.ground if hollow else colour, outline=colour, width=3)

    def png(self) -> bytes:
        from PIL.Image import Dither

        out = io.BytesIO()
        # To find a palette for each picture takes six times as long; level 6 saves a fifth of the bytes for 2 ms.
        self._image.quantize(palette=_palette(_inks(self._spec)), dither=Dither.NONE).save(out, "PNG", compress_level=3)
        return out.getvalue()


def _inks(spec: BenchmarkSpec) -> frozenset[str]:
    """Return the colours that letters and dots of a benchmark's picture have."""
    return frozenset({LIGHT.ink, LIGHT.soft, LIGHT.faint} | {LIGHT.of(key, spec) for key in spec.category_keys})


@cache
def _palette(inks: frozenset[str]) -> Image.Image:
    """Return the ground, the two colours of lines, and each ink in seven steps from the ground, for soft edges."""
    from PIL import Image, ImageColor

    ground = ImageColor.getrgb(LIGHT.ground)
    colours: list[tuple[int, ...]] = [ground, ImageColor.getrgb(LIGHT.line), ImageColor.getrgb(LIGHT.chance)]
    for ink in sorted(inks):
        ends = list(zip(ground, ImageColor.getrgb(ink), strict=True))
        colours += [tuple(round(low + (high - low) * step / 7) for low, high in ends) for step in range(1, 8)]
    sheet = Image.new("P", (1, 1))
    sheet.putpalette([part for colour in colours[:256] for part in colour])
    return sheet


@cache
def _font(size: int) -> FreeTypeFont | ImageFont:
    from PIL import ImageFont

    return ImageFont.load_default(size)


def _place(value: int, left: int, *, right: int) -> float:
    low, high = _AXIS
    return left + (right - left) * min(max((value / 10 - low) / (high - low), 0.0), 1.0)


def _ascii(text: str) -> str:
    """Return a text in the characters that the font has."""
    plain = unicodedata.normalize("NFKD", text.replace("–", " to ").replace("·", "-"))
    return "".join(sign for sign in plain if " " <= sign <= "~")


def _drawable(name: str) -> str:
    """Return the name without accents; nothing if then too little of it is left."""
    plain = _ascii(name).strip()
    return plain if _known(plain) >= 0.8 * _known(name) else ""


def _known(text: Sequence[str]) -> int:
    return sum(not unicodedata.combining(sign) and not sign.isspace() for sign in text)
