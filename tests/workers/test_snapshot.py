"""The snapshot: what the public sees, addressed by its content, made only when something changed."""

from __future__ import annotations

import pytest

from storage.database import Database
from storage.integrity import audit
from tests.factories import small_benchmark
from tests.factories.small_benchmark import published, settled
from workers import board_view
from workers.jobs.pairwise_statistics import compute_if_changed
from workers.jobs.rescore import rescore
from workers.jobs.snapshot import publish_if_changed
from workers.scorer import Scorer


def test_a_snapshot_holds_facts_and_tallies_of_every_revision(ready: Database, scorer: Scorer) -> None:
    (name,) = small_benchmark.submit(ready, range(1), organisation='<"Ä\u2028', parameters_b=7.0, open_weights=True)
    rescore(ready, scorer, revision="demo")
    rescore(ready, scorer, revision="flipped")
    (entry,) = published(ready, scorer)["entries"]
    assert set(entry["tallies"]) == {"demo", "flipped"}
    assert set(entry["tallies"]["demo"]) == {"k", "counts", "agreeing", "has_tags", "behaviour"}
    assert (entry["id"], entry["organisation"], entry["parameters_b"], entry["open_weights"]) == (
        name,
        '<"Ä\u2028',
        7.0,
        True,
    )
    assert entry["submitted_at"].endswith("Z")
    for private in ("owner", "votes", "content_sha256", "report", "receipt", "file_name", "size_bytes"):
        assert private not in entry


def test_nothing_is_published_while_nothing_changes(ready: Database, scorer: Scorer) -> None:
    assert publish_if_changed(ready, scorer)
    assert publish_if_changed(ready, scorer) is None
    with ready.write() as session:
        audit.append(session, "submission.accepted", data={})
        audit.append(session, "job.failed", data={})
    assert publish_if_changed(ready, scorer) is None
    small_benchmark.submit(ready, range(1))
    rescore(ready, scorer, revision="demo")
    assert publish_if_changed(ready, scorer)
    assert publish_if_changed(ready, scorer) is None


def test_an_entry_appears_with_its_score_and_not_before(ready: Database, scorer: Scorer) -> None:
    small_benchmark.submit(ready, range(2))
    rescore(ready, scorer, revision="flipped")  # only the other revision
    assert published(ready, scorer)["entries"] == []
    rescore(ready, scorer, revision="demo")
    assert len(published(ready, scorer)["entries"]) == 2


def test_at_its_start_a_worker_replaces_what_its_release_would_not_write(ready: Database, scorer: Scorer) -> None:
    small_benchmark.submit(ready, range(3))
    rescore(ready, scorer, revision="demo")
    whole = settled(ready, scorer)
    assert whole["relations"]
    assert publish_if_changed(ready, scorer, anew=True) is None  # it would write the same
    small_benchmark.by_another_release(ready)
    assert publish_if_changed(ready, scorer) is None  # nothing has happened
    assert publish_if_changed(ready, scorer, anew=True) is not None
    changing = ("created_at", "audit_seq", "nonce")
    assert {**small_benchmark.snapshot(ready), **dict.fromkeys(changing)} == {**whole, **dict.fromkeys(changing)}
    assert publish_if_changed(ready, scorer, anew=True) is None


def test_relations_that_another_release_computed_otherwise_follow(
    ready: Database, scorer: Scorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_benchmark.submit(ready, range(3))
    rescore(ready, scorer, revision="demo")
    settled(ready, scorer)
    monkeypatch.setattr(board_view, "VERSION", "of the next release")
    assert publish_if_changed(ready, scorer, anew=True) is not None
    assert not small_benchmark.snapshot(ready)["relations"]
    assert compute_if_changed(ready, scorer) > 0
    assert published(ready, scorer)["relations"]
