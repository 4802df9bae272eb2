"""SQL of entries for maintainers: one query behind page, command line and REST."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, NamedTuple

from pydantic import Field
from sqlalchemy import ColumnElement, case, exists, func, or_, select
from sqlalchemy.orm import outerjoin

from maintenance.registry import ParamInfo
from maintenance.types import Conflict
from storage.database import LARGEST, Session
from storage.models.core import Account, BoardState, Score, Submission
from storage.models.queue import Job, State
from storage.visibility import REJECTED, UNPUBLISHED, WAITING

STATES = {
    "shown": "is on the board",
    "queued": "waits to be scored",
    "failed": "could not be scored",
    "unpublished": "is not published by its owner",
    "waiting": "waits for a maintainer",
    "rejected": "was rejected",
    "hidden": "is hidden",
    "withdrawn": "is withdrawn",
}
"""State of an entry -> what it does, to follow "it"."""
SORTS = {
    "newest": (Submission.created_at.desc(),),
    "oldest": (Submission.created_at,),
    "name": (func.lower(Submission.model), Submission.version),
    "owner": (func.lower(Account.name), Submission.owner),
}
_JOINED = outerjoin(Submission, Account, Account.id == Submission.owner)
_SEARCHED = (Submission.id, Submission.model, Submission.version, Submission.owner, Account.name)


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """Which entries, and in which order."""

    search: Annotated[
        str, ParamInfo(option="--search", metavar="TEXT", help="only those with this in model, owner or id")
    ] = ""
    state: Annotated[str, ParamInfo(option="--state", choices=tuple(STATES), help="only those in this state")] = ""
    owner: Annotated[str, ParamInfo(option="--owner", metavar="ACCOUNT", help="only those of this id or name")] = ""
    since: Annotated[
        str, ParamInfo("From", "2026-11-01", option="--since", metavar="DAY", help="submitted on this day or later")
    ] = ""
    until: Annotated[
        str, ParamInfo("Until", "2026-11-30", option="--until", metavar="DAY", help="submitted on this day or earlier")
    ] = ""
    sort: Annotated[str, ParamInfo(option="--sort", choices=tuple(SORTS), help="their order (newest)")] = "newest"
    page: Annotated[int, Field(ge=1, le=LARGEST), ParamInfo(option="--page", metavar="N", help="which page (1)")] = 1


class EntryRow(NamedTuple):
    """An entry in a list. `standing`: its state, to follow "it"; `submitted_at`: seconds since 1970, UTC."""

    id: str
    model: str
    version: str
    owner: str
    owner_name: str | None  # None: an account without a name, as that of a machine without sign-in
    submitted_at: float
    standing: str
    verified: bool = False
    noted: bool = False  # in public


def search(
    session: Session, benchmark: str, *, filters: EntryFilter, limit: int, offset: int = 0
) -> tuple[list[EntryRow], int]:
    """Return entries that match, and how many there are. Raises Conflict for what is no state, order or day."""
    if filters.sort not in SORTS:
        raise Conflict("bad-sort", f"The order is one of {', '.join(SORTS)}.")
    columns = (Submission.id, Submission.model, Submission.version, Submission.owner, Account.name)
    held = (Submission.created_at, _state(), Submission.verified_at, Submission.flag)
    matching = list(_matching(benchmark, filters))
    wanted = select(*columns, *held).select_from(_JOINED).where(*matching)
    rows = session.execute(wanted.order_by(*SORTS[filters.sort], Submission.id).limit(limit).offset(offset))
    number = session.execute(select(func.count()).select_from(_JOINED).where(*matching)).scalar_one()
    return [_entry_row(row) for row in rows], number


def standing(session: Session, *, entry: str) -> str:
    """Return where an entry is, after "it": on the board, or why not."""
    wanted = select(_state()).select_from(_JOINED).where(Submission.id == entry)
    return STATES[session.execute(wanted).scalar_one()]


def _entry_row(row: Sequence[Any]) -> EntryRow:
    *described, state, verified_at, flag = row
    values = dict(zip(EntryRow._fields, described, strict=False))
    return EntryRow(**values, standing=STATES[state], verified=verified_at is not None, noted=bool(flag))


def _matching(benchmark: str, filters: EntryFilter) -> Iterator[ColumnElement[bool]]:
    yield Submission.benchmark == benchmark
    if text := filters.search.strip():
        yield or_(*(column.icontains(text, autoescape=True) for column in _SEARCHED))
    if filters.state:
        if filters.state not in STATES:
            raise Conflict("bad-state", f"The state is one of {', '.join(STATES)}.")
        yield _state() == filters.state
    if owner := filters.owner.strip():
        yield or_(Submission.owner == owner, func.lower(Account.name) == owner.lower())
    if filters.since:
        yield Submission.created_at >= _day(filters.since)
    if filters.until:
        yield Submission.created_at < _day(filters.until) + 86_400


def _day(text: str) -> float:
    """Return the beginning of a day in seconds since 1970, UTC."""
    try:
        return datetime.strptime(text.strip(), "%Y-%m-%d").replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise Conflict("bad-day", "Write a day as 2026-11-27.") from None


def _state() -> ColumnElement[str]:
    """Return the state of a submission: what was decided about it first, then what became of it."""
    return case(
        (Submission.withdrawn_at.is_not(None), "withdrawn"),
        (Submission.hidden_at.is_not(None), "hidden"),
        (Submission.approval == REJECTED, "rejected"),
        (Submission.approval == WAITING, "waiting"),
        (UNPUBLISHED, "unpublished"),
        (exists().where(Score.submission_id == Submission.id, _under_board(Score)), "shown"),
        (
            exists().where(Job.submission_id == Submission.id, _under_board(Job), Job.state == State.FAILED.value),
            "failed",
        ),
        else_="queued",
    )


def _under_board(table: type[Job] | type[Score]) -> ColumnElement[bool]:
    """Return whether a job or score is under what the board of its benchmark shows."""
    return exists().where(
        BoardState.benchmark == table.benchmark,
        BoardState.label_revision == table.label_revision,
        BoardState.scorer_version == table.scorer_version,
    )
