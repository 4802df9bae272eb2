"""Names of judges and organisations as they stand on the board: short, breakable, with a monogram. Pure.

static/board.js does the same in the browser; a test holds the two together.
"""

from __future__ import annotations

import re

from markupsafe import Markup, escape

_LONGEST, _HEAD, _TAIL = 56, 34, 18  # characters: of a name that is shown whole, and of what is left of a longer one
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_BREAKS = re.compile(r"(?<=[_/-])(?=.)")
_WORDS = re.compile(r"[^\W_]+")
MONOGRAM_COLOURS = 8
"""The classes c0 to c7 of the style sheet."""


def short_name(model: str) -> str:
    """Return the name without its owner, where it is that of a repository (owner/name)."""
    return model.partition("/")[2] if _REPOSITORY.fullmatch(model) else model


def owner_of(model: str) -> str:
    """Return the owner in the name of a repository; "" for other names."""
    return model.partition("/")[0] if _REPOSITORY.fullmatch(model) else ""


def is_shortened(model: str) -> bool:
    """Return whether the board shows less than the whole name."""
    return short_name(model) != model or len(model) > _LONGEST


def name_markup(model: str) -> Markup:
    """Return a name that may break after _ - and /, and whose middle gives way to an ellipsis where it is long.

    Owner and middle are only hidden from sight: the text of the element is the whole name.
    """
    owner, name = owner_of(model), short_name(model)
    hidden = Markup('<span class="sr">{}/</span>').format(owner) if owner else Markup("")
    if len(name) <= _LONGEST:
        return hidden + breakable(name)
    middle = Markup('<span class="cut">{}</span>').format(name[_HEAD:-_TAIL])
    return hidden + breakable(name[:_HEAD]) + middle + breakable(name[-_TAIL:])


def breakable(text: str) -> Markup:
    """Return a whole name that may break after _ - and /."""
    return Markup("<wbr>").join(escape(part) for part in _BREAKS.split(text))


def monogram(organisation: str) -> str:
    """Return one or two letters for an organisation; "" for none."""
    words = _WORDS.findall(organisation)
    if not words:
        return ""
    letters = words[0][:2] if len(words) == 1 else "".join(word[0] for word in words[:2])
    return letters.upper()


def monogram_colour(organisation: str) -> int:
    """Return the number of the colour of an organisation, always the same."""
    return sum(map(ord, organisation)) % MONOGRAM_COLOURS
