"""Two maintainers at the same moment, or a double click: every decision has one effect, and is once on record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from auth import Identity
from maintenance.actions import accounts, entries, operations, reported
from storage.database import Database
from storage.integrity import audit
from storage.jobs import job_queue, leases
from storage.models.core import AuditEvent
from tests.databases import an_account, fill_once
from tests.factories import small_benchmark
from tests.factories.accounts import MAINTAINER, OWNER_OF_IT, SECOND_MAINTAINER
from tests.factories.actions import by
from tests.maintenance.concurrency_helpers import at_once
from workers.jobs.rescore import rescore
from workers.task_runner import TaskRunner, create_task_runner

WHO = (MAINTAINER, SECOND_MAINTAINER) * 3
REPORTED = "name,url,overall\nJudge-7B,https://example.org/paper,57.3\n"
Decide = Callable[[Identity], Any]


@dataclass(frozen=True)
class ConcurrentSite:
    """A board with three entries, and two submissions that could not be scored."""

    database: Database
    runner: TaskRunner
    ids: list[str]
    failed: list[int]

    def events(self) -> list[str]:
        with self.database.read() as session:
            assert audit.verify(session) is None
            return list(session.scalars(select(AuditEvent.kind).order_by(AuditEvent.seq)))


@pytest.fixture
def site(database: Database, tmp_path: Path) -> ConcurrentSite:
    ids, failed = fill_once(database, _fill)
    runner = create_task_runner(database, small_benchmark.scorer(), state=tmp_path, lease_seconds=60.0)
    return ConcurrentSite(database, runner, ids=ids, failed=failed)


def _fill(database: Database) -> tuple[list[str], list[int]]:
    small_benchmark.prepare_board(database)
    ids = small_benchmark.submit(database, range(3), owner=OWNER_OF_IT.account)
    rescore(database, small_benchmark.scorer(), revision="demo")
    small_benchmark.submit(database, range(3, 5), queued=True)
    failed = []
    for _ in range(2):
        with database.write() as session:
            claim = job_queue.claim(session, "worker", lease_seconds=60.0, revisions={"demo": ["demo"]})
            assert claim is not None
            leases.fail(session, claim, outcome="broken", retry=False)
            failed.append(claim.id)
    return ids, failed


def _restore(site: ConcurrentSite) -> Decide:
    entries.hide(by(site.database, MAINTAINER), site.ids[0], "because")
    return lambda user: entries.restore(by(site.database, user), site.ids[0], reason="because")


def _ban(site: ConcurrentSite) -> Decide:
    with site.database.write() as session:
        session.add(an_account(OWNER_OF_IT.account))
    return lambda user: accounts.ban(by(site.database, user, identity=None), OWNER_OF_IT.account, "because")


def _entry(decide: Callable[..., Any], *arguments: Any) -> Callable[[ConcurrentSite], Decide]:
    return lambda site: lambda user: decide(by(site.database, user), site.ids[0], *arguments)


# What it leaves in the audit chain, and what makes the decision ready to be taken.
DECISIONS: dict[str, tuple[list[str], Callable[[ConcurrentSite], Decide]]] = {
    "hide": ([entries.HIDDEN], _entry(entries.hide, "because")),
    "restore": ([entries.RESTORED], _restore),
    "edit": ([entries.EDITED], _entry(entries.edit, {"notes": "new"})),
    "retry": (
        [operations.REQUEUED],
        lambda site: lambda user: operations.requeue(by(site.database, user), site.failed[0]),
    ),
    "pause": ([operations.PAUSED], lambda site: lambda user: operations.pause(by(site.database, user), "moving house")),
    "import results": (
        [reported.IMPORTED],
        lambda site: lambda user: reported.import_file(by(site.database, user), REPORTED, reason="because"),
    ),
    "ban": ([accounts.BANNED], _ban),
}


@pytest.mark.parametrize("name", DECISIONS)
def test_a_decision_that_is_taken_by_several_at_once_has_one_effect(site: ConcurrentSite, name: str) -> None:
    kinds, ready = DECISIONS[name]
    decide = ready(site)
    before = site.events()
    results = at_once(*(partial(decide, user) for user in WHO))
    changed = [getattr(one, "changed", one) for one in results]
    assert (changed.count(True), changed.count(False)) == (1, len(WHO) - 1), results
    assert site.events()[len(before) :] == kinds


def test_everything_that_failed_is_tried_again_once_anyone_who_asks(site: ConcurrentSite) -> None:
    before = site.events()
    results = at_once(*(partial(operations.requeue_all, by(site.database, user)) for user in WHO))
    assert not [one for one in results if isinstance(one, Exception)]
    assert site.events()[len(before) :] == [operations.REQUEUED] * 2
