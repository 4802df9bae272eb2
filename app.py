"""Entry point `python app.py`: prepare the demo on first start, run the web application and start the worker
process."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount

import auth.routes
import leaderboard.api
import leaderboard.routes
import maintenance.actions.entries
import maintenance.api
import receipts.api as receipts_api
import review.api
import review.pages
import review.routes
import submissions.api
import submissions.pages
from auth import LOCAL, AuthError, Identity
from auth.middleware import IdentityMiddleware, from_here, identity_of
from auth.pages import AccountPages
from auth.problem_details import problem, problem_body, problem_response
from auth.rate_limit import MOST_WAITING, RateLimitMiddleware, account_of, address_of, limit_queue_per_client
from auth.service import AuthService
from auth.settings import Mode
from benchmark.disclosure import PUBLIC
from common.logging_setup import log_to_stderr
from leaderboard.board.reported_results import bundled_results
from leaderboard.cache import BoardCache
from leaderboard.pages.item_catalog import ItemCatalog
from leaderboard.pages.status_pages import not_found_page
from leaderboard.queries import DatabaseSnapshots
from leaderboard.render import assets, environment
from leaderboard.routes import BoardFastPathMiddleware
from leaderboard.serial_executor import QueueFull
from maintenance.decision_log import PublicLog
from maintenance.types import Conflict
from predictions.sandbox import read_isolated
from predictions.spool import Spool, UploadedFile, sweep
from receipts.key_file import open_signer
from receipts.service import ReceiptService, RecordChanged
from receipts.signing import KeyUnusable, Signer, public_key_json
from review.routes import Forms
from settings import SECRET_NAMES, Settings, SettingsError
from storage import label_imports, receipt_keys, weak_hiding
from storage.database import Database, DatabaseUnusable, open_migrated
from storage.models.core import UnfitText
from storage.uploads import Uploads
from submissions import activity, visibility_options
from submissions.gradio_service import GradioSubmissions
from submissions.metadata import Metadata
from submissions.quota import QuotaPolicy
from submissions.service import SubmissionService
from submissions.status import get_status, list_own
from web.middleware.gradio_allowlist import MAINTAIN, GradioAllowlistMiddleware
from web.middleware.header_timeout import HeaderTimeoutProtocol
from web.middleware.noscript import NoscriptMiddleware
from web.middleware.request_limits import Application, RequestLimitsMiddleware
from web.middleware.security_headers import SecurityHeadersMiddleware
from workers.supervisor import Supervisor

log = logging.getLogger("app")

ROOT = Path(__file__).parent
# Nothing calls home. Set before Gradio and the Hub client are imported, here and in the worker.
QUIET = {"GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_DISABLE_TELEMETRY": "1"}
_SESSIONS = 500  # whose values Gradio keeps at a time: each may be as large as a call
_FORGET = (600, 3000)  # seconds: how often Gradio looks for uploads that are how old, so none gets older than an hour
_DEMO_NOTE = "  (demo benchmark; LABELS serves the real one, see README.md)"
_MOST_ERRORS = 20  # that are told of one request
_CODES = {400: "bad-request", 405: "method-not-allowed", 413: "too-large", 422: "invalid-parameter"}


def main() -> int:
    """Run until told to stop. Returns the exit code."""
    log_to_stderr()
    os.environ.update(QUIET)
    os.umask(0o077)  # hidden tallies and accounts are in files, and DATA_DIR may be a directory that others can read
    try:
        settings = Settings.from_env(os.environ)
        listener = _listen(settings)
        _prepare_directory(settings)
        os.environ["GRADIO_TEMP_DIR"] = str(settings.gradio_dir)  # before Gradio is imported
        if settings.is_demo:
            _prepare_demo(settings)
        database = open_migrated(settings.database_url)
        signer = _signer(settings, database)
    except (SettingsError, DatabaseUnusable, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    configured = True
    with suppress(KeyboardInterrupt):
        configured = asyncio.run(_serve(settings, database, signer, listener))
    database.close()
    if not configured:
        print("Stopped, because the worker cannot use its settings; its message above names the one.", file=sys.stderr)
    return 0 if configured else 2


def _listen(settings: Settings) -> socket.socket:
    """Return the socket to serve on, taken first: a second process fails here before it changes anything.

    Raises:
        OSError: with a sentence that says what to do.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # asyncio switches TCP_NODELAY on only where the socket says that it is TCP; without it every response on a
    # kept-alive connection waits for the delayed ACK of the one before.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host.strip("[]"), settings.port))
        listener.listen(2048)
    except OSError as error:
        raise OSError(
            f"Port {settings.port} on {settings.host} cannot be used ({error.strerror}). "
            "Stop what uses it, or choose another: PORT=7861."
        ) from None
    return listener


