"""REST routes over the use cases. The identity comes from the request; the use case authorises."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field, field_validator

from auth import AuthError, Role
from auth.csrf import base_url
from auth.middleware import client_address, identity_of
from auth.problem_details import problem, refusal
from auth.role_routes import require_role
from auth.settings import IdentitySettings
from maintenance import anomaly_text as suspicion_words
from maintenance.actions import (
    account_search,
    approvals,
    audit,
    bans,
    entries,
    entry_search,
    labels,
    operations,
    quota_grants,
    reported,
    rescoring,
    task_retry,
)
from maintenance.actions import anomalies as suspicions
from maintenance.actions.entries import ParseMetadata
from maintenance.actions.reported import Shipped
from maintenance.decision_log import decisions
from maintenance.feed import atom
from maintenance.types import ActionResult, Conflict, NotFound, to_jsonable
from storage.clock import iso
from storage.database import LARGEST, Database
from storage.models.core import UnfitText
from storage.sliding_window import RateLimited

NoteRefusal = Callable[[AuthError, str, str], None]
Number = Annotated[int, Field(ge=0, le=LARGEST)]
"""Of something that is numbered."""
BASE = "/api/v1/maintenance"
_FOR_MAINTAINERS = re.compile(
    rf"{BASE}/|/api/v1/entries/[^/]+/(hide|restore|verify|unverify|flag|unflag|transfer|merge)$"
)
_FOR_SUBMITTERS = re.compile(r"/api/v1/(entries|disputes|verification)(/|$)")
_PRIVATE = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_ATOM = "application/atom+xml; charset=utf-8"


class RequestBody(BaseModel):
    """What a request says: nothing beside the fields, and nothing converted."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @field_validator("*")
    @classmethod
    def _is_text(cls, value: Any) -> Any:
        """Return JSON can say half of a character, which no database and no answer can."""
        if isinstance(value, str):
            value.encode()  # UnicodeEncodeError is a ValueError: 422
        return value


class ReasonBody(RequestBody):
    """Why; it goes on record."""

    reason: str


class NoteBody(RequestBody):
    """A public note."""

    note: str


class MessageBody(RequestBody):
    """What everybody is told."""

    message: str


class TransferBody(ReasonBody):
    """To whom an entry goes."""

    to: str


class MergeBody(ReasonBody):
    """Which entry stays."""

    into: str


class ImportBody(ReasonBody):
    """A label revision and where the workers find it."""

    revision: str
    source: str
    public: bool = False
    disclosure: str = ""
    accept_weak_hiding: bool = False


class Disclose(ReasonBody):
    """The revision's name typed again, where somebody is asked for it."""

    confirmation: str = ""


class RetireBody(ReasonBody):
    """The revision's name typed again."""

    confirmation: str


class RescoreScopeBody(RequestBody):
    """Which entries (all if nothing is said), and which scorer version (the board's if nothing is said)."""

    entries: list[str] = []
    where: dict[str, str] = {}
    scorer_version: str = ""

    def scope(self) -> dict[str, Any]:
        """As the use cases take it."""
        return {"entries": self.entries, "where": self.where, "scorer_version": self.scorer_version}


class PreviewBody(RescoreScopeBody):
    """A revision, and which entries the result lists."""

    revision: str


class ApplyBody(RescoreScopeBody):
    """A revision, its name typed again (and " scorer N" where a scorer version is named), and why."""

    revision: str
    confirmation: str
    reason: str


class GrantBody(ReasonBody):
    """How many submissions beyond the quota."""

    extra: int


class ReportedFile(RequestBody):
    """The text of a CSV or JSON file. With `dry_run` nothing is kept, and no reason is needed."""

    content: str
    reason: str = ""
    dry_run: bool = False


class ReportedChange(ReasonBody):
    """Fields of a reported result, and what they become."""

    changes: dict[str, Any]


class UndoBody(ReasonBody):
    """The revision whose apply is taken back."""

    revision: str


