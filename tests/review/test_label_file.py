"""Labels and individual answers leave a project once it is closed, with the time that each took."""

from __future__ import annotations

import json

from maintenance.types import Conflict
from review.actions import answers, projects, results
from review.actions.answers import GivenAnswer
from review.selection import ProjectPlan
from storage.annotation.annotation_projects import AnnotatorAnswer
from tests.factories.accounts import MAINTAINER, SECOND_MAINTAINER
from tests.factories.actions import run_command
from tests.factories.refusals import refuses
from tests.factories.review_setup import ReviewSetup, seen_order
from workers.board_view import NON_PUBLIC_EVENTS


def answered(bench: ReviewSetup) -> int:
    asked = bench.by(MAINTAINER)
    done = projects.create(asked, "may", base="demo", reason="to be sure", plan=ProjectPlan())
    project = int(done.message.rpartition("/")[2])
    for user in (MAINTAINER, SECOND_MAINTAINER):
        for place in (1, 2, 3):
            answers.answer(
                bench.by(user), project, place=place, given_answer=GivenAnswer("poor-image", (), note="dark")
            )
    return project


def test_a_closed_project_gives_every_answer_and_the_export_is_on_record(bench: ReviewSetup) -> None:
    project, maintainer = answered(bench), bench.by(MAINTAINER)
    with refuses(Conflict, "open"):
        results.export(maintainer, project)
    assert bench.kinds().count(results.EXPORTED) == 0
    projects.close(maintainer, project, revision="next", reason="May")
    text = run_command(maintainer, "verification", "export", str(project)).text
    pairs = [json.loads(line) for line in text.splitlines()]
    assert [(one["state"], one["label"]) for one in pairs] == [("agreed", "poor-image")] * 3 + [("open", None)] * 18
    lines = [answer for one in pairs for answer in one["answers"]]
    assert len(lines) == 6
    assert {(one["verdict"], one["note"], one["left_out"]) for one in lines} == {("poor-image", "dark", False)}
    assert {one["annotator"] for one in lines} == {MAINTAINER.account, SECOND_MAINTAINER.account}
    assert sum(one["seconds"] is None for one in lines) == 2, "nobody knows how long the first answer took"
    assert bench.kinds().count(results.EXPORTED) == 1
    assert results.EXPORTED in NON_PUBLIC_EVENTS


def test_of_two_annotators_each_sees_another_response_first_and_the_export_tells(bench: ReviewSetup) -> None:
    maintainer = bench.by(MAINTAINER)
    done = projects.create(maintainer, "may", base="demo", reason="to be sure", plan=ProjectPlan())
    project = int(done.message.rpartition("/")[2])
    for user in (MAINTAINER, SECOND_MAINTAINER):
        ctx = bench.by(user)
        for place in range(1, 22):
            answers.show(ctx, project, place=place)
            answers.answer(ctx, project, place=place, given_answer=GivenAnswer("first"))
    projects.close(maintainer, project, revision="next", reason="May")
    pairs = results.export(maintainer, project)
    assert len(pairs) == 21 and {pair.state for pair in pairs} == {"contested"}
    for pair in pairs:
        assert all(answer.verdict == answer.shown_first for answer in pair.answers)
        assert {answer.shown_first for answer in pair.answers} == {"a", "b"}


def test_a_pair_that_two_people_look_at_at_the_same_time_has_both_orders(bench: ReviewSetup) -> None:
    maintainer = bench.by(MAINTAINER)
    done = projects.create(maintainer, "may", base="demo", reason="to be sure", plan=ProjectPlan())
    project = int(done.message.rpartition("/")[2])
    orders = [
        seen_order(bench.database, user.account, place=1, project=project) for user in (MAINTAINER, SECOND_MAINTAINER)
    ]
    assert sorted(orders) == [(0, 1), (1, 0)]
    answers.answer(maintainer, project, place=1, given_answer=GivenAnswer("first"))
    again = [
        seen_order(bench.database, user.account, place=1, project=project) for user in (MAINTAINER, SECOND_MAINTAINER)
    ]
    assert again == orders, "a second look shows the same"


def test_the_time_of_an_answer_is_that_since_the_one_before_it() -> None:
    moments = {("ann", "y"): 100.0, ("ann", "x"): 165.5, ("ann", "z"): 3000.0, ("bob", "x"): 130.0}
    given = [
        AnnotatorAnswer(1, item, account, verdict="a", errors=[], note="", answered_at=moment, left_out=False)
        for (account, item), moment in moments.items()
    ]
    taken = results.seconds_taken(given)
    assert [taken["ann", item] for item in "xyz"] == [65.5, None, None]
