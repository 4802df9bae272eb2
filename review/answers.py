"""Answers in an annotation project: what an annotator sees, and saving each answer.

Annotators are blind: no label is here to be shown, the responses come in an order that tells nothing, and the models
that wrote them are shown on demand, behind an answer that then stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

from pydantic import Field

from auth import Forbidden, Identity, Role, require
from auth.settings import Mode
from benchmark.items import ItemTable
from benchmark.label_quality.annotation import ERRORS, PREFERENCES, UNUSABLE, annotation_order
from maintenance.action_context import ActionContext
from maintenance.registry import ParamInfo, action
from maintenance.types import ActionResult, Conflict, NotFound, whole_number
from review import text_output
from review.projects import ProjectNumber, known
from storage import annotation_projects
from storage.annotation_projects import AnnotatorAnswer, Project
from storage.database import LARGEST, Session
from storage.integrity import audit
from storage.models.review import NOTE_LIMIT

ANSWERED, MODELS_SEEN = "verification.answered", "verification.models-seen"
SEEN = ("first", "second")
"""The preferences as an annotator gives them; the other verdicts are those of benchmark.label_quality.annotation."""


Place = Annotated[
    int,
    Field(ge=0, le=LARGEST),
    ParamInfo(help="number of the pair in the project, from 1", read=whole_number),
]


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An answer as an annotator gives it: one of SEEN or UNUSABLE, ERRORS of the worse response, a note."""

    verdict: Annotated[str, ParamInfo(choices=(*SEEN, *UNUSABLE), help="the better response, or why there is none")]
    errors: Annotated[Sequence[str], ParamInfo(option="--error", choices=ERRORS, help="of the worse one")] = ()
    note: Annotated[str, ParamInfo(option="--note")] = ""


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


@action(
    "verification.sheets",
    "GET /api/v1/verification",
    role=Role.SUBMITTER,
    help="projects in which you may answer",
    command="",
)
def sheets(ctx: ActionContext) -> list[ProjectView]:
    """Return the projects in which you may answer."""
    _require_annotator(ctx.user)
    mine = None if Role.MAINTAINER in ctx.user.roles else ctx.user.account
    with ctx.database.read() as session:
        found = annotation_projects.projects(session, ctx.benchmark, mine)
        return [_sheet(session, one, ctx.user.account) for one in found]


@action("verification.sheet", "GET /api/v1/verification/{project}", role=Role.SUBMITTER, help="one of them", command="")
def sheet(ctx: ActionContext, project: ProjectNumber) -> ProjectView:
    """Return one of them: how many pairs, and which you have answered.

    Raises AuthError, NotFound.
    """
    _require_annotator(ctx.user)
    with ctx.database.read() as session:
        return _sheet(session, _open_to(session, ctx.user, ctx.benchmark, project), ctx.user.account)


@action(
    "verification.show",
    "GET /api/v1/verification/{project}/{place}",
    role=Role.SUBMITTER,
    help="a pair as you see it, and what you have answered",
    text=text_output.pair,
)
def show(ctx: ActionContext, project: ProjectNumber, place: Place) -> ShownPair:
    """Return a pair, its responses in your own order, and your answer.

    Raises AuthError, NotFound.
    """
    _require_annotator(ctx.user)
    with ctx.database.read() as session:
        found = _open_to(session, ctx.user, ctx.items.table.benchmark, project)
        key = _item(session, project, place)
        given = annotation_projects.answer(session, project, ctx.user.account, key)
    index = _index(ctx.items.table, key)
    texts = ctx.items.texts[index] if ctx.items.texts else None
    seen = annotation_order(ctx.user.account, key)
    revealed = given is not None and given.models_seen_at is not None
    models = texts.models if texts else None
    return ShownPair(
        place,
        found.items,
        texts.query if texts else None,
        _in_order(texts.responses, seen) if texts else None,
        f"/explore/{key}/image" if texts and ctx.items.image(texts.image) else None,
        _as_seen(given, seen) if given else None,
        _in_order(models, seen) if models and revealed else None,
        models is not None,
    )


