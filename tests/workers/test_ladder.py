"""The Ladder rule from snapshot to receipt: a score that is not shown is shown nowhere, and nothing brings it out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import insert, update

from auth import Identity
from benchmark.ladder import NOT_SHOWN
from benchmark.votes import Votes
from leaderboard import api, routes
from leaderboard.board.query import BoardQuery
from leaderboard.board.reported_results import load_published
from leaderboard.cache import BoardCache
from leaderboard.queries import DatabaseSnapshots
from leaderboard.render_context import RenderContext
from leaderboard.share.exports import as_csv, as_json, extract
from maintenance.actions import entries
from receipts.service import ReceiptService
from storage.database import Database
from storage.labels import ladder
from storage.models.core import Submission
from storage.models.quota import Attempt, QuotaCharge, QuotaSubject
from submissions import status as submissions_status
from tests.databases import a_submission, on_record
from tests.factories.accounts import MAINTAINER
from tests.factories.actions import activity_of, by
from tests.factories.specs import VL, spec_of
from tests.factories.submission_service import SIGNER, person
from workers.jobs.pairwise_statistics import compute_if_changed
from workers.jobs.rescore import rescore
from workers.jobs.snapshot import publish_if_changed
from workers.scorer import Scorer

ITEMS = 21
HIDDEN = {"demo": "categories"}
MARGIN = 0.1  # two pairs of 21 are too few, three are enough
ANN = person("ann")


@pytest.fixture
def secret(scorer: Scorer) -> Scorer:
    return Scorer(scorer.table, scorer.labels, version=scorer.version, hidden=HIDDEN)


def arrive(
    database: Database, scorer: Scorer, *, number: int, right: int, user: Identity = ANN, margin: float | None = MARGIN
) -> str:
    """Return an accepted submission that is right on so many pairs, a third of them in each category."""
    labels = scorer.labels["demo"].preferred
    order = np.argsort(np.arange(ITEMS) % 7, kind="stable")  # spread over the categories
    votes = 1 - labels
    votes[order[:right]] = labels[order[:right]]
    packed = Votes(votes.reshape(ITEMS, 1).astype(np.int8)).pack()
    with database.write() as session:
        row = a_submission(number, owner=user.account, votes=packed, votes_per_item=1, created_at=1e9 + number)
        session.add(row)
        session.flush()
        subject = f"account:{user.account}"
        if session.get(QuotaSubject, subject) is None:
            session.execute(insert(QuotaSubject).values(subject=subject))
        policy = {"ladder_margin": margin, "disclosure": {"demo": "categories"}}
        facts = {"label_revision": "demo", "number": number, "policy": policy, "at": 1e9 + number}
        session.execute(insert(Attempt).values(submission_id=row.id, **facts))
        session.execute(insert(QuotaCharge).values(submission_id=row.id, subject=subject))
        name = row.id
    on_record(database, [name])
    return name


def score(database: Database, scorer: Scorer) -> None:
    for revision in scorer.labels:
        rescore(database, scorer, revision=revision)
    publish_if_changed(database, scorer)
    compute_if_changed(database, scorer)
    publish_if_changed(database, scorer)


def cache(database: Database, hidden: Mapping[str, str] = HIDDEN) -> BoardCache:
    return BoardCache(
        DatabaseSnapshots(database, spec_of("demo"), hidden_labels=hidden),
        context=RenderContext(spec_of("demo")),
        published=load_published(VL),
    )


def client(database: Database) -> TestClient:
    app, pages = FastAPI(), cache(database)
    app.include_router(routes.build(pages))
    app.include_router(api.build(pages))
    return TestClient(app)


def rows(database: Database, **rules: Any) -> dict[str, dict[str, Any]]:
    found = client(database).get("/api/v1/leaderboard", params=rules).json()["entries"]
    return {row["id"]: row for row in found if row["tier"] == "scored"}


def receipt_of(database: Database, name: str) -> dict[str, Any]:
    stated = ReceiptService(database, spec_of("demo"), signer=SIGNER, hidden_labels=HIDDEN).of_scores(name, ANN) or ()
    return next(one for one in stated if one["label_revision"] == "demo")


def not_shown(database: Database) -> set[str]:
    with database.read() as session:
        return {name for name, *_ in ladder.withheld(session, spec_of("demo"), levels=dict.fromkeys(HIDDEN, "hidden"))}


def test_a_score_is_shown_only_where_it_beats_the_accounts_best_by_the_margin(ready: Database, secret: Scorer) -> None:
    first, near, far, worse = (
        arrive(ready, secret, number=n, right=right) for n, right in enumerate((10, 12, 14, 4), start=1)
    )
    other = arrive(ready, secret, number=9, right=11, user=person("bob"))  # another account has a best of its own
    score(ready, secret)
    found = rows(ready)
    assert not_shown(ready) == {near, worse}
    assert {name for name, row in found.items() if row["macro"] is None} == {near, worse}
    assert [found[name]["rank"] for name in (first, near, far, worse, other)] == [3, None, 1, None, 2]
    values = ("overall", "general", "hallucination", "reasoning", "rank_range", "decided_rate")
    assert all(found[name][value] is None for name in (near, worse) for value in values)
    assert all(found[name]["interval"] == {} for name in (near, worse))


def test_board_page_entry_page_api_exports_receipt_status_and_activity_say_the_same(
    ready: Database, secret: Scorer
) -> None:
    first, near = arrive(ready, secret, number=1, right=10), arrive(ready, secret, number=2, right=12)
    score(ready, secret)
    browser = client(ready)
    assert "no score shown" in browser.get("/").text
    page = browser.get(f"/entries/{near}")
    assert (page.status_code, NOT_SHOWN in page.text.replace("&#39;", "'")) == (200, True)
    answer = browser.get(f"/api/v1/entries/{near}")
    assert (answer.status_code, answer.json()["code"]) == (404, "score-withheld")
    assert browser.get(f"/api/v1/entries/{first}").status_code == 200  # the control
    board = cache(ready).refresh().board()
    (line,) = [one for one in as_csv(extract(board, BoardQuery(VL))).decode().splitlines() if near in one]
    assert "0.571" not in line and "not better" in line
    (row,) = [one for one in json.loads(as_json(extract(board, BoardQuery(VL))))["entries"] if one["id"] == near]
    assert (row["macro"], row["overall"], row["rank"]) == (None, None, None)
    receipt = receipt_of(ready, near)
    assert (set(receipt["scores"].values()), receipt["withheld"]) == ({None}, NOT_SHOWN)
    status = submissions_status.get_status(ready, spec_of("demo"), near, ANN, hidden=HIDDEN)
    assert status is not None and NOT_SHOWN in str(status.reason)
    happened = activity_of(ready, ANN, hidden_labels=HIDDEN)
    said = [one.sentence for one in happened if one.entry == near and "labels demo" in one.sentence]
    assert any(NOT_SHOWN in sentence for sentence in said) and not any("macro" in sentence for sentence in said)
    shown = receipt_of(ready, first)
    assert shown["scores"]["macro"] is not None and "withheld" not in shown


def test_nothing_of_a_score_that_is_not_shown_is_in_the_snapshot(ready: Database, secret: Scorer) -> None:
    """Two worlds: the score that is not shown differs, and nothing else does."""
    arrive(ready, secret, number=1, right=10)
    name = arrive(ready, secret, number=2, right=9)
    score(ready, secret)
    entry = cache(ready).refresh().entry(name)
    assert entry is not None
    assert (set(entry["tallies"]), entry["withheld"]) == ({"flipped"}, ["demo"])
    summary = cache(ready).refresh().snapshot["relations"]["demo"]
    assert name not in summary["entries"]  # no rank range, and no place in the order of the best


def test_withdrawing_a_transfer_or_counting_again_changes_nothing(ready: Database, secret: Scorer) -> None:
    best, near = arrive(ready, secret, number=1, right=12), arrive(ready, secret, number=2, right=13)
    score(ready, secret)
    assert not_shown(ready) == {near}
    assert entries.withdraw(by(ready, MAINTAINER), best, "a mistake").changed
    with ready.write() as session:
        session.execute(update(Submission).where(Submission.id == near).values(owner="bob"))
    score(ready, secret)
    assert not_shown(ready) == {near}
    assert rows(ready)[near]["macro"] is None


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_the_order_of_counting_changes_nothing(ready: Database, secret: Scorer, order: tuple[int, ...]) -> None:
    for number in order:  # arrives, and is scored, in this order; was accepted in the order of its number
        arrive(ready, secret, number=number + 1, right=(10, 12, 13)[number])
        score(ready, secret)
    found = rows(ready)
    assert [found[name]["macro"] is None for name in sorted(found, key=lambda one: found[one]["submitted_at"])] == [
        False,
        True,
        False,
    ]


def test_labels_that_are_public_show_every_score_also_when_they_become_so(ready: Database, scorer: Scorer) -> None:
    arrive(ready, scorer, number=1, right=10)
    near = arrive(ready, scorer, number=2, right=12)
    score(ready, scorer)
    with ready.read() as session:
        assert not ladder.withheld(session, spec_of("demo"), levels={})
    assert cache(ready, {}).refresh().board().find(near).value("macro") is not None  # type: ignore[union-attr]


def test_without_the_setting_every_score_is_shown(ready: Database, secret: Scorer) -> None:
    for number in range(3):
        arrive(ready, secret, number=number + 1, right=10, margin=None)
    score(ready, secret)
    assert not_shown(ready) == set()
    assert all(row["macro"] is not None for row in rows(ready).values())


def test_only_the_entries_asked_for_are_named(ready: Database, secret: Scorer) -> None:
    names = [arrive(ready, secret, number=number + 1, right=10) for number in range(3)]
    score(ready, secret)
    with ready.read() as session:
        found = ladder.withheld(session, spec_of("demo"), levels={"demo": "categories"}, submissions=names[2:])
        assert {name for name, *_ in found} == {names[2]}
        assert json.dumps(sorted(found)) == json.dumps([[names[2], "demo", secret.version]])
