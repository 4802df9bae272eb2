"""Answers as people give them in an annotation project: their fields, what is wrong with one, and A and B in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from maintenance.registry import ParamInfo
from maintenance.types import Conflict, whole_number
from storage.database import LARGEST
from storage.models.review import NOTE_LIMIT
from vlrb.common.messages import _
from vlrb.label_quality.annotation import PREFERENCES, UNUSABLE

SEEN = ("first", "second")
"""The preferences as an annotator gives them; the other verdicts are those of vlrb.label_quality.annotation."""

Place = Annotated[
    int,
    Field(ge=0, le=LARGEST),
    ParamInfo(help="number of the pair in the project, from 1", read=whole_number),
]


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An answer as an annotator gives it: one of SEEN or UNUSABLE, errors of the worse response, a note."""

    verdict: Annotated[str, ParamInfo(choices=(*SEEN, *UNUSABLE), help="the better response, or why there is none")]
    errors: Annotated[Sequence[str], ParamInfo(option="--error", metavar="ERROR", help="of the worse one")] = ()
    note: Annotated[str, ParamInfo(option="--note")] = ""


def check(given_answer: GivenAnswer, known_errors: Sequence[str]) -> None:
    """Raise Conflict where an answer cannot be kept. `known_errors`: those of the benchmark."""
    if given_answer.verdict not in (*SEEN, *UNUSABLE):
        raise Conflict("bad-answer", _("An answer is one of {names}.", names=", ".join((*SEEN, *UNUSABLE))))
    if given_answer.errors and not known_errors:
        raise Conflict("bad-error", _("Leave the errors out: this benchmark has no error tags."))
    if len(set(given_answer.errors)) != len(given_answer.errors) or set(given_answer.errors) - set(known_errors):
        raise Conflict("bad-error", _("Errors are some of {names}, each once.", names=", ".join(known_errors)))
    if given_answer.errors and given_answer.verdict not in SEEN:
        raise Conflict("bad-error", _("Errors are those of the worse response: say which response is better, or none."))
    if len(given_answer.note) > NOTE_LIMIT:
        raise Conflict("note-too-long", _("A note has at most {note_limit} characters.", note_limit=NOTE_LIMIT))
    if not all(character.isprintable() for character in given_answer.note):
        raise Conflict("bad-note", _("A note is one line of text."))


def stored_verdict(verdict: str, seen: Sequence[int]) -> str:
    """Return a verdict with A and B, of one with first and second."""
    return PREFERENCES[seen[SEEN.index(verdict)]] if verdict in SEEN else verdict


def seen_verdict(verdict: str, seen: Sequence[int]) -> str:
    """Return a verdict with first and second, of one with A and B."""
    return SEEN[list(seen).index(PREFERENCES.index(verdict))] if verdict in PREFERENCES else verdict
