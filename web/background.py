"""Background tasks of the web process: the worker's supervisor, Gradio, the demo submissions."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.routing import Mount

from auth import LOCAL
from common.exit_deadline import Watchdog
from common.memory import freeze_loaded
from common.refused import Refused
from leaderboard.site.render_context import LANGUAGE
from operation.litestream import environment
from storage.database import UNAVAILABLE, is_away
from storage.database_wait import RETRY_SECONDS, log_away
from storage.files.spool import UploadedFile
from submissions.metadata import parse_metadata
from submissions.service import SubmissionService
from vlrb.common.translations import languages
from web.middleware.gradio_allowlist import GradioAllowlistMiddleware
from web.page_values import GradioPagesMiddleware
from web.services import Services
from web.startup import child_environment
from workers.supervisor import Supervisor

_LEAVE_SECONDS = 6.0  # that tasks get at the end: more than a supervisor takes
_TURN_SECONDS = 5.0

log = logging.getLogger(__name__)


Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def lifespan(
    services: Services, *, gradio: GradioAllowlistMiddleware, on_misconfigured: Callable[[], None]
) -> Lifespan:
    """Return what runs beside the application from its start to its end."""
    settings = services.settings

    @asynccontextmanager
    async def run(_: FastAPI) -> AsyncIterator[None]:
        await asyncio.to_thread(_make_boards, services)
        stop, after = asyncio.Event(), asyncio.Event()
        worker = Supervisor([sys.executable, "-m", "workers"], child_environment(), give_up=on_misconfigured)
        replicating: list[Coroutine[Any, Any, None]] = []
        if services.litestream is not None:
            command, environ = services.litestream.configure(), environment(child_environment())
            replicating.append(Supervisor(command, environ, name="litestream").run(after))
        tasks = [_watch_event_loop(stop)]
        if settings.role != "web":
            tasks.append(worker.run(stop))
        if settings.is_demo:
            tasks.append(_submit_demo_judges(settings.demo_dir, services.first.submissions, stop=stop))
        if services.email is not None:
            tasks.append(services.email.run(stop))
        # Litestream ends last, so that it copies what the others commit at their end.
        async with _run_tasks(replicating, after), _run_tasks(tasks, stop):
            pages = asyncio.create_task(_run_gradio(services, gradio))
            pages.add_done_callback(_report)
            try:
                yield
            finally:
                pages.cancel()
                await asyncio.wait([pages])

    return run


@asynccontextmanager
async def _run_tasks(tasks: Sequence[Coroutine[Any, Any, None]], stop: asyncio.Event) -> AsyncIterator[None]:
    """Run tasks beside the block; at its end they are stopped and awaited, for a while."""
    running = [asyncio.create_task(task) for task in tasks]
    for task in running:
        task.add_done_callback(_report)
    try:
        yield
    finally:
        stop.set()
        if running:
            _, late = await asyncio.wait(running, timeout=_LEAVE_SECONDS)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=0.5)


async def _watch_event_loop(stop: asyncio.Event) -> None:
    """End the process where its event loop stands still."""
    with Watchdog(["events"]) as watchdog:
        while not stop.is_set():
            watchdog.turn("events")
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _TURN_SECONDS)


def _report(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()):
        log.error("service.part_ended", exc_info=error)


def _make_boards(services: Services) -> None:
    """Make the boards, so that the first visitor does not wait for one; without the database, pages say so."""
    try:
        for served in services.benchmarks:
            served.board.refresh()
    except UNAVAILABLE as error:
        if not is_away(error):
            raise
        log_away(error)


async def _submit_demo_judges(demo_dir: Path, intake: SubmissionService, *, stop: asyncio.Event) -> None:
    """Submit the demo judges through the normal use case. Idempotent: identical files are deduplicated."""
    judges = demo_dir / "judges"
    for judge in json.loads((judges / "index.json").read_bytes()):
        while not stop.is_set() and not await asyncio.to_thread(_submit_demo_judge, judges, judge, intake=intake):
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), RETRY_SECONDS)


def _submit_demo_judge(judges: Path, judge: Mapping[str, Any], *, intake: SubmissionService) -> bool:
    """Return False where the database is away."""
    file = UploadedFile.on_disk(judges / judge["file"], judge["file"], limit=1 << 30)
    try:
        intake.submit(file, parse_metadata(judge["metadata"]), LOCAL)
    except Refused as refused:
        log.warning("demo.not_submitted", extra={"data": {"file": judge["file"], "reason": str(refused)}})
    except UNAVAILABLE as error:
        log_away(error)
        return not is_away(error)
    return True


async def _run_gradio(services: Services, allowlist: GradioAllowlistMiddleware) -> None:
    """Once somebody asks for the page, import and build in a thread (seconds), one application a language; then serve
    until cancelled."""
    await allowlist.asked.wait()
    async with AsyncExitStack() as running:
        for language in languages():
            LANGUAGE.set(language)
            shell, pages = await asyncio.to_thread(_build_gradio, services)
            await running.enter_async_context(shell.router.lifespan_context(shell))
            mounted = next(route.app for route in shell.routes if isinstance(route, Mount))
            served = GradioPagesMiddleware(mounted, services)
            allowlist.attach(served, frozenset(pages.fns), language=language)
        await asyncio.to_thread(freeze_loaded)
        await asyncio.Event().wait()


def _build_gradio(services: Services) -> tuple[FastAPI, Any]:
    from web.gradio_app import build_gradio_app  # imports Gradio: seconds, while the public pages go on

    return build_gradio_app(services)
