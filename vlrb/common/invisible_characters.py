"""Invisible characters (zero-width, default-ignorable) that would make two names look identical."""

from __future__ import annotations

import unicodedata

_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
# Default_Ignorable_Code_Point beyond these categories (DerivedCoreProperties.txt of Unicode 16), then what is blank
# without being called so: the Ogham space, the empty Braille cell, the place of an object.
_RANGES = (
    (0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x3164, 0x3164), (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0), (0xE0000, 0xE0FFF), (0x1680, 0x1680), (0x2800, 0x2800), (0xFFFC, 0xFFFC),
)  # fmt: skip
_BLANK = frozenset(point for first, last in _RANGES for point in range(first, last + 1))


def invisible(character: str) -> bool:
    """Return whether a character is drawn as nothing, changes the direction of others, or is none (yet)."""
    return ord(character) in _BLANK or unicodedata.category(character) in _CATEGORIES
