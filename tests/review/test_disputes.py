"""Disputes of labels: who may, how many, what maintainers see, and the draft that they become."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import numpy as np
import pytest

from auth import Unauthenticated
from maintenance import previews
from maintenance.actions import rescoring
from maintenance.actions import tasks as requested
from maintenance.types import Conflict, NotFound
from maintenance.view import terminal
from review.actions import disputes
from storage.jobs import tasks
from tests.databases import shown_board
from tests.factories.accounts import (
    ANONYMOUS,
    LOCAL,
    MAINTAINER,
    OPEN,
    OWNER_OF_IT,
    SECOND_MAINTAINER,
    STRANGER,
    SUBMIT_TOKEN,
)
from tests.factories.actions import decisions
from tests.factories.refusals import refuses
from tests.factories.review_setup import HOSTILE, ReviewSetup, add_judges, on_both
from tests.maintenance.concurrency_helpers import at_once
from vlrb.benchmarks.labels import NOT_LABELLED

WHY = "The preferred response invents a second dog."


def _dispute(bench: ReviewSetup, user: Any, *, index: int, better: str = "a", **more: Any) -> Any:
    return disputes.dispute(bench.by(user), bench.key(index), better=better, reason=WHY, **more)


def _accept(bench: ReviewSetup, number: int) -> None:
    disputes.decide(bench.by(MAINTAINER), number, accepted=True, note="you are right")


def _open_numbers(bench: ReviewSetup) -> dict[str, int]:
    return {one.dispute.item: one.dispute.id for one in disputes.review(bench.by(MAINTAINER))}


def test_anyone_who_may_submit_may_dispute_and_nobody_else(bench: ReviewSetup) -> None:
    with pytest.raises(Unauthenticated):
        _dispute(bench, ANONYMOUS, index=0)
    for user in (STRANGER, LOCAL, SUBMIT_TOKEN):
        assert _dispute(bench, user, index=0).changed
    assert not _dispute(bench, OPEN, index=0).changed  # the one account of an installation without sign-in


def test_an_item_is_named_by_key_or_by_an_id(bench: ReviewSetup) -> None:
    key = bench.key(3)
    for number, name in enumerate((key, "WildVision-0")):
        done = disputes.dispute(bench.by(STRANGER), name, better="b", reason=WHY)
        assert done.changed == (number == 0)
    for name in ("WildVision-99", key[:12], ""):
        with pytest.raises(NotFound):
            disputes.dispute(bench.by(STRANGER), name, better="b", reason=WHY)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"reason": "too short"}, "reason-too-short"),
        ({"reason": "x" * 2001}, "reason-too-long"),
        ({"reason": "\n \t"}, "reason-needed"),
        ({"better": "c"}, "bad-answer"),
        ({"tag": "spelling"}, "bad-tag"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_code(bench: ReviewSetup, changes: dict[str, str], code: str) -> None:
    values = {"better": "a", "reason": WHY, **changes}
    with pytest.raises(Conflict) as refused:
        disputes.dispute(bench.by(STRANGER), bench.key(0), **values)
    assert refused.value.code == code


@on_both
def test_one_open_dispute_an_item_and_account_and_fifty_an_account(
    bench: ReviewSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert disputes.MOST_OPEN == 50
    monkeypatch.setattr(disputes, "MOST_OPEN", 4)
    for index in range(4):
        assert _dispute(bench, STRANGER, index=index).changed
    again = _dispute(bench, STRANGER, index=0, better="equal")
    assert not again.changed and "already" in again.message
    with pytest.raises(Conflict) as refused:
        _dispute(bench, STRANGER, index=4)
    assert refused.value.code == "too-many-open"
    assert _dispute(bench, OWNER_OF_IT, index=4).changed
    _accept(bench, _open_numbers(bench)[bench.key(0)])
    assert _dispute(bench, STRANGER, index=0).changed  # a decided one is not open
    assert bench.kinds().count("dispute.opened") == 6


@on_both
def test_of_two_at_the_same_moment_one_is_kept(bench: ReviewSetup) -> None:
    results = at_once(*[partial(_dispute, bench, STRANGER, index=5)] * 2)
    assert sorted(one.changed for one in results) == [False, True]
    assert len(_open_numbers(bench)) == 1


def test_authors_see_their_own_disputes_and_not_who_decided(bench: ReviewSetup) -> None:
    _dispute(bench, STRANGER, index=0)
    _dispute(bench, OWNER_OF_IT, index=1)
    disputes.decide(bench.by(MAINTAINER), _open_numbers(bench)[bench.key(0)], accepted=False, note=f"no, {HOSTILE}")
    (mine,) = disputes.own(bench.by(STRANGER))
    assert (mine.item, mine.state, mine.note) == (bench.key(0), "rejected", f"no, {HOSTILE}")
    assert MAINTAINER.account not in json.dumps(mine)


@on_both
def test_two_maintainers_at_once_have_one_effect_and_a_decision_stands(bench: ReviewSetup) -> None:
    _dispute(bench, STRANGER, index=0)
    number = _open_numbers(bench)[bench.key(0)]
    decide = partial(disputes.decide, number=number, note="so")
    both = ((MAINTAINER, True), (SECOND_MAINTAINER, False))
    results = at_once(*(partial(decide, bench.by(user), accepted=accepted) for user, accepted in both))
    assert sorted(type(one).__name__ for one in results) == ["ActionResult", "Conflict"], results
    decided = [kind for kind in bench.kinds() if kind in ("dispute.accepted", "dispute.rejected")]
    assert len(decided) == 1
    (mine,) = disputes.own(bench.by(STRANGER))
    assert f"dispute.{mine.state}" == decided[0]
    assert not disputes.decide(bench.by(MAINTAINER), number, accepted=mine.state == "accepted", note="so").changed
    with refuses(Conflict, "decided") as refused:
        disputes.decide(bench.by(MAINTAINER), number, accepted=mine.state != "accepted", note="so")
    assert f"was {mine.state} before" in str(refused.value)
    with pytest.raises(NotFound):
        disputes.decide(bench.by(MAINTAINER), number + 1, accepted=True, note="so")


def test_nothing_of_a_dispute_is_public(bench: ReviewSetup) -> None:
    _dispute(bench, STRANGER, index=0)
    _accept(bench, 1)
    assert all(not one["kind"].startswith("dispute") for one in decisions(bench.database))


def _draft(bench: ReviewSetup, **more: Any) -> dict[str, Any]:
    done = disputes.request_draft(bench.by(MAINTAINER), "next", base="demo", reason="disputes", **more)
    bench.runner.run_all()
    with bench.database.read() as session:
        found = tasks.result(session, done.task_id or 0)
    assert found is not None, requested.task(bench.by(MAINTAINER), done.task_id or 0)
    return found


@on_both
def test_accepted_disputes_become_a_draft_with_exactly_these_changes(bench: ReviewSetup) -> None:
    said = {
        0: [(STRANGER, bench.says(0, right=False), "existence")],
        3: [(STRANGER, bench.says(3, right=True), None)],
        5: [(STRANGER, "both-wrong", None), (OWNER_OF_IT, "bad-item", None)],
        6: [(STRANGER, "a", None), (OWNER_OF_IT, "b", None)],
        8: [(STRANGER, bench.says(8, right=False), None)],
    }
    for index, group in said.items():
        for user, better, tag in group:
            _dispute(bench, user, index=index, better=better, tag=tag)
    for _, one in disputes.review(bench.by(MAINTAINER)):
        disputes.decide(bench.by(MAINTAINER), one.id, accepted=one.item != bench.key(8), note="so")
    found = _draft(bench)
    assert {name: found["difference"][name] for name in ("flipped", "dropped", "added", "tags_changed")} == {
        "flipped": 1,
        "dropped": 1,
        "added": 0,
        "tags_changed": 1,
    }
    draft = bench.stored("next")
    expected = bench.labels.preferred.copy()
    expected[0], expected[5] = 1 - expected[0], NOT_LABELLED
    assert draft.preferred.tolist() == expected.tolist()
    assert draft.tags is not None and bench.labels.tags is not None
    assert draft.tags[0] == {"existence"}
    assert draft.tags[3] == bench.labels.tags[3]
    assert (bench.state / "labels" / "demo" / "next.json").stat().st_mode & 0o777 == 0o600


def test_a_preview_of_the_draft_is_the_board_as_it_would_be(bench: ReviewSetup) -> None:
    votes = np.tile(bench.labels.preferred, (2, 1))
    votes[0, :3], votes[1, 4:6] = 1 - votes[0, :3], 1 - votes[1, 4:6]  # 18 and 19 of 21 right
    ids = add_judges(bench, votes, owners=["x", "y"])
    for index in range(3):
        _dispute(bench, STRANGER, index=index, better=bench.says(index, right=False))
        _accept(bench, index + 1)
    _draft(bench)
    done = rescoring.request_preview(bench.by(MAINTAINER), "next")
    bench.runner.run_all()
    found = rescoring.preview(bench.by(MAINTAINER), done.task_id or 0)
    assert "3 flipped" in terminal(previews.shown(found))
    assert {row["id"]: row["rank"] for row in found["entries"]} == {ids[0]: [2, 1], ids[1]: [1, 2]}
    assert shown_board(bench.database).label_revision == "demo"


def test_a_draft_needs_a_new_name_a_known_base_and_accepted_disputes(bench: ReviewSetup) -> None:
    def ask(revision: str, base: str = "demo", **more: Any) -> None:
        disputes.request_draft(bench.by(MAINTAINER), revision, base=base, reason="disputes", **more)

    with refuses(Conflict, "nothing-accepted"):
        ask("next")
    _dispute(bench, STRANGER, index=0)
    _accept(bench, 1)
    for name, base, error in (("demo", "demo", Conflict), ("Bad name", "demo", Conflict), ("n", "v9", NotFound)):
        with pytest.raises(error):
            ask(name, base)
    ask("next")
    ask("next")  # a double click
    assert len([one for one in requested.recent_tasks(bench.by(MAINTAINER)) if one.kind == "labels.draft"]) == 1


def test_a_draft_that_empties_a_category_fails_with_a_reason(bench: ReviewSetup) -> None:
    reasoning = [i for i, item in enumerate(bench.table.items) if item.category == "reasoning"]
    for number, index in enumerate(reasoning, start=1):
        _dispute(bench, STRANGER, index=index, better="bad-item")
        _accept(bench, number)
    done = disputes.request_draft(bench.by(MAINTAINER), "next", base="demo", reason="disputes")
    bench.runner.run_all()
    task = requested.task(bench.by(MAINTAINER), done.task_id or 0)
    assert (task.state, "reasoning" in task.outcome) == ("failed", True)


def test_no_label_and_no_item_that_changed_is_in_the_database_but_what_people_said(bench: ReviewSetup) -> None:
    _dispute(bench, STRANGER, index=0, better=bench.says(0, right=False))
    _accept(bench, 1)
    found = _draft(bench)
    text = json.dumps(found)
    assert all(item.key not in text for item in bench.table.items)
    for body in bench.event_bodies():
        if body["ev"].startswith(("labels.", "task.")):
            assert bench.key(0) not in json.dumps(body)
