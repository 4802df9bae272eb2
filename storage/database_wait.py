"""Waits for a PostgreSQL server that is away: not up yet, restarted, or out of reach."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy.exc import SQLAlchemyError

from storage.database import DatabaseAway, is_away

AWAY = "database.away"
RETRY_SECONDS = 1.0

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
            reason = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
            log.warning(AWAY, extra={"data": {"reason": reason, "retry_seconds": RETRY_SECONDS}})
        rest(RETRY_SECONDS)
