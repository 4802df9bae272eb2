"""Processes of multiprocessing that begin with what they need imported."""

from __future__ import annotations

from multiprocessing import forkserver, get_context
from multiprocessing.context import ForkServerContext

# What services and workers import when they come to it: each of them would, for half a second.
IMPORTED_AT_WORK = (
    "anyio._backends._asyncio",
    "jinja2.ext",
    "pydantic.v1",
    "scipy.special",
    "storage.schema",
    "uvicorn.lifespan.on",
    "uvicorn.protocols.websockets.auto",
    "workers.command_line",
    "workers.main",
)
# Of all tests that start processes so: one server is for all that run in one process of pytest.
_IMPORTED = (
    *IMPORTED_AT_WORK,
    "tests.factories.suite.prepared_service",
    "tests.factories.actions",
    "tests.factories.boards",
    "tests.factories.review_setup",
    "tests.factories.submission_service",
    "tests.workers.test_kill",
)


def fork_server() -> ForkServerContext:
    """Return what starts them; the first of a run waits seconds for the server to import."""
    context = get_context("forkserver")
    context.set_forkserver_preload(list(_IMPORTED))
    return context


def share_fork_server() -> None:
    """Let this process, which came from the server, start others with the same one instead of a server of its own."""
    forkserver._forkserver.ensure_running = lambda: None  # type: ignore[attr-defined]
