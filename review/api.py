"""REST routes of disputes, label error candidates and annotation projects; the use cases authorise."""

from __future__ import annotations

from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field

from auth.middleware import identity_of
from maintenance.api import BASE, NoteRefusal, Number, ReasonBody, RequestBody, Route, done, private
from review import answers, candidates, disputes, projects
from review.answers import GivenAnswer
from review.items import ItemLookup
from storage.database import Database

_DISPUTES = f"{BASE}/disputes"
_PROJECTS = f"{BASE}/verification"
_SHEETS = "/api/v1/verification"


class DisputeBody(ReasonBody):
    """Body of a dispute: the pair (key or id), the right answer, and the kind of error of the worse response."""

    item: str
    better: str
    tag: str | None = None


class DecisionNoteBody(RequestBody):
    """Decision note to the author of a dispute."""

    note: str


class DisputeDraftBody(ReasonBody):
    """A draft's name, the revision it changes, and the accepted disputes (all if none is named)."""

    revision: str
    base: str
    disputes: list[Number] = Field(default_factory=list)
    public: bool = False
    disclosure: str = ""
    accept_weak_hiding: bool = False


class ProjectBody(ReasonBody):
    """A project: `which` is all, disputed, candidates, or listed with `items` by key or id."""

    name: str
    base: str
    which: str
    items: list[str] = Field(default_factory=list)
    annotators: list[str] = Field(default_factory=list)


class AnnotatorsBody(RequestBody):
    """Accounts that may answer."""

    annotators: list[str]


class CloseBody(ReasonBody):
    """The name of the draft that a worker writes."""

    revision: str
    public: bool = False
    disclosure: str = ""
    accept_weak_hiding: bool = False


class AnswerBody(RequestBody):
    """first, second, or why the pair has no better response; kinds of error of the worse one; a note."""

    verdict: str
    errors: list[str] = Field(default_factory=list)
    note: str = ""


def build(
    database: Database, lookup: ItemLookup, note_refusal: NoteRefusal = lambda refused, where, address: None
) -> APIRouter:
    """Return all routes."""
    router = APIRouter(route_class=partial(Route, note_refusal))  # type: ignore[arg-type]  # called like a class
    _add_disputes(router, database, lookup)
    _add_decisions(router, database, lookup)
    _add_projects(router, database, lookup)
    _add_answers(router, database, lookup)
    return router


def _add_disputes(router: APIRouter, database: Database, lookup: ItemLookup) -> None:
    @router.post("/api/v1/disputes")
    def dispute(body: DisputeBody, request: Request) -> Response:
        """Dispute a pair's label. A and B are the responses as the pair's page shows them."""
        told = (body.item, body.better, body.reason, body.tag)
        return done(disputes.dispute(database, identity_of(request), lookup.table, *told))

    @router.get("/api/v1/disputes")
    def own(request: Request) -> Response:
        """Your own disputes and what became of them."""
        return private(disputes.own(database, identity_of(request), lookup.table))


def _add_decisions(router: APIRouter, database: Database, lookup: ItemLookup) -> None:
    @router.get(_DISPUTES)
    def listing(request: Request, state: str = "open") -> Response:
        """Disputes by item, with the judges' votes; several states with commas."""
        return private(disputes.review(database, identity_of(request), lookup.table, state.split(",")))

    def deciding(accepted: bool) -> Any:
        def route(dispute: Number, body: DecisionNoteBody, request: Request) -> Response:
            user, benchmark = identity_of(request), lookup.table.benchmark
            return done(disputes.decide(database, user, benchmark, dispute, accepted, body.note))

        return route

    for name, accepted in (("accept", True), ("reject", False)):
        what = f"{name.capitalize()} a dispute, with a note to its author."
        router.post(f"{_DISPUTES}/{{dispute}}/{name}", name=name, description=what)(deciding(accepted))

    @router.post(f"{_DISPUTES}/draft")
    def draft(body: DisputeDraftBody, request: Request) -> Response:
        """Have a worker write a draft revision from accepted disputes."""
        user, told = identity_of(request), (body.revision, body.base, body.reason, body.disputes)
        return done(disputes.request_draft(database, user, lookup.table.benchmark, *told, **_level(body)))

    @router.get(f"{BASE}/candidates")
    def proposed(request: Request) -> Response:
        """Return the items whose label the strongest judges contradict, as found last."""
        return private(candidates.proposed(database, identity_of(request), lookup.table))

    @router.post(f"{BASE}/candidates")
    def find(request: Request) -> Response:
        """Have a worker look for them."""
        return done(candidates.request(database, identity_of(request), lookup.table.benchmark))


def _add_projects(router: APIRouter, database: Database, lookup: ItemLookup) -> None:
    @router.get(_PROJECTS)
    def reports(request: Request) -> Response:
        """All projects with progress and agreement."""
        return private(projects.reports(database, identity_of(request), lookup.table.benchmark))

    @router.post(_PROJECTS)
    def create(body: ProjectBody, request: Request) -> Response:
        """Start a project."""
        user, told = identity_of(request), (body.name, body.base, body.which, body.reason)
        made = projects.create(database, user, lookup.table, *told, items=body.items, annotators=body.annotators)
        return done(made)

    @router.post(f"{_PROJECTS}/{{project}}/annotators")
    def annotators(project: Number, body: AnnotatorsBody, request: Request) -> Response:
        """Let more people answer."""
        user, benchmark = identity_of(request), lookup.table.benchmark
        return done(projects.add_annotators(database, user, benchmark, project, body.annotators))

    @router.post(f"{_PROJECTS}/{{project}}/close")
    def close(project: Number, body: CloseBody, request: Request) -> Response:
        """End a project; a worker writes its draft revision."""
        user, told = identity_of(request), (project, body.revision, body.reason)
        return done(projects.close(database, user, lookup.table.benchmark, *told, **_level(body)))


def _add_answers(router: APIRouter, database: Database, lookup: ItemLookup) -> None:
    @router.get(_SHEETS)
    def sheets(request: Request) -> Response:
        """Return the projects in which you may answer."""
        return private(answers.sheets(database, identity_of(request), lookup.table.benchmark))

    @router.get(f"{_SHEETS}/{{project}}")
    def sheet(project: Number, request: Request) -> Response:
        """One of them: how many pairs, and which you have answered."""
        return private(answers.sheet(database, identity_of(request), lookup.table.benchmark, project))

    @router.get(f"{_SHEETS}/{{project}}/{{place}}")
    def show(project: Number, place: Number, request: Request) -> Response:
        """Return a pair, its responses in your own order, and your answer."""
        return private(answers.show(database, identity_of(request), lookup, project, place))

    @router.put(f"{_SHEETS}/{{project}}/{{place}}")
    def answer(project: Number, place: Number, body: AnswerBody, request: Request) -> Response:
        """Keep an answer, over an earlier one."""
        said = GivenAnswer(body.verdict, tuple(body.errors), body.note)
        return done(answers.answer(database, identity_of(request), lookup.table, project, place, said))

    @router.post(f"{_SHEETS}/{{project}}/{{place}}/models")
    def models(project: Number, place: Number, request: Request) -> Response:
        """Tell which models wrote the responses; your preference stays from then on."""
        return private(answers.show_models(database, identity_of(request), lookup, project, place))


def _level(body: DisputeDraftBody | CloseBody) -> dict[str, Any]:
    """Return what may be shown of scores under a draft, for a use case."""
    return {name: getattr(body, name) for name in ("public", "disclosure", "accept_weak_hiding")}
