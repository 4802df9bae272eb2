"""Activity list of an account's entries: everything that changed them, for their owner and nobody else."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import insert

from auth import ANONYMOUS, OPEN, Unauthenticated
from maintenance.actions import entries
from storage.database import Database
from storage.integrity import audit
from storage.jobs import job_queue
from storage.labels import label_levels
from storage.models.moderation import ImportedLabels
from submissions.activity import ActivityItem
from tests.factories import small_benchmark
from tests.factories.accounts import LOCAL, MAINTAINER, OWNER_OF_IT, STRANGER
from tests.factories.actions import activity_of, by
from workers.jobs.rescore import rescore
from workers.jobs.score import ScoringOutcome, score_next
from workers.scorer import Scorer
from workers.startup import prepare, register


@pytest.fixture
def scored(database: Database, scorer: Scorer) -> Database:
    """Return two entries of one owner, scored under what the board shows."""
    first = replace(scorer, labels={"demo": scorer.labels["demo"]})
    prepare(database, first, label_revision="demo")
    small_benchmark.submit(database, range(2), owner=OWNER_OF_IT.account)
    with database.write() as session:
        job_queue.enqueue_missing(session, "demo", label_revision="demo", scorer_version=scorer.version)
    while score_next(database, [first], worker="w", lease_seconds=60) is ScoringOutcome.SCORED:
        pass
    return database


def _said(database: Database, **more: int) -> list[ActivityItem]:
    return activity_of(database, OWNER_OF_IT, **more)


def test_scores_and_decisions_are_listed_with_their_reason(scored: Database) -> None:
    one, two = sorted({line.entry for line in _said(scored)})
    entries.flag(by(scored, MAINTAINER), one, "trained on {these} items")
    entries.withdraw(by(scored, OWNER_OF_IT), two, "a better one is coming")
    entries.hide(by(scored, MAINTAINER), one, "a complaint")
    hidden, withdrawn, flagged = [(line.entry, line.sentence) for line in _said(scored)][:3]
    assert hidden == (one, "It was hidden: a complaint")
    assert withdrawn == (two, "It was withdrawn: a better one is coming (by you)")
    assert flagged[0] == one and flagged[1].endswith("public note: trained on {these} items")
    assert {line.kind for line in _said(scored)[3:]} == {"submission.accepted", "submission.scored"}
    assert MAINTAINER.account not in str([line.to_json() for line in _said(scored)])


def test_a_re_score_is_reported_for_each_entry_with_both_numbers(scored: Database, scorer: Scorer) -> None:
    register(scored, scorer, revision="flipped")
    rescore(scored, scorer, revision="flipped")
    before, after = ({"label_revision": name, "scorer_version": scorer.version} for name in ("demo", "flipped"))
    facts = {"benchmark": "demo", "from": before, "to": after, "reason": "sixteen labels were wrong"}
    with scored.write() as session:
        audit.append(session, "rescore.applied", data=facts)
    later = small_benchmark.submit(scored, range(5, 6), owner=OWNER_OF_IT.account)
    told = [line for line in _said(scored) if line.kind == "rescore.applied"]
    assert len({line.entry for line in told}) == len(told) == 2
    assert not {line.entry for line in told} & set(later)
    sentence = told[0].sentence
    assert "revision demo to flipped: macro " in sentence
    assert sentence.endswith(". sixteen labels were wrong")


def test_activity_lists_what_was_scored_in_bulk(database: Database, scorer: Scorer) -> None:
    names = small_benchmark.submit(database, range(3), owner=OWNER_OF_IT.account)
    small_benchmark.submit(database, range(3, 6), owner=STRANGER.account)
    prepare(database, replace(scorer, labels={"demo": scorer.labels["demo"]}), label_revision="demo")
    rescore(database, scorer, revision="demo")
    told = [line for line in _said(database) if line.kind != "submission.accepted"]
    assert sorted((line.entry, line.kind) for line in told) == [(name, "scores.recorded") for name in sorted(names)]
    assert all(line.sentence.startswith("Scored with labels demo: macro ") for line in told)


def test_where_the_overall_alone_is_shown_owners_see_no_more(scored: Database) -> None:
    plain = [one.sentence for one in _said(scored) if "macro" in one.sentence]
    with scored.write() as session:
        label_levels.state(session, "demo", revision="demo", level="hidden")
    told = [one.sentence for one in activity_of(scored, OWNER_OF_IT)]
    assert plain
    assert not any("macro" in one for one in told)
    shown = [float(found[1]) for one in told if (found := re.search(r": overall ([\d.]+)\.$", one))]
    assert len(shown) == len(plain)
    assert [2 * score % 1 for score in shown] == [0] * len(shown)


def test_activity_shows_nothing_of_a_draft(scored: Database, scorer: Scorer) -> None:
    facts = {"revision": "flipped", "benchmark": "demo", "disclosure": "hidden:categories", "spec": "x", "items": 21}
    why = {"digest": "d" * 64, "commitment": "c" * 64, "difference": {}, "reason": "because", "requested_by": "local"}
    with scored.write() as session:
        session.execute(insert(ImportedLabels).values(**facts, **why))
    register(scored, scorer, revision="flipped")
    before = _said(scored)
    small_benchmark.switch_board(
        scored, scorer, revision="flipped", reason="because"
    )  # shown and taken back: a draft again
    assert _said(scored) == before


def test_older_ones_follow_from_where_an_answer_ended(scored: Database) -> None:
    entry = _said(scored)[0].entry
    for number in range(4):
        entries.flag(by(scored, MAINTAINER), entry, f"note {number}")
    everything = _said(scored)
    pages, before = [], None
    while page := activity_of(scored, OWNER_OF_IT, before=before, limit=2):
        pages.append(page)
        before = page[-1].seq
    assert [line for page in pages for line in page] == everything
    assert len(pages) == len(everything) / 2 == 4


def test_other_accounts_see_no_activity(scored: Database, tmp_path: Path) -> None:
    assert _said(scored)
    for user in (STRANGER, MAINTAINER, LOCAL, OPEN):
        assert activity_of(scored, user) == []
    with pytest.raises(Unauthenticated):
        activity_of(scored, ANONYMOUS)


def test_a_transferred_entry_takes_its_history_along(scored: Database) -> None:
    entry = _said(scored)[0].entry
    entries.transfer(by(scored, MAINTAINER), entry, "local", "they asked for it")
    assert entry not in {line.entry for line in _said(scored)}
    told = activity_of(scored, LOCAL)
    assert told[0].kind == "entry.transferred"
    assert told[0].sentence.endswith("another account: they asked for it")