def _prepare_directory(settings: Settings) -> None:
    """Make the data directory and remove what killed processes left in it; others may be at work there.

    Raises:
        OSError, SettingsError: with a sentence that says what to do.
    """
    try:
        settings.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)  # hidden tallies, accounts
        with tempfile.TemporaryFile(dir=settings.state_dir):
            pass
        for folder in settings.label_import_dirs:
            if folder.is_relative_to(settings.data_dir):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        sweep(settings.spool_dir)
        sweep(settings.gradio_dir)
    except OSError as error:
        raise OSError(
            f"DATA_DIR={settings.data_dir} cannot be used ({error.strerror}). Name a directory that can be written to."
        ) from None
    try:
        uploads = Uploads(settings.uploads_url)
        uploads.sweep()
        uploads.prove()
    except Exception as error:  # of whatever library; its words may hold the address, and that a secret
        known = isinstance(error, ValueError | ImportError)
        raise SettingsError(f"UPLOADS_URL cannot be used: {error if known else type(error).__name__}") from None


def _prepare_demo(settings: Settings) -> None:
    """Make items, labels and judges in a process of their own; this one never holds a label."""
    command = [sys.executable, "-m", "workers.demo_files", str(settings.demo_dir)]
    subprocess.run(command, env=_child_environment(), check=True)


