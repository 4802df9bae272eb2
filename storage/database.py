"""Engine and sessions from a URL. One code path for SQLite and PostgreSQL.

SQLite: WAL with synchronous=FULL (a commit survives a power cut where the disk honours fsync) on a local disk; write
sessions start with BEGIN IMMEDIATE, because a read that later turns into a write fails with "database is locked"
whatever the timeout. PostgreSQL: READ COMMITTED for writes, one consistent snapshot per read session.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from sqlalchemy import (
    Connection,
    CursorResult,
    Delete,
    Engine,
    Update,
    create_engine,
    event,
    inspect,
    make_url,
    text,
)
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, InterfaceError, InternalError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session as Session  # actions name the type and import no SQL
from sqlalchemy.pool import ConnectionPoolEntry

from vlrb.common.messages import _

BUSY_SECONDS = 30.0
SESSION_LIMITS = {"lock_timeout": "10s", "statement_timeout": "120s"}
IDLE_IN_WRITE = "20s"
"""What PostgreSQL waits for a lock, lets a statement run, and lets a writer do nothing: then it ends the session."""

KEEPALIVES = {
    "connect_timeout": 10,
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
_IDLE_LIMIT = "idle_in_transaction_session_timeout"
UNAVAILABLE = (OperationalError, InterfaceError, InternalError, PoolTimeout)
"""What the driver raises while the database is away, is restarted, or makes somebody wait too long."""

_REFUSALS = ("authentication failed", "does not exist", "no pg_hba.conf entry")  # of libpq, which gives no code here
LARGEST = 2**31 - 1
"""The largest number that anything numbered can have: an INTEGER of PostgreSQL."""
_MIGRATION_LOCK = 0x564C5242  # any number, the same in every process


class DatabaseUnusable(Exception):
    """The database does not answer, or is none; the message is one sentence without the address."""


class UnknownSchema(DatabaseUnusable):
    """The tables in this database were made by another version, an earlier or a later one, whose schema this one does
    not know. Run that version, or start with an empty DATA_DIR or DATABASE_URL."""

    def __init__(self) -> None:
        super().__init__(" ".join((UnknownSchema.__doc__ or "").split()))


class DatabaseNotMade(DatabaseUnusable):
    """No service has made this database yet."""


class DatabaseAway(DatabaseUnusable):
    """The database does not answer now, and may later; the message is one sentence without the address."""


@dataclass(frozen=True, slots=True)
class Database:
    """Sessions on one database. Safe to share between threads; not between processes."""

    engine: Engine
    _reader: Engine
    _writer: Engine

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Provide one consistent view; a write in it is refused by the database."""
        with Session(self._reader, expire_on_commit=False) as session, session.begin():
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Provide one transaction: committed at the end, rolled back on any exception."""
        with Session(self._writer, expire_on_commit=False) as session, session.begin():
            yield session

    def close(self) -> None:
        """Give all connections back."""
        self.engine.dispose()


def change_rows(session: Session, statement: Update | Delete) -> bool:
    """Run a statement that changes or deletes rows; return whether there were any. Objects of the session stay."""
    result = session.execute(statement, execution_options={"synchronize_session": False})
    return cast("CursorResult[Any]", result).rowcount > 0


@contextmanager
def any_text(session: Session) -> Iterator[None]:
    """Read bytes that are no UTF-8 as text that cannot be encoded, instead of an error.

    SQLite takes anything for text, and who checks rows must not stop at one of them.
    """
    connection: Any = session.connection().connection.driver_connection
    if not isinstance(connection, sqlite3.Connection):
        yield
        return
    connection.text_factory = lambda content: content.decode(errors="surrogateescape")
    try:
        yield
    finally:
        connection.text_factory = str


def is_unavailable(error: Exception) -> bool:
    """Return whether the database is away or busy. SQLite says "no such table" by the same class as "locked"."""
    code = getattr(getattr(error, "orig", None), "sqlite_errorcode", None)
    return isinstance(error, UNAVAILABLE) and code != sqlite3.SQLITE_ERROR


def is_away(error: Exception) -> bool:
    """Return whether a PostgreSQL server is restarted or out of reach, so that the same may work a moment later.

    A server that answers and refuses (a wrong password, no such database) does not become another one by waiting.
    """
    cause = getattr(error, "orig", None)
    if isinstance(cause, sqlite3.Error):
        return False
    interrupted = isinstance(error, DBAPIError) and error.connection_invalidated
    refused = any(phrase in str(cause) for phrase in _REFUSALS)
    return (interrupted or isinstance(error, UNAVAILABLE)) and not refused


def open_database(url: str) -> Database:
    """Open (for SQLite: creates the directory of) a database. Nothing is read yet. Raises ValueError on other URLs."""
    address = _with_driver(make_url(url))
    if address.get_backend_name() == "sqlite":
        engine = _open_sqlite(address)
        return Database(engine, engine.execution_options(begin="read"), _writer=engine.execution_options(begin="write"))
    engine = _open_postgresql(address)
    reader = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    return Database(engine, reader, _writer=engine.execution_options(begin="write"))


def open_migrated(url: str, *, must_exist: bool = False) -> Database:
    """Open a database and bring its schema to the newest revision. `must_exist`: only one that a service has made.

    Raises:
        DatabaseNotMade: `must_exist`, and there is none yet; none is made.
        DatabaseAway: it does not answer now.
        DatabaseUnusable: it is none, refuses us, or has another schema (UnknownSchema).
    """
    if must_exist and not is_made(url):
        raise DatabaseNotMade(_("No service has made this database yet."))
    with _explained():
        database = open_database(url)
        migrate(database)
    return database


def is_made(url: str) -> bool:
    """Return whether somebody has brought a schema there; a file that does not exist stays so.

    Raises DatabaseAway, DatabaseUnusable.
    """
    with _explained():
        address = _with_driver(make_url(url))
        if address.get_backend_name() == "sqlite" and not Path(address.database or "").is_file():
            return False
        with closing(open_database(url)) as database:
            return inspect(database.engine).has_table("alembic_version")


@contextmanager
def _explained() -> Iterator[None]:
    """Raise DatabaseAway or DatabaseUnusable for what the driver raises, in its own words.

    SQLAlchemy would add the statement, and its URL errors the password.
    """
    try:
        yield
    except (SQLAlchemyError, ValueError, RuntimeError, OSError) as error:
        cause = getattr(error, "orig", None) or (type(error).__name__ if isinstance(error, SQLAlchemyError) else error)
        reason = str(cause).strip().partition("\n")[0].rstrip(".")
        kind = DatabaseAway if is_away(error) else DatabaseUnusable
        raise kind(
            _("The database cannot be used ({reason}). Is it running, and is DATABASE_URL right?", reason=reason)
        ) from None


def migrate(database: Database) -> None:
    """Make all tables where there are none. Several processes may call it at once: one works, the others wait.

    Raises UnknownSchema where there are other tables, and then has changed nothing.
    """
    from storage import schema  # the models, which not everybody who opens a database needs

    with _migration_connection(database) as connection:
        known = schema.revision_of(connection)
        if known is None:
            schema.create(connection)
        elif known != schema.revision():
            raise UnknownSchema


@contextmanager
def _migration_connection(database: Database) -> Iterator[Connection]:
    """Provide one transaction: DDL is transactional in both databases, so a crash leaves nothing behind."""
    with database._writer.begin() as connection:
        if connection.dialect.name == "postgresql":
            for name in (*SESSION_LIMITS, _IDLE_LIMIT):  # it may take long, and others wait for it
                connection.exec_driver_sql(f"SET LOCAL {name} = 0")
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
        yield connection


def _with_driver(url: URL) -> URL:
    """'postgresql://' and the old 'postgres://' mean psycopg 3 here. Raises ValueError for what is not supported."""
    if url.drivername in ("postgres", "postgresql", "postgresql+psycopg"):
        return url.set(drivername="postgresql+psycopg")
    if url.drivername in ("sqlite", "sqlite+pysqlite"):
        if not url.database or url.database == ":memory:" or url.query:
            raise ValueError(_("a SQLite database must be a plain file: sqlite:///path/to/leaderboard.db"))
        return url
    raise ValueError(
        _("DATABASE_URL must start with sqlite:/// or postgresql://, not {drivername}://", drivername=url.drivername)
    )


def _open_postgresql(url: URL) -> Engine:
    """Limit statements, waits for locks, and sessions that stop inside a transaction."""
    given = {name: value for name, value in KEEPALIVES.items() if name not in url.query}
    # Errors are logged; values may be what is not public.
    engine = create_engine(url, pool_pre_ping=True, hide_parameters=True, connect_args=given)
    event.listen(engine, "connect", _limit_postgresql)
    event.listen(engine, "begin", _begin_postgresql)
    return engine


def _limit_postgresql(connection: Any, _entry: ConnectionPoolEntry) -> None:
    for name, limit in SESSION_LIMITS.items():
        connection.execute(f"SET {name} = '{limit}'")
    connection.commit()


def _begin_postgresql(connection: Connection) -> None:
    """Readers may compute for longer between two statements: they hold no lock that others need."""
    if connection.get_execution_options().get("begin") == "write":
        connection.exec_driver_sql(f"SET LOCAL {_IDLE_LIMIT} = '{IDLE_IN_WRITE}'")


def _open_sqlite(url: URL) -> Engine:
    path = Path(url.database or "")
    path.parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS}, hide_parameters=True)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
    connection.isolation_level = None  # the driver must not open transactions on its own
    _switch_to_wal(connection)
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA cache_size=-65536")  # 64 MiB: the votes of 10,000 entries stay warm


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """Turn WAL on, with retries: unlike other statements it does not wait for locks of another starting process."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
            if mode != "wal":
                raise RuntimeError(
                    _("SQLite cannot use WAL here (journal mode {mode}): DATA_DIR must be on a local disk", mode=mode)
                )
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _begin_sqlite(connection: Connection) -> None:
    reading = connection.get_execution_options().get("begin") == "read"
    connection.exec_driver_sql("PRAGMA query_only=ON" if reading else "PRAGMA query_only=OFF")
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")
