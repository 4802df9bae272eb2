"""Answers in an annotation project: what an annotator sees, and saving each answer.

Annotators are blind: no label is here to be shown, the responses come in an order that tells nothing, and the models
that wrote them are shown on demand, behind an answer that then stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from auth import Forbidden, Identity, Role, require
from benchmark.annotation import ERRORS, PREFERENCES, UNUSABLE, annotation_order
from benchmark.items import ItemTable
from maintenance.types import ActionResult, Conflict, NotFound
from review.items import ItemLookup
from review.projects import known
from storage import annotation_projects, audit
from storage.annotation_projects import AnnotatorAnswer, Project
from storage.database import Database
from storage.models.review import NOTE_LIMIT

ANSWERED, MODELS_SEEN = "verification.answered", "verification.models-seen"
SEEN = ("first", "second")
"""The preferences as an annotator gives them; the other verdicts are those of benchmark.annotation."""


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An answer as an annotator gives it: one of SEEN or UNUSABLE, ERRORS of the worse response, a note."""

    verdict: str
    errors: tuple[str, ...] = ()
    note: str = ""


class ProjectView(NamedTuple):
    """A project as an annotator sees it. `answered`: places, from 1."""

    id: int
    name: str
    items: int
    answered: list[int]
    closed: bool


class ShownPair(NamedTuple):
    """A pair as an annotator sees it. `question`, `responses` None: the installation has no texts."""

    place: int
    items: int
    question: str | None
    responses: tuple[str, str] | None
    image: str | None  # address
    said: GivenAnswer | None
    models: tuple[str, str] | None  # only once they were asked for
    has_models: bool


def sheets(database: Database, user: Identity, benchmark: str) -> list[ProjectView]:
    """Return the projects in which somebody may answer, the newest first. For everybody who may submit. Raises
    AuthError."""
    _require_annotator(user)
    mine = None if Role.MAINTAINER in user.roles else user.account
    with database.read() as session:
        found = annotation_projects.projects(session, benchmark, mine)
        return [_sheet(session, one, user.account) for one in found]


def sheet(database: Database, user: Identity, benchmark: str, project: int) -> ProjectView:
    """Return one of them. Raises AuthError, NotFound."""
    _require_annotator(user)
    with database.read() as session:
        return _sheet(session, _open_to(session, user, benchmark, project), user.account)


def show(database: Database, user: Identity, lookup: ItemLookup, project: int, place: int) -> ShownPair:
    """Return a pair and one's own answer. Raises AuthError, NotFound."""
    _require_annotator(user)
    with database.read() as session:
        found = _open_to(session, user, lookup.table.benchmark, project)
        key = _item(session, project, place)
        given = annotation_projects.answer(session, project, user.account, key)
    index = _index(lookup.table, key)
    texts = lookup.texts[index] if lookup.texts else None
    seen = annotation_order(user.account, key)
    revealed = given is not None and given.models_seen_at is not None
    models = texts.models if texts else None
    return ShownPair(
        place,
        found.items,
        texts.query if texts else None,
        _in_order(texts.responses, seen) if texts else None,
        f"/explore/{key}/image" if texts and lookup.image(texts.image) else None,
        _as_seen(given, seen) if given else None,
        _in_order(models, seen) if models and revealed else None,
        models is not None,
    )


def answer(
    database: Database, user: Identity, table: ItemTable, project: int, place: int, said: GivenAnswer
) -> ActionResult:
    """Keep an answer, over an earlier one. The same again changes nothing. Raises AuthError, NotFound, Conflict."""
    _require_annotator(user)
    _check(said)
    with database.write() as session:
        found = _open_to(session, user, table.benchmark, project, lock=True)
        if found.closed_at is not None:
            raise Conflict("closed", f"{found.name} is closed: answers do not change any more.")
        key = _item(session, project, place)
        seen = annotation_order(user.account, key)
        before = annotation_projects.answer(session, project, user.account, key)
        if before is not None and _as_seen(before, seen) == said:
            return ActionResult(False, "It is saved already.")
        verdict = PREFERENCES[seen[SEEN.index(said.verdict)]] if said.verdict in SEEN else said.verdict
        if before is not None and before.models_seen_at is not None and before.verdict != verdict:
            raise Conflict("models-seen", "You have seen which models wrote these; your preference stays.")
        annotation_projects.add_annotators(session, project, [user.account])
        values = {"verdict": verdict, "errors": list(said.errors), "note": said.note}
        annotation_projects.save_answer(session, project, user.account, key, **values)
        # What was said is in the digest that closing puts on record, all answers together.
        seq = audit.append(
            session, ANSWERED, {"project": project, "place": place, "by": user.account, "via": user.auth_method}
        )
    return ActionResult(True, "Saved." if before is None else "Saved, over your earlier answer.", seq)


