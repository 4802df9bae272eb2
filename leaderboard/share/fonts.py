"""Fonts for pictures: Pillow's own for ASCII, else one of the machine's that has every letter of a text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont, ImageFont

FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.fonts", "~/.local/share/fonts")
FAMILIES = (
    "NotoSansCJK-Regular", "NotoSansCJKsc-Regular", "NotoSansSC-Regular", "wqy-microhei", "wqy-zenhei",
    "DroidSansFallbackFull", "NotoSans-Regular", "NotoSansArabic-Regular", "DejaVuSans",
)  # fmt: skip
"""Names of font files, those to prefer first. Debian's package fonts-noto-cjk has the first."""
_ENDINGS = (".ttc", ".otf", ".ttf")
_RIGHT_TO_LEFT = ("R", "AL")


def font(text: str, size: int) -> FreeTypeFont | ImageFont:
    """Return the font to draw a text in; Pillow's own where none has all of it."""
    return _open("" if text.isascii() else _file_for(text), size)


def is_drawable(text: str) -> bool:
    """Return whether some font has every letter of a text, and Pillow can set it in its direction."""
    return text.isprintable() and (text.isascii() or bool(_file_for(text)))


def _file_for(text: str) -> str:
    """Return the first file that has all of a text; "" is none."""
    from PIL import features

    turns = any(unicodedata.bidirectional(sign) in _RIGHT_TO_LEFT for sign in text)
    if turns and not features.check("raqm"):  # which joins and reorders letters
        return ""
    letters = frozenset(sign for sign in text if not sign.isspace())
    return next((path for path in _files() if all(_has(path, letter) for letter in letters)), "")


@lru_cache(8192)
def _has(path: str, letter: str) -> bool:
    return bytes(_open(path, 24).getmask(letter)) != bytes(_open(path, 24).getmask("\uffff"))  # which no font has


@lru_cache(64)
def _open(path: str, size: int) -> FreeTypeFont | ImageFont:
    from PIL import ImageFont

    return ImageFont.truetype(path, size) if path else ImageFont.load_default(size)


@cache
def _files() -> tuple[str, ...]:
    """Return the machine's files of FAMILIES, in their order."""
    fonts = {path.stem: str(path) for folder in FOLDERS for path in _fonts_in(Path(folder).expanduser())}
    return tuple(fonts[name] for name in FAMILIES if name in fonts)


def _fonts_in(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.suffix in _ENDINGS)