def build(
    database: Database,
    benchmark: str,
    parse: ParseMetadata,
    *,
    paths: Sequence[Path] = (),
    site_url: str = "",
    shipped: Callable[[], Shipped] = tuple,
    note_refusal: NoteRefusal = lambda refused, where, address: None,
    identity: IdentitySettings | None = None,
) -> APIRouter:
    """Return all routes. `site_url`: in front of links in the feed. `shipped`: the reported results that come along.

    `identity`: who has which role; None: nobody is told apart here.
    `note_refusal` is told who was refused, trying what.
    """
    router = APIRouter(route_class=partial(Route, note_refusal))  # type: ignore[arg-type]  # called like a class
    _add_decisions(router, database, site_url)
    _add_entries(router, database, parse, shipped)
    _add_listing(router, database, benchmark)
    _add_labels(router, database, benchmark)
    _add_rescore(router, database, benchmark)
    _add_operations(router, database, benchmark, paths)
    _add_audit(router, database)
    _add_suspicions(router, database, benchmark)
    _add_approvals(router, database, benchmark)
    _add_reported(router, database, benchmark, shipped)
    _add_allowances(router, database)
    _add_accounts(router, database, benchmark, identity)
    _add_bans(router, database, identity)
    return router


def _add_decisions(router: APIRouter, database: Database, site_url: str) -> None:
    @router.get("/api/v1/decisions")
    def log(
        before: Number | None = None, limit: Annotated[int, Query(ge=1, le=500)] = 100, edits: bool = False
    ) -> Response:
        """The public decision log, the newest first; `before` continues at the last seq of an earlier answer. With
        `edits` also entries that were described anew."""
        found = decisions(database, before=before, limit=limit, edits=edits)
        return JSONResponse({"decisions": [one.to_json() for one in found]}, headers={"Cache-Control": "no-cache"})

    @router.get("/api/v1/chain")
    def public_chain(after: Number = 0) -> Response:
        """The public audit chain, JSON lines: `seq`, `prev`, `body_sha256` and `hash` of each event, where `hash` is
        SHA-256(prev bytes + body_sha256 bytes); `after` continues an earlier copy."""
        lines = audit.public(database, after)
        return StreamingResponse(lines, headers={"Cache-Control": "no-cache"}, media_type="application/x-ndjson")

    @router.get("/decisions.atom")
    def feed(request: Request) -> Response:
        """The same as a feed."""
        newest = decisions(database)
        base = base_url(site_url, request.url.scheme, request.headers.get("host", ""))
        return Response(atom(newest, base), headers={"Cache-Control": "no-cache"}, media_type=_ATOM)


def _add_entries(router: APIRouter, database: Database, parse: ParseMetadata, shipped: Callable[[], Shipped]) -> None:
    simple = {
        "hide": entries.hide,
        "restore": entries.restore,
        "withdraw": entries.withdraw,
        "verify": entries.verify,
        "unverify": entries.unverify,
        "unflag": entries.unflag,
    }
    for name, use_case in simple.items():
        router.post(f"/api/v1/entries/{{entry}}/{name}", name=name)(_with_reason(database, use_case))

    @router.post("/api/v1/entries/{entry}/flag")
    def flag(entry: str, body: NoteBody, request: Request) -> Response:
        """Put a public note on an entry."""
        return done(entries.flag(database, identity_of(request), entry, body.note))

    @router.post("/api/v1/entries/{entry}/transfer")
    def transfer(entry: str, body: TransferBody, request: Request) -> Response:
        """Give an entry to another account."""
        return done(entries.transfer(database, identity_of(request), entry, body.to, body.reason))

    @router.post("/api/v1/entries/{entry}/merge")
    def merge(entry: str, body: MergeBody, request: Request) -> Response:
        """Replace a duplicate by the entry it repeats."""
        return done(entries.merge(database, identity_of(request), entry, body.into, body.reason))

    @router.patch("/api/v1/entries/{entry}")
    def edit(entry: str, body: dict[str, Any], request: Request) -> Response:
        """Change metadata fields; null or an empty text clears one. Owners do so 20 times in 24 hours (429)."""
        return done(entries.edit(database, identity_of(request), entry, body, parse, shipped()))

    @router.get("/api/v1/entries/{entry}/history")
    def history(entry: str, request: Request) -> Response:
        """The changes of an entry's metadata."""
        return private(entries.history(database, identity_of(request), entry))


def _add_listing(router: APIRouter, database: Database, benchmark: str) -> None:
    @router.get(f"{BASE}/entries")
    def found(request: Request, search: str = "") -> Response:
        """Entries with their owners and where they are, the newest first; `search`: in model, owner or id."""
        return private(entry_search.search(database, identity_of(request), benchmark, search))


