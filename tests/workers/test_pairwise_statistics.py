"""Pairwise statistics of judges: computed after the scores are public, shown with the next snapshot, never deleted."""

from __future__ import annotations

import hashlib
import threading
import time
from typing import Any

import numpy as np
import orjson
import pytest
from sqlalchemy import select, update

from storage.boards import snapshots
from storage.database import Database
from storage.integrity import audit
from storage.integrity import integrity_check as integrity
from storage.labels import label_imports
from storage.models.core import AuditEvent, StoredRelations, Submission
from tests.databases import a_submission, accept
from tests.factories import small_benchmark
from tests.factories.small_benchmark import published, settled
from tests.factories.specs import VL
from vlrb.baselines import EARLIER, FIRST, LONGER, MAJORITY, RANDOM, always_first, always_longer
from vlrb.protocols import scores
from vlrb.scoring import Tally, tally
from vlrb.statistics.pairwise import compare_all, rank_ranges_of, unpack
from vlrb.votes import Votes, condensed, majority
from workers.jobs import pairwise_statistics
from workers.jobs.pairwise_statistics import compute_if_changed
from workers.jobs.rescore import rescore
from workers.jobs.snapshot import publish_if_changed
from workers.runner import Worker, drain
from workers.scorer import Scorer


def _scored(database: Database, scorer: Scorer, *, numbers: range, **changes: Any) -> list[str]:
    names = small_benchmark.submit(database, numbers, **changes)
    for revision in scorer.revisions:
        rescore(database, scorer, revision=revision)
    return names


def _stored(database: Database, name: str) -> bytes:
    with database.read() as session:
        body = snapshots.relations(session, name)
    assert body is not None
    return body


def test_scores_are_public_first_and_relations_follow_with_the_next_snapshot(ready: Database, scorer: Scorer) -> None:
    names = _scored(ready, scorer, numbers=range(6))
    assert compute_if_changed(ready, scorer) == 0  # nothing is published yet
    plain = published(ready, scorer)
    assert {entry["id"] for entry in plain["entries"]} == set(names)
    assert plain["relations"] == {}
    assert compute_if_changed(ready, scorer) == 2
    assert publish_if_changed(ready, scorer)
    body = small_benchmark.snapshot(ready)
    assert set(body["relations"]) == {"demo", "flipped"}
    assert set(body["relations"]["demo"]) == {
        *("id", "judges", "versions", "entries", "ranges", "variants", "difficulty", "lengths", "self_preference")
    }
    assert compute_if_changed(ready, scorer) == 0
    assert publish_if_changed(ready, scorer) is None


def test_what_is_served_is_what_the_votes_say(ready: Database, scorer: Scorer) -> None:
    names = _scored(ready, scorer, numbers=range(7))
    body = settled(ready, scorer)
    number = {name: index for index, name in enumerate(names)}
    for revision, labels in scorer.labels.items():
        summary = body["relations"][revision]
        assert sorted(summary["entries"]) == sorted(names)
        assert summary["judges"] == 7
        votes = np.stack([condensed(small_benchmark.votes(number[name]).matrix) for name in summary["entries"]])
        expected = compare_all(summary["entries"], votes, labels=labels, table=scorer.table)
        found = unpack(_stored(ready, summary["id"]))
        assert np.array_equal(found.outcomes, expected.relations.outcomes)
        assert np.array_equal(found.agreement, expected.relations.agreement)
        assert np.array_equal(found.bands, expected.relations.bands)
        assert summary["ranges"] == expected.summary["ranges"]
        assert len(rank_ranges_of(summary, "official", order="macro")) == 7
        assert summary["difficulty"] == expected.summary["difficulty"]
        best = [
            scores(Tally.from_json(_entry(body, name)["tallies"][revision], VL))["macro"] for name in summary["entries"]
        ]
        assert best == sorted(best, reverse=True)


