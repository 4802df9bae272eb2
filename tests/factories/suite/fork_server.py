"""Processes of multiprocessing that begin with what they need imported."""

from __future__ import annotations

import os
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
# Of all tests that start processes so: one server is for all that run.
_IMPORTED = (
    *IMPORTED_AT_WORK,
    "tests.factories.suite.prepared_service",
    "tests.factories.actions",
    "tests.factories.boards",
    "tests.factories.review_setup",
    "tests.factories.submission_service",
    "tests.workers.test_kill",
)
_ADDRESS = "TESTS_FORK_SERVER"  # in the environment: the server of the process that started this one


def fork_server() -> ForkServerContext:
    """Return what starts them; the first of a run waits seconds for the server to import."""
    context = get_context("forkserver")
    context.set_forkserver_preload(list(_IMPORTED))
    if address := os.environ.get(_ADDRESS):
        server = forkserver._forkserver
        server._forkserver_address = address  # type: ignore[attr-defined]
        server._forkserver_alive_fd = server._forkserver_alive_fd or os.open(os.devnull, os.O_WRONLY)  # type: ignore[attr-defined]
        share_fork_server()
    return context


def open_fork_server() -> None:
    """Start the server for the processes that this one starts; it ends with this one."""
    fork_server()
    forkserver.ensure_running()
    os.environ[_ADDRESS] = forkserver._forkserver._forkserver_address  # type: ignore[attr-defined]


def share_fork_server() -> None:
    """Let this process start others with the server that it was told of, instead of a server of its own."""
    forkserver._forkserver.ensure_running = lambda: None  # type: ignore[attr-defined]