def _child_environment() -> dict[str, str]:
    """This environment without what only sign-in needs, with the project importable from wherever it was started."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return {name: value for name, value in os.environ.items() if name not in SECRET_NAMES} | {"PYTHONPATH": path}


async def _serve(settings: Settings, database: Database, signer: Signer, listener: socket.socket) -> bool:
    """Until told to stop (True), or until the worker turns out to be configured wrongly (False)."""
    spool = Spool(settings.spool_dir, settings.upload_limit_bytes)
    configured = True

    def on_misconfigured() -> None:
        nonlocal configured
        configured, server.should_exit = False, True

    intake = _intake(settings, database, signer)
    receipts = ReceiptService(database, settings.benchmark, signer, settings.hidden_labels)
    config = uvicorn.Config(
        build_app(settings, database, intake, spool, receipts, on_misconfigured),
        log_config=None,  # what uvicorn says goes where everything goes
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=3,
        lifespan="on",
        http=HeaderTimeoutProtocol,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
    )
    server = uvicorn.Server(config)
    print(f"VL-RewardBench leaderboard: {_url(listener)}{_DEMO_NOTE if settings.is_demo else ''}", flush=True)
    await server.serve(sockets=[listener])
    return configured


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    name = {"0.0.0.0": "localhost", "::": "localhost"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{name}:{port}"


def _signer(settings: Settings, database: Database) -> Signer:
    """Return the key that receipts are signed with; its public half is published from here on.

    Raises:
        SettingsError: it cannot be used.
    """
    try:
        signer = open_signer(settings.receipt_key.get_secret_value(), settings.keys_dir)
    except KeyUnusable as error:
        raise SettingsError(str(error)) from None
    receipt_keys.publish(database, signer.key_id, public_key_json(signer.public_key)["public_key"])
    return signer


def _intake(settings: Settings, database: Database, signer: Signer) -> SubmissionService:
    read = partial(read_isolated, benchmark=settings.manifest_path or settings.benchmark)
    policy = QuotaPolicy(label_revision=settings.label_revision)  # without sign-in there is nobody to hold a quota
    if settings.identity.mode is Mode.OPENID:
        policy = QuotaPolicy(
            settings.quota_per_day,
            settings.quota_per_year,
            settings.quota_exempt_orgs,
            settings.label_revision,
            settings.account_age_days,
            settings.approve_first_upload,
            settings.null_votes_approval / 100,
            settings.null_votes_probe / 100,
            settings.ladder_margin / 100 or None,
        )
    stated = partial(policy_facts, settings)
    return SubmissionService(
        database, Uploads(settings.uploads_url), read, settings.benchmark, signer, policy, stated, bundled_results
    )


def build_app(
    settings: Settings,
    database: Database,
    intake: SubmissionService,
    spool: Spool,
    receipts: ReceiptService,
    on_misconfigured: Callable[[], None],
) -> SecurityHeadersMiddleware:
    """Return the web application: the board, own routes behind the request limits, Gradio below /app as soon as it is
    imported.

    `give_up`: called when the worker cannot use its settings.
    """
    snapshots = DatabaseSnapshots(database, hidden_labels=settings.hidden_labels)
    public_url = settings.identity.public_url
    site = BoardCache(snapshots, benchmark=settings.benchmark, public_url=public_url, warm=leaderboard.routes.prerender)
    track = partial(get_status, database, settings.benchmark, hidden=settings.hidden_labels)
    gradio = GradioAllowlistMiddleware(
        settings.gradio_dir, settings.identity.public_url, bool(settings.trusted_proxies)
    )
    identities, pages = (
        AuthService.create(database, settings.identity),
        AccountPages(environment(), [submissions.pages.TEMPLATES]),
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await asyncio.to_thread(site.refresh)  # so that the first visitor does not wait for the board to be made
        stop = asyncio.Event()
        worker = Supervisor([sys.executable, "-m", "workers"], _child_environment(), on_misconfigured)
        context = partial(maintenance_context, settings, database, identities, materials)
        lay_out = partial(build_gradio_app, settings, intake, track, site, materials, context)
        tasks = [worker.run(stop), _run_gradio(lay_out, gradio, stop)]
        if settings.is_demo:
            tasks.append(asyncio.to_thread(_submit_demo_judges, settings.demo_dir, intake))
        async with run_background_tasks(tasks, stop):
            yield

    # /docs is our own page: FastAPI's loads its script from another host.
    app = FastAPI(title="VL-RewardBench leaderboard", lifespan=lifespan, docs_url=None, redoc_url=None)
    materials = ItemCatalog(settings.manifest_path, settings.item_texts_path, snapshots.relations)
    app.include_router(leaderboard.routes.build(site, materials, PublicLog(database)))
    app.include_router(leaderboard.api.build(site, materials))
    app.include_router(submissions.api.build(intake, spool, track, database, settings.hidden_labels))
    owner = _owner(database, receipts)
    app.include_router(submissions.pages.build(database, intake, identities, pages, owner))
    app.include_router(receipts_api.build(receipts))
    _add_maintenance(app, settings, database, identities, materials)
    own = partial(account_submissions, database, settings.benchmark)
    activity = partial(account_activity, database, settings.benchmark, settings.hidden_labels)
    app.include_router(auth.routes.build(identities, pages, own, partial(_next_one, intake), activity))
    app.add_api_route("/favicon.ico", _icon, include_in_schema=False)
    app.mount("/app", gradio)
    app.add_exception_handler(404, leaderboard.routes.not_found)
    app.add_exception_handler(Exception, leaderboard.routes.failed)
    app.add_exception_handler(QueueFull, leaderboard.routes.busy)
    app.add_exception_handler(HTTPException, _http_problem)
    app.add_exception_handler(RequestValidationError, _parameter_problem)
    app.add_exception_handler(UnfitText, _unfit_text)
    app.add_exception_handler(AuthError, auth.routes.refusals(identities, pages))
    known = with_identity_and_limits(app, settings, identities)
    limits = RequestLimitsMiddleware(
        known, settings.upload_limit_bytes, own=settings.identity.public_url, free=partial(_free, settings.state_dir)
    )
    local = settings.identity.mode is Mode.LOCAL
    environment().globals["local_mode"] = local  # a line on every page
    board_first = BoardFastPathMiddleware(limits, site, from_here if local else lambda _: True)
    return SecurityHeadersMiddleware(board_first, settings.frame_ancestors, settings.identity.https)


def _free(folder: Path) -> int:
    """Return bytes that can still be written there."""
    return shutil.disk_usage(folder).free


def _add_maintenance(
    app: FastAPI, settings: Settings, database: Database, identities: AuthService, materials: ItemCatalog
) -> None:
    """What maintainers do, disputes, and verification by hand."""
    app.include_router(
        maintenance.api.build(
            database,
            settings.benchmark,
            parse_metadata,
            paths=(settings.state_dir,),
            shipped=bundled_results,
            site_url=settings.identity.public_url or "",
            note_refusal=identities.record_denial,
            identity=settings.identity,
        )
    )
    app.include_router(review.api.build(database, materials, identities.record_denial))
    forms = Forms(
        lambda user: auth.routes.csrf_token(identities, user) if user.auth_method == "session" else "",
        lambda user, sent: auth.routes.check_csrf(identities, user, sent) if user.auth_method == "session" else None,
    )
    app.include_router(
        review.routes.build(database, materials, review.pages.ReviewPages(environment()), forms, not_found_page)
    )


def with_identity_and_limits(app: FastAPI, settings: Settings, identities: AuthService) -> Application:
    """Return the application behind authentication, and rate limits where it is public."""
    rate = settings.requests_per_minute if settings.identity.mode is not Mode.LOCAL else 0
    inner = RateLimitMiddleware(app, rate, account_of) if rate and settings.identity.mode is Mode.OPENID else app
    known = IdentityMiddleware(inner, identities.settings, identities.resolver)
    return RateLimitMiddleware(known, rate, address_of, largest=settings.upload_limit_bytes) if rate else known


def policy_facts(settings: Settings, session: Any) -> dict[str, Any]:
    """Return what governs submitting beside the quotas; recorded with every submission."""
    here = settings.identity.mode
    revisions = [spec.revision for spec in settings.label_specs] or [settings.label_revision]
    configured = dict.fromkeys(revisions, PUBLIC) | dict(settings.hidden_labels)
    return {
        "sign_in": settings.identity.issuer if here is Mode.OPENID else None,
        "mode": here.value,
        "upload_limit_bytes": settings.upload_limit_bytes,
        "requests_per_minute": settings.requests_per_minute or None if here is not Mode.LOCAL else None,
        "disclosure": label_imports.disclosure_policy(session, settings.benchmark, configured),
        "weakly_hidden": _weakly_hidden(session, settings.benchmark),
    }


def _weakly_hidden(session: Any, benchmark: str) -> dict[str, str]:
    """Label revision -> what everybody may know of how little hides it."""
    found = weak_hiding.known(session, benchmark, drafts=False)
    return {one.revision: one.sentence for one in sorted(found, key=lambda one: -one.submissions)}


def _owner(database: Database, receipts: ReceiptService) -> submissions.pages.OwnerActions:
    """Return what owners do about their submissions, as the pages of an account need it."""

    def edit(user: Identity, entry: str, fields: Mapping[str, object]) -> object:
        return possible(
            lambda: maintenance.actions.entries.edit(database, user, entry, fields, parse_metadata, bundled_results())
        )

    def withdraw(user: Identity, entry: str, reason: str) -> object:
        return possible(lambda: maintenance.actions.entries.withdraw(database, user, entry, reason))

    def possible(act: Callable[[], object]) -> object:
        try:
            return act()
        except Conflict as impossible:
            raise submissions.pages.OwnerConflict(str(impossible)) from None

    def scores(user: Identity, entry: str) -> Sequence[Mapping[str, Any]]:
        try:
            return receipts.of_scores(entry, user) or []
        except RecordChanged:  # on record and in the log; the page goes without scores
            return []

    return submissions.pages.OwnerActions(
        metadata=lambda user, entry: maintenance.actions.entries.look(database, user, entry)[1],
        edit=edit,
        withdraw=withdraw,
        scores=scores,
    )


def _next_one(intake: SubmissionService, user: Identity) -> str:
    try:
        return (
            submissions.pages.next_submission_text(user, intake.allowance(user)) if user.auth_method != "local" else ""
        )
    except AuthError:  # a token that may not submit
        return ""


def parse_metadata(raw: Mapping[str, object]) -> dict[str, object]:
    """Return a submission's metadata as a maintainer or its owner edits it, checked as when it was submitted."""
    return Metadata.parse(raw).columns()


