"""Individual answers leave a project once it is closed, with the time that each took."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from auth import Forbidden
from maintenance.types import Conflict, NotFound
from review.actions import answers, individual_labels, projects
from review.actions.answers import GivenAnswer
from review.actions.projects import PairSelection
from storage.answer_times import seconds_taken
from tests.factories.accounts import MAINTAINER, SECOND_MAINTAINER, STRANGER
from tests.factories.actions import by, run_command
from tests.factories.refusals import refuses
from tests.factories.review_setup import ReviewSetup, seen_order
from workers.snapshot_triggers import NON_PUBLIC_EVENTS


def answered(bench: ReviewSetup) -> int:
    asked = by(bench.database, MAINTAINER, table=bench.table)
    done = projects.create(asked, "may", "demo", "to be sure", PairSelection("all"))
    project = int(done.message.rpartition("/")[2])
    for user in (MAINTAINER, SECOND_MAINTAINER):
        for place in (1, 2, 3):
            answers.answer(
                by(bench.database, user, table=bench.table),
                project,
                place=place,
                given_answer=GivenAnswer("poor-image", (), note="dark"),
            )
    return project


def test_a_closed_project_gives_every_answer_and_the_export_is_on_record(bench: ReviewSetup) -> None:
    project, maintainer = answered(bench), by(bench.database, MAINTAINER)
    with refuses(Conflict, "open"):
        individual_labels.export(maintainer, project)
    assert bench.kinds().count(individual_labels.EXPORTED) == 0
    projects.close(maintainer, project, revision="next", reason="May")
    lines = [
        json.loads(line) for line in run_command(maintainer, "verification", "export", str(project)).text.splitlines()
    ]
    assert len(lines) == 6
    assert {(one["verdict"], one["note"]) for one in lines} == {("poor-image", "dark")}
    assert {one["annotator"] for one in lines} == {MAINTAINER.account, SECOND_MAINTAINER.account}
    assert sum(one["seconds"] is None for one in lines) == 2, "nobody knows how long the first answer took"
    assert bench.kinds().count(individual_labels.EXPORTED) == 1
    assert individual_labels.EXPORTED in NON_PUBLIC_EVENTS


def test_of_two_annotators_each_sees_another_response_first_and_the_export_tells(bench: ReviewSetup) -> None:
    maintainer = by(bench.database, MAINTAINER, table=bench.table)
    done = projects.create(maintainer, "may", "demo", "to be sure", PairSelection("all"))
    project = int(done.message.rpartition("/")[2])
    for user in (MAINTAINER, SECOND_MAINTAINER):
        ctx = by(bench.database, user, table=bench.table)
        for place in range(1, 22):
            answers.show(ctx, project, place=place)
            answers.answer(ctx, project, place=place, given_answer=GivenAnswer("first"))
    with bench.database.read() as session:
        labels = individual_labels.all_labels(session, project)
    assert all(label.verdict == label.shown_first for label in labels)
    first: dict[str, set[str]] = {}
    for label in labels:
        first.setdefault(label.item, set()).add(label.shown_first)
    assert len(first) == 21
    assert all(shown == {"a", "b"} for shown in first.values())


def test_a_pair_that_two_people_look_at_at_the_same_time_has_both_orders(bench: ReviewSetup) -> None:
    maintainer = by(bench.database, MAINTAINER, table=bench.table)
    done = projects.create(maintainer, "may", "demo", "to be sure", PairSelection("all"))
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


def test_only_maintainers_export(bench: ReviewSetup) -> None:
    with pytest.raises(Forbidden):
        individual_labels.export(by(bench.database, STRANGER), 1)
    with pytest.raises(NotFound):
        individual_labels.export(by(bench.database, MAINTAINER), 99)


def test_the_time_of_an_answer_is_that_since_the_one_before_it() -> None:
    moments = {("ann", "y"): 100.0, ("ann", "x"): 165.5, ("ann", "z"): 3000.0, ("bob", "x"): 130.0}
    taken = seconds_taken(moments)
    assert [taken["ann", item] for item in "xyz"] == [65.5, None, None]


def test_curate_reads_what_is_exported(bench: ReviewSetup, tmp_path: Path) -> None:
    from vlrb.editions.pools.sources import read_objects
    from vlrb.editions.verification import read_answer

    project, path = answered(bench), tmp_path / "answers.jsonl"
    projects.close(by(bench.database, MAINTAINER), project, revision="next", reason="May")
    path.write_text(individual_labels.as_lines(individual_labels.export(by(bench.database, MAINTAINER), project)))
    keys = {item.key: None for item in bench.table.items}
    read = [read_answer(line, keys, known_errors=()) for _, line in read_objects(path)]  # type: ignore[arg-type]
    assert {one.verdict for one in read} == {"poor-image"}
