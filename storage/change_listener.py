"""Changes of the database: a process that waits for something looks for one four times a second, and at nothing else.

On SQLite that is the counter of commits, which is in memory; on PostgreSQL the end of the audit chain and the number of
rows that wait in the queue.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from sqlalchemy import Engine, text
from sqlalchemy.exc import SQLAlchemyError

from storage.database import Database
from storage.database_wait import log_away

RETRY_SECONDS = 2.0
_LOOK_SECONDS = 0.25
_CHANGES = text("SELECT (SELECT seq FROM audit_head), (SELECT count(*) FROM queue WHERE state = 'queued')")

log = logging.getLogger(__name__)


class ChangeListener:
    """A thread that looks. `count` grows with each change; None while the database is away."""

    def __init__(self, engine: Engine, heard: Callable[[], object]) -> None:
        """`heard`: called in the thread after each change."""
        self._engine, self._heard = engine, heard
        self._count, self._listening = 0, False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="changes", daemon=True)

    @property
    def count(self) -> int | None:
        """Return how many changes were seen; None: nobody can say."""
        return self._count if self._listening else None

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread; one that waits for a server which does not answer is left behind."""
        self._stop.set()
        self._thread.join(RETRY_SECONDS)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                with _looking(self._engine) as look:
                    self._watch(look)
            except (sqlite3.Error, SQLAlchemyError) as error:
                if not log_away(error):
                    log.warning("changes.not_heard", extra={"data": {"reason": type(error).__name__}})
            self._listening = False
            self._stop.wait(RETRY_SECONDS)

    def _watch(self, look: Callable[[], object]) -> None:
        known = None  # what happened before is a change too
        while not self._stop.wait(_LOOK_SECONDS):
            if (seen := look()) != known:
                known, self._listening = seen, True
                self._count += 1
                self._heard()


@contextmanager
def _looking(engine: Engine) -> Iterator[Callable[[], object]]:
    """Yield what returns another value after a change, on a connection of its own."""
    if engine.dialect.name == "sqlite":
        with closing(sqlite3.connect(str(engine.url.database))) as connection:
            yield lambda: connection.execute("PRAGMA data_version").fetchone()
    else:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as server:
            yield lambda: tuple(server.execute(_CHANGES).one())


@contextmanager
def listening(database: Database, heard: Callable[[], object]) -> Iterator[Callable[[], int | None]]:
    """Look beside the block; yields what returns how many changes were seen, None where nobody can say."""
    listener = ChangeListener(database.engine, heard)
    listener.start()
    try:
        yield lambda: listener.count
    finally:
        listener.stop()