def maintenance_context(settings: Settings, database: Database, identities: AuthService, materials: ItemCatalog) -> Any:
    from maintenance.page_context import PageContext  # Gradio

    def who(request: Any) -> Identity:
        return identity_of(request.request)

    paths = (settings.state_dir,)
    about = (database, settings.benchmark, parse_metadata, who, paths, identities.record_denial)
    return PageContext(*about, lambda: materials.table, bundled_results, settings.identity)


def account_submissions(database: Database, benchmark: str, user: Identity) -> list[auth.routes.SubmissionRow]:
    return [
        auth.routes.SubmissionRow(
            title=" ".join(filter(None, (one.model, one.version))),
            state=one.state,
            url=f"/account/submissions/{one.id}"
            if visibility_options.is_owner(user, user.account)
            else f"/api/v1/submissions/{one.id}",
            created_at=one.created_at,
            reason=one.reason or "",
            attempt="" if one.attempt is None else f"{one.attempt}, labels {one.label_revision}",
            entry_url=one.entry_url or "",
            shown=submissions.pages.visibility_label(one.shown),
        )
        for one in list_own(database, benchmark, user.account)
    ]


def account_activity(
    database: Database, benchmark: str, hidden: Mapping[str, str], user: Identity
) -> list[auth.routes.ActivityLine]:
    try:
        found = activity.list_activity(database, benchmark, user, limit=20, hidden_labels=hidden)
    except AuthError:  # somebody who may look, but do nothing
        return []
    return [
        auth.routes.ActivityLine(one.title, f"/account/submissions/{one.entry}", one.sentence, one.at) for one in found
    ]


