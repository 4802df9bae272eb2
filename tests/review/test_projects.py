"""Verification by hand: blind, several annotators, every answer kept, a draft by majority."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from auth import Forbidden, Unauthenticated
from leaderboard.explore.item_catalog import ItemCatalog
from maintenance.actions import tasks
from maintenance.types import Conflict, NotFound
from review.actions import answers, projects
from review.actions.answers import GivenAnswer
from review.selection import ProjectPlan
from storage.annotation import annotation_projects
from storage.integrity import audit
from tests.databases import an_account
from tests.factories.accounts import ANONYMOUS, LOCAL, MAINTAINER, OPEN, OWNER_OF_IT, SECOND_MAINTAINER, STRANGER
from tests.factories.review_setup import HOSTILE, ReviewSetup, materials, on_both
from tests.maintenance.concurrency_helpers import at_once
from vlrb.benchmarks.items import response_fingerprint


@pytest.fixture
def catalog(bench: ReviewSetup, tmp_path: Path) -> ItemCatalog:
    return materials(bench.table, tmp_path)


@pytest.fixture
def people(bench: ReviewSetup) -> None:
    """Accounts that have signed in."""
    with bench.database.write() as session:
        for one in (STRANGER, OWNER_OF_IT, MAINTAINER):
            session.add(an_account(one.account))


def _start(bench: ReviewSetup, *, name: str = "may", **more: Any) -> int:
    ctx, plan = bench.by(MAINTAINER), ProjectPlan(more.get("file", ""))
    done = projects.create(ctx, name, base="demo", reason="to be sure", plan=plan)
    return int(done.message.rpartition("/")[2])


@pytest.mark.usefixtures("people")
def test_annotators_and_maintainers_may_answer_and_to_others_the_project_does_not_exist(
    bench: ReviewSetup, catalog: ItemCatalog
) -> None:
    project = _start(bench)
    with pytest.raises(NotFound):
        projects.add_annotators(bench.by(MAINTAINER), project, annotators=["nobody"])
    assert projects.add_annotators(bench.by(MAINTAINER), project, annotators=[STRANGER.account]).changed
    for user in (STRANGER, MAINTAINER):
        assert answers.show(bench.by(user, items=catalog), project, place=1).question
        assert answers.answer(bench.by(user), project, place=1, given_answer=GivenAnswer("poor-image")).changed
    uses: list[Callable[[Any], Any]] = [
        lambda user: answers.show(bench.by(user, items=catalog), project, place=1),
        lambda user: answers.sheet(bench.by(user), project),
        lambda user: answers.answer(bench.by(user), project, place=1, given_answer=GivenAnswer("first")),
    ]
    for use in uses:
        for user, refusal in ((OWNER_OF_IT, NotFound), (ANONYMOUS, Unauthenticated), (OPEN, Forbidden)):
            with pytest.raises(refusal):
                use(user)
    assert [one.id for one in answers.sheets(bench.by(STRANGER))] == [project]
    assert answers.sheets(bench.by(OWNER_OF_IT)) == []
    done = projects.add_annotators(bench.by(MAINTAINER), project, annotators=[OWNER_OF_IT.account])
    assert done.changed
    assert not projects.add_annotators(bench.by(MAINTAINER), project, annotators=[OWNER_OF_IT.account]).changed
    assert answers.sheet(bench.by(OWNER_OF_IT), project).answered == []


@on_both
def test_a_project_is_about_all_pairs_or_those_of_a_file_and_has_a_name_of_its_own(bench: ReviewSetup) -> None:
    made = {"all": _start(bench, name="all"), "listed": _start(bench, name="listed", file=bench.file_of(4, 0))}
    with bench.database.read() as session:
        held = {
            name: [item.item for item in annotation_projects.items(session, project)] for name, project in made.items()
        }
    assert held == {"all": [item.key for item in bench.table.items], "listed": [bench.key(0), bench.key(4)]}
    for bad in ({"name": "all"}, {"name": "Bad name"}):
        with pytest.raises(Conflict):
            _start(bench, **bad)


@on_both
def test_answers_come_back_as_they_were_given_and_the_last_one_counts(bench: ReviewSetup, catalog: ItemCatalog) -> None:
    project = _start(bench)
    said = GivenAnswer("second", ("existence", "recognition-face"), note=f"I see {HOSTILE}")
    assert answers.answer(bench.by(MAINTAINER), project, place=4, given_answer=said).changed
    assert not answers.answer(bench.by(MAINTAINER), project, place=4, given_answer=said).changed
    assert answers.show(bench.by(MAINTAINER, items=catalog), project, place=4).said == said
    assert answers.show(bench.by(SECOND_MAINTAINER, items=catalog), project, place=4).said is None
    answers.answer(bench.by(MAINTAINER), project, place=4, given_answer=GivenAnswer("first"))
    assert answers.show(bench.by(MAINTAINER, items=catalog), project, place=4).said == GivenAnswer("first")
    sheet = answers.sheet(bench.by(MAINTAINER), project)
    assert (sheet.id, sheet.name, sheet.items, sheet.answered, sheet.closed) == (project, "may", 21, [4], False)
    assert sorted(sheet.waiting) == [place for place in range(1, 22) if place != 4]
    assert bench.kinds().count("verification.answered") == 2
    for place in (0, 22):
        with pytest.raises(NotFound):
            answers.show(bench.by(MAINTAINER, items=catalog), project, place=place)
    errors = ("existence",)  # of which response, where none is worse?
    for bad in (
        GivenAnswer("a"),
        GivenAnswer("poor-image", errors),
        GivenAnswer("first", ("spelling",)),
        GivenAnswer("first", note="x" * 501),
        GivenAnswer("first", note="a\nb"),
    ):
        with pytest.raises(Conflict):
            answers.answer(bench.by(MAINTAINER), project, place=4, given_answer=bad)


def test_what_an_annotator_sees_says_nothing_of_label_or_stored_order(bench: ReviewSetup, catalog: ItemCatalog) -> None:
    project = _start(bench)
    stored_first = 0
    for place, item in enumerate(bench.table.items, start=1):
        shown = answers.show(bench.by(MAINTAINER, items=catalog), project, place=place)
        assert set(shown._fields) == {
            "place", "items", "name", "question", "responses", "image", "said", "has_enough",
        }  # fmt: skip
        assert shown.responses is not None
        again = answers.show(bench.by(MAINTAINER, items=catalog), project, place=place)
        assert again.responses == shown.responses
        stored_first += response_fingerprint(shown.responses[0]) == item.responses[0]
    assert 4 < stored_first < 17


@on_both
def test_closing_writes_the_majority_and_a_tie_keeps_the_base(bench: ReviewSetup) -> None:
    project = _start(bench)
    wrong, right = ({i: bench.says(i, right=side) for i in range(21)} for side in (False, True))
    for place in range(1, 22):
        for user in (MAINTAINER, SECOND_MAINTAINER):
            bench.prefer(user, project=project, place=place, letter=right[place - 1])
    for user, place, letter in ((MAINTAINER, 1, wrong[0]), (SECOND_MAINTAINER, 1, wrong[0]), (MAINTAINER, 2, wrong[1])):
        bench.prefer(user, project=project, place=place, letter=letter, errors=("attribute",))
    for user in (MAINTAINER, SECOND_MAINTAINER):
        answers.answer(bench.by(user), project, place=6, given_answer=GivenAnswer("both-false"))
    (report,) = projects.reports(bench.by(MAINTAINER))
    assert [(one.account, one.answered) for one in report.progress] == [
        (MAINTAINER.account, 21),
        (SECOND_MAINTAINER.account, 21),
    ]
    (pair,) = report.agreement
    assert (pair.items, pair.same) == (21, 20) and pair.kappa is not None and 0.8 < pair.kappa < 1
    done = projects.close(bench.by(MAINTAINER), project, revision="next", reason="May")
    with bench.database.read() as session:
        assert done.seq == audit.newest(session, ["verification.closed"])[0].seq
    with pytest.raises(Conflict) as refused:
        answers.answer(bench.by(MAINTAINER), project, place=1, given_answer=GivenAnswer("first"))
    assert refused.value.code == "closed"
    assert not projects.close(bench.by(SECOND_MAINTAINER), project, revision="next", reason="May").changed
    bench.runner.run_all()
    draft, base = bench.stored("next"), bench.labels.preferred.tolist()
    base[0], base[5] = 1 - base[0], -1
    assert draft.preferred.tolist() == base
    assert draft.tags is not None and draft.tags[0] == {"attribute"}
    assert bench.kinds().count("verification.closed") == 1
    (report,) = projects.reports(bench.by(MAINTAINER))
    assert report.project.closed_by == MAINTAINER.account
    with pytest.raises(Conflict, match="next"):  # is written
        projects.close(bench.by(SECOND_MAINTAINER), project, revision="next", reason="May")
    again = projects.close(bench.by(MAINTAINER), project, revision="other", reason="another name")
    assert again.changed and bench.kinds().count("verification.closed") == 1


def test_nobody_can_close_what_nobody_answered(bench: ReviewSetup) -> None:
    project = _start(bench)
    with pytest.raises(Conflict):
        projects.close(bench.by(MAINTAINER), project, revision="next", reason="May")
    assert projects.reports(bench.by(MAINTAINER))[0].project.closed_at is None


@on_both
def test_answers_and_closing_at_the_same_moment_leave_nothing_half(bench: ReviewSetup) -> None:
    project = _start(bench)
    answers.answer(bench.by(LOCAL), project, place=1, given_answer=GivenAnswer("first"))
    outcomes: list[str] = []

    def answer(user: Any) -> None:
        for place in range(2, 8):
            try:
                answers.answer(bench.by(user), project, place=place, given_answer=GivenAnswer("second"))
            except Conflict as refused:
                outcomes.append(refused.code)

    close = partial(projects.close, bench.by(MAINTAINER), project, revision="next", reason="May")
    results = at_once(partial(answer, MAINTAINER), partial(answer, SECOND_MAINTAINER), close)
    assert not [one for one in results if isinstance(one, Exception)]
    assert set(outcomes) <= {"closed"}
    (closed,) = [body for body in bench.event_bodies() if body["ev"] == "verification.closed"]
    with bench.database.read() as session:
        assert closed["answers"] == len(annotation_projects.answers(session, project))
    bench.runner.run_all()
    assert tasks.recent_tasks(bench.by(MAINTAINER))[0].state == "done"
    assert "verdict" not in json.dumps(bench.event_bodies())
