"""Usage of rate limits by all web processes on one PostgreSQL: what each has counted is added up, place by place."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import text

from storage.database import Database

_ADD = text(
    "INSERT INTO rate_usage (place, used_until) "
    "SELECT place, :now + seconds FROM unnest(CAST(:places AS text[]), CAST(:seconds AS double precision[])) "
    "AS used (place, seconds) ORDER BY place "
    "ON CONFLICT (place) DO UPDATE SET used_until = "
    "greatest(rate_usage.used_until, :now) + excluded.used_until - :now "
    "RETURNING place, used_until - :now"
)
_NOW = text("SELECT CAST(extract(epoch FROM clock_timestamp()) AS double precision)")
_FORGET = text("DELETE FROM rate_usage WHERE used_until < :now - 60")


def exchange(database: Database, used: Mapping[str, float]) -> dict[str, float]:
    """Add what was used since the last time, in seconds of a limit's pace; return how far ahead each place is now."""
    with database.write() as session:
        now = session.execute(_NOW).scalar_one()
        session.execute(_FORGET, {"now": now})
        given = {"now": now, "places": list(used), "seconds": list(used.values())}
        return {str(place): float(ahead) for place, ahead in session.execute(_ADD, given)}