async def _icon() -> Response:
    """Browsers ask for it under this name, whatever a page says."""
    return RedirectResponse(assets()["icon.svg"].url)


@asynccontextmanager
async def run_background_tasks(tasks: Sequence[Coroutine[Any, Any, None]], stop: asyncio.Event) -> AsyncIterator[None]:
    """Run tasks beside the block; at its end they are told to stop and waited for."""
    running = [asyncio.create_task(task) for task in tasks]
    for task in running:
        task.add_done_callback(_report)
    try:
        yield
    finally:
        stop.set()
        await asyncio.gather(*running, return_exceptions=True)


def _report(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()):
        log.error("service.part_ended", exc_info=error)


def _submit_demo_judges(demo_dir: Path, intake: SubmissionService) -> None:
    """Submit the demo judges through the normal use case. Idempotent: identical files are deduplicated."""
    judges = demo_dir / "judges"
    for judge in json.loads((judges / "index.json").read_bytes()):
        file = UploadedFile.on_disk(judges / judge["file"], judge["file"], limit=1 << 30)
        try:
            intake.submit(file, Metadata.parse(judge["metadata"]), LOCAL)
        except submissions.api.SUBMISSION_ERRORS as refused:
            log.warning("demo.not_submitted", extra={"data": {"file": judge["file"], "reason": str(refused)}})


async def _run_gradio(
    lay_out: Callable[[], tuple[FastAPI, Any]], allowlist: GradioAllowlistMiddleware, stop: asyncio.Event
) -> None:
    """Import and build in a thread (seconds), then serve until told to stop."""
    shell, pages = await asyncio.to_thread(lay_out)
    async with shell.router.lifespan_context(shell):
        mounted = next(route.app for route in shell.routes if isinstance(route, Mount))
        allowlist.attach(NoscriptMiddleware(mounted), frozenset(pages.fns))
        await stop.wait()