def _entry(body: dict[str, Any], name: str) -> dict[str, Any]:
    return next(entry for entry in body["entries"] if entry["id"] == name)


def test_baselines_are_permanent_rows_and_the_boards_majority_joins_with_three_judges(
    ready: Database, scorer: Scorer
) -> None:
    rows = {row["id"]: row for row in published(ready, scorer)["baselines"]}
    assert list(rows) == [RANDOM, FIRST, LONGER, EARLIER, MAJORITY]
    assert (rows[RANDOM]["expected"], rows[RANDOM]["tallies"]) == (0.5, {})
    assert rows[MAJORITY]["tallies"] == {}
    for name, votes in ((FIRST, always_first(scorer.table)), (LONGER, always_longer(scorer.table))):
        assert rows[name]["expected"] is None
        for revision, labels in scorer.labels.items():
            assert rows[name]["tallies"][revision] == tally(Votes(votes), labels, table=scorer.table).to_json()
    _scored(ready, scorer, numbers=range(2))
    assert settled(ready, scorer)["baselines"][4]["tallies"] == {}
    _scored(ready, scorer, numbers=range(2, 3))
    counted = settled(ready, scorer)["baselines"][4]["tallies"]
    assert set(counted) == {"demo", "flipped"}
    verdicts = np.stack([majority(small_benchmark.votes(number).matrix) for number in range(3)])
    preferred = scorer.labels["demo"].preferred
    right = [
        (column == label).sum() > (column == 1 - label).sum()
        for column, label in zip(verdicts.T, preferred, strict=True)
    ]
    assert Tally.from_json(counted["demo"], VL).counts[:7, 1].sum() == sum(right)


def test_a_copy_of_a_version_that_is_not_the_best_is_of_its_judge(ready: Database, scorer: Scorer) -> None:
    names = _scored(ready, scorer, numbers=range(3))
    with ready.write() as session:
        copy = a_submission(3, votes=small_benchmark.votes(0).pack(), votes_per_item=3, owner="bob")
        (name,) = accept(session, [copy])
        for version, one in enumerate(names[:2]):
            session.execute(
                update(Submission).where(Submission.id == one).values(model="one judge", version=str(version))
            )
        audit.append(session, "submission.edited", data={})
    for revision in scorer.revisions:
        rescore(ready, scorer, revision=revision)
    for summary in settled(ready, scorer)["relations"].values():
        assert summary["judges"] == 2
        assert {*summary["versions"], *summary["entries"]} == {*names, name}
        assert len({*summary["versions"].values(), *summary["entries"]}) == 2


def test_a_change_without_effect_on_judges_keeps_the_relations_at_once(ready: Database, scorer: Scorer) -> None:
    (name, *_) = _scored(ready, scorer, numbers=range(3))
    before = settled(ready, scorer)["relations"]
    with ready.write() as session:
        session.execute(update(Submission).where(Submission.id == name).values(organisation="a new name"))
        audit.append(session, "submission.edited", data={})
    assert published(ready, scorer)["relations"] == before
    assert compute_if_changed(ready, scorer) == 0


def test_a_snapshot_never_carries_the_relations_of_other_entries(ready: Database, scorer: Scorer) -> None:
    _scored(ready, scorer, numbers=range(3))
    settled(ready, scorer)
    _scored(ready, scorer, numbers=range(3, 4))
    body = published(ready, scorer)
    assert len(body["entries"]) == 4
    assert body["relations"] == {}
    assert len(settled(ready, scorer)["relations"]["demo"]["entries"]) == 4