def _with_reason(database: Database, use_case: Callable[..., ActionResult]) -> Callable[..., Response]:
    def route(entry: str, body: ReasonBody, request: Request) -> Response:
        return done(use_case(database, identity_of(request), entry, body.reason))

    route.__doc__ = use_case.__doc__
    return route


def _add_labels(router: APIRouter, database: Database, benchmark: str) -> None:
    @router.get(f"{BASE}/labels")
    def revisions(request: Request) -> Response:
        """All label revisions, drafts included."""
        return private(labels.revisions(database, identity_of(request), benchmark))

    @router.post(f"{BASE}/labels")
    def add(body: ImportBody, request: Request) -> Response:
        """Have a worker import a label revision as a draft."""
        user = identity_of(request)
        told = (body.revision, body.source, body.reason)
        shown = {name: getattr(body, name) for name in ("public", "disclosure", "accept_weak_hiding")}
        return done(labels.request_import(database, user, benchmark, *told, **shown))

    @router.post(f"{BASE}/labels/{{revision}}/disclose")
    def disclose(revision: str, body: Disclose, request: Request) -> Response:
        """Make an imported revision public, which cannot be taken back."""
        told = (revision, body.reason, body.confirmation)
        return done(labels.disclose(database, identity_of(request), benchmark, *told))

    @router.post(f"{BASE}/labels/{{revision}}/discard")
    def discard(revision: str, body: ReasonBody, request: Request) -> Response:
        """Have a worker remove a draft that was never applied; its name is free again."""
        return done(labels.request_discard(database, identity_of(request), benchmark, revision, body.reason))

    @router.post(f"{BASE}/labels/{{revision}}/retire")
    def retire(revision: str, body: RetireBody, request: Request) -> Response:
        """Have the salt of a revision's commitment revealed, which cannot be taken back."""
        told = (revision, body.reason, body.confirmation)
        return done(labels.request_retire(database, identity_of(request), benchmark, *told))


def _add_rescore(router: APIRouter, database: Database, benchmark: str) -> None:
    @router.post(f"{BASE}/rescore/preview")
    def preview(body: PreviewBody, request: Request) -> Response:
        """Have a worker compute the board under a revision; nothing public changes."""
        user = identity_of(request)
        return done(rescoring.request_preview(database, user, benchmark, body.revision, **body.scope()))

    @router.get(f"{BASE}/rescore/preview/{{task}}")
    def found(task: Number, request: Request) -> Response:
        """What a preview has found."""
        return private(rescoring.preview(database, identity_of(request), task))

    @router.post(f"{BASE}/rescore/apply")
    def apply(body: ApplyBody, request: Request) -> Response:
        """Have the workers make the board show a revision, all or nothing; or score a part under it."""
        told = (body.revision, body.reason, body.confirmation)
        return done(rescoring.request_apply(database, identity_of(request), benchmark, *told, **body.scope()))

    @router.post(f"{BASE}/rescore/undo")
    def undo(body: UndoBody, request: Request) -> Response:
        """Undo: re-activate the revision that was shown before."""
        return done(rescoring.undo(database, identity_of(request), benchmark, body.revision, body.reason))


def _add_operations(router: APIRouter, database: Database, benchmark: str, paths: Sequence[Path]) -> None:
    @router.get(f"{BASE}/health")
    def health(request: Request) -> Response:
        """Queue, workers, failures, disks."""
        return private(operations.health(database, identity_of(request), benchmark, paths))

    @router.get(f"{BASE}/tasks")
    def tasks(request: Request) -> Response:
        """What workers were asked lately."""
        return private(operations.recent_tasks(database, identity_of(request)))

    @router.get(f"{BASE}/tasks/{{task}}")
    def one_task(task: Number, request: Request) -> Response:
        """How far a worker is with something."""
        return private(operations.task(database, identity_of(request), task))

    @router.post(f"{BASE}/tasks/{{task}}/retry")
    def ask_again(task: Number, request: Request) -> Response:
        """Have a failed task done again, as a new one."""
        return done(task_retry.retry_task(database, identity_of(request), benchmark, task))

    @router.post(f"{BASE}/backup")
    def backup(request: Request) -> Response:
        """Have a worker copy the database now."""
        return done(operations.request_backup(database, identity_of(request)))

    @router.post(f"{BASE}/jobs/retry")
    def retry_all(request: Request) -> Response:
        """Have all failed jobs tried again."""
        return done(operations.requeue_all(database, identity_of(request), benchmark))

    @router.post(f"{BASE}/jobs/{{job}}/retry")
    def retry(job: Number, request: Request) -> Response:
        """Have a failed job tried again."""
        return done(operations.requeue(database, identity_of(request), job))

    @router.put(f"{BASE}/pause")
    def pause(body: MessageBody, request: Request) -> Response:
        """Take no submissions until resumed."""
        return done(operations.pause(database, identity_of(request), body.message))

    @router.delete(f"{BASE}/pause")
    def resume(request: Request) -> Response:
        """Take submissions again."""
        return done(operations.resume(database, identity_of(request)))