def build_gradio_app(
    settings: Settings,
    intake: SubmissionService,
    track: Callable[[str, Identity], Any],
    site: BoardCache,
    materials: ItemCatalog,
    page_context: Callable[[], Any],
) -> tuple[FastAPI, Any]:
    """Return an application with the Gradio pages, whose lifespan and CORS rules Gradio then takes over; and the
    pages."""
    import gradio as gr  # six seconds, while the public pages already answer

    import leaderboard.gradio_page
    import leaderboard.theme
    import maintenance.page
    import submissions.gradio_page

    limit = settings.upload_limit_bytes
    service = GradioSubmissions(intake, track, partial(_scorecard, site), settings.gradio_dir, limit)
    with gr.Blocks(title="VL-RewardBench", analytics_enabled=False, delete_cache=_FORGET) as pages:
        leaderboard.gradio_page.build_board(site)
    with pages.route("Submit", "/submit"), leaderboard.gradio_page.frame("/app/submit", "vl-submit"):
        submissions.gradio_page.build(service, benchmark=settings.benchmark, limit_mb=limit / 2**20)
    with pages.route("Analyse", "/analyse"):
        leaderboard.gradio_page.build_analyse(site, materials)
    with pages.route("Maintain", "/maintain"), leaderboard.gradio_page.frame(MAINTAIN, "vl-submit", "vl-maintain"):
        maintenance.page.build(page_context())
    if settings.requests_per_minute and settings.identity.mode is not Mode.LOCAL:
        limit_gradio_queue(pages)
    pages.state_session_capacity = _SESSIONS
    warnings.filterwarnings("ignore", message="SSR mode is not supported")  # nor wanted, and it is off
    shell = FastAPI()
    shell.add_middleware(CORSMiddleware, allow_origins=[])  # Gradio's own would let every site in, with credentials
    gr.mount_gradio_app(
        shell,
        pages,
        "/app",
        ssr_mode=False,
        mcp_server=False,
        run_history=False,
        footer_links=[],
        show_error=False,
        max_file_size=limit,
        blocked_paths=[str(path) for path in settings.private_paths],
        theme=leaderboard.theme.theme(),
        css=leaderboard.theme.css(),
        css_paths=[submissions.gradio_page.CSS_PATH, maintenance.page.CSS_PATH],
        head=leaderboard.theme.head(),
        enable_monitoring=False,
    )
    # Mounted pages are never "launched", and until then Gradio copies every file that a call names.
    pages.has_launched = True
    return shell, pages


def limit_gradio_queue(pages: Any) -> None:
    """Limit Gradio's queue: at most MOST_WAITING pending calls, served round-robin per visitor, and results of at
    most 500 sessions (Gradio's default is 2,000 and leaks the event ids)."""
    from gradio.utils import LRUCache

    pages.queue(max_size=MOST_WAITING, api_open=False)  # /run and /api would call past it
    limit_queue_per_client(pages._queue)
    pages._queue.pending_messages_per_session = LRUCache(_SESSIONS)
    pages._queue.pending_event_ids_session = LRUCache(_SESSIONS)


def _scorecard(site: BoardCache, submission: str) -> dict[str, Any] | None:
    """Of an entry under the labels that the board shows; None until it is there."""
    edition = site.refresh()
    entry = edition.entry(submission)
    revision = edition.snapshot["label_revision"]
    scored = entry is not None and revision in entry["tallies"]
    return leaderboard.api.entry_scorecard(entry, revision, edition) if entry and scored else None


def _http_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    body = problem_body(error.status_code, _CODES.get(error.status_code, "error"), str(error.detail))
    return problem_response(body, error.headers)


def _parameter_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    if {"json_invalid", "model_attributes_type"} & {one["type"] for one in error.errors()}:
        return problem(422, "invalid-parameter", "The body is not a JSON object.")
    detail = "; ".join(f"{'.'.join(map(str, one['loc'][1:]))}: {one['msg']}" for one in error.errors()[:_MOST_ERRORS])
    return problem(422, "invalid-parameter", detail)


def _unfit_text(request: Request, error: Exception) -> Response:
    return problem(422, "bad-text", str(error))


if __name__ == "__main__":
    sys.exit(main())
