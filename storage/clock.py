"""Database clock. Leases, order and dates use it alone, so a machine with a wrong clock does no harm.

Instants are kept as seconds since 1970-01-01 UTC (double): both databases compare and add them in the same way.
"""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Double, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import Session
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import FunctionElement


class database_now(FunctionElement[float]):
    """Seconds since 1970-01-01 UTC on the database's clock, now (not at the start of the transaction)."""

    type = Double()
    inherit_cache = True
    name = "database_now"


@compiles(database_now, "sqlite")
def _sqlite(element: database_now, compiler: SQLCompiler, **options: Any) -> str:
    # 2440587.5 is the Julian day of 1970-01-01; SQLite's 'now' has milliseconds (unixepoch('subsec') needs 3.42).
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(database_now, "postgresql")
def _postgresql(element: database_now, compiler: SQLCompiler, **options: Any) -> str:
    return "CAST(extract(epoch FROM clock_timestamp()) AS double precision)"


def read_clock(session: Session) -> float:
    """Return seconds since 1970 on the database's clock, now."""
    return session.execute(select(database_now())).scalar_one()


def iso(seconds: float) -> str:
    """Return an instant as people and JSON see it: '2026-11-21T22:00:00Z'."""
    # strftime would take five times as long, and a snapshot writes thousands.
    return datetime.fromtimestamp(int(seconds), UTC).isoformat().removesuffix("+00:00") + "Z"


def exact(seconds: float) -> str:
    """Return an instant with all that the databases' clocks know of it: '2026-11-21T22:00:00.123456Z'."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def instant(text: str) -> float:
    """Return seconds since 1970 of what `iso` or `exact` wrote. Raises ValueError for anything else."""
    return datetime.fromisoformat(text).timestamp()


def minute(at: float | str) -> str:
    """Return an instant as every page shows it, '2026-11-21 22:00 UTC'; from seconds since 1970, or from what `iso`
    wrote."""
    text = at if isinstance(at, str) else iso(at)
    return f"{text[:10]} {text[11:16]} UTC"
