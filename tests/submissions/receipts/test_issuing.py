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
from sqlalchemy import delete, insert, select, update

from benchmark.commitments import commit
from benchmark.scoring import CELLS, FIELDS, Tally
from identity import ANONYMOUS, LOCAL, OPEN
from storage import audit, job_queue, label_sets, receipt_keys, visibility
from storage.canonical import canonical_json
from storage.database import Database
from storage.maintenance_tables import ImportedLabels, Moderation
from storage.receipt_tables import EventSubject, LabelCommitment
from storage.tables import Event, LabelSet, Score, Submission
from submissions.metadata import Metadata
from submissions.receipts import api
from submissions.receipts.issuing import Receipts
from submissions.receipts.signing import Signer, holds, published, read_keys
from submissions.receipts.verify import Chain, check_all, check_labels
from submissions.receipts.verify import Outcome as Checked
from tests import builders
from tests.databases import a_submission, submitted, with_labels
from tests.maintenance.people import MAINTAINER, OWNER_OF_IT, STRANGER
from tests.submissions.desk import BENCHMARK, SIGNER, make_desk, native, signed_in_as_everybody
from tests.workers import invented
from workers.rescore_job import rescore
from workers.score_job import Outcome, score_next
from workers.scorer import Scorer
from workers.start import prepare

HIDDEN = {"demo": "categories"}
NOT_DISCLOSED = ("counts", "tally_sha256", "label_digest", "label_salt")


@pytest.fixture(scope="module")
def scorer() -> Scorer:
    return invented.scorer()


@pytest.fixture
def ready(database: Database, scorer: Scorer) -> Database:
    prepare(database, scorer, "demo")
    return database


@pytest.fixture
def receipts(database: Database) -> Receipts:
    return Receipts(database, "demo", SIGNER)


def _of(receipts: Receipts, entry: str) -> list[dict[str, Any]]:
    found = receipts.of_scores(entry, ANONYMOUS)
    assert found is not None
    assert all(holds(one, SIGNER.public_key) for one in found)
    return found


def _score_all(database: Database, scorer: Scorer) -> None:
    with database.write() as session:
        for revision in scorer.revisions:
            job_queue.enqueue_missing(session, revision, scorer.version)
    while score_next(database, scorer, "w", 60) is Outcome.SCORED:
        pass


def _fixed(database: Database) -> None:
    """Rows in which nothing depends on the clock or on chance."""
    counts = np.arange(len(CELLS) * len(FIELDS)).reshape(len(CELLS), len(FIELDS))[:, ::-1]
    tally = json.dumps(Tally(5, counts, np.zeros((len(CELLS), 6)), has_tags=False).to_json())
    said = {"submission": "eaaaaaaaaaaa", "label_revision": "v2", "scorer_version": "1"}
    body = canonical_json({**said, "seq": 7, "ev": audit.SCORED, "at": "2026-11-21T22:00:03Z", "nonce": "00"})
    with database.write() as session:
        session.execute(insert(LabelSet).values(revision="v2", benchmark="demo", digest="d" * 64, items=21))
        known = {"salt": "5" * 64, "commitment": commit("d" * 64, bytes.fromhex("5" * 64))}
        session.execute(insert(LabelCommitment).values(revision="v2", **known))
        session.add(
            a_submission(id="eaaaaaaaaaaa", receipt={"submission": "eaaaaaaaaaaa", "bytes": 7, "ü": [0.1, None]})
        )
        session.flush()
        session.execute(
            insert(Score).values(
                submission_id="eaaaaaaaaaaa",
                label_revision="v2",
                scorer_version="1",
                tally=tally,
                created_at=1795298403.123456,
            )
        )
        session.execute(
            insert(Event).values(
                seq=7, prev_hash="a" * 64, hash="b" * 64, kind=audit.SCORED, body=body, at=1795298403.2
            )
        )
        session.execute(insert(EventSubject).values(subject="eaaaaaaaaaaa", seq=7))


def test_the_same_inputs_give_the_same_bytes_on_every_database(database: Database, receipts: Receipts) -> None:
    _fixed(database)
    for hidden, expected in (
        ({}, "78d246d4fff3d6cea361f01b9d688c02e3d73f557b58518ee7ba5c81e56e6c8a"),
        ({"v2": "categories"}, "9ff73d11e4fe5b49b4f8a8581be6d08c03ee47f8b91ee34dea9282a974e41f1d"),
    ):
        (score,) = _of(replace(receipts, hidden_labels=hidden), "eaaaaaaaaaaa")
        assert (score["chain_seq"], score["chain_hash"], score["scored_at"]) == (7, "b" * 64, "2026-11-21T22:00:03Z")
        assert hashlib.sha256(canonical_json(score).encode()).hexdigest() == expected
    accepted = receipts.of_acceptance("eaaaaaaaaaaa", LOCAL)
    assert accepted is not None
    assert (
        hashlib.sha256(canonical_json(accepted).encode()).hexdigest()
        == "572673c0e5fb4866cc160566eaf2d74888839479bf48c9e31ce2f19066b3292d"
    )


