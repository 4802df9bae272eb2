"""HTML and static files of the review pages: disputing a label, annotating pairs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment

from auth import Identity
from auth.pages import use_layout
from common.script_texts import script_texts
from maintenance.action_context import PairTexts
from review.actions.answers import ProjectView
from review.actions.disputes import MOST_OPEN, OwnDispute
from review.script_texts import SENTENCES
from review.views import ANSWER_TEXTS
from storage.models.review import NOTE_LIMIT, REASON_LENGTHS
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.spec import BenchmarkSpec, capital, small
from vlrb.common.messages import _
from vlrb.common.translations import ENGLISH, translations
from vlrb.label_quality.annotation import DISPUTE_ANSWERS

STATIC: Mapping[str, str] = {"review.css": "text/css", "annotate.js": "text/javascript"}
_HERE = Path(__file__).parent


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
        (error.tag if error.is_kind else "", Button(error.key, _ERROR_KEYS[place : place + 1], words=capital(error.title)))
        for place, error in enumerate(spec.errors)
    ]
    groups = []
    for tag, members in groupby(made, key=lambda pair: pair[0]):
        title = spec.tag_title(tag) if tag else ""
        groups.append(ErrorGroup(title, small(title), buttons=tuple(button for __, button in members)))
    return tuple(groups)


class Draft(NamedTuple):
    """Values of the dispute form."""

    better: str = ""
    tag: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class DisputeView:
    """One pair, as the user who may dispute its label sees it. `own`: the user's disputes of it."""

    table: ItemTable
    index: int
    texts: PairTexts | None
    image: str | None
    own: Sequence[OwnDispute]


class ReviewPages:
    """Templates in the layout of `site`, which has base.html with the blocks title, head and main."""

    def __init__(self, site: Environment) -> None:
        self._environment = use_layout((_HERE / "templates",), site)
        self.prefix = str(site.globals.get("prefix", ""))  # of the addresses of the benchmark
        self._script_texts = script_texts(translations(str(site.globals.get("language", ENGLISH))), SENTENCES)

    def dispute(self, user: Identity, pair: DisputeView, *, csrf: str, draft: Draft, problem: str) -> str:
        """Return the form about one pair, and the user's own disputes of it."""
        return self._render(
            "dispute.html",
            who=user,
            item=pair.table.items[pair.index],
            number=pair.index + 1,
            total=len(pair.table),
            texts=pair.texts,
            image=pair.image,
            own=pair.own,
            csrf=csrf,
            draft=draft,
            problem=problem,
            answers=[(name, ANSWER_TEXTS[name]) for name in DISPUTE_ANSWERS],
            answer_texts=ANSWER_TEXTS,
            tags=pair.table.spec.tags,
            lengths=REASON_LENGTHS,
            most=MOST_OPEN,
        )

    def disputes(self, own: Sequence[OwnDispute]) -> str:
        """Return all of one's own disputes."""
        return self._render("disputes.html", own=own, answer_texts=ANSWER_TEXTS)

    def projects(self, user: Identity, sheets: Sequence[ProjectView]) -> str:
        """Return the projects in which the user may answer."""
        return self._render("annotate_projects.html", who=user, sheets=sheets)

    def annotate(self, user: Identity, sheet: ProjectView, *, spec: BenchmarkSpec) -> str:
        """Return the page of one project; pairs and answers come later, over the API."""
        return self._render(
            "annotate.html",
            sheet=sheet,
            account=user.account,
            preferences=PREFERENCES,
            invert=INVERT,
            unusable=UNUSABLE,
            error_groups=error_groups(spec),
            note_limit=NOTE_LIMIT,
            texts=self._script_texts,
        )

    def _render(self, name: str, **context: Any) -> str:
        template = self._environment.get_template(name)
        return template.render(current="", style=address("review.css"), script=address("annotate.js"), **context)


@cache
def static(name: str) -> bytes:
    """Return a file of STATIC. Part of the program: read once."""
    return (_HERE / "static" / name).read_bytes()


def address(name: str) -> str:
    """Return its address, which changes with its content."""
    return f"/annotate/static/{name}?{hashlib.sha256(static(name)).hexdigest()[:10]}"
