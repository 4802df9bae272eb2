"""Quotas: the arithmetic, and that races do not get around it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.exc import DBAPIError

from auth import ANONYMOUS, Forbidden, Identity, Organisation, Unauthenticated
from storage.database import Database, is_unavailable, open_database
from storage.files.spool import UploadedFile
from storage.jobs import job_queue, leases
from storage.limits import submission_pause
from storage.limits.sliding_window import DAY
from storage.models.core import Submission
from submissions.metadata import parse_metadata
from submissions.quota import YEAR, QuotaPolicy, QuotaUsed, next_possible, quota_scopes, require_quota
from submissions.refusals import SubmissionsPaused
from tests.databases import with_labels
from tests.factories.submission_service import BENCHMARK, LIMIT, SubmissionSetup, make_setup, native, person, submit
from tests.factories.suite.fork_server import fork_server
from vlrb.client.jws import event_of

DAILY = QuotaPolicy(per_day=1, per_year=12)
NOW = 1_800_000_000.0


def at(*ages: float) -> list[float]:
    return [NOW - age for age in ages]


def test_the_next_one_comes_a_day_after_the_last() -> None:
    assert next_possible(DAILY, at(3600), now=NOW) == NOW - 3600 + DAY
    assert next_possible(DAILY, at(DAY), now=NOW) is None
    assert next_possible(QuotaPolicy(per_day=2), at(60, 7200, 90_000), now=NOW) == NOW - 7200 + DAY


def test_the_thirteenth_of_a_year_waits_for_the_first_to_be_a_year_old() -> None:
    monthly = at(*(30 * DAY * month + DAY for month in range(12)))
    oldest = NOW - 330 * DAY - DAY
    assert next_possible(DAILY, monthly, now=NOW) == oldest + YEAR
    assert next_possible(DAILY, monthly[:11], now=NOW) is None


def test_the_longer_wait_counts_and_a_clock_that_went_back_forgives_nothing() -> None:
    assert next_possible(QuotaPolicy(1, 1), at(60), now=NOW) == NOW - 60 + YEAR
    assert next_possible(DAILY, at(-600), now=NOW) == NOW + 600 + DAY


def test_who_waits_longest_is_named_whether_account_or_organisation() -> None:
    names = {"account:ann": "your account", "organisation:lab": "lab"}
    for ages, longest, wait in (((7200, 60), "lab", DAY - 60), ((60, 7200), "your account", DAY - 60)):
        taken = {subject: at(age) for subject, age in zip(names, ages, strict=True)}
        with pytest.raises(QuotaUsed, match=longest) as used:
            require_quota(DAILY, taken, names=names, now=NOW)
        assert used.value.next_at == NOW + wait


def test_an_organisation_that_anybody_may_join_is_no_team() -> None:
    user = person("ann", "lab", "everyone")
    assert list(quota_scopes(user, DAILY)) == ["account:ann", "organisation:org-lab", "organisation:org-everyone"]
    exempt = QuotaPolicy(1, 12, exempt_organisations=("Everyone",))
    assert list(quota_scopes(user, exempt)) == ["account:ann", "organisation:org-lab"]
    id_ = "5e67bdd61009063689407479"
    user = Identity("ann", organisations=(Organisation(id_, ""), Organisation("f" * 24, id_)))  # one named like an id
    exempt = QuotaPolicy(1, 12, exempt_organisations=("", id_))
    assert list(quota_scopes(user, exempt)) == ["account:ann", f"organisation:{'f' * 24}"]


@pytest.fixture
def setup(database: Database, folder: Path) -> SubmissionSetup:
    return make_setup(database, folder, policy=DAILY)


def age(database: Database, seconds: float) -> None:
    """Time goes by."""
    with database.write() as session:
        session.execute(update(Submission).values(attempted_at=Submission.attempted_at - seconds))


def count(database: Database) -> int:
    with database.read() as session:
        return session.execute(select(func.count()).select_from(Submission)).scalar_one()


def test_a_second_file_within_a_day_is_refused_and_leaves_nothing(setup: SubmissionSetup, database: Database) -> None:
    first = submit(setup, person("ann"), number=1)
    with pytest.raises(QuotaUsed, match="Your account") as caught:
        submit(setup, person("ann"), number=2)
    assert DAY - 60 < caught.value.seconds <= DAY + 1
    assert count(database) == 1
    assert len(setup.reads) == 1  # nor was the file read
    assert submit(setup, person("ann"), number=1).receipt == first.receipt  # the same bytes cost nothing
    assert submit(setup, person("bob"), number=2).id
    assert setup.intake.allowance(person("ann")).next_at == caught.value.next_at
    age(database, DAY)
    second = submit(setup, person("ann"), number=2)
    assert (event_of(first.receipt)["attempt"], event_of(second.receipt)["attempt"]) == (1, 2)
    assert event_of(second.receipt)["policy"] == DAILY.to_json() | {"upload_limit_bytes": LIMIT}


def test_a_year_has_room_for_twelve_whatever_labels_the_board_shows(setup: SubmissionSetup, database: Database) -> None:
    for number in range(12):
        if number == 5:
            with_labels(database, "r2", benchmark=BENCHMARK)
        submit(setup, person("ann"), number=number)
        age(database, DAY)
    for revision in ("r2", "r3"):  # under both everything is scored, or will be
        with_labels(database, revision, benchmark=BENCHMARK)
        with pytest.raises(QuotaUsed) as caught:
            submit(setup, person("ann"), number=12)
        assert 353 * DAY - 60 < caught.value.seconds <= 353 * DAY + 1
    age(database, 353 * DAY)
    twelfth = submit(setup, person("ann"), number=12)
    assert event_of(twelfth.receipt)["attempt"] == 1  # the first at r3: numbers are the labels'


def test_members_of_one_organisation_share_its_quota(setup: SubmissionSetup) -> None:
    submit(setup, person("ann", "lab"), number=1)
    with pytest.raises(QuotaUsed, match="Your organisation lab"):
        submit(setup, person("bob", "lab"), number=2)
    assert submit(setup, person("cy", "other"), number=3).id


def test_what_the_service_failed_to_score_is_given_back(setup: SubmissionSetup, database: Database) -> None:
    submit(setup, person("ann"), number=1)
    with database.write() as session:
        claim = job_queue.claim(session, "worker", lease_seconds=60)
        assert claim
        leases.fail(session, claim, outcome="The labels cannot be read. This is not your fault.", retry=False)
    second = submit(setup, person("ann"), number=2)
    assert event_of(second.receipt)["attempt"] == 2
    with pytest.raises(QuotaUsed):
        submit(setup, person("ann"), number=3)


def test_who_may_not_submit_is_refused_by_the_use_case_itself(setup: SubmissionSetup, database: Database) -> None:
    with pytest.raises(Unauthenticated):
        submit(setup, ANONYMOUS, number=1)
    with pytest.raises(Forbidden):
        submit(setup, Identity("ann", auth_method="token"), number=1)
    with pytest.raises(Unauthenticated):
        setup.intake.allowance(ANONYMOUS)
    assert count(database) == 0


def test_a_pause_shows_the_maintainers_message_and_known_files_still_have_their_receipt(
    setup: SubmissionSetup, database: Database
) -> None:
    first = submit(setup, person("ann"), number=1)
    with database.write() as session:
        submission_pause.pause(session, "We move to another machine until noon.")
    with pytest.raises(SubmissionsPaused, match="until noon"):
        submit(setup, person("bob"), number=2)
    assert submit(setup, person("ann"), number=1).id == first.id


def submitter(path: Path) -> Identity:
    """Five people of one team, which they name in different orders: the locks overlap."""
    number = int(path.stem.rpartition("-")[2])
    return person(f"member{number % 5}", *(("lab", "guild") if number % 2 else ("guild", "lab")))


def race(url: str, folder: Path, *, paths: list[Path], together: Barrier, taken: Queue[int]) -> None:
    """Submit all files at once, three a day at most, when all processes are ready; say how many were taken."""
    database = open_database(url)
    folder.mkdir()
    setup = make_setup(database, folder, policy=QuotaPolicy(per_day=3, per_year=12))
    together.wait(120)

    def one(path: Path) -> int:
        while True:
            file = UploadedFile.on_disk(path, path.name, limit=LIMIT)
            try:
                setup.intake.submit(file, parse_metadata({"model": path.name}), submitter(path))
            except QuotaUsed:
                return 0
            except DBAPIError as error:  # on a busy machine the lock takes too long; who is told so comes again
                if not is_unavailable(error):
                    raise
                continue
            return 1

    with ThreadPoolExecutor(len(paths)) as pool:
        taken.put(sum(pool.map(one, paths)))
    database.close()


@pytest.mark.slow
def test_uploads_in_two_processes_at_the_edge_of_the_quota_accept_exactly_the_quota(
    setup: SubmissionSetup, database: Database, database_url: str, tmp_path: Path
) -> None:
    files = [tmp_path / f"race-{number}.jsonl" for number in range(12)]
    for number, path in enumerate(files):
        path.write_bytes(native(setup.items) + b"\n" * number)
    context = fork_server()
    together, taken = context.Barrier(2), context.Queue()
    for process in range(2):
        given = (database_url, tmp_path / f"process-{process}")
        more = {"paths": files[process::2], "together": together, "taken": taken}
        context.Process(target=race, args=given, kwargs=more, daemon=True).start()
    assert sum(taken.get(timeout=180) for _ in range(2)) == count(database) == 3
    with database.read() as session:
        assert all(1 <= number <= 3 for number in session.scalars(select(Submission.attempt)))