def test_every_score_has_a_receipt_with_its_place_in_the_chain(
    ready: Database, scorer: Scorer, receipts: Receipts
) -> None:
    ids = invented.submit(ready, range(3))
    _score_all(ready, replace(scorer, labels={"demo": scorer.labels["demo"]}))
    later = invented.submit(ready, range(3, 7))
    rescore(ready, scorer, "flipped", chunk=2)  # ranges of ids that overlap with those of the next runs
    more = invented.submit(ready, range(7, 12))
    rescore(ready, scorer, "flipped", chunk=3)
    places: dict[tuple[str, str], int] = {}
    for name in (*ids, *later, *more):
        for one in _of(receipts, name):
            places[name, one["label_revision"]] = one["chain_seq"]
            with ready.read() as session:
                event = session.get_one(Event, one["chain_seq"])
            assert event.hash == one["chain_hash"]
    assert {name for name, revision in places if revision == "demo"} == set(ids)
    assert _counted(ready, places) == {}


def _counted(database: Database, places: dict[tuple[str, str], int]) -> dict[int, str]:
    """Chunks whose event is named by other scores than those it counts, by their digest."""
    wrong = {}
    with database.read() as session:
        events = session.execute(select(Event.seq, Event.body).where(Event.kind == audit.SCORES_RECORDED)).all()
        for seq, text in events:
            body = json.loads(text)
            names = sorted(name for (name, revision), place in places.items() if place == seq)
            under = select(Score.submission_id, Score.tally).where(Score.label_revision == body["label_revision"])
            tallies = {row.submission_id: row.tally for row in session.execute(under)}
            digest = hashlib.sha256("".join(f"{name} {tallies[name]}\n" for name in names).encode()).hexdigest()
            if digest != body["sha256"] or len(names) != body["scores"]:
                wrong[seq] = digest
    return wrong


def test_a_public_score_is_counted_in_full(ready: Database, scorer: Scorer, receipts: Receipts) -> None:
    (entry,) = invented.submit(ready, range(1))
    _score_all(ready, scorer)
    by_revision = {one["label_revision"]: one for one in _of(receipts, entry)}
    right = invented.right(0)
    one = by_revision["demo"]
    assert sum(cell["agree"] for cell in one["counts"].values()) == right
    assert one["scores"]["overall"] == round(right / 21, 6)
    assert by_revision["flipped"]["scores"]["overall"] == round(invented.right(0, flip=True) / 21, 6)
    with ready.read() as session:
        (tally,) = session.scalars(select(Score.tally).where(Score.label_revision == "demo"))
    assert one["tally_sha256"] == hashlib.sha256(tally.encode()).hexdigest()
    assert one["label_digest"] == scorer.labels["demo"].digest
    assert check_labels(one) is not None  # what was committed to while it was hidden can be checked now


def test_of_hidden_labels_nothing_is_said_but_what_is_disclosed(
    ready: Database, scorer: Scorer, receipts: Receipts
) -> None:
    (entry,) = invented.submit(ready, range(1))
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


def test_scores_under_a_draft_have_no_receipt_yet(ready: Database, scorer: Scorer, receipts: Receipts) -> None:
    (entry,) = invented.submit(ready, range(1))
    _score_all(ready, scorer)
    facts = {"revision": "flipped", "benchmark": "demo", "disclosure": "categories", "spec": "x", "items": 21}
    why = {"digest": "d" * 64, "commitment": "c" * 64, "difference": {}, "reason": "because", "requested_by": "local"}
    with ready.write() as session:
        session.execute(insert(ImportedLabels).values(**facts, **why))
    assert [one["label_revision"] for one in _of(receipts, entry)] == ["demo"]


def test_an_imported_revision_keeps_the_commitment_it_was_imported_with(database: Database, receipts: Receipts) -> None:
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
        label_sets.register(session, "v9", "demo", "d" * 64, 21)
    (entry,) = submitted(database, 1)
    tally: Tally = builders.random_tally(builders.table())
    with database.write() as session:
        session.execute(
            insert(Score).values(
                submission_id=entry, label_revision="v9", scorer_version="1", tally=json.dumps(tally.to_json())
            )
        )
    (one,) = _of(receipts, entry)
    assert (one["label_commitment"], one["label_digest"], one["chain_seq"]) == ("c" * 64, None, None)


