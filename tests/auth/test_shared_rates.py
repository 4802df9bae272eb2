"""Two web processes on one PostgreSQL let through what one would; without the database each counts alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from auth.crypto import KeyRing
from auth.limits.rate_limit import RateLimiter
from auth.limits.shared_rates import SharedRates
from auth.service import AuthService
from settings import Settings
from storage.database import Database
from storage.models.operations import RateUsage
from tests.databases import new_database, postgres_cluster
from tests.postgres import Cluster

__all__ = ["postgres_cluster"]
pytestmark = pytest.mark.postgres
SEAL = KeyRing(("one secret",))


@pytest.fixture
def database(postgres_cluster: Cluster) -> Iterator[Database]:
    opened = new_database(postgres_cluster.new_database())
    yield opened
    opened.close()


def process(database: Database, most: int) -> tuple[SharedRates, RateLimiter]:
    """Return the limits of a web process whose clock began at another time, and stands."""
    limiter, rates = RateLimiter(most, lambda: float(most)), SharedRates(database, SEAL)
    rates.add("requests", limiter)
    return rates, limiter


def used(limiter: RateLimiter, place: str, *, most: int) -> int:
    return sum(limiter.retry_after(place) is None for _ in range(most))


def test_what_one_process_counted_is_counted_by_the_others(database: Database) -> None:
    first, second = process(database, 60), process(database, 60)
    assert used(first[1], "192.0.2.1", most=50) == 50
    assert used(second[1], "192.0.2.1", most=1) == 1
    for rates, _ in (first, second, first):
        rates.exchange()
    left = used(second[1], "192.0.2.1", most=60)
    assert 5 <= left <= 12, "sixty in all, and what a minute gives back meanwhile"
    assert used(second[1], "192.0.2.9", most=60) == 60, "another place"
    with database.read() as session:
        places = [row.place for row in session.query(RateUsage)]
    assert places
    assert not any("192.0.2" in place for place in places)


def without_sign_in(database: Database, secret: str) -> tuple[SharedRates, RateLimiter]:
    """Return the limits of a web process that serves everybody without sign-in."""
    environ = {"INSECURE_ALLOW_PUBLIC": "1", "HOST": "0.0.0.0", "SESSION_SECRET": secret}
    auth = AuthService.create(database, Settings.from_env(environ).identity)
    limiter, rates = RateLimiter(60, lambda: 60.0), SharedRates(database, auth.seal)
    rates.add("requests", limiter)
    return rates, limiter


@pytest.mark.parametrize(("secret", "shared"), [("s" * 40, True), ("", False)])
def test_without_sign_in_a_common_session_secret_shares_the_limits(
    database: Database, secret: str, shared: bool
) -> None:
    first, second = without_sign_in(database, secret), without_sign_in(database, secret)
    assert used(first[1], "192.0.2.1", most=60) == 60
    used(second[1], "192.0.2.1", most=1)
    for rates, _ in (first, second):
        rates.exchange()
    assert (used(second[1], "192.0.2.1", most=50) < 5) is shared


def test_places_that_may_do_everything_again_are_forgotten(database: Database) -> None:
    rates, limiter = process(database, 60)
    used(limiter, "192.0.2.1", most=1)
    rates.exchange()
    with database.write() as session:
        session.query(RateUsage).update({RateUsage.used_until: 0.0})
    used(limiter, "192.0.2.2", most=1)
    rates.exchange()
    with database.read() as session:
        assert session.query(RateUsage).count() == 1
