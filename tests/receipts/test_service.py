"""Receipts as the service gives them: what is disclosed and no more, to whom it is meant."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import insert, select, update

from auth import ANONYMOUS, LOCAL, OPEN
from maintenance.actions import audit as actions_audit
from receipts import api
from receipts.service import ReceiptService
from storage.database import Database
from storage.integrity import audit
from storage.jobs import job_queue
from storage.labels import label_levels
from storage.models.core import AuditEvent, RegisteredLabelSet, Score, Submission
from storage.models.moderation import ImportedLabels
from tests.factories import small_benchmark
from tests.factories.accounts import MAINTAINER, OWNER_OF_IT, STRANGER
from tests.factories.specs import VL, spec_of
from tests.factories.submission_service import SIGNER, signed_in_as_everybody
from vlrb.benchmarks.items import ItemTable
from vlrb.client.jws import is_signed, read, read_keys
from vlrb.client.receipt_checks import Evidence, check_all, read_chain
from vlrb.scoring import Tally
from workers.jobs.rescore import rescore
from workers.jobs.score import ScoringOutcome, score_next
from workers.scorer import Scorer

KEYS = read_keys({"keys": [SIGNER.public_key]})


@pytest.fixture
def receipts(database: Database) -> ReceiptService:
    return ReceiptService(database, spec_of("demo"), signer=SIGNER)


def _submit(database: Database, numbers: range, **changes: Any) -> list[str]:
    return small_benchmark.submit(database, numbers, **changes)


def _of(receipts: ReceiptService, entry: str) -> dict[str, dict[str, Any]]:
    """Return what its score receipts say, by label revision."""
    found = receipts.of_scores(entry, ANONYMOUS)
    assert found is not None
    assert all(is_signed(one, KEYS) for one in found)
    said = [read(one) for one in found]
    return {json.loads(one["score"]["facts"])["label_revision"]: one for one in said}


def _score_all(database: Database, scorer: Scorer) -> None:
    with database.write() as session:
        for revision in scorer.revisions:
            job_queue.enqueue_missing(session, "demo", label_revision=revision, scorer_version=scorer.version)
    while score_next(database, [scorer], worker="w", lease_seconds=60) is ScoringOutcome.SCORED:
        pass


def test_every_score_has_a_receipt_with_its_place_in_the_chain(
    ready: Database, scorer: Scorer, receipts: ReceiptService
) -> None:
    ids = _submit(ready, range(3))
    _score_all(ready, replace(scorer, labels={"demo": scorer.labels["demo"]}))
    later = _submit(ready, range(3, 7))
    rescore(ready, scorer, revision="flipped", chunk=2)  # ranges of ids that overlap with those of the next runs
    more = _submit(ready, range(7, 12))
    rescore(ready, scorer, revision="flipped", chunk=3)
    places: dict[tuple[str, str], int] = {}
    for name in (*ids, *later, *more):
        for revision, one in _of(receipts, name).items():
            places[name, revision] = json.loads(one["event"])["seq"]
            with ready.read() as session:
                event = session.get_one(AuditEvent, places[name, revision])
            assert (event.body, event.prev_hash, event.hash) == (one["event"], one["prev"], one["hash"])
    assert {name for name, revision in places if revision == "demo"} == set(ids)


def test_a_public_score_is_opened_and_holds_with_public_data_alone(
    ready: Database, scorer: Scorer, receipts: ReceiptService
) -> None:
    (entry,) = _submit(ready, range(1))
    _score_all(ready, scorer)
    for revision, one in _of(receipts, entry).items():
        tally = Tally.from_json(json.loads(one["score"]["tally"]), scorer.table.spec)
        right = small_benchmark.right(0, flip=revision == "flipped")
        assert sum(tally.cell(source)["agree"] for source in tally.spec.source_keys) == right
        assert one["labels"]["digest"] == scorer.labels[revision].digest
    all_hold = ["signature ok", "event ok", "chain ok", "score ok", "labels ok"]
    assert _checks(ready, receipts, entry=entry, table=scorer.table) == [all_hold, all_hold]


def _checks(database: Database, receipts: ReceiptService, *, entry: str, table: ItemTable) -> list[list[str]]:
    chain = read_chain(line.encode() for line in actions_audit.public(database))
    evidence = Evidence(KEYS, table, chain=chain)
    found = receipts.of_scores(entry, ANONYMOUS) or ()
    return [[f"{check.check} {check.code}" for check in check_all(one, evidence)] for one in found]


def test_under_hidden_labels_a_receipt_opens_what_was_scored_and_no_number(
    ready: Database, scorer: Scorer, receipts: ReceiptService
) -> None:
    (entry,) = _submit(ready, range(1))
    _score_all(ready, scorer)
    open_one = _of(receipts, entry)["demo"]
    with ready.write() as session:
        label_levels.state(session, "demo", revision="demo", level="hidden")
    one = _of(receipts, entry)["demo"]
    assert set(one) == {"event", "prev", "hash", "score"}
    assert set(one["score"]) == {"facts", "facts_salt", "tally_commitment"}
    # The event is the same before and after, and only the salts open what it committed to.
    assert [one[name] for name in ("event", "prev", "hash")] == [open_one[name] for name in ("event", "prev", "hash")]
    checks = _checks(ready, receipts, entry=entry, table=scorer.table)
    assert ["signature ok", "event ok", "chain ok", "score ok"] in checks
    with ready.read() as session:
        secrets = [value for row in session.execute(select(Score.tally, Score.salt)) for value in row]
    digests = [hashlib.sha256(secret.encode()).hexdigest() for secret in secrets]
    closed = (*secrets, *digests, open_one["labels"]["digest"], open_one["score"]["tally_salt"])
    assert not any(secret in json.dumps(one) for secret in closed)


def test_who_has_the_key_opens_no_other_score_of_an_event(
    ready: Database, scorer: Scorer, receipts: ReceiptService
) -> None:
    first, second = _submit(ready, range(2))
    rescore(ready, scorer, revision="demo")
    mine, other = _of(receipts, first)["demo"], _of(receipts, second)["demo"]
    better = json.dumps(json.loads(mine["score"]["tally"]) | {"k": 9})
    for changes in (
        {"tally": other["score"]["tally"]},
        {"tally": better},
        {"facts": mine["score"]["facts"].replace(first, second)},
    ):
        forged = SIGNER.sign({**mine, "score": mine["score"] | changes})
        found = check_all(forged, Evidence(KEYS, scorer.table))
        assert [one.code for one in found if one.check in ("signature", "score")] == ["ok", "score-differs"]


def test_scores_under_a_draft_have_no_receipt_yet(ready: Database, scorer: Scorer, receipts: ReceiptService) -> None:
    (entry,) = _submit(ready, range(1))
    _score_all(ready, scorer)
    facts = {"revision": "flipped", "benchmark": "demo", "disclosure": "hidden:categories", "spec": "x", "items": 21}
    with ready.write() as session:
        kept = {"digest": scorer.labels["flipped"].digest}
        kept["commitment"] = session.get_one(RegisteredLabelSet, ("demo", "flipped")).commitment
        why = {**kept, "difference": {}, "reason": "because", "requested_by": "local"}
        session.execute(insert(ImportedLabels).values(**facts, **why))
        known = {name: why[name] for name in ("digest", "commitment", "difference")}
        audit.append(session, "labels.imported", data={**facts, **known})
    assert list(_of(receipts, entry)) == ["demo"]


@pytest.mark.parametrize(
    "what", [{"hidden_at": 1.0}, {"held_back_at": 1.0}, {"anonymous_until": 4e9}, {"approval": "waiting"}], ids=str
)
def test_receipts_say_to_strangers_no_more_than_the_board_does(
    ready: Database, scorer: Scorer, receipts: ReceiptService, what: dict[str, Any]
) -> None:
    (entry,) = _submit(ready, range(1), owner=OWNER_OF_IT.account)
    _score_all(ready, scorer)
    assert receipts.of_acceptance(entry, STRANGER) is not None
    with ready.write() as session:
        session.execute(update(Submission).where(Submission.id == entry).values(**what))
    for user in (ANONYMOUS, STRANGER, OPEN):
        assert receipts.of_acceptance(entry, user) is None  # it names the owner
        assert (receipts.of_scores(entry, user) is None) is bool(what.keys() & {"hidden_at", "held_back_at"})
    for user in (OWNER_OF_IT, MAINTAINER, LOCAL):
        assert receipts.of_acceptance(entry, user) is not None
        assert receipts.of_scores(entry, user)
    assert receipts.of_scores("eaaaaaaaaaaa", MAINTAINER) is receipts.of_acceptance("eaaaaaaaaaaa", LOCAL) is None
    assert replace(receipts, spec=replace(VL, id="another")).of_scores(entry, LOCAL) is None


def test_the_routes_answer_with_jws_and_jwks(ready: Database, scorer: Scorer, receipts: ReceiptService) -> None:
    (entry,) = _submit(ready, range(1))
    _score_all(ready, scorer)
    app = FastAPI()
    app.include_router(api.build(receipts))
    with TestClient(signed_in_as_everybody(app, ready)) as http:
        accepted = http.get(f"/api/v1/submissions/{entry}/receipt")
        scores = http.get(f"/api/v1/entries/{entry}/receipts")
        keys = http.get("/api/v1/keys")
        missing = [http.get(f"/api/v1/{path}") for path in ("submissions/enone/receipt", "entries/enone/receipts")]
    assert accepted.headers["content-type"] == "application/jose"
    assert all(is_signed(one, read_keys(keys.json())) for one in (accepted.text, *scores.json()["receipts"]))
    assert {reply.headers["cache-control"] for reply in (accepted, scores)} == {"no-store"}
    assert [(one.status_code, one.json()["code"]) for one in missing] == [
        (404, "unknown-submission"),
        (404, "unknown-entry"),
    ]