@pytest.mark.parametrize("what", ["hidden", "unpublished", "unnamed", "waiting"])
def test_receipts_say_to_strangers_no_more_than_the_board_does(
    ready: Database, scorer: Scorer, receipts: Receipts, what: str
) -> None:
    (entry,) = invented.submit(ready, range(1), owner=OWNER_OF_IT.account, receipt={"owner": OWNER_OF_IT.account})
    _score_all(ready, scorer)
    assert receipts.of_acceptance(entry, STRANGER) is not None
    with ready.write() as session:
        if what == "hidden":
            session.execute(insert(Moderation).values(submission_id=entry, hidden_at=1.0))
        else:
            asked = {"unpublished": visibility.Shown(published=False), "unnamed": visibility.Shown(4e9)}
            visibility.ask(session, entry, asked.get(what, visibility.PLAIN), approval=what == "waiting")
    for who in (ANONYMOUS, STRANGER, OPEN):
        assert receipts.of_acceptance(entry, who) is None  # it names the owner
        assert (receipts.of_scores(entry, who) is None) is (what in ("hidden", "unpublished"))
    for who in (OWNER_OF_IT, MAINTAINER, LOCAL):
        assert receipts.of_acceptance(entry, who) is not None
        assert receipts.of_scores(entry, who)
    assert receipts.of_scores("eaaaaaaaaaaa", MAINTAINER) is receipts.of_acceptance("eaaaaaaaaaaa", LOCAL) is None
    assert replace(receipts, benchmark="another").of_scores(entry, LOCAL) is None


def test_old_keys_stay_published_and_old_receipts_as_they_were(database: Database, tmp_path: Path) -> None:
    with_labels(database, "r1", BENCHMARK)
    desk = make_desk(database, tmp_path)
    taken = desk.intake.submit(desk.arrive(native(desk.items)), Metadata.parse({"model": "Judge"}), LOCAL)
    new = Signer.make()
    for signer in (SIGNER, new, new, SIGNER):
        receipt_keys.publish(database, signer.key_id, published(signer.public_key)["public_key"])
    rotated = Receipts(database, BENCHMARK, new)
    keys = rotated.keys()
    assert {one["id"]: one["in_use"] for one in keys["keys"]} == {SIGNER.key_id: False, new.key_id: True}
    again = rotated.of_acceptance(taken.id, LOCAL)
    assert again == taken.receipt
    assert holds(again, read_keys(keys)[SIGNER.key_id])
    with database.read() as session:
        kinds = session.scalars(select(Event.kind).where(Event.kind == receipt_keys.PUBLISHED)).all()
        assert (len(kinds), audit.verify(session)) == (2, None)


def test_the_routes_answer_in_canonical_json(ready: Database, scorer: Scorer, receipts: Receipts) -> None:
    (entry,) = invented.submit(ready, range(1), receipt={"kind": "acceptance", "b": 1, "a": 2})
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
        assert session.scalars(select(Submission.receipt)).one() == {"kind": "acceptance", "b": 1, "a": 2}


def test_what_was_accepted_and_scored_before_receipts_were_signed_has_receipts_that_hold(
    ready: Database, scorer: Scorer, receipts: Receipts
) -> None:
    names = invented.submit(ready, range(3))
    rescore(ready, scorer, "demo")
    with ready.write() as session:
        for name in names:
            seq = audit.append(session, "submission.accepted", {"submission": name})
            known = update(Submission).where(Submission.id == name)
            session.execute(known.values(receipt={"submission": name, "chain_seq": seq}))
        # The event of the chunk, as it was before it said when its rows were made.
        chunk = audit.about(session, [audit.labels("demo")], [audit.SCORES_RECORDED])[0]
        early = {key: one for key, one in chunk.body.items() if key not in (*audit.RESERVED, "recorded_at")}
        made = audit.append(session, audit.SCORES_RECORDED, early)
        moved = EventSubject.subject == audit.labels("demo"), EventSubject.seq == chunk.seq
        session.execute(delete(EventSubject).where(*moved))
    with ready.read() as session:
        chain = Chain(tuple(one.hash for one in audit.links(session)))
    for name in names:
        accepted = receipts.of_acceptance(name, LOCAL)
        (score,) = _of(receipts, name)
        assert accepted is not None
        assert score["chain_seq"] == made
        assert (accepted["kind"], accepted["benchmark"]) == ("acceptance", "demo")
        for one in (accepted, score):
            keys = {SIGNER.key_id: SIGNER.public_key}
            assert all(found.outcome is not Checked.FAILED for found in check_all(one, keys, chain=chain))
