"""What a submitter may ask for about being seen: to stay unnamed until a day, and to publish the entry later."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from identity import Identity, NotAllowed, Role, require
from storage import audit, pace, visibility
from storage.clock import iso
from storage.database import Database
from storage.pace import DAY
from storage.visibility import PLAIN, Shown
from submissions import queries
from submissions.metadata import FieldProblem, Metadata, MetadataRejected, yes_or_no

FIELDS = ("anonymous_until", "published")
CONFIRMATION = "accept_unreadable"
"""The field in which a sender says that a file is meant although most of its votes cannot be read."""
MOST_DAYS = 365
"""That somebody may stay unnamed, from the submission on."""


def parse(raw: Mapping[str, object]) -> tuple[Metadata, Shown]:
    """A form: the description, and how the entry is to be shown.

    Raises:
        MetadataRejected: with every problem, each naming its field.
    """
    problems: list[FieldProblem] = []
    description = {name: value for name, value in raw.items() if name not in (*FIELDS, CONFIRMATION)}
    read: list[Any] = []
    for reader in (
        lambda: day(raw.get("anonymous_until")),
        lambda: yes_or_no("published", raw.get("published"), default=True),
        lambda: Metadata.parse(description),
    ):
        try:
            read.append(reader())
        except MetadataRejected as rejected:
            problems.extend(rejected.problems)
    if problems:
        raise MetadataRejected(tuple(problems))
    until, published, metadata = read
    return metadata, Shown(until, published)


def confirmed(raw: Mapping[str, object]) -> bool:
    """Whether a form says that its file is meant although most votes cannot be read.

    Raises:
        MetadataRejected: it says neither yes nor no.
    """
    return yes_or_no(CONFIRMATION, raw.get(CONFIRMATION), default=False)


def day(value: object) -> float | None:
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
        raise _rejected("not-a-day", "expected a day such as 2027-01-31.") from None


def check(wanted: Shown, who: Identity, now: float, made_at: float) -> None:
    """Raises MetadataRejected for a day that has passed or is too late, and where nobody could publish later."""
    if wanted != PLAIN and not _identifiable(who):
        raise _rejected("no-sign-in", "without sign-in nobody could publish the entry later.")
    if wanted.anonymous_until is None:
        return
    latest = made_at + MOST_DAYS * DAY
    if not now < wanted.anonymous_until <= latest:
        raise _rejected("not-in-range", f"choose a day from tomorrow to {iso(latest)[:10]} (at most {MOST_DAYS} days).")


def owns(who: Identity, owner: str) -> bool:
    """Whether somebody is the owner. Where everybody has one account, nobody can show that something is theirs."""
    return who.account == owner and _identifiable(who)


def publish(database: Database, benchmark: str, who: Identity, submission: str) -> bool:
    """Put one's entry on the board, for good; False where it is there. Twice is as good as once.

    Raises:
        NotSignedIn, NotAllowed: nobody is signed in, or the entry is another's.
        LookupError: there is no such submission that this person may know of.
    """
    with database.write() as session:
        _theirs(session, benchmark, who, submission)
        return visibility.publish(session, submission, by="owner", via=who.via)


def stay_anonymous(database: Database, benchmark: str, who: Identity, submission: str, until: float | None) -> bool:
    """Move the end of one's anonymity, or end it now (None); False where it is so already. Once over it stays over.

    Raises:
        NotSignedIn, NotAllowed, LookupError: as `publish`.
        MetadataRejected: the day has passed, is too late, or the owner is named already.
        TooOften: it was moved as often as it may be in a day.
    """
    with database.write() as session:
        found = _theirs(session, benchmark, who, submission)
        if until is None:
            return visibility.reveal(session, submission, by="owner", via=who.via)
        if visibility.of(session, submission).anonymous_until is None:
            raise _rejected("named-already", "the entry has been shown with your name; old boards stay as they are.")
        now = queries.now(session)
        check(Shown(until), who, now, found.created_at)
        moved = visibility.postpone(session, submission, until, to=iso(until), by="owner", via=who.via)
        if moved:  # from here on nobody else moves it: the earlier ones are counted, and this one taken back if need be
            _, *earlier = audit.about(session, [submission], [visibility.ANONYMOUS])
            pace.check("The day until which an entry is unnamed", (one.at for one in earlier), now)
        return moved


def _theirs(session: Any, benchmark: str, who: Identity, submission: str) -> queries.Described:
    require(who, Role.SUBMITTER)
    found = queries.described(session, benchmark, submission)
    if found is None or not (owns(who, found.owner) or visibility.of(session, submission).published):
        raise LookupError("There is no submission with this id.")
    if not owns(who, found.owner):
        raise NotAllowed("This needs the entry's owner.", who)
    return found


def _identifiable(who: Identity) -> bool:
    return who.via in ("session", "token") or (who.via == "local" and Role.MAINTAINER in who.roles)


def _rejected(code: str, sentence: str) -> MetadataRejected:
    return MetadataRejected((FieldProblem("anonymous_until", code, f"anonymous_until: {sentence}"),))
