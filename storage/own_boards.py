"""Demo and real boards apart: they never share a database, and with it an audit chain."""

from __future__ import annotations

from sqlalchemy import select

from storage.database import Database, DatabaseUnusable
from storage.models.core import RegisteredLabelSet, Submission
from vlrb.benchmarks.spec import DEMO
from vlrb.common.messages import _


class OtherBoards(DatabaseUnusable):
    """The database holds the demo's board where real ones are served, or the reverse; says what to do."""


def require_own_boards(database: Database, *, demo: bool) -> None:
    """Raise OtherBoards where all boards of the database are such as are not served. `demo`: what is served.

    A database that holds both already is opened: its chain has them.
    """
    with database.read() as session:
        known = set(session.scalars(select(RegisteredLabelSet.benchmark).union(select(Submission.benchmark))))
    if not demo and known == {DEMO}:
        raise OtherBoards(
            _(
                "The database holds the demo's board, and LABELS names real labels. No board was opened. Name another "
                "DATABASE_URL or DATA_DIR; where it came from REPLICA_URL, another one of these too."
            )
        )
    if demo and known and DEMO not in known:
        raise OtherBoards(
            _(
                "The database holds boards of {names}, and LABELS is empty, which means the demo. No board was opened. "
                "Set LABELS as it was, or name another DATABASE_URL for the demo.",
                names=", ".join(sorted(known)),
            )
        )
