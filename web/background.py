"""Background tasks of the web process."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.routing import Mount

import submissions.api
from auth import LOCAL
from predictions.spool import UploadedFile
from submissions.metadata import Metadata
from submissions.service import SubmissionService
from web.middleware.gradio_allowlist import GradioAllowlistMiddleware
from web.middleware.noscript import NoscriptMiddleware

log = logging.getLogger(__name__)


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


def submit_demo_judges(demo_dir: Path, intake: SubmissionService) -> None:
    """Submit the demo judges through the normal use case. Idempotent: identical files are deduplicated."""
    judges = demo_dir / "judges"
    for judge in json.loads((judges / "index.json").read_bytes()):
        file = UploadedFile.on_disk(judges / judge["file"], judge["file"], limit=1 << 30)
        try:
            intake.submit(file, Metadata.parse(judge["metadata"]), LOCAL)
        except submissions.api.SUBMISSION_ERRORS as refused:
            log.warning("demo.not_submitted", extra={"data": {"file": judge["file"], "reason": str(refused)}})


async def run_gradio(
    lay_out: Callable[[], tuple[FastAPI, Any]], allowlist: GradioAllowlistMiddleware, stop: asyncio.Event
) -> None:
    """Import and build in a thread (seconds), then serve until told to stop."""
    shell, pages = await asyncio.to_thread(lay_out)
    async with shell.router.lifespan_context(shell):
        mounted = next(route.app for route in shell.routes if isinstance(route, Mount))
        allowlist.attach(NoscriptMiddleware(mounted), frozenset(pages.fns))
        await stop.wait()
