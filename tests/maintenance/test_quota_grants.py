"""Submissions beyond the quota: granted with a reason, used when it is used up, given back where the service failed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import func, select, update

from maintenance.actions import quota_grants as actions_quota_grants
from maintenance.types import Conflict, NotFound
from storage.database import Database
from storage.integrity import audit
from storage.limits import quota_grants as storage_quota_grants
from storage.models.core import Account, Submission
from storage.models.queue import Job, State
from submissions.metadata import Metadata
from submissions.quota import QuotaPolicy, QuotaUsed
from submissions.service import Accepted
from tests.databases import with_labels
from tests.factories.accounts import MAINTAINER
from tests.factories.actions import by
from tests.factories.refusals import refuses
from tests.factories.submission_service import BENCHMARK, SubmissionSetup, make_setup, native, person

ANN = person("aann00000000")


@pytest.fixture
def setup(database: Database, tmp_path: Path) -> SubmissionSetup:
    with_labels(database, "r1", benchmark=BENCHMARK)
    with database.write() as session:
        about = {"issuer": "https://id.example", "subject": "1", "name": "ann", "organisations": []}
        session.add(Account(id=ANN.account, **about, confirmed_at=1.0, first_seen_at=1.0, last_seen_at=1.0))
    (tmp_path / "setup").mkdir()
    return make_setup(database, tmp_path / "setup", policy=QuotaPolicy(per_day=1, per_year=12))


def _submit(setup: SubmissionSetup, number: int) -> Accepted:
    file = setup.arrive(native(setup.items) + b"\n" * number)
    return setup.intake.submit(file, Metadata.parse({"model": f"Judge {number}"}), ANN)


def _grant(database: Database, extra: int = 1) -> int:
    assert actions_quota_grants.grant(
        by(database, MAINTAINER), ANN.account, extra=extra, reason="a camera-ready deadline"
    ).changed
    return actions_quota_grants.listing(by(database, MAINTAINER))[0].id


def test_a_grant_is_used_once_the_quota_is_and_takes_nothing_from_it(
    setup: SubmissionSetup, database: Database
) -> None:
    grant = _grant(database)
    _submit(setup, 1)  # the quota's own
    assert actions_quota_grants.listing(by(database, MAINTAINER))[0].left == 1
    assert setup.intake.allowance(ANN).next_at is None
    _submit(setup, 2)
    assert (
        actions_quota_grants.listing(by(database, MAINTAINER))[0].used,
        actions_quota_grants.listing(by(database, MAINTAINER))[0].left,
    ) == (
        1,
        0,
    )
    with pytest.raises(QuotaUsed):
        _submit(setup, 3)
    assert setup.intake.allowance(ANN).next_at is not None
    with database.write() as session:  # the service fails to score it
        second = session.scalars(select(Submission.id).where(Submission.model == "Judge 2")).one()
        failed = {"state": State.FAILED.value, "outcome": "a fault", "finished_at": 1.0}
        session.execute(update(Job).where(Job.submission_id == second).values(**failed))
    _submit(setup, 3)
    with pytest.raises(NotFound):
        actions_quota_grants.revoke(by(database, MAINTAINER), grant + 1, reason="no")
    with database.read() as session:
        assert audit.verify(session) is None


def test_five_at_once_use_a_grant_of_two_twice(setup: SubmissionSetup, database: Database) -> None:
    _grant(database, extra=2)
    _submit(setup, 0)
    files = [setup.arrive(native(setup.items) + b"\n" * number) for number in range(1, 6)]
    barrier = Barrier(len(files))

    def attempt(number: int) -> bool:
        barrier.wait()
        try:
            named = Metadata.parse({"model": f"Judge {number + 1}"})
            return not setup.intake.submit(files[number], named, ANN).duplicate
        except QuotaUsed:
            return False

    with ThreadPoolExecutor(len(files)) as pool:
        taken = list(pool.map(attempt, range(len(files))))
    assert sum(taken) == 2
    with database.read() as session:
        assert session.execute(select(func.count()).select_from(Submission)).scalar_one() == 3
        assert storage_quota_grants.available(session, ANN.account) is None


def test_a_double_click_grants_once_and_a_used_one_can_be_given_again(
    setup: SubmissionSetup, database: Database
) -> None:
    def click(_: int) -> bool:
        return actions_quota_grants.grant(
            by(database, MAINTAINER), ANN.account, extra=1, reason="a camera-ready deadline"
        ).changed

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(click, range(4))) == 1
    assert len(actions_quota_grants.listing(by(database, MAINTAINER))) == 1
    assert actions_quota_grants.grant(
        by(database, MAINTAINER), ANN.account, extra=2, reason="a camera-ready deadline"
    ).changed, "another number"
    for number in (1, 2):  # the quota's own, and the grant's
        _submit(setup, number)
    assert click(0)


def test_a_revoked_grant_is_worth_nothing_and_one_is_given_to_an_account_that_exists(
    setup: SubmissionSetup, database: Database
) -> None:
    grant = _grant(database, extra=3)
    assert actions_quota_grants.revoke(by(database, MAINTAINER), grant, reason="given by mistake").changed
    assert not actions_quota_grants.revoke(by(database, MAINTAINER), grant, reason="given by mistake").changed
    _submit(setup, 1)
    with pytest.raises(QuotaUsed):
        _submit(setup, 2)
    with pytest.raises(NotFound):
        actions_quota_grants.grant(by(database, MAINTAINER), "anobody00000", extra=1, reason="who")
    for extra in (0, -1, 1001):
        with refuses(Conflict, "bad-number"):
            actions_quota_grants.grant(by(database, MAINTAINER), ANN.account, extra=extra, reason="so many")


def test_the_account_local_can_be_granted_submissions(database: Database) -> None:
    assert actions_quota_grants.grant(by(database, MAINTAINER), "local", extra=2, reason="a trial").changed
    assert [one.account for one in actions_quota_grants.listing(by(database, MAINTAINER))] == ["local"]
