"""Receipts as the service gives them: the same bytes everywhere, what is disclosed and no more, to whom it is meant."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import insert, select, update

from auth import ANONYMOUS, LOCAL, OPEN
from receipts import api
from receipts.service import ReceiptService
from receipts.signing import Signer, public_key_json, read_keys, verify_signature
from receipts.verify import check_labels
from storage import stored_rows, visibility
from storage.database import Database
from storage.integrity import audit, receipt_keys
from storage.integrity.row_commitments import of_score
from storage.jobs import job_queue
from storage.labels import label_sets
from storage.models.core import AuditEvent, AuditHead, RegisteredLabelSet, Score, Submission
from storage.models.moderation import ImportedLabels, Moderation
from storage.models.receipts import EventSubject, LabelCommitment
from submissions.metadata import Metadata
from tests.databases import a_submission, fill_once, on_record, submitted, with_labels
from tests.factories import labels, small_benchmark
from tests.factories.accounts import MAINTAINER, OWNER_OF_IT, STRANGER
from tests.factories.specs import SLICES, VL, spec_of
from tests.factories.submission_service import BENCHMARK, SIGNER, make_setup, native, signed_in_as_everybody
from vlrb.commitments import commit
from vlrb.common.canonical_json import GENESIS, canonical_json
from vlrb.scoring import Tally
from workers.jobs.rescore import rescore
from workers.jobs.score import ScoringOutcome, score_next
from workers.scorer import Scorer

HIDDEN = {"demo": "categories"}
NOT_DISCLOSED = ("counts", "tally_sha256", "label_digest", "label_salt", "body", "score_salt")


@pytest.fixture(scope="module")
def scorer() -> Scorer:
    return small_benchmark.scorer()


@pytest.fixture
def ready(database: Database) -> Database:
    fill_once(database, small_benchmark.prepare_board)
    return database


@pytest.fixture
def receipts(database: Database) -> ReceiptService:
    return ReceiptService(database, spec_of("demo"), signer=SIGNER)


def _submit(database: Database, numbers: range, **changes: Any) -> list[str]:
    return small_benchmark.submit(database, numbers, **changes)


def _of(receipts: ReceiptService, entry: str) -> list[dict[str, Any]]:
    found = receipts.of_scores(entry, ANONYMOUS)
    assert found is not None
    assert all(verify_signature(one, SIGNER.public_key) for one in found)
    return found


def _score_all(database: Database, scorer: Scorer) -> None:
    with database.write() as session:
        for revision in scorer.revisions:
            job_queue.enqueue_missing(session, "demo", label_revision=revision, scorer_version=scorer.version)
    while score_next(database, [scorer], worker="w", lease_seconds=60) is ScoringOutcome.SCORED:
        pass


def _event(session: Any, seq: int, *, prev: str, kind: str, **facts: Any) -> str:
    """Add an event in which nothing depends on the clock or on chance; returns its hash."""
    body = canonical_json({**facts, "seq": seq, "ev": kind, "at": "2026-11-21T22:00:03Z", "nonce": f"{seq:02}"})
    digest = audit.link(prev, body)
    session.execute(
        insert(AuditEvent).values(seq=seq, prev_hash=prev, hash=digest, kind=kind, body=body, at=1795298403.2)
    )
    session.execute(update(AuditHead).values(seq=seq, hash=digest))
    if "submission" in facts:
        session.execute(insert(EventSubject).values(subject=facts["submission"], seq=seq))
    return digest


def _fixed(database: Database) -> None:
    """Rows in which nothing depends on the clock or on chance, and their events."""
    counts = np.arange(len(SLICES) * 7).reshape(len(SLICES), 7)[:, ::-1]  # in the fields of scorer version 1
    tally = json.dumps(Tally(5, counts, agreeing=np.zeros((len(SLICES), 6)), has_tags=False, spec=VL).to_json())
    named = {"submission": "eaaaaaaaaaaa"}
    rules = {"label_revision": "v2", "scorer_version": "1"}
    facts = {"revision": "v2", "benchmark": "demo", "digest": "d" * 64, "items": 21}
    known = {"salt": "5" * 64, "commitment": commit("d" * 64, bytes.fromhex("5" * 64))}
    at, salt = 1795298403.123456, "6" * 64
    with database.write() as session:
        session.execute(insert(RegisteredLabelSet).values(**facts))
        session.execute(insert(LabelCommitment).values(benchmark="demo", revision="v2", **known))
        receipt = {**named, "bytes": 7, "ü": [0.1, None], "signature": "s"}
        session.add(a_submission(id="eaaaaaaaaaaa", receipt=receipt, salt="7" * 64, created_at=at))
        session.flush()
        row = {"submission_id": "eaaaaaaaaaaa", **rules, "tally": tally, "created_at": at, "salt": salt}
        session.execute(insert(Score).values(benchmark="demo", **row))
        first = _event(session, 1, prev=GENESIS, kind="labels.registered", **facts, commitment=known["commitment"])
        held = stored_rows.commitments(session, "eaaaaaaaaaaa")
        second = _event(session, 2, prev=first, kind="submission.accepted", **named, owner="local", **held)
        digest = hashlib.sha256(tally.encode()).hexdigest()
        score = of_score("eaaaaaaaaaaa", "v2", version="1", tally_sha256=digest, salt=salt)
        said = {**rules, "recorded_at": at, "tally_sha256": digest, "commitments": [score]}
        _event(session, 3, prev=second, kind=audit.SCORED, **named, **said)


def test_the_same_inputs_give_the_same_bytes_on_every_database(database: Database, receipts: ReceiptService) -> None:
    _fixed(database)
    for hidden, expected in (
        ({}, "06ec03515fa9c438efaba539798fbabf532b71cdb80f8d8f0c2a559ac7027ee5"),
        ({"v2": "categories"}, "cce0fb96e1acc683ad953fa469f59b9b18d34ffa2544aa0d7dd4f96ca14d93d6"),
    ):
        (score,) = _of(replace(receipts, hidden_labels=hidden), "eaaaaaaaaaaa")
        assert (score["chain_seq"], score["scored_at"]) == (3, "2026-11-21T22:00:03Z")
        assert hashlib.sha256(canonical_json(score).encode()).hexdigest() == expected
    accepted = receipts.of_acceptance("eaaaaaaaaaaa", LOCAL)
    assert accepted == {"submission": "eaaaaaaaaaaa", "bytes": 7, "ü": [0.1, None], "signature": "s"}


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
        for one in _of(receipts, name):
            places[name, one["label_revision"]] = one["chain_seq"]
            with ready.read() as session:
                event = session.get_one(AuditEvent, one["chain_seq"])
            assert event.hash == one["chain_hash"]
    assert {name for name, revision in places if revision == "demo"} == set(ids)
    assert _counted(ready, places) == set()


def _counted(database: Database, places: dict[tuple[str, str], int]) -> set[int]:
    """Chunks whose event is named by other scores than those that it commits to."""
    wrong = set()
    with database.read() as session:
        events = session.execute(
            select(AuditEvent.seq, AuditEvent.body).where(AuditEvent.kind == audit.SCORES_RECORDED)
        ).all()
        for seq, text in events:
            body = json.loads(text)
            names = sorted(name for (name, revision), place in places.items() if place == seq)
            rules = {"label_revision": body["label_revision"], "scorer_version": body["scorer_version"]}
            under = select(Score).filter_by(**rules).where(Score.submission_id.in_(names))
            digests = sorted(
                of_score(
                    row.submission_id,
                    body["label_revision"],
                    version=body["scorer_version"],
                    tally_sha256=hashlib.sha256(row.tally.encode()).hexdigest(),
                    salt=row.salt,
                )
                for row in session.scalars(under)
            )
            if digests != body["commitments"] or len(names) != body["scores"]:
                wrong.add(seq)
    return wrong


def test_a_public_score_is_counted_in_full(ready: Database, scorer: Scorer, receipts: ReceiptService) -> None:
    (entry,) = _submit(ready, range(1))
    _score_all(ready, scorer)
    by_revision = {one["label_revision"]: one for one in _of(receipts, entry)}
    right = small_benchmark.right(0)
    one = by_revision["demo"]
    assert sum(cell["agree"] for cell in one["counts"].values()) == right
    assert one["scores"]["overall"] == round(right / 21, 6)
    assert by_revision["flipped"]["scores"]["overall"] == round(small_benchmark.right(0, flip=True) / 21, 6)
    with ready.read() as session:
        (tally,) = session.scalars(select(Score.tally).where(Score.label_revision == "demo"))
    assert one["tally_sha256"] == hashlib.sha256(tally.encode()).hexdigest()
    assert one["label_digest"] == scorer.labels["demo"].digest
    assert check_labels(one) is not None  # what was committed to while it was hidden can be checked now


def test_of_hidden_labels_nothing_is_said_but_what_is_disclosed(
    ready: Database, scorer: Scorer, receipts: ReceiptService
) -> None:
    (entry,) = _submit(ready, range(1))
    _score_all(ready, scorer)
    hidden = replace(receipts, hidden_labels=HIDDEN)
    one = next(one for one in _of(hidden, entry) if one["label_revision"] == "demo")
    open_one = next(one for one in _of(receipts, entry) if one["label_revision"] == "demo")
    assert [one[name] for name in NOT_DISCLOSED] == [None] * len(NOT_DISCLOSED)
    assert one["scores"] == {name: round(value, 3) for name, value in open_one["scores"].items()}
    assert set(one["scores"]) == {"overall", "macro", "general", "hallucination", "reasoning"}
    assert one["disclosure"] == "categories"
    # The commitment is the same before and after, and only the salt opens it.
    assert one["label_commitment"] == open_one["label_commitment"]
    digest, salt = open_one["label_digest"], bytes.fromhex(open_one["label_salt"])
    assert one["label_commitment"] == commit(digest, salt) != digest
    text = canonical_json(one)
    with ready.read() as session:
        tallies = session.scalars(select(Score.tally)).all()
    assert not any(secret in text for secret in (digest, salt.hex(), *_digests(tallies)))


def _digests(texts: Sequence[str]) -> list[str]:
    return [hashlib.sha256(text.encode()).hexdigest() for text in texts]


def test_scores_under_a_draft_have_no_receipt_yet(ready: Database, scorer: Scorer, receipts: ReceiptService) -> None:
    (entry,) = _submit(ready, range(1))
    _score_all(ready, scorer)
    facts = {"revision": "flipped", "benchmark": "demo", "disclosure": "categories", "spec": "x", "items": 21}
    with ready.write() as session:
        kept = {"digest": scorer.labels["flipped"].digest}
        kept["commitment"] = session.get_one(LabelCommitment, ("demo", "flipped")).commitment
        why = {**kept, "difference": {}, "reason": "because", "requested_by": "local"}
        session.execute(insert(ImportedLabels).values(**facts, **why))
        known = {name: why[name] for name in ("digest", "commitment", "difference")}
        audit.append(session, "labels.imported", data={**facts, **known})
    assert [one["label_revision"] for one in _of(receipts, entry)] == ["demo"]


def test_an_imported_revision_keeps_the_commitment_it_was_imported_with(
    database: Database, receipts: ReceiptService
) -> None:
    facts = {
        "revision": "v9",
        "benchmark": "demo",
        "disclosure": "categories",
        "spec": "x",
        "items": 21,
        "published_at": 1.0,
    }
    why = {"digest": "d" * 64, "commitment": "c" * 64, "difference": {}, "reason": "because", "requested_by": "local"}
    with database.write() as session:
        session.execute(insert(ImportedLabels).values(**facts, **why))
        label_sets.register(session, "v9", benchmark="demo", digest="d" * 64, items=21)
    (entry,) = on_record(database, submitted(database, 1))
    tally = json.dumps(labels.random_tally(labels.table()).to_json())
    with database.write() as session:
        known = {name: why[name] for name in ("digest", "commitment", "difference")}
        audit.append(
            session,
            "labels.imported",
            data={**{name: facts[name] for name in facts if name != "published_at"}, **known},
        )
        rules = {"label_revision": "v9", "scorer_version": "1"}
        row = {"submission_id": entry, **rules, "tally": tally, "created_at": 7.5, "salt": "6" * 64}
        session.execute(insert(Score).values(benchmark="demo", **row))
        score = of_score(
            entry, "v9", version="1", tally_sha256=hashlib.sha256(tally.encode()).hexdigest(), salt="6" * 64
        )
        audit.append(
            session, audit.SCORED, data={"submission": entry, **rules, "recorded_at": 7.5, "commitments": [score]}
        )
    (one,) = _of(receipts, entry)
    assert (one["label_commitment"], one["label_digest"], one["score_commitment"]) == ("c" * 64, None, score)


@pytest.mark.parametrize("what", ["hidden", "unpublished", "unnamed", "waiting"])
def test_receipts_say_to_strangers_no_more_than_the_board_does(
    ready: Database, scorer: Scorer, receipts: ReceiptService, what: str
) -> None:
    (entry,) = _submit(
        ready, range(1), owner=OWNER_OF_IT.account, receipt={"owner": OWNER_OF_IT.account, "signature": "s"}
    )
    _score_all(ready, scorer)
    assert receipts.of_acceptance(entry, STRANGER) is not None
    with ready.write() as session:
        if what == "hidden":
            session.execute(insert(Moderation).values(submission_id=entry, hidden_at=1.0))
        else:
            asked = {
                "unpublished": visibility.EntryVisibility(published=False),
                "unnamed": visibility.EntryVisibility(4e9),
            }
            visibility.request_approval(
                session, entry, shown=asked.get(what, visibility.PLAIN), approval=what == "waiting"
            )
    for user in (ANONYMOUS, STRANGER, OPEN):
        assert receipts.of_acceptance(entry, user) is None  # it names the owner
        assert (receipts.of_scores(entry, user) is None) is (what in ("hidden", "unpublished"))
    for user in (OWNER_OF_IT, MAINTAINER, LOCAL):
        assert receipts.of_acceptance(entry, user) is not None
        assert receipts.of_scores(entry, user)
    assert receipts.of_scores("eaaaaaaaaaaa", MAINTAINER) is receipts.of_acceptance("eaaaaaaaaaaa", LOCAL) is None
    assert replace(receipts, spec=replace(VL, id="another")).of_scores(entry, LOCAL) is None


def test_old_keys_stay_published_and_old_receipts_as_they_were(database: Database, tmp_path: Path) -> None:
    with_labels(database, "r1", benchmark=BENCHMARK)
    setup = make_setup(database, tmp_path)
    taken = setup.intake.submit(setup.arrive(native(setup.items)), Metadata.parse({"model": "Judge"}), LOCAL)
    new = Signer.make()
    for signer in (SIGNER, new, new, SIGNER):
        receipt_keys.publish(database, signer.key_id, public_key=public_key_json(signer.public_key)["public_key"])
    rotated = ReceiptService(database, spec_of(BENCHMARK), signer=new)
    keys = rotated.keys()
    assert {one["id"]: one["in_use"] for one in keys["keys"]} == {SIGNER.key_id: False, new.key_id: True}
    again = rotated.of_acceptance(taken.id, LOCAL)
    assert again == taken.receipt
    assert verify_signature(again, read_keys(keys)[SIGNER.key_id])
    with database.read() as session:
        kinds = session.scalars(select(AuditEvent.kind).where(AuditEvent.kind == receipt_keys.PUBLISHED)).all()
        assert (len(kinds), audit.verify(session)) == (2, None)


def test_the_routes_answer_in_canonical_json(ready: Database, scorer: Scorer, receipts: ReceiptService) -> None:
    (entry,) = _submit(ready, range(1), receipt={"kind": "acceptance", "b": 1, "a": 2, "signature": "s"})
    _score_all(ready, scorer)
    app = FastAPI()
    app.include_router(api.build(receipts))
    with TestClient(signed_in_as_everybody(app, ready)) as http:
        accepted = http.get(f"/api/v1/submissions/{entry}/receipt")
        scores = http.get(f"/api/v1/entries/{entry}/receipts")
        keys = http.get("/api/v1/keys")
        missing = [http.get(f"/api/v1/{path}") for path in ("submissions/enone/receipt", "entries/enone/receipts")]
    for reply in (accepted, scores):
        assert reply.text == canonical_json(reply.json())
        assert reply.headers["cache-control"] == "no-store"
    assert [one["label_revision"] for one in scores.json()["receipts"]] == ["demo", "flipped"]
    assert keys.json() == receipts.keys()
    assert [(one.status_code, one.json()["code"]) for one in missing] == [
        (404, "unknown-submission"),
        (404, "unknown-entry"),
    ]
    with ready.read() as session:
        assert session.scalars(select(Submission.receipt)).one() == {
            "kind": "acceptance",
            "b": 1,
            "a": 2,
            "signature": "s",
        }
