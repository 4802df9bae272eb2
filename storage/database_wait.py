"""A PostgreSQL server that is away: not up yet, restarted, or out of reach. It is waited for, and logged once a
minute."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

import psycopg
from sqlalchemy.exc import SQLAlchemyError

from common.logging_setup import SAME_AS
from storage.database import DatabaseAway, is_away

AWAY = "database.away"
RETRY_SECONDS = 1.0
_AWAY_STATES = ("08", "57P")  # of the connection; shut down, crashed, starting up

log = logging.getLogger(__name__)
_Result = TypeVar("_Result")


def retry_while_away(action: Callable[[], _Result], rest: Callable[[float], object]) -> _Result:
    """Repeat an action until the database does not interrupt it, and return its result.

    The action must be harmless when done twice: nobody knows whether an interrupted commit was made. `rest` waits so
    many seconds, and may raise to give up. Other errors are raised at once.
    """
    while True:
        try:
            return action()
        except (DatabaseAway, SQLAlchemyError) as error:
            if not isinstance(error, DatabaseAway) and not is_away(error):
                raise
            _log(error)
        rest(RETRY_SECONDS)


def log_away(error: Exception) -> bool:
    """Log without a traceback that the database is away; False, and nothing is logged, where the error is another.

    A statement that a server refuses which answers (a lock, a time limit) is another: its traceback says which one.
    """
    cause = getattr(error, "orig", None) or error
    state = getattr(cause, "sqlstate", None) or ""
    lost = isinstance(error, DatabaseAway | psycopg.OperationalError) or is_away(error)
    if not lost or (state and not state.startswith(_AWAY_STATES)):
        return False
    _log(error)
    return True


def _log(error: Exception) -> None:
    """Log one line a minute, whichever thread notices it, and whatever words the driver has."""
    reason = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
    log.warning(AWAY, extra={"data": {"reason": reason}, SAME_AS: AWAY})
