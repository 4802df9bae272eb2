"""Pictures of the demo's pairs: what an invented scene or problem says, drawn with Pillow. The same pair, the same PNG.

A scene is a diagram rather than a photograph: as many signs of a thing as there are, in its colour, with its name
below. So a reader can check every claim that an answer makes about it.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from PIL import Image, ImageDraw, ImageFont

from vlrb.demo import Exercise, Scene

WIDTH, HEIGHT = 420, 280  # pixels
_Colour = tuple[int, int, int]

_INK: _Colour = (38, 43, 51)
_SOFT: _Colour = (92, 99, 110)
_PAPER: _Colour = (250, 249, 246)
_BLUE: _Colour = (64, 110, 170)
_BARS: Sequence[_Colour] = (_BLUE, (196, 120, 50), (84, 140, 92), (142, 98, 160))
_BACKGROUNDS: Sequence[tuple[_Colour, _Colour]] = (  # above and below the horizon
    ((214, 230, 242), (222, 212, 190)),
    ((226, 222, 238), (196, 204, 196)),
    ((240, 228, 214), (208, 190, 170)),
    ((220, 236, 228), (190, 200, 178)),
    ((232, 234, 238), (206, 208, 214)),
)
_COLOURS: dict[str, _Colour] = {
    "red": (204, 52, 48), "blue": (44, 98, 200), "green": (52, 148, 74), "yellow": (240, 200, 40),
    "white": (252, 252, 252), "black": (36, 36, 40), "orange": (236, 128, 32), "purple": (128, 70, 168),
    "grey": (136, 140, 146), "brown": (124, 82, 48), "turquoise": (48, 184, 180), "striped": (252, 252, 252),
}  # fmt: skip
_SHAPES = {
    "wheels": ("bicycle", "scooter", "wheelbarrow", "skateboard"),
    "disc": ("lantern", "clock", "mirror", "drum", "bucket", "globe", "birdcage", "chessboard"),
    "cone": ("umbrella", "kite", "helmet", "traffic cone", "parasol"),
    "tall": ("ladder", "violin", "telescope", "broom", "candle", "guitar"),
    "bowl": ("kettle", "teapot", "vase", "rowing boat", "watering can", "anvil", "sledge", "basket"),
}  # any other thing is a box
_SIZE, _STEP, _ROW = 20, 23, 5  # of a sign of a thing; pixels from one to the next; signs in a row
_FINE = 4  # a sign is drawn so many times larger, then reduced: smooth edges

_MIDDLE = (205, 168)  # of the first thing; others lie around it
_AROUND = {
    "to the left of": (74, 168),
    "to the right of": (340, 168),
    "behind": (250, 122),
    "in front of": (160, 214),
    "just below": (205, 226),
    "above": (205, 100),
    "leaning against": (318, 168),
    "partly hidden by": (216, 152),  # little of them, so that they can be counted
}
_BEHIND = ("behind", "partly hidden by")
_FAR, _EDGE = (352, 88), (352, 234)  # of the third and fourth thing


def draw_picture(picture: Scene | Exercise) -> bytes:
    """Return a PNG of WIDTH x HEIGHT pixels."""
    image = _scene(picture) if isinstance(picture, Scene) else _figure(picture)
    out = io.BytesIO()
    image.quantize(48, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(out, "PNG")
    return out.getvalue()


def _scene(scene: Scene) -> Image.Image:
    image = _background(scene.place).copy()
    first, second, third, fourth = scene.things
    front, back = (first, _MIDDLE), (second, _AROUND[scene.relation])
    if scene.relation not in _BEHIND:
        front, back = back, front
    for thing, middle in ((third, _FAR), back, front, (fourth, _EDGE)):
        _signs(image, thing, middle=middle)
    overlap = scene.relation in (*_BEHIND, "in front of")
    for thing, middle, above in ((third, _FAR, False), (*back, overlap), (*front, False), (fourth, _EDGE, False)):
        number, _, noun = thing
        x, top, bottom = middle[0], *_ends(number, middle[1])
        _put(image, _words(noun, _INK, size=13), middle=(x, top - _SIZE + 2 if above else bottom + _SIZE))
    _put(image, _board(scene.sign), middle=(84, 26))
    return image


def _signs(image: Image.Image, thing: tuple[int, str, str], *, middle: tuple[int, int]) -> None:
    """Draw as many signs as there are things, in rows."""
    number, colour, noun = thing
    top, _ = _ends(number, middle[1])
    for place in range(number):
        row, column = divmod(place, _ROW)
        left = middle[0] - _STEP * (min(_ROW, number - _ROW * row) - 1) // 2
        _put(image, _sign(_shape(noun), colour), middle=(left + _STEP * column, top + _STEP * row))


def _ends(number: int, y: int) -> tuple[int, int]:
    """Return the middles of the first and the last row."""
    height = _STEP * ((number - 1) // _ROW)
    return y - height // 2, y - height // 2 + height


@cache
def _background(place: str) -> Image.Image:
    above, below = _BACKGROUNDS[sum(place.encode()) % len(_BACKGROUNDS)]
    image = Image.new("RGB", (WIDTH, HEIGHT), above)
    ImageDraw.Draw(image).rectangle((0, 118, WIDTH, HEIGHT), fill=below)
    name = _words(place, _SOFT, size=14)
    _put(image, name, middle=(WIDTH - 12 - name.width // 2, 26))
    return image


def _shape(noun: str) -> str:
    return next((shape for shape, nouns in _SHAPES.items() if noun in nouns), "box")


@cache
def _sign(shape: str, colour: str) -> Image.Image:
    """Return the sign of a thing, transparent around it."""
    size = _SIZE * _FINE
    outline = Image.new("L", (size, size), 0)
    _outline(ImageDraw.Draw(outline), shape, fill=255, inset=0)
    inside = Image.new("L", (size, size), 0)
    _outline(ImageDraw.Draw(inside), shape, fill=255, inset=_FINE + 1)
    filled = Image.new("RGB", (size, size), _INK)
    paint = Image.new("RGB", (size, size), _COLOURS[colour])
    if colour == "striped":
        draw = ImageDraw.Draw(paint)
        for x in range(0, size, size // 4):
            draw.rectangle((x, 0, x + size // 8, size), fill=_COLOURS["red"])
    filled.paste(paint, mask=inside)
    filled.putalpha(outline)
    return filled.resize((_SIZE, _SIZE), Image.Resampling.LANCZOS)


def _outline(draw: ImageDraw.ImageDraw, shape: str, *, fill: int, inset: int) -> None:
    """Draw a shape, smaller by `inset` pixels at each edge."""
    near, far = inset, _SIZE * _FINE - 1 - inset
    middle = (near + far) / 2
    span = far - near
    match shape:
        case "wheels":
            radius = _SIZE * _FINE * 0.26
            for x in (radius, _SIZE * _FINE - 1 - radius):
                draw.circle((x, far - radius + inset), radius - inset, fill)
            draw.rectangle((near + span * 0.2, near + span * 0.2, far - span * 0.2, near + span * 0.55), fill)
        case "disc":
            draw.ellipse((near, near, far, far), fill)
        case "cone":
            draw.polygon(((middle, near), (far, far), (near, far)), fill)
        case "tall":
            draw.rounded_rectangle((near + span * 0.3, near, far - span * 0.3, far), span * 0.15, fill)
        case "bowl":
            draw.pieslice((near, near - span * 0.6, far, far), 0, 180, fill)
            draw.rectangle((near, near + span * 0.1, far, near + span * 0.25), fill)
        case _:
            draw.rounded_rectangle((near, near + span * 0.15, far, far - span * 0.05), span * 0.12, fill)


@cache
def _board(text: str) -> Image.Image:
    words = _words(text, _PAPER, size=13)
    image = Image.new("RGBA", (words.width + 18, words.height + 12), (*_INK, 255))
    _put(image, words, middle=(image.width // 2, image.height // 2))
    return image


@cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)  # carried by Pillow: the same on every machine


@cache
def _words(text: str, colour: _Colour, *, size: int) -> Image.Image:
    """Return a text, transparent around it."""
    left, top, right, bottom = _font(size).getbbox(text)
    image = Image.new("RGBA", (math.ceil(right - left), math.ceil(bottom - top)), (*colour, 0))
    ImageDraw.Draw(image).text((-left, -top), text, font=_font(size), fill=(*colour, 255))
    return image


def _put(image: Image.Image, part: Image.Image, *, middle: tuple[int, int]) -> None:
    """Draw a part with its middle there; as much of it as lies in the image."""
    image.paste(part, (middle[0] - part.width // 2, middle[1] - part.height // 2), part)


def _figure(problem: Exercise) -> Image.Image:
    image = Image.new("RGB", (WIDTH, HEIGHT), _PAPER)
    _FIGURES[problem.kind](image, problem)
    return image


def _rectangle(image: Image.Image, problem: Exercise) -> None:
    a, b = problem.numbers["a"], problem.numbers["b"]
    scale = min(280 / a, 170 / b)
    wide, high = max(24, round(a * scale)), max(24, round(b * scale))
    left, top = (WIDTH - wide) // 2, (HEIGHT - high) // 2 - 8
    draw = ImageDraw.Draw(image)
    draw.rectangle((left, top, left + wide, top + high), outline=_BLUE, width=3)
    _put(image, _words(f"{a} cm", _INK, size=16), middle=(WIDTH // 2, top + high + 20))
    _put(image, _words(f"{b} cm", _INK, size=16), middle=(left - 34, top + high // 2))


def _triangle(image: Image.Image, problem: Exercise) -> None:
    a, b = (math.radians(problem.numbers[name]) for name in "AB")
    high = 1 / (1 / math.tan(a) + 1 / math.tan(b))  # over a base of length 1
    scale = min(300, 190 / high)
    left, bottom = (WIDTH - scale) / 2, 232
    corners = ((left, bottom), (left + scale, bottom), (left + scale * high / math.tan(a), bottom - scale * high))
    draw = ImageDraw.Draw(image)
    for start, end in pairwise((*corners, corners[0])):
        draw.line((start, end), fill=_BLUE, width=3)
    beside = ((-40, 4), (40, 4), (0, -18))
    known = (f"A {problem.numbers['A']}°", f"B {problem.numbers['B']}°", "C ?")
    for (x, y), (right, down), text in zip(corners, beside, known, strict=True):
        _put(image, _words(text, _INK, size=16), middle=(round(x) + right, round(y) + down))


def _bars(image: Image.Image, problem: Exercise) -> None:
    draw = ImageDraw.Draw(image)
    for place, (name, value) in enumerate(problem.numbers.items()):
        left, top = 58 + 80 * place, 232 - 2 * value
        draw.rectangle((left, top, left + 52, 232), fill=_BARS[place])
        _put(image, _words(str(value), _INK, size=15), middle=(left + 26, top - 12))
        _put(image, _words(name, _SOFT, size=14), middle=(left + 26, 248))
    draw.line((40, 232, WIDTH - 40, 232), fill=_INK, width=2)
    _put(image, _words("thousands", _SOFT, size=13), middle=(60, 20))


def _circuit(image: Image.Image, problem: Exercise) -> None:
    draw = ImageDraw.Draw(image)
    draw.rectangle((90, 70, 330, 220), outline=_INK, width=3)
    draw.rectangle((170, 54, 250, 86), fill=_PAPER, outline=_BLUE, width=3)  # the resistor
    draw.rectangle((82, 132, 98, 158), fill=_PAPER)  # the source between two plates
    draw.line((66, 132, 114, 132), fill=_INK, width=3)
    draw.line((78, 158, 102, 158), fill=_INK, width=5)
    draw.polygon(((322, 138), (338, 138), (330, 156)), fill=_BLUE)  # where the current flows
    _put(image, _words(f"{problem.numbers['ohm']} ohm", _INK, size=16), middle=(210, 34))
    _put(image, _words(f"{problem.numbers['A']} A", _INK, size=16), middle=(364, 146))
    _put(image, _words("U ?", _INK, size=16), middle=(40, 146))


_FIGURES = {"rectangle": _rectangle, "triangle": _triangle, "bars": _bars, "circuit": _circuit}
