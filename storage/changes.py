"""Changes of the database: a process that waits for something looks for one four times a second, and at nothing else.

On SQLite that is the counter of commits, which is in memory; on PostgreSQL the end of the audit chain and the number of
rows that wait in the queue.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from typing import Any

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from storage.database import Database
from storage.database_wait import log_away

RETRY_SECONDS = 2.0
LOOK_SECONDS = 0.25
_CHANGES = text("SELECT (SELECT seq FROM audit_head), (SELECT count(*) FROM queue WHERE state = 'queued')")

log = logging.getLogger(__name__)


class DatabaseChanges:
    """A value that is another one after each change, looked up on a connection of its own. For any thread."""

    def __init__(self, database: Database) -> None:
        self._engine, self._lock = database.engine, threading.Lock()
        self._connection: Any = None
        self._seen: object = None
        self._again = 0.0

    def __call__(self) -> object:
        """Return the value; None while the database is away, and nobody can say."""
        with self._lock:
            if time.monotonic() >= self._again:
                try:
                    self._seen = self._look()
                except (sqlite3.Error, SQLAlchemyError) as error:
                    if not log_away(error):
                        log.warning("changes.not_seen", extra={"data": {"reason": type(error).__name__}})
                    self.close()
                    self._seen = None
                self._again = time.monotonic() + (RETRY_SECONDS if self._seen is None else LOOK_SECONDS)
            return self._seen

    def close(self) -> None:
        """Give the connection back."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _look(self) -> object:
        if self._engine.dialect.name == "sqlite":
            self._connection = self._connection or sqlite3.connect(
                str(self._engine.url.database), check_same_thread=False
            )
            return self._connection.execute("PRAGMA data_version").fetchone()
        self._connection = self._connection or self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        return tuple(self._connection.execute(_CHANGES).one())