def test_a_draft_of_labels_leaves_no_trace_and_imported_ones_no_counts(ready: Database, scorer: Scorer) -> None:
    _scored(ready, scorer, numbers=range(6))
    facts = {"benchmark": "demo", "spec": "f", "items": 21, "digest": "a" * 64, "commitment": "b" * 64}
    asked = {"difference": {}, "reason": "r", "requested_by": "m", "disclosure": "hidden"}
    with ready.write() as session:
        label_imports.record(session, "flipped", facts=facts | asked)
    body = settled(ready, scorer)
    assert set(body["relations"]) == {"demo"} == set(body["label_revisions"])
    assert {revision for row in body["baselines"] for revision in row["tallies"]} == {"demo"}
    with ready.write() as session:
        label_imports.publish(session, "demo", revision="flipped")
        audit.append(session, "test", data={})
    body = settled(ready, scorer)
    assert set(body["relations"]) == {"demo", "flipped"}
    assert unpack(_stored(ready, body["relations"]["flipped"]["id"])).outcomes is None
    with ready.write() as session:
        label_imports.retire(session, "demo", revision="flipped", salt="c" * 64)
        audit.append(session, "test", data={})
    relations = settled(ready, scorer)["relations"]
    assert unpack(_stored(ready, relations["flipped"]["id"])).outcomes is not None


def test_a_new_score_while_relations_are_computed_makes_them_worthless_and_they_are_dropped(
    ready: Database, scorer: Scorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    _scored(ready, scorer, numbers=range(3))
    publish_if_changed(ready, scorer)
    compute = pairwise_statistics._compute

    def interrupted(*arguments: Any, **named: Any) -> Any:
        computed = compute(*arguments, **named)
        _scored(ready, scorer, numbers=range(3, 4))
        return computed

    monkeypatch.setattr(pairwise_statistics, "_compute", interrupted)
    assert compute_if_changed(ready, scorer) == 0
    monkeypatch.undo()
    assert len(settled(ready, scorer)["relations"]["demo"]["entries"]) == 4


def test_two_workers_that_compute_the_same_store_it_once(
    ready: Database, scorer: Scorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    _scored(ready, scorer, numbers=range(3))
    publish_if_changed(ready, scorer)
    both = threading.Barrier(2)
    compute = pairwise_statistics._compute

    def together(*arguments: Any, **named: Any) -> Any:
        both.wait(timeout=60)
        return compute(*arguments, **named)

    monkeypatch.setattr(pairwise_statistics, "_compute", together)
    stored: list[int] = []
    threads = [threading.Thread(target=lambda: stored.append(compute_if_changed(ready, scorer))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(stored) == [0, 2]


def test_a_drained_queue_leaves_a_snapshot_with_relations_on_record(ready: Database, scorer: Scorer) -> None:
    small_benchmark.submit(ready, range(3), queued=True)
    drain(Worker(ready, [scorer], lease_seconds=60), lambda: False, rest=time.sleep)
    relations = small_benchmark.snapshot(ready)["relations"]
    with ready.read() as session:
        (body,) = session.scalars(select(AuditEvent.body).where(AuditEvent.kind == pairwise_statistics.COMPUTED)).all()
        assert orjson.loads(body)["relations"] == {revision: relations[revision]["id"] for revision in scorer.revisions}
        assert audit.verify(session) is None
    assert hashlib.sha256(_stored(ready, relations["demo"]["id"])).hexdigest() == relations["demo"]["id"]


def test_one_content_with_several_summaries_is_no_mismatch(ready: Database, scorer: Scorer) -> None:
    _scored(ready, scorer, numbers=range(2))
    same = {"votes": small_benchmark.votes(1).pack(), "votes_per_item": 3}
    for copies in ((2, 3), (4,)):
        with ready.write() as session:
            accept(session, [a_submission(number, **same) for number in copies])
        for revision in scorer.revisions:
            rescore(ready, scorer, revision=revision)
        settled(ready, scorer)
    with ready.read() as session:
        rows = session.execute(select(StoredRelations.id, StoredRelations.summary)).all()
        assert len({name for name, _ in rows}) < len({summary for _, summary in rows})
        assert not [one.sentence for one in integrity.check(session) if one.table == "relations"]
