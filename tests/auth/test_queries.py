"""The tables of identity, the same on both databases."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from auth import queries
from auth.crypto import digest
from auth.limits.rate_limit import network
from storage.database import Database

ISSUER = "https://issuer.example"


def an_account(database: Database, subject: str = "1", *, name: str = "alice") -> str:
    with database.write() as session:
        return queries.upsert_account(
            session,
            ISSUER,
            subject=subject,
            name=name,
            organisations=[{"id": "o", "name": "lab", "role": ""}],
            created_at=None,
        ).id


def test_a_session_lives_until_its_end_its_expiry_or_its_neglect(database: Database) -> None:
    account = an_account(database)
    with database.write() as session:
        queries.add_session(session, digest("a"), sign_in_sha256=digest("state"), account_id=account, seconds=100.0)
    with database.read() as session:
        found = queries.live_session(session, digest("a"), idle_seconds=50.0)
        assert found is not None
        assert found[0].id == account
        assert queries.live_session(session, digest("b"), idle_seconds=50.0) is None
        assert queries.live_session(session, digest("a"), idle_seconds=-1.0) is None
    with database.write() as session:
        session.execute(text("UPDATE sessions SET last_seen_at = last_seen_at - 60"))
        assert queries.live_session(session, digest("a"), idle_seconds=50.0) is None
        queries.touch_session(session, digest("a"))
        assert queries.live_session(session, digest("a"), idle_seconds=50.0) is not None
        session.execute(text("UPDATE sessions SET created_at = created_at - 101, expires_at = expires_at - 101"))
        assert queries.live_session(session, digest("a"), idle_seconds=50.0) is None
        assert queries.end_sessions(session, account)
        assert not queries.end_sessions(session, account)
    with database.read() as session:
        assert queries.live_session(session, digest("a"), idle_seconds=50.0) is None


def test_a_name_is_bound_once(database: Database) -> None:
    first, second = an_account(database, "1"), an_account(database, "2", name="bob")
    with database.write() as session:
        assert queries.bind_names(session, ISSUER, names={"alice", "root"}, account_id=first) == ["alice", "root"]
        assert queries.bind_names(session, ISSUER, names={"alice", "bob"}, account_id=second) == ["bob"]
        assert queries.bind_names(session, ISSUER, names=(), account_id=second) == []
        assert queries.bound_names(session, first) == {"alice", "root"}
        assert queries.bound_names(session, second) == {"bob"}


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("testclient", "testclient"),
        ("", ""),
    ],
)
def test_an_address_stands_for_one_subscriber(address: str, expected: str) -> None:
    assert network(address) == expected