def show_models(database: Database, user: Identity, lookup: ItemLookup, project: int, place: int) -> ShownPair:
    """Tell which models wrote the responses; from then on the preference stays.

    Raises AuthError, NotFound, Conflict.
    """
    _require_annotator(user)
    with database.write() as session:
        _open_to(session, user, lookup.table.benchmark, project, lock=True)
        key = _item(session, project, place)
        texts = lookup.texts[_index(lookup.table, key)] if lookup.texts else None
        if texts is None or texts.models is None:
            raise Conflict("no-models", "Here nobody knows which models wrote these.")
        if annotation_projects.answer(session, project, user.account, key) is None:
            raise Conflict("no-answer", "Answer first: who wrote a response can tell which is better.")
        if annotation_projects.record_model_reveal(session, project, user.account, key):
            facts = {"project": project, "place": place, "by": user.account, "via": user.auth_method}
            audit.append(session, MODELS_SEEN, facts)
    return show(database, user, lookup, project, place)


def _require_annotator(user: Identity) -> None:
    require(user, Role.SUBMITTER)
    if user.auth_method == "local" and Role.MAINTAINER not in user.roles:  # everybody has that account
        raise Forbidden("Without sign-in annotators cannot be told apart.", user, Role.MAINTAINER)


def _open_to(session: Any, user: Identity, benchmark: str, project: int, *, lock: bool = False) -> Project:
    """Return the project, if it is open to somebody; to others it does not exist."""
    found = known(session, benchmark, project, lock=lock)
    if Role.MAINTAINER not in user.roles and user.account not in annotation_projects.annotators(session, project):
        raise NotFound(f"There is no project {project}.")
    return found


def _sheet(session: Any, project: Project, account: str) -> ProjectView:
    answered = annotation_projects.answered(session, project.id, account)
    return ProjectView(project.id, project.name, project.items, answered, project.closed_at is not None)


def _item(session: Any, project: int, place: int) -> str:
    key = annotation_projects.item_at(session, project, place)
    if key is None:
        raise NotFound(f"Project {project} has no pair {place}.")
    return key


def _index(table: ItemTable, key: str) -> int:
    found = next((index for index, item in enumerate(table.items) if item.key == key), None)
    if found is None:
        raise NotFound("This pair is not in the benchmark any more.")
    return found


def _check(said: GivenAnswer) -> None:
    if said.verdict not in (*SEEN, *UNUSABLE):
        raise Conflict("bad-answer", f"An answer is one of {', '.join((*SEEN, *UNUSABLE))}.")
    if len(set(said.errors)) != len(said.errors) or set(said.errors) - set(ERRORS):
        raise Conflict("bad-error", f"Errors are some of {', '.join(ERRORS)}, each once.")
    if said.errors and said.verdict not in SEEN:
        raise Conflict("bad-error", "Errors are those of the worse response: say which response is better, or none.")
    if len(said.note) > NOTE_LIMIT:
        raise Conflict("note-too-long", f"A note has at most {NOTE_LIMIT} characters.")
    if not all(character.isprintable() for character in said.note):
        raise Conflict("bad-note", "A note is one line of text.")


def _as_seen(given: AnnotatorAnswer, seen: Sequence[int]) -> GivenAnswer:
    verdict = given.verdict
    if verdict in PREFERENCES:
        verdict = SEEN[list(seen).index(PREFERENCES.index(verdict))]
    return GivenAnswer(verdict, tuple(given.errors), given.note)


def _in_order(pair: tuple[str, str], seen: Sequence[int]) -> tuple[str, str]:
    return pair[seen[0]], pair[seen[1]]
