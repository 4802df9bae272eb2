"""Suspicions: maintainers alone see them and decide, once, with a reason, on record; nothing of it is public."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import insert, select, text
from sqlalchemy.exc import DatabaseError
from starlette.types import Receive, Scope, Send

from auth import Forbidden, Unauthenticated
from benchmark.scoring import FIELDS, Tally
from maintenance import anomaly_text, api, cli, text_output
from maintenance.actions import anomalies, operations
from maintenance.page import markup
from maintenance.types import Conflict, NotFound
from storage.database import Database
from storage.models.anomalies import KINDS, AnomalyCase
from storage.models.core import AuditEvent, Score
from storage.models.quota import Attempt
from storage.models.visibility import Approval
from tests.databases import a_submission, submitted, with_labels
from tests.factories.accounts import ANONYMOUS, LOCAL, MAINTAINER, OPEN, OWNER_OF_IT, STRANGER, SUBMIT_TOKEN
from tests.factories.actions import by, decisions, run_command
from tests.factories.specs import SLICES, VL
from web.actions import ACTIONS

DAY = 86_400.0
EVIDENCE: dict[str, dict[str, Any]] = {
    "above-best-known": {"overall": 0.91, "best_known": 0.7, "best_is": "reported"},
    "near-equal-categories": {"general": 0.9, "hallucination": 0.901, "reasoning": 0.9},
    "identical-texts": {"items_with_identical_texts": 0.97, "votes_per_item": 5},
    "empty-texts": {"empty_texts": 0.2},
    "near-duplicate": {"items_that_differ": 12, "items": 1250, "same_account": False, "entries_that_near": 3},
    "public-labels": {"pairs_decided": 1100, "equal": 0.987, "runs_below_chance_sd": 0.4},
}


@pytest.fixture
def entry(database: Database) -> str:
    """Return an entry with every kind of suspicion, oldest first in the order of KINDS."""
    with_labels(database)
    (name,) = submitted(database, 1, model="<b>judge</b>")
    with database.write() as session:
        for kind in KINDS:
            about = {"submission_id": name, "kind": kind, "subject": "", "evidence": EVIDENCE[kind]}
            session.execute(insert(AnomalyCase).values(about))
    return name


def numbers(database: Database) -> list[int]:
    return [one.id for one in anomalies.listing(by(database, MAINTAINER)).cases]


def test_nobody_but_maintainers_sees_or_decides_anything(database: Database, entry: str) -> None:
    for user in (ANONYMOUS, STRANGER, OWNER_OF_IT, OPEN, SUBMIT_TOKEN):
        for attempt in (
            lambda user: anomalies.listing(by(database, user)),
            lambda user: anomalies.alarm(by(database, user)),
            lambda user: anomalies.dismiss(by(database, user), 1, reason="x"),
            lambda user: anomalies.resolve(by(database, user), 1, reason="x"),
            lambda user: anomalies.rescan(by(database, user), "x"),
        ):
            with pytest.raises((Forbidden, Unauthenticated)):
                attempt(user)
    assert len(numbers(database)) == len(KINDS)


def test_a_decision_needs_a_reason_holds_once_and_is_on_record_without_being_public(
    database: Database, entry: str
) -> None:
    first = numbers(database)[0]
    with pytest.raises(Conflict):
        anomalies.dismiss(by(database, MAINTAINER), first, reason=" \n")
    assert anomalies.dismiss(by(database, MAINTAINER), first, reason="temperature 0").changed
    assert not anomalies.resolve(by(database, MAINTAINER), first, reason="again").changed
    with pytest.raises(NotFound):
        anomalies.resolve(by(database, MAINTAINER), 999_999, reason="x")
    assert first not in numbers(database)
    (closed,) = [one for one in anomalies.listing(by(database, MAINTAINER), decided=True).cases if one.id == first]
    assert (closed.decision, closed.reason, closed.decided_by) == ("dismissed", "temperature 0", MAINTAINER.account)
    with database.read() as session:
        (body,) = session.scalars(select(AuditEvent.body).where(AuditEvent.kind == anomalies.DECIDED))
    assert json.loads(body)["reason"] == "temperature 0"
    assert entry not in body  # the chain names the suspicion; whom it is about stands in the table alone
    assert all("uspicio" not in one.sentence for one in decisions(database))


def test_a_fresh_look_forgets_what_is_open_and_keeps_what_was_decided(database: Database, entry: str) -> None:
    first, *_ = numbers(database)
    anomalies.resolve(by(database, MAINTAINER), first, reason="entry hidden")
    assert anomalies.rescan(by(database, MAINTAINER), "limits changed").changed
    assert numbers(database) == []
    assert [one.id for one in anomalies.listing(by(database, MAINTAINER), decided=True).cases] == [first]


def test_the_evidence_is_said_in_numbers_and_names_are_text(database: Database, entry: str) -> None:
    found = anomalies.listing(by(database, MAINTAINER))
    said = anomaly_text.as_text(found)
    for part in ("overall 91.0%", "best known before 70.0%", "97.0% of the pairs", "20.0% of the texts", "12 of 1,250"):
        assert part in said
    page = markup.suspicions(found)
    assert "&lt;b&gt;judge" in page
    assert "<b>judge" not in page


def _tally(accuracy: float, answered: float = 1.0) -> str:
    """Of a judge that answers this share of 1,000 items and is right on this share of those."""
    counts = np.zeros((len(SLICES), len(FIELDS)), dtype=np.int64)
    decided = round(1000 * answered)
    right = round(decided * accuracy)
    counts[[0, -1], :4] = (1000, right, decided - right, 1000 - decided)
    return json.dumps(
        Tally(1, counts, agreeing=np.zeros((len(SLICES), 2), dtype=np.int64), has_tags=False, spec=VL).to_json()
    )


def _scored(
    database: Database,
    owner: str,
    *,
    number: int,
    days_ago: float,
    tally: str = _tally(0.65),
    policy: dict[str, Any] | None = None,
    **facts: Any,
) -> str:
    """Return a scored submission of an account, some days ago."""
    with database.write() as session:
        row = a_submission(number, owner=owner, **facts)
        session.add(row)
        session.flush()
        now = session.execute(text("SELECT at FROM events ORDER BY seq DESC LIMIT 1")).scalar_one()
        at = now - days_ago * DAY
        session.execute(
            insert(Attempt).values(submission_id=row.id, label_revision="demo", number=1, policy=policy or {}, at=at)
        )
        session.execute(
            insert(Score).values(
                benchmark="demo", submission_id=row.id, label_revision="demo", scorer_version="1", tally=tally
            )
        )
        return row.id


def test_five_unapproved_accounts_that_use_their_year_in_a_fortnight_raise_the_alarm(database: Database) -> None:
    with_labels(database)
    entries = [_scored(database, f"account {n % 5}", number=n, days_ago=n // 5) for n in range(59)]
    assert not anomalies.alarm(by(database, MAINTAINER)).raised
    entries.append(_scored(database, "account 4", number=59, days_ago=11))
    found = anomalies.alarm(by(database, MAINTAINER))
    assert (found.scored, found.accounts, found.raised) == (60, 5, True)
    health = operations.health(by(database, MAINTAINER))
    assert "ALARM: 60 submissions of 5 accounts" in text_output.health(health)
    with database.write() as session:  # a maintainer lets one of them through: it is unknown no more
        session.add(
            Approval(submission_id=entries[0], state="approved", decided_at=1.0, decided_by="m", reason="known lab")
        )
    assert anomalies.alarm(by(database, MAINTAINER)) == anomalies.Alarm(48, 4)


@pytest.mark.parametrize("answered", [1.0, 0.5])
def test_patient_probes_raise_the_alarm_in_a_year_anyone_who_was_approved(database: Database, answered: float) -> None:
    with_labels(database)
    entries = []
    for month in range(12):  # four accounts, one probe each a month: never 60 in a month
        for account in range(4):
            days, tally = 30.0 * month + account, _tally(0.47 + 0.02 * account, answered)
            entries.append(_scored(database, f"account {account}", number=len(entries), days_ago=days, tally=tally))
            if month < 6:
                assert anomalies.alarm(by(database, MAINTAINER)).raised == (len(entries) >= 24)
    with database.write() as session:
        for name in entries[:4]:
            about = {"state": "approved", "decided_at": 1.0, "decided_by": "m", "reason": "known lab"}
            session.add(Approval(submission_id=name, **about))
    found = anomalies.alarm(by(database, MAINTAINER))
    assert (found.scored, found.probes, found.probers, found.raised) == (0, 48, 4, True)
    assert "In the last 365 days 48 at chance level" in text_output.health(operations.health(by(database, MAINTAINER)))


def test_a_year_of_honest_judges_and_weak_ones_here_and_there_raises_no_alarm(database: Database) -> None:
    with_labels(database)
    for number in range(120):  # ten labs, twelve submissions each, five of them no better than chance
        lab, month = number % 10, number // 10
        _scored(
            database,
            f"lab {lab}",
            number=number,
            days_ago=30.0 * month,
            tally=_tally(0.5 if month < 5 else 0.6 if lab % 2 else 0.3),
        )
    assert anomalies.alarm(by(database, MAINTAINER)).probes == 0
    assert not anomalies.alarm(by(database, MAINTAINER)).raised


def test_what_is_older_than_a_month_or_came_without_sign_in_raises_no_alarm(database: Database) -> None:
    with_labels(database)
    for number in range(70):
        _scored(database, "local" if number % 2 else "account", number=number, days_ago=0 if number % 2 else 31)
    assert anomalies.alarm(by(database, MAINTAINER)) == anomalies.Alarm(0, 0)


BAD: list[dict[str, Any]] = [
    {"kind": "cheating"},
    {"subject": "x" * 65},
    {"decision": "guilty", "decided_at": 1.0, "decided_by": "m", "reason": "x"},
    {"decision": "dismissed"},
    {"decision": "dismissed", "decided_at": 1.0, "decided_by": "m", "reason": ""},
    {"submission_id": "e00000000000"},
    {"kind": "empty-texts", "subject": ""},  # there already
]


def test_bad_rows_are_refused(database: Database, entry: str) -> None:
    for wrong in BAD:
        whole = {"submission_id": entry, "kind": "near-duplicate", "subject": "another", "evidence": {}, **wrong}
        with pytest.raises(DatabaseError), database.write() as session:
            session.add(AnomalyCase(**whole))


class _AsMaintainer:
    """Stands for the identity middleware."""

    def __init__(self, app: FastAPI, user: Any) -> None:
        self._app, self._who = app, user

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope.setdefault("state", {})["identity"] = self._who
        await self._app(scope, receive, send)


def test_rest_and_the_command_line_do_the_same(database: Database, entry: str) -> None:
    app = FastAPI()
    app.include_router(api.build(ACTIONS, by(database, ANONYMOUS)))
    base = "/api/v1/maintenance/suspicions"
    stranger, client = TestClient(_AsMaintainer(app, STRANGER)), TestClient(_AsMaintainer(app, MAINTAINER))
    assert stranger.get(base).status_code == 403
    assert stranger.post(f"{base}/1/dismiss", json={"reason": "x"}).status_code == 403
    found = client.get(base).json()
    assert (found["unapproved_accounts"], found["alarm"]) == ({"scored": 0, "accounts": 0}, False)
    numbers = [one["id"] for one in found["suspicions"]]
    assert client.post(f"{base}/{numbers[0]}/dismiss", json={"reason": "x"}).json()["changed"] is True
    assert client.post(f"{base}/{numbers[1]}/act", json={"reason": "x"}).json()["changed"] is True
    assert client.post(f"{base}/999999/act", json={"reason": "x"}).status_code == 404
    said = _command(database, "list")
    assert said.text.count("\n") == len(KINDS) - 2
    assert len(_command(database, "list", "--all").data["suspicions"]) == len(KINDS)
    assert _command(database, "dismiss", str(numbers[2]), "--reason", "y").data["changed"] is True
    assert client.post(f"{base}/again", json={"reason": "x"}).status_code == 200
    assert client.get(base).json()["suspicions"] == []


def _command(database: Database, *arguments: str) -> cli.CliResult:
    return run_command(by(database, LOCAL), "suspicions", *arguments)


@pytest.mark.parametrize(
    ("disclosure", "abstaining", "raised"),
    [("hidden", 0.05, True), ("hidden", 0.049, False), ("overall", 0.5, True), ("public", 0.5, False)],
)
def test_files_with_few_votes_are_probes_where_labels_are_hidden_however_right_the_rest_is(
    database: Database, disclosure: str, abstaining: float, raised: bool
) -> None:
    with_labels(database)
    policy = {"abstaining_probe_from": 0.05, "disclosure": {"v0": "public", "v2": disclosure}}
    for number in range(30):  # three accounts, ten files each: public labels with some left out
        facts = {"policy": policy, "report": {"abstaining": abstaining}}
        _scored(
            database,
            f"account {number % 3}",
            number=number,
            days_ago=12.0 * (number // 3),
            tally=_tally(0.99, 1 - abstaining),
            **facts,
        )
    assert anomalies.alarm(by(database, MAINTAINER)).raised is raised


def test_a_file_of_before_the_share_was_recorded_counts_by_its_parse_rate(database: Database) -> None:
    with_labels(database)
    policy = {"abstaining_probe_from": 0.05, "disclosure": {"v2": "hidden"}}
    for number in range(24):
        _scored(
            database,
            f"account {number % 4}",
            number=number,
            days_ago=1.0,
            tally=_tally(0.99),
            policy=policy,
            report={},
            parse_rate=0.9,
        )
    assert anomalies.alarm(by(database, MAINTAINER)).probes == 24
