"""Policy of submitting and visibility of entries: approval, age, names, anonymity, publication, and its record."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import func, insert, select, update

from auth import LOCAL, OPEN, Forbidden, Identity, Role, Unauthenticated
from auth.model import ANONYMOUS
from maintenance.actions import approvals, operations
from maintenance.types import Conflict, NotFound
from maintenance.view import terminal
from storage import visibility
from storage.clock import read_clock
from storage.database import Database
from storage.integrity import audit
from storage.jobs import job_queue
from storage.labels import label_levels, label_sets
from storage.limits.sliding_window import CHANGES_A_DAY, DAY, RateLimited
from storage.models.core import AuditEvent, Submission
from storage.models.moderation import ImportedLabels
from storage.models.queue import Job
from storage.visibility import EntryVisibility
from submissions import policy_text, status, visibility_options
from submissions.metadata import MetadataRejected
from submissions.quota import QuotaPolicy, QuotaUsed
from submissions.refusals import ApprovalPending, UnknownSubmission
from tests.factories.accounts import MAINTAINER
from tests.factories.actions import by
from tests.factories.refusals import refuses
from tests.factories.specs import spec_of
from tests.factories.submission_service import BENCHMARK, SubmissionSetup, make_setup, person, submit
from vlrb.client.jws import event_of

CAREFUL = QuotaPolicy(per_day=1, per_year=12, approve_first=True)
ANN, BOB = person("ann"), person("bob")


@pytest.fixture
def careful(database: Database, folder: Path) -> SubmissionSetup:
    return make_setup(database, folder, policy=CAREFUL)


def state(database: Database, submission: str, *, user: Identity) -> str | None:
    found = status.get_status(database, spec_of(BENCHMARK), submission, user)
    return None if found is None else found.state


def jobs(database: Database) -> int:
    with database.read() as session:
        return session.execute(select(func.count()).select_from(Job)).scalar_one()


def events(database: Database, kind: str) -> int:
    with database.read() as session:
        return session.execute(select(func.count()).select_from(AuditEvent).where(AuditEvent.kind == kind)).scalar_one()


def test_a_first_upload_waits_and_no_worker_may_touch_a_label_for_it(
    careful: SubmissionSetup, database: Database
) -> None:
    taken = submit(careful, ANN)
    assert state(database, taken.id, user=ANN) == "awaiting-approval"
    with database.write() as session:
        assert not job_queue.has_missing(session, BENCHMARK, label_revision="r1", scorer_version="1")
        assert job_queue.enqueue_missing(session, BENCHMARK, label_revision="r1", scorer_version="1") == 0
    assert jobs(database) == 0
    with pytest.raises(ApprovalPending, match=taken.id):
        submit(careful, ANN, number=2)
    assert careful.intake.allowance(ANN).awaiting == taken.id
    assert submit(careful, ANN).duplicate  # the same bytes still have their receipt


def test_an_approved_one_is_scored_and_the_next_needs_nobody(careful: SubmissionSetup, database: Database) -> None:
    taken = submit(careful, ANN)
    (waiting,) = approvals.waiting(by(database, MAINTAINER, benchmark=BENCHMARK))
    assert (waiting.submission, waiting.account) == (taken.id, "ann")
    health = operations.health(by(database, MAINTAINER, benchmark="another"))
    assert health.approvals == {BENCHMARK: 1}
    assert f"Approvals: {BENCHMARK} 1" in terminal(operations.health.view(health))
    assert approvals.approve(by(database, MAINTAINER), taken.id, "known group").changed
    assert not approvals.approve(by(database, MAINTAINER), taken.id, "twice").changed  # a double click
    assert (jobs(database), events(database, approvals.SUBMISSION_APPROVED)) == (1, 1)
    assert (state(database, taken.id, user=ANN), approvals.waiting(by(database, MAINTAINER, benchmark=BENCHMARK))) == (
        "queued",
        [],
    )
    with refuses(Conflict, "already-approved"):
        approvals.reject(by(database, MAINTAINER), taken.id, "changed my mind")
    with pytest.raises(QuotaUsed):  # it counts from when it came
        submit(careful, ANN, number=2)
    with database.write() as session:
        session.execute(update(Submission).values(attempted_at=Submission.attempted_at - DAY))
    assert state(database, submit(careful, ANN, number=2).id, user=ANN) == "queued"


def test_a_rejected_one_gives_the_slot_back_and_says_why(careful: SubmissionSetup, database: Database) -> None:
    taken = submit(careful, person("ann", "lab"))
    with pytest.raises(QuotaUsed, match="Your organisation lab"):  # while it waits it counts for the team
        submit(careful, person("cy", "lab"), number=3)
    assert approvals.reject(by(database, MAINTAINER), taken.id, "made of constant answers").changed
    assert not approvals.reject(by(database, MAINTAINER), taken.id, "again").changed
    found = status.get_status(database, spec_of(BENCHMARK), taken.id, ANN)
    assert found is not None
    assert found.state == "withdrawn"
    assert "made of constant answers" in str(found.reason)
    again = submit(careful, person("ann", "lab"), number=2)
    assert (event_of(again.receipt)["attempt"], state(database, again.id, user=ANN)) == (2, "awaiting-approval")
    assert jobs(database) == 0
    assert approvals.approve(by(database, MAINTAINER), taken.id, "a second look").changed  # and back
    assert jobs(database) == 1


@pytest.mark.parametrize(
    ("who", "refusal"),
    [(ANONYMOUS, Unauthenticated), (ANN, Forbidden), (OPEN, Forbidden)],
    ids=["nobody", "ann", "open"],
)
def test_nobody_approves_their_own(
    careful: SubmissionSetup, database: Database, who: Identity, refusal: type[Exception]
) -> None:
    taken = submit(careful, ANN)
    for decide in (approvals.approve, approvals.reject):
        with pytest.raises(refusal):
            decide(by(database, who), taken.id, "let me in")
    with pytest.raises(refusal):
        approvals.waiting(by(database, who, benchmark=BENCHMARK))
    with pytest.raises(NotFound):
        approvals.approve(by(database, MAINTAINER), "e00000000000", "no such one")
    assert state(database, taken.id, user=ANN) == "awaiting-approval"


def test_maintainers_and_people_without_sign_in_wait_for_nobody(careful: SubmissionSetup, database: Database) -> None:
    boss = replace(person("boss"), roles=frozenset({Role.SUBMITTER, Role.MAINTAINER}))
    assert state(database, submit(careful, boss, number=1).id, user=boss) == "queued"
    assert state(database, submit(careful, LOCAL, number=2).id, user=LOCAL) == "queued"


def test_the_quotas_clock_is_the_databases(database: Database, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    setup = make_setup(database, folder, policy=QuotaPolicy(per_day=1))
    submit(setup, ANN)
    real = time.time()
    for wrong in (real + 3 * DAY, real - 3 * DAY):
        monkeypatch.setattr(time, "time", lambda wrong=wrong: wrong)
        with pytest.raises(QuotaUsed) as caught:
            submit(setup, ANN, number=2)
        assert DAY - 60 < caught.value.seconds <= DAY + 1


def test_different_names_are_not_confused_and_unseen_ones_are_not_revealed(setup: SubmissionSetup) -> None:
    for number, name in enumerate(["GPT-4o", "GPT-4", "GPT-4o mini", "\u8bc4\u5224", "GPT-4.1", "LLaVA-Critic"]):
        assert submit(setup, person(f"p{number}"), number=number, model=name).id
    submit(setup, ANN, number=10, shown=EntryVisibility(published=False), model="Secret-Judge", organisation="Acme")
    assert submit(setup, BOB, number=11, model="Secret\u2013Judge").id  # a refusal would tell what nobody has published
    assert submit(setup, BOB, number=12, organisation="Acrne").id


def test_wishes_are_read_from_the_form_and_judged_by_field() -> None:
    metadata, shown = visibility_options.parse_form(
        {"model": "x", "anonymous_until": "2027-01-31", "published": "false"}
    )
    assert (metadata["model"], shown) == ("x", EntryVisibility(1801353600.0, published=False))
    assert visibility_options.parse_form({"model": "x", "anonymous_until": " ", "published": ""})[1] == visibility.PLAIN
    with pytest.raises(MetadataRejected) as caught:
        visibility_options.parse_form({"anonymous_until": "31.1.2027", "published": "perhaps"})
    assert [one.field for one in caught.value.problems] == ["anonymous_until", "published", "model"]


def test_anonymity_is_bounded_and_never_comes_back(setup: SubmissionSetup, database: Database) -> None:
    with database.read() as session:
        now = read_clock(session)
    for days in (-1, 367):
        with refuses(MetadataRejected, "not-in-range"):
            submit(setup, ANN, number=1, shown=EntryVisibility(now + days * DAY))
    taken = submit(setup, ANN, number=1, shown=EntryVisibility(now + 100 * DAY))

    def stay(until: float | None) -> bool:
        return visibility_options.set_anonymous_until(database, BENCHMARK, user=ANN, submission=taken.id, until=until)

    assert stay(now + 200 * DAY)
    assert not stay(now + 200 * DAY)
    with pytest.raises(MetadataRejected):
        stay(now + 400 * DAY)
    assert (stay(None), stay(None)) == (True, False)  # a double click
    with refuses(MetadataRejected, "named-already"):
        stay(now + 10 * DAY)
    assert [events(database, kind) for kind in (visibility.ANONYMOUS, visibility.REVEALED)] == [1, 1]


def test_the_day_of_anonymity_is_moved_twenty_times_in_a_day_and_ended_at_any_time(
    setup: SubmissionSetup, database: Database
) -> None:
    with database.read() as session:
        now = read_clock(session)
    taken = submit(setup, ANN, number=1, shown=EntryVisibility(now + DAY))

    def stay(until: float | None) -> bool:
        return visibility_options.set_anonymous_until(database, BENCHMARK, user=ANN, submission=taken.id, until=until)

    assert all(stay(now + (2 + number) * DAY) for number in range(CHANGES_A_DAY))
    with pytest.raises(RateLimited):
        stay(now + 300 * DAY)
    assert events(database, visibility.ANONYMOUS) == CHANGES_A_DAY
    with database.read() as session:
        assert session.get_one(Submission, taken.id).anonymous_until == now + (1 + CHANGES_A_DAY) * DAY
    assert not stay(now + (1 + CHANGES_A_DAY) * DAY)
    assert stay(None)


def test_only_its_owner_publishes_an_entry_and_only_once(setup: SubmissionSetup, database: Database) -> None:
    taken = submit(setup, ANN, number=1, shown=EntryVisibility(published=False))
    for user, refusal in (
        (ANONYMOUS, Unauthenticated),
        (BOB, UnknownSubmission),
        (MAINTAINER, UnknownSubmission),
        (LOCAL, UnknownSubmission),
    ):
        with pytest.raises(refusal):
            visibility_options.publish(database, BENCHMARK, user=user, submission=taken.id)
    assert [visibility_options.publish(database, BENCHMARK, user=ANN, submission=taken.id) for _ in range(2)] == [
        True,
        False,
    ]
    with pytest.raises(Forbidden):
        visibility_options.publish(database, BENCHMARK, user=BOB, submission=taken.id)
    assert events(database, visibility.PUBLISHED) == 1
    with database.read() as session:
        assert audit.verify(session) is None


def test_where_nobody_signs_in_nothing_can_be_held_back(setup: SubmissionSetup) -> None:
    with refuses(MetadataRejected, "no-sign-in"):
        submit(setup, OPEN, number=1, shown=EntryVisibility(published=False))
    assert submit(setup, LOCAL, number=1, shown=EntryVisibility(published=False)).id  # local mode is one person


def test_every_submission_keeps_all_the_rules_that_it_was_taken_under(database: Database, folder: Path) -> None:
    said = {"mode": "openid", "sign_in": "https://issuer.example", "upload_limit_bytes": 1, "requests_per_minute": 120}
    setup = make_setup(database, folder, policy=CAREFUL)
    setup.intake.stated = lambda session: {
        **said,
        "disclosure": label_levels.of_known(session, BENCHMARK),
    }
    with database.write() as session:
        for name in ("r0", "r8"):
            label_sets.register(session, name, benchmark=BENCHMARK, digest="a" * 64, items=21)
        label_levels.state(session, BENCHMARK, revision="r0", level="hidden:categories")
        for name, disclosed, published in (("r8", "hidden", 1.0), ("r9", "public", None)):
            facts = {"benchmark": BENCHMARK, "disclosure": disclosed, "spec": "x", "items": 21, "difference": {}}
            facts |= {"digest": "a" * 64, "commitment": "b" * 64, "reason": "x", "requested_by": "m"}
            session.execute(insert(ImportedLabels).values(revision=name, published_at=published, **facts))
    taken = submit(setup, ANN)
    kept = event_of(taken.receipt)["policy"]
    assert kept["disclosure"] == {"r0": "hidden:categories", "r1": "public", "r8": "hidden"}  # and no word of the draft
    assert (kept["per_24_hours"], kept["first_upload_approved"], kept["mode"]) == (1, True, "openid")
    with database.read() as session:
        assert session.execute(select(Submission.policy)).scalar_one() == kept
    told = policy_text.policy_json(setup.intake.rules())
    for name, value in kept.items():
        assert told.get(name, told["scored_submissions"].get(name)) == value, name
    assert [(name, level) for name, level, _ in policy_text.disclosures(kept)] == sorted(kept["disclosure"].items())


def test_how_long_scoring_took_is_shown_in_whole_seconds(setup: SubmissionSetup, database: Database) -> None:
    first, second = (submit(setup, user, number=number).id for number, user in enumerate((ANN, BOB)))
    with database.write() as session:
        done = {"state": "done", "started_at": 100.0, "finished_at": 100.123, "epoch": 1, "attempts": 1}
        session.execute(update(Job).where(Job.submission_id == first).values(**done))
    with database.read() as session:
        assert job_queue.progress(session, second).eta_seconds == pytest.approx(0.123), "the control: it is known finer"
    found = status.get_status(database, spec_of(BENCHMARK), second, BOB)
    assert found is not None and found.eta_seconds == 1.0