def _add_bans(router: APIRouter, database: Database, identity: IdentitySettings | None) -> None:
    @router.put(f"{BASE}/bans/{{account}}")
    def ban(account: str, body: ReasonBody, request: Request) -> Response:
        """Shut an account out."""
        return done(bans.ban(database, identity_of(request), identity, account, body.reason))

    @router.post(f"{BASE}/bans/{{account}}/lift")
    def unban(account: str, body: ReasonBody, request: Request) -> Response:
        """Let it in again."""
        return done(bans.unban(database, identity_of(request), identity, account, body.reason))


def _add_audit(router: APIRouter, database: Database) -> None:
    @router.get(f"{BASE}/audit/verify")
    def verify(
        request: Request, seq: Number | None = None, hash: Annotated[str | None, Query(max_length=64)] = None
    ) -> Response:
        """Recompute the audit chain and compare stored rows with it; with `seq` and `hash` of a head that was kept
        elsewhere, compare with that."""
        kept = None if seq is None and hash is None else {"seq": seq, "hash": hash}
        return private(audit.verify(database, identity_of(request), kept))

    @router.get(f"{BASE}/audit/head")
    def head(request: Request) -> Response:
        """The audit chain's last link."""
        return private(audit.head(database, identity_of(request)))


def _add_approvals(router: APIRouter, database: Database, benchmark: str) -> None:
    @router.get(f"{BASE}/approvals")
    def waiting(request: Request) -> Response:
        """First submissions that wait for a maintainer, the oldest first."""
        return private(approvals.waiting(database, identity_of(request), benchmark))

    for name, use_case in {"approve": approvals.approve, "reject": approvals.reject}.items():
        router.post(f"{BASE}/approvals/{{entry}}/{name}", name=name)(_with_reason(database, use_case))


def _add_reported(router: APIRouter, database: Database, benchmark: str, shipped: Callable[[], Shipped]) -> None:
    @router.get(f"{BASE}/reported")
    def results(request: Request) -> Response:
        """All imported results, removed ones too."""
        return private(reported.results(database, identity_of(request), benchmark))

    @router.post(f"{BASE}/reported")
    def add(body: ReportedFile, request: Request) -> Response:
        """Put all rows of a file on the board as reported, or none."""
        told = (database, identity_of(request), benchmark, body.content.encode(), body.reason)
        return private(reported.import_file(*told, shipped(), dry_run=body.dry_run))

    @router.patch(f"{BASE}/reported/{{result}}")
    def edit(result: str, body: ReportedChange, request: Request) -> Response:
        """Change fields of an imported result."""
        user = identity_of(request)
        return done(reported.edit(database, user, benchmark, result, body.changes, body.reason))

    @router.post(f"{BASE}/reported/{{result}}/remove")
    def remove(result: str, body: ReasonBody, request: Request) -> Response:
        """Take an imported result off the board."""
        return done(reported.remove(database, identity_of(request), benchmark, result, body.reason))

    @router.post(f"{BASE}/reported/{{result}}/restore")
    def restore(result: str, body: ReasonBody, request: Request) -> Response:
        """Bring a removed one back."""
        return done(reported.restore(database, identity_of(request), benchmark, result, body.reason))


def _add_accounts(router: APIRouter, database: Database, benchmark: str, identity: IdentitySettings | None) -> None:
    @router.get(f"{BASE}/accounts")
    def accounts(request: Request, search: str = "") -> Response:
        """Who has signed in here, the last seen first; `search`: a part of name or id."""
        return private(account_search.listing(database, identity_of(request), benchmark, identity, search))


