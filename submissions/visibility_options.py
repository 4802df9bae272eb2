"""Visibility options of a submission: anonymous until a date, or unpublished."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from auth import Forbidden, Identity, Role, require
from common.refused import FieldProblem
from storage import visibility
from storage.clock import iso, read_clock
from storage.database import Database, Session
from storage.integrity import audit
from storage.limits import sliding_window
from storage.limits.sliding_window import DAY
from storage.visibility import PLAIN, EntryVisibility
from submissions import queries
from submissions.metadata import Metadata, MetadataRejected, parse_metadata, yes_or_no
from submissions.refusals import UnknownSubmission
from vlrb.common.messages import _

FIELDS = ("anonymous_until", "published")
CONFIRMATION = "accept_unreadable"
"""The field in which a sender says that a file is meant although most of its votes cannot be read."""
MOST_DAYS = 365
"""Check that a submission may be anonymous."""


def parse_form(raw: Mapping[str, object]) -> tuple[Metadata, EntryVisibility]:
    """Return a form: the description, and how the entry is to be shown.

    Raises:
        MetadataRejected: with every problem, each naming its field.
    """
    problems: list[FieldProblem] = []
    description = {name: value for name, value in raw.items() if name not in (*FIELDS, CONFIRMATION)}
    read: list[Any] = []
    for reader in (
        lambda: parse_day(raw.get("anonymous_until")),
        lambda: yes_or_no("published", raw.get("published"), default=True),
        lambda: parse_metadata(description),
    ):
        try:
            read.append(reader())
        except MetadataRejected as rejected:
            problems.extend(rejected.problems)
    if problems:
        raise MetadataRejected(tuple(problems))
    until, published, metadata = read
    return metadata, EntryVisibility(until, published)


def confirmed(raw: Mapping[str, object]) -> bool:
    """Return whether a form says that its file is meant although most votes cannot be read.

    Raises:
        MetadataRejected: it says neither yes nor no.
    """
    return yes_or_no(CONFIRMATION, raw.get(CONFIRMATION), default=False)


def parse_day(value: object) -> float | None:
    """Midnight UTC of a day such as 2027-01-31, in seconds since 1970; None for nothing.

    Raises:
        MetadataRejected: it is no day.
    """
    text = value.strip() if isinstance(value, str) else value
    if text is None or text == "":
        return None
    try:
        return datetime.strptime(str(text)[:40], "%Y-%m-%d").replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise _day_error("not-a-day", _("expected a day such as 2027-01-31.")) from None


def validate(wanted: EntryVisibility, user: Identity, *, now: float, made_at: float) -> None:
    """Raise MetadataRejected for a day that has passed or is too late, and where nobody could publish later."""
    if wanted != PLAIN and not _has_identity(user):
        raise _day_error("no-sign-in", _("without sign-in nobody could publish the entry later."))
    if wanted.anonymous_until is None:
        return
    latest = made_at + MOST_DAYS * DAY
    if not now < wanted.anonymous_until <= latest:
        raise _day_error(
            "not-in-range",
            _(
                "choose a day from tomorrow to {latest} (at most {most_days} days).",
                latest=iso(latest)[:10],
                most_days=MOST_DAYS,
            ),
        )


def is_owner(user: Identity, owner: str) -> bool:
    """Return whether somebody is the owner. Where everybody has one account, nobody can show that something is
    theirs."""
    return user.account == owner and _has_identity(user)


def publish(database: Database, benchmark: str, *, user: Identity, submission: str) -> bool:
    """Put one's entry on the board, for good; False where it is there. Twice is as good as once.

    Raises:
        Unauthenticated, Forbidden: nobody is signed in, or the entry is another's.
        UnknownSubmission: there is no such submission that this person may know of.
    """
    with database.write() as session:
        require_owned(session, benchmark, user=user, submission=submission)
        return visibility.publish(session, submission, by="owner", via=user.auth_method)


def set_anonymous_until(
    database: Database, benchmark: str, *, user: Identity, submission: str, until: float | None
) -> bool:
    """Move the end of one's anonymity, or end it now (None); False where nothing changes. Once over it stays over.

    Raises:
        Unauthenticated, Forbidden, UnknownSubmission: as `publish`.
        MetadataRejected: the day has passed, is too late, or the owner is named already.
        RateLimited: it was moved as often as it may be in a day.
    """
    with database.write() as session:
        result = require_owned(session, benchmark, user=user, submission=submission)
        if until is None:
            return visibility.end_anonymity(session, submission, by="owner", via=user.auth_method)
        if result.anonymous_until is None:
            raise _day_error(
                "named-already", _("the entry has been shown with your name; old boards stay as they are.")
            )
        now = read_clock(session)
        validate(EntryVisibility(until), user, now=now, made_at=result.created_at)
        moved = visibility.extend_anonymity(
            session, submission, until=until, to=iso(until), by="owner", via=user.auth_method
        )
        if moved:  # from here on nobody else moves it: the earlier ones are counted, and this one taken back if need be
            earlier = audit.newest(session, [visibility.ANONYMOUS], subjects=[submission])[1:]
            sliding_window.check(
                _("The day until which an entry is anonymous"), (change.at for change in earlier), now=now
            )
        return moved


def require_owned(session: Session, benchmark: str, *, user: Identity, submission: str) -> queries.SubmissionFacts:
    """Return what an owner's submission is called; raises what `publish` raises."""
    require(user, Role.SUBMITTER)
    submission_facts = queries.described(session, benchmark, submission=submission)
    if submission_facts is None or not (
        is_owner(user, submission_facts.owner) or submission_facts.held_back_at is None
    ):
        raise UnknownSubmission
    if not is_owner(user, submission_facts.owner):
        raise Forbidden(_("This needs the entry's owner."), user)
    return submission_facts


def _has_identity(user: Identity) -> bool:
    return user.auth_method in ("session", "token") or (user.auth_method == "local" and Role.MAINTAINER in user.roles)


def _day_error(code: str, sentence: str) -> MetadataRejected:
    message = _("{field}: {problem}", field="anonymous_until", problem=sentence)
    return MetadataRejected((FieldProblem("anonymous_until", code, message=message),))
