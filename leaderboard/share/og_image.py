"""Open Graph image of the board or of an entry: PNG, 1200 x 630.

Drawn with the font that Pillow carries, which has ASCII: accents are dropped, and a name in another script gives way
to the entry's id; the page's title has it in full.
"""

from __future__ import annotations

import io
import unicodedata

from leaderboard.ranking.rows import Board, BoardRow
from leaderboard.share.summary import summarize
from leaderboard.site.colours import LIGHT
from vlrb.benchmarks.spec import BenchmarkSpec, capital
from vlrb.common.rounding import percent

_WIDTH, _HEIGHT = 1200, 630
_LEFT, _RIGHT = 72, _WIDTH - 72
_COLOURS = 64  # of the file; letters have soft edges


def of_entry(row: BoardRow, board: Board) -> bytes:
    """Return name, macro accuracy, rank; and the accuracies with their intervals on the board's axis."""
    summary = summarize(row, board)
    canvas = _Canvas(board)
    name = _drawable(summary.name) or f"Entry {row.id}"
    size = next((size for size in (68, 56, 46) if canvas.width(name, size) <= _RIGHT - _LEFT), 46)
    canvas.text(_LEFT, 118, text=canvas.cut(name, size, room=_RIGHT - _LEFT), size=size)
    canvas.text(_LEFT, 214, text=summary.value or "-", size=132)
    after = _LEFT + canvas.width(summary.value or "-", 132) + 36
    spread = f"95% interval {_ascii(summary.interval)}" if summary.interval else ""
    canvas.text(after, 240, text=f"{summary.what} accuracy, %", size=32, colour=LIGHT.soft)
    place = ", ".join(filter(None, (spread, _ascii(summary.place))))
    canvas.text(after, 286, text=place, size=32, colour=LIGHT.soft)
    others = board.spec.category_keys if summary.what == board.spec.headline else ()
    for number, key in enumerate((summary.what, *others)):
        top = 404 + 48 * number
        canvas.text(_LEFT, top, text=board.spec.title_of(key), size=30, colour=LIGHT.of(key, board.spec))
        canvas.text(340, top, text=percent(row.value(key)) or "-", size=30)
        canvas.interval(top + 19, 450, row=row, key=key)
    return canvas.png()


def of_board(board: Board) -> bytes:
    """Return the first five that were scored here."""
    canvas = _Canvas(board)
    canvas.text(_LEFT, 120, text="Which AI judges agree with people?", size=60)
    counted = f"{board.scored:,} scored here, {len(board.rows) - board.scored:,} other rows"
    message = f"{capital(board.spec.accuracy_text(board.headline))} with 95% intervals. {counted}."
    canvas.text(_LEFT, 204, text=message, size=30, colour=LIGHT.soft)
    for number, row in enumerate([row for row in board.rows if row.tier == "scored" and row.leads][:5]):
        top = 282 + 62 * number
        name = _drawable(row.name) or f"Entry {row.id}"
        canvas.text(_LEFT, top, text=str(row.rank or "-"), size=34, colour=LIGHT.soft)
        canvas.text(_LEFT + 64, top, text=canvas.cut(name, 34, room=500), size=34)
        canvas.text(700, top, text=percent(row.value(board.headline)) or "-", size=34)
        canvas.interval(top + 22, 810, row=row, key=board.headline)
    return canvas.png()


class _Canvas:
    """A white sheet with a heading, and the few marks that we make on it."""

    def __init__(self, board: Board) -> None:
        from PIL import Image, ImageDraw, ImageFont  # a tenth of a second, which only a preview should wait for

        self._spec: BenchmarkSpec = board.spec
        self._image = Image.new("RGB", (_WIDTH, _HEIGHT), LIGHT.ground)
        self._draw = ImageDraw.Draw(self._image)
        self._font = ImageFont.load_default
        demo, day = " (demo)" if board.spec.synthetic else "", _ascii(board.as_of[:10])
        self.text(_LEFT, 56, text=f"{board.spec.brand} leaderboard{demo}", size=30, colour=LIGHT.soft)
        self.text(_RIGHT - self.width(day, 30), 56, text=day, size=30, colour=LIGHT.faint)

    def text(self, x: float, y: float, *, text: str, size: int, colour: str = LIGHT.ink) -> None:
        self._draw.text((x, y), text, fill=colour, font=self._font(size))

    def width(self, text: str, size: int) -> float:
        return self._draw.textlength(text, font=self._font(size))

    def cut(self, text: str, size: int, *, room: float) -> str:
        """Return the text, or as much of it as there is room for."""
        if self.width(text, size) <= room:
            return text
        while text and self.width(text + "...", size) > room:
            text = text[:-1]
        return text.rstrip() + "..."

    def interval(self, y: int, left: int, *, row: BoardRow, key: str) -> None:
        """Draw a dot with its interval on the axis from 20 to 100, and the mark of chance."""

        def place(share: float) -> float:
            return left + (_RIGHT - left) * min(max((share - 0.2) / 0.8, 0.0), 1.0)

        colour, value, bounds = LIGHT.of(key, self._spec), row.value(key), row.interval.get(key)
        chance = place(self._spec.chance(key))
        self._draw.line([(left, y), (_RIGHT, y)], fill=LIGHT.line, width=2)
        self._draw.line([(chance, y - 16), (chance, y + 16)], fill=LIGHT.chance, width=2)
        if bounds:
            self._draw.line([(place(bounds[0]), y), (place(bounds[1]), y)], fill=colour, width=6)
        if value is not None:
            ground = LIGHT.ground if row.tier == "reported" else colour
            self._draw.circle((place(value), y), 9, fill=ground, outline=colour, width=3)

    def png(self) -> bytes:
        out = io.BytesIO()
        self._image.quantize(_COLOURS).save(out, "PNG")
        return out.getvalue()


def _ascii(text: str) -> str:
    """Return a text in the characters that the font has."""
    plain = unicodedata.normalize("NFKD", text.replace("–", " to ").replace("·", "-"))
    return "".join(sign for sign in plain if " " <= sign <= "~")


def _drawable(name: str) -> str:
    """Return the name without accents; nothing if then too little of it is left."""
    plain = _ascii(name).strip()
    return plain if _known(plain) >= 0.8 * _known(name) else ""


def _known(text: str) -> int:
    return sum(not unicodedata.combining(sign) and not sign.isspace() for sign in text)