def _add_allowances(router: APIRouter, database: Database) -> None:
    @router.get(f"{BASE}/grants")
    def listing(request: Request) -> Response:
        """Submissions that were allowed beyond quotas."""
        return private(quota_grants.listing(database, identity_of(request)))

    @router.post(f"{BASE}/grants/{{account}}")
    def grant(account: str, body: GrantBody, request: Request) -> Response:
        """Allow an account submissions beyond its quota."""
        return done(quota_grants.grant(database, identity_of(request), account, body.extra, body.reason))

    @router.post(f"{BASE}/grants/{{number}}/revoke")
    def revoke(number: Number, body: ReasonBody, request: Request) -> Response:
        """End a grant."""
        return done(quota_grants.revoke(database, identity_of(request), number, body.reason))


def _add_suspicions(router: APIRouter, database: Database, benchmark: str) -> None:
    @router.get(f"{BASE}/suspicions")
    def listing(request: Request, decided: bool = False) -> Response:
        """Entries that somebody should look at, with the numbers, and how busy unknown accounts are."""
        user = identity_of(request)
        found = suspicions.listing(database, user, benchmark, decided=decided)
        return private(suspicion_words.as_data(found, suspicions.alarm(database, user)))

    @router.post(f"{BASE}/suspicions/again")
    def again(body: ReasonBody, request: Request) -> Response:
        """Have a worker look at every entry again."""
        return done(suspicions.rescan(database, identity_of(request), body.reason))

    @router.post(f"{BASE}/suspicions/{{suspicion}}/dismiss")
    def dismiss(suspicion: Number, body: ReasonBody, request: Request) -> Response:
        """Close one: there is nothing in it."""
        return done(suspicions.dismiss(database, identity_of(request), suspicion, body.reason))

    @router.post(f"{BASE}/suspicions/{{suspicion}}/act")
    def act(suspicion: Number, body: ReasonBody, request: Request) -> Response:
        """Close one: something was done, which the reason says."""
        return done(suspicions.resolve(database, identity_of(request), suspicion, body.reason))


def done(what: ActionResult) -> Response:
    """Return what was done; 202 where a worker still has to do it."""
    return JSONResponse(asdict(what), 202 if what.task_id is not None else 200, headers=_PRIVATE)


def private(value: Any) -> Response:
    """Return what maintainers alone may see, and no cache keeps."""
    return JSONResponse(to_jsonable(value), headers=_PRIVATE)


class Route(APIRoute):
    """A route that asks first who it is, and whose refusals become problem details. What else an owner or an annotator
    needs, the use case asks."""

    def __init__(self, note_refusal: NoteRefusal, path: str, *arguments: Any, **options: Any) -> None:
        self._note_refusal = note_refusal
        self._needs = Role.SUBMITTER if _FOR_SUBMITTERS.match(path) else None
        if _FOR_MAINTAINERS.match(path):  # docs/maintaining.md describes these; the public description lists none
            options["include_in_schema"] = False
            self._needs = Role.MAINTAINER
        super().__init__(path, *arguments, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, with the use cases' exceptions turned into answers."""
        # A token that was made to maintain need not be one to submit.
        inner = require_role(self._needs, super().get_route_handler(), Role.MAINTAINER)

        async def handle(request: Request) -> Response:
            try:
                return await inner(request)
            except AuthError as refused:
                where = f"{request.method} {request.url.path}"
                await to_thread.run_sync(self._note_refusal, refused, where, client_address(request.scope))
                return refusal(refused)
            except NotFound as missing:
                return problem(missing.status, missing.code, str(missing.args[0]))
            except Conflict as impossible:
                return problem(impossible.status, impossible.code, str(impossible))
            except RateLimited as often:
                later = iso(often.next_at)
                return problem(often.status, often.code, str(often), next_at=later, retry_after=often.seconds)
            except UnfitText as unfit:
                return problem(422, "bad-text", str(unfit))
            except ValueError as rejected:
                if not hasattr(rejected, "problems"):  # not a description that was rejected, but a fault of ours
                    raise
                problems = [one.to_json() for one in rejected.problems]
                code = getattr(rejected, "code", "metadata-rejected")
                return problem(422, code, str(rejected), problems=problems)

        return handle
