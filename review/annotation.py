"""Contents of the review pages: the buttons of the annotation page and the sentences of its script."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any, NamedTuple

from common.script_texts import script_texts
from storage.models.review import NOTE_LIMIT
from vlrb.benchmarks.spec import BenchmarkSpec, capital, small
from vlrb.common.messages import _
from vlrb.common.translations import translations

SENTENCES = (  # of leaderboard/site/static/annotate.js
    _("There are pairs 1 to {items}."),
    _("This pair has as many answers as it needs. Answer another pair."),
    _("Every pair of this project has as many answers as it needs."),
    _("The server answers {status}."),
    _("Try again"),
    _("This pair could not be loaded. {reason}"),
    _("Question and answer texts are not available on this server."),
    _("{done} of {all} answered"),
    _("Saving …"),
    _("Not saved"),
    _("Saved"),
    _("Your answer is not saved. {reason}"),
    _("The project could not be loaded. {reason}"),
)


class Button(NamedTuple):
    """A button of the annotation page, its key, and the words on it."""

    value: str
    key: str
    words: str
    hint: str = ""


PREFERENCES = (Button("first", "1", words=_("First is better")), Button("second", "2", words=_("Second is better")))
INVERT = Button("invert", "I", words=_("Inaccurate (inverted)"), hint=_("turns your preference round"))
UNUSABLE = (
    Button("both-false", "F", words=_("Both false")),
    Button("vague-style", "S", words=_("Vague: style")),
    Button("vague-knowledge", "K", words=_("Vague: knowledge")),
    Button("poor-image", "P", words=_("Poor image")),
    Button("other", "O", words=_("Other"), hint=_("say what in the note")),
)
_ERROR_KEYS = "QWERTYACGBDHLUVX34567890"


class ErrorGroup(NamedTuple):
    """Buttons of errors that are shown together: kinds of one tag under its title, or others without one."""

    title: str
    small_title: str
    buttons: tuple[Button, ...]


def error_groups(spec: BenchmarkSpec) -> tuple[ErrorGroup, ...]:
    """Return the buttons of a benchmark's errors; those that come after the last free key have none."""
    made = [
        (
            error.tag if error.key != error.tag else "",
            Button(error.key, _ERROR_KEYS[place : place + 1], capital(error.title)),
        )
        for place, error in enumerate(spec.errors)
    ]
    groups = []
    for tag, members in groupby(made, key=lambda pair: pair[0]):
        title = spec.tag_titles.get(tag) or capital(tag)
        groups.append(ErrorGroup(title, small(title), buttons=tuple(button for __, button in members)))
    return tuple(groups)


def annotation_page(spec: BenchmarkSpec, language: str) -> Mapping[str, Any]:
    """Return what the template of the annotation page shows of every project."""
    return {
        "preferences": PREFERENCES,
        "invert": INVERT,
        "unusable": UNUSABLE,
        "error_groups": error_groups(spec),
        "note_limit": NOTE_LIMIT,
        "texts": script_texts(translations(language), SENTENCES),
    }
