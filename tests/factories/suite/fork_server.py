"""Processes of multiprocessing that begin with what they need imported."""

from __future__ import annotations

from multiprocessing import forkserver

# What services and workers import when they come to it: each of them would, for half a second.
IMPORTED_AT_WORK = (
    "alembic.command",
    "anyio._backends._asyncio",
    "apscheduler.triggers.interval",
    "jinja2.ext",
    "pydantic.v1",
    "scipy.special",
    "storage.migrations.triggers",
    "uvicorn.lifespan.on",
    "uvicorn.protocols.websockets.auto",
    "workers.command_line",
    "workers.main",
)


def import_once(*modules: str) -> None:
    """Have processes of the fork server begin with these modules.

    A server that runs already, for another test of this process, takes no list: without the first line each process
    imports for seconds what it needs.
    """
    forkserver._forkserver._stop()  # type: ignore[attr-defined]
    forkserver.set_forkserver_preload(list(modules))
