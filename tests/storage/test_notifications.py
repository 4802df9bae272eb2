"""Addresses and e-mails on both databases: what is queued is claimed once, tried again later, and ends."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from sqlalchemy import insert, text

from storage import notifications
from storage.database import Database
from storage.integrity import audit
from storage.jobs.leases import MAX_ATTEMPTS
from storage.models.core import Account
from storage.models.queue import EmailSubscription
from tests.databases import submitted, with_labels

ACCOUNT, KEY = "aowner000000", "a" * 64
NEW = {"id": "s" * 43, "address": b"sealed", "address_key": KEY, "language": "en"}


@pytest.fixture
def subscribed(database: Database) -> Database:
    """Return an account with an entry and a confirmed address."""
    with_labels(database)
    times = {"confirmed_at": 1.0, "first_seen_at": 1.0, "last_seen_at": 1.0}
    with database.write() as session:
        session.execute(
            insert(Account).values(id=ACCOUNT, issuer="i", subject="s", name="alice", organisations=[], **times)
        )
        notifications.subscribe(session, ACCOUNT, **NEW)
        notifications.confirm(session, NEW["id"])
    return database


def _news(database: Database) -> Sequence[EmailSubscription]:
    with database.read() as session:
        return notifications.news(session, ("rescore.applied",))


def test_an_event_about_an_own_entry_or_about_everybody_is_news_until_it_is_queued(subscribed: Database) -> None:
    (own,) = submitted(subscribed, 1, owner=ACCOUNT)
    (other,) = submitted(subscribed, 1, owner="astranger000", content_sha256="b" * 64)
    for kind, facts in (("entry.hidden", {"entry": other}), ("entry.hidden", {"entry": own}), ("rescore.applied", {})):
        with subscribed.write() as session:
            seq = audit.append(session, kind, data=facts)
        waiting = _news(subscribed)
        assert len(waiting) == (facts.get("entry") != other)
        for one in waiting:
            with subscribed.write() as session:
                assert notifications.queue(session, one, through=seq, lines=[], address_key=KEY)
                assert not notifications.queue(session, one, through=seq, lines=[], address_key=KEY)
        assert _news(subscribed) == []


def test_an_e_mail_is_tried_later_and_later_and_then_failed(subscribed: Database) -> None:
    for attempt in range(1, MAX_ATTEMPTS + 1):
        with subscribed.write() as session:
            claim = notifications.claim(session, "web", lease_seconds=60.0)
            assert claim is not None and claim.attempts == attempt
            assert notifications.claim(session, "web", lease_seconds=60.0) is None
            notifications.fail(session, claim, why="later", retry=True)
            assert not notifications.any_due(session)
            session.execute(text("UPDATE queue SET due_at = 1.0"))
    with subscribed.write() as session:
        assert notifications.last_failed(session, NEW["id"])
        assert notifications.requests(session, ACCOUNT, address_key=KEY) == (1, 1)
        notifications.unsubscribe(session, ACCOUNT)
        assert notifications.requests(session, ACCOUNT, address_key=KEY) == (1, 1), (
            "a stop does not make room for more requests"
        )
        session.execute(text("UPDATE queue SET created_at = 1.0"))
        notifications.subscribe(session, ACCOUNT, **NEW)
        assert session.scalar(text("SELECT count(*) FROM queue")) == 1, "what is older than a month is forgotten"
        session.execute(text("DELETE FROM accounts"))
        assert notifications.requests(session, ACCOUNT, address_key=KEY) == (0, 0)
