"""Changes of the database: a process that waits for something hears of it at its commit, and asks for nothing else.

On PostgreSQL each audit event is announced by the transaction that appends it (storage/integrity/audit.py); while the
connection that listens is lost, nobody hears anything, and those who wait go on asking. On SQLite the counter of
commits, which is in memory, is read four times a second.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import psycopg
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from storage.announcements import CHANNEL
from storage.database import Database
from storage.database_wait import log_away

RETRY_SECONDS = 2.0
_LOOK_SECONDS = 1.0  # after which the thread looks whether it should end
_COMMIT_SECONDS = 0.25  # between two looks at SQLite's counter of commits

log = logging.getLogger(__name__)


class ChangeListener:
    """A thread that listens. `count` grows with each change; None while nothing can be heard."""

    def __init__(self, engine: Engine, heard: Callable[[], object]) -> None:
        """`heard`: called in the thread after each event."""
        self._engine, self._heard = engine, heard
        self._count, self._listening = 0, False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="changes", daemon=True)

    @property
    def count(self) -> int | None:
        """Return how many events were heard; None: nobody can say."""
        return self._count if self._listening else None

    def start(self) -> None:
        """Begin to listen."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread; one that waits for a server which does not answer is left behind."""
        self._stop.set()
        self._thread.join(2 * _LOOK_SECONDS)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._listen()
            except (psycopg.Error, sqlite3.Error, SQLAlchemyError) as error:
                if not log_away(error):
                    log.warning("changes.not_heard", extra={"data": {"reason": type(error).__name__}})
            self._listening = False
            self._stop.wait(RETRY_SECONDS)

    def _listen(self) -> None:
        if self._engine.dialect.name == "sqlite":
            self._watch_commits(str(self._engine.url.database))
            return
        pooled = self._engine.raw_connection()
        connection = pooled.driver_connection
        pooled.detach()  # it is not given back
        assert isinstance(connection, psycopg.Connection)
        with connection:
            connection.autocommit = True
            connection.execute(f"LISTEN {CHANNEL}")
            self._listening = True
            self._note()  # what happened before is not announced
            while not self._stop.is_set():
                for _ in connection.notifies(timeout=_LOOK_SECONDS, stop_after=1):
                    self._note()

    def _watch_commits(self, path: str) -> None:
        with closing(sqlite3.connect(path)) as connection:
            known = None
            while not self._stop.wait(_COMMIT_SECONDS):
                version = connection.execute("PRAGMA data_version").fetchone()
                if version != known:
                    known, self._listening = version, True
                    self._note()

    def _note(self) -> None:
        self._count += 1
        self._heard()


@contextmanager
def listening(database: Database, heard: Callable[[], object]) -> Iterator[Callable[[], int | None]]:
    """Listen beside the block; yields what returns how many events were heard, None where nobody can say."""
    listener = ChangeListener(database.engine, heard)
    listener.start()
    try:
        yield lambda: listener.count
    finally:
        listener.stop()