@action(
    "verification.answer",
    "PUT /api/v1/verification/{project}/{place}",
    role=Role.SUBMITTER,
    audit=ANSWERED,
    help="say which response is better, over an earlier answer",
)
def answer(ctx: ActionContext, project: ProjectNumber, place: Place, said: GivenAnswer) -> ActionResult:
    """Keep an answer, over an earlier one.

    The same again changes nothing. Raises AuthError, NotFound, Conflict.
    """
    _require_annotator(ctx.user)
    _refuse_terminal(ctx)
    said = replace(said, errors=tuple(said.errors))
    _check(said)
    with ctx.database.write() as session:
        found = _open_to(session, ctx.user, ctx.items.table.benchmark, project, lock=True)
        if found.closed_at is not None:
            raise Conflict("closed", f"{found.name} is closed: answers do not change any more.")
        key = _item(session, project, place)
        seen = annotation_order(ctx.user.account, key)
        before = annotation_projects.answer(session, project, ctx.user.account, key)
        if before is not None and _as_seen(before, seen) == said:
            return ActionResult(False, "It is saved already.")
        verdict = PREFERENCES[seen[SEEN.index(said.verdict)]] if said.verdict in SEEN else said.verdict
        if before is not None and before.models_seen_at is not None and before.verdict != verdict:
            raise Conflict("models-seen", "You have seen which models wrote these; your preference stays.")
        annotation_projects.add_annotators(session, project, [ctx.user.account])
        values = {"verdict": verdict, "errors": list(said.errors), "note": said.note}
        annotation_projects.save_answer(session, project, ctx.user.account, key, **values)
        # What was said is in the digest that closing puts on record, all answers together.
        seq = audit.append(
            session, ANSWERED, {"project": project, "place": place, "by": ctx.user.account, "via": ctx.user.auth_method}
        )
    return ActionResult(True, "Saved." if before is None else "Saved, over your earlier answer.", seq)


@action(
    "verification.models",
    "POST /api/v1/verification/{project}/{place}/models",
    role=Role.SUBMITTER,
    audit=MODELS_SEEN,
    help="tell who wrote the responses; your preference stays from then on",
    text=text_output.pair,
)
def show_models(ctx: ActionContext, project: ProjectNumber, place: Place) -> ShownPair:
    """Tell which models wrote the responses; your preference stays from then on.

    Raises AuthError, NotFound, Conflict.
    """
    _require_annotator(ctx.user)
    _refuse_terminal(ctx)
    with ctx.database.write() as session:
        _open_to(session, ctx.user, ctx.items.table.benchmark, project, lock=True)
        key = _item(session, project, place)
        texts = ctx.items.texts[_index(ctx.items.table, key)] if ctx.items.texts else None
        if texts is None or texts.models is None:
            raise Conflict("no-models", "Here nobody knows which models wrote these.")
        if annotation_projects.answer(session, project, ctx.user.account, key) is None:
            raise Conflict("no-answer", "Answer first: who wrote a response can tell which is better.")
        if annotation_projects.record_model_reveal(session, project, ctx.user.account, key):
            facts = {"project": project, "place": place, "by": ctx.user.account, "via": ctx.user.auth_method}
            audit.append(session, MODELS_SEEN, facts)
    return show(ctx, project, place)


def _require_annotator(user: Identity) -> None:
    require(user, Role.SUBMITTER)
    if user.auth_method == "local" and Role.MAINTAINER not in user.roles:  # everybody has that account
        raise Forbidden("Without sign-in annotators cannot be told apart.", user, Role.MAINTAINER)


def _refuse_terminal(ctx: ActionContext) -> None:
    """Refuse the local user where people sign in: answers are theirs, and not the machine's. Raises Conflict."""
    if ctx.user.auth_method == "local" and ctx.identity is not None and ctx.identity.mode is Mode.OPENID:
        raise Conflict("sign-in-needed", "Answer at /annotate or over REST, where it is known who you are.")


def _open_to(session: Session, user: Identity, benchmark: str, project: int, *, lock: bool = False) -> Project:
    """Return the project, if it is open to somebody; to others it does not exist."""
    found = known(session, benchmark, project, lock=lock)
    if Role.MAINTAINER not in user.roles and user.account not in annotation_projects.annotators(session, project):
        raise NotFound(f"There is no project {project}.")
    return found


def _sheet(session: Session, project: Project, account: str) -> ProjectView:
    answered = annotation_projects.answered(session, project.id, account)
    return ProjectView(project.id, project.name, project.items, answered, project.closed_at is not None)


def _item(session: Session, project: int, place: int) -> str:
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
