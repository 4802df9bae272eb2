"""The tables of identity, the same on both databases."""

from __future__ import annotations

import time

import pytest
from sqlalchemy import text

from auth import queries
from auth.crypto import KeyRing, digest
from auth.login_throttle import LoginThrottle, network
from auth.model import TooManyFailures
from storage.database import Database
from tests.factories.services.auth_site import SECRET

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
        assert queries.end_sessions(session, account) == 1
        assert queries.end_sessions(session, account) == 0
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


def test_failures_are_counted_by_kind_and_place_and_forgotten_after_the_window(database: Database) -> None:
    failures = LoginThrottle(database, KeyRing((SECRET,)), kind="token", most=3)
    others = LoginThrottle(database, KeyRing((SECRET,)), kind="sign-in", most=3)
    for _ in range(3):
        failures.check("203.0.113.7")
        failures.add("203.0.113.7")
    with pytest.raises(TooManyFailures) as refusal:
        failures.check("203.0.113.7")
    assert 890 < refusal.value.retry_after <= 900
    with pytest.raises(TooManyFailures):
        failures.add("203.0.113.7")
    with database.read() as session:
        kept = session.execute(text("SELECT count(*) FROM auth_failures")).scalar_one()
    assert kept == 3, "what is refused unseen lengthens no lock"
    failures.check("203.0.113.8")
    others.check("203.0.113.7")
    with database.write() as session:
        session.execute(text("UPDATE auth_failures SET at = at - 901"))
    failures.check("203.0.113.7")
    failures.add("203.0.113.7")
    with database.read() as session:
        assert session.execute(text("SELECT count(*) FROM auth_failures")).scalar_one() == 1


def test_the_window_is_measured_by_the_databases_clock(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    failures = LoginThrottle(database, KeyRing((SECRET,)), kind="token", most=1)
    failures.add("203.0.113.7")
    monkeypatch.setattr(time, "time", lambda: 4e9)
    with pytest.raises(TooManyFailures):
        failures.check("203.0.113.7")


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
