"""A worker process that is killed with SIGKILL at a chosen commit, and copies of an installation to kill it in."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from sqlalchemy import event
from sqlalchemy.orm import Session

from storage.database import Database, open_database
from tests.factories.suite.fork_server import fork_server

LEASE = 0.3
WORKERS = str(Path(__file__).parents[2] / "workers")
Prepare = Callable[[Database, Path], Callable[[], object]]


class Installation(NamedTuple):
    """A database and the directory that the workers share."""

    url: str
    state: Path


Copy = Callable[[], AbstractContextManager[Installation]]


def copies(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, *, fill: Callable[[str, Path], None]
) -> Copy:
    """Return what makes untouched copies of an installation, which `fill` makes once, on the database that is asked
    for."""
    state = tmp_path_factory.mktemp("state")
    if request.param == "sqlite":
        fill(f"sqlite:///{state}/board.db", state)

        @contextmanager
        def copied() -> Iterator[Installation]:
            directory = shutil.copytree(state, tmp_path_factory.mktemp("copy") / "state")
            yield Installation(f"sqlite:///{directory}/board.db", directory)
            shutil.rmtree(directory)

        return copied
    cluster = request.getfixturevalue("postgres_cluster")
    template = cluster.new_database()
    fill(template, state)

    @contextmanager
    def copied_on_the_server() -> Iterator[Installation]:
        address = cluster.new_database(template)
        directory = shutil.copytree(state, tmp_path_factory.mktemp("copy") / "state")
        yield Installation(address, directory)
        cluster.drop(address)
        shutil.rmtree(directory)

    return copied_on_the_server


def commits(installation: Installation, prepare: Prepare) -> list[str]:
    """Return where in the workers' code each commit was made, by a worker that nobody kills: module.function."""
    noted = installation.state / "commits.json"
    assert run(installation, prepare, commit=0, moment="before", noted=noted) == 0
    return list(json.loads(noted.read_text()))


def run(installation: Installation, prepare: Prepare, *, commit: int, moment: str, noted: Path | None = None) -> int:
    """Return the exit code: -9, or 0 where there were fewer commits. `moment`: "before" or "after" the commit.

    `prepare` gets the database and the shared directory, and returns the work whose commits count.
    """
    process = fork_server().Process(target=_work, args=(installation, prepare, commit, moment, noted))
    process.start()
    process.join(60)
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode


def _work(installation: Installation, prepare: Prepare, commit: int, moment: str, noted: Path | None) -> None:
    database = open_database(installation.url)
    work = prepare(database, installation.state)
    seen: list[str] = []

    def count(session: Session) -> None:
        ours = threading.current_thread() is threading.main_thread()  # not the one that keeps the lease
        if ours and session.get_bind() is database._writer:
            seen.append(_where())
            if len(seen) == commit:
                os.kill(os.getpid(), signal.SIGKILL)

    event.listen(Session, f"{moment}_commit", count)
    work()
    if noted is not None:
        noted.write_text(json.dumps(seen))
    os._exit(0)


def _where() -> str:
    """Return the innermost function of the workers on the stack."""
    frame = sys._getframe()
    while frame.f_back is not None and not frame.f_code.co_filename.startswith(WORKERS):
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).stem}.{frame.f_code.co_name}"
