"""Individual answers leave a project once it is closed, with the time that each took."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from auth import Forbidden
from maintenance.types import Conflict, NotFound
from review import agreement_report, answers, individual_labels, projects
from review.answers import GivenAnswer
from storage.annotation_projects import AnnotatorAnswer
from tests.factories.accounts import MAINTAINER, SECOND_MAINTAINER, STRANGER
from tests.factories.review_setup import ReviewSetup
from workers.snapshot_triggers import NON_PUBLIC_EVENTS


def answered(bench: ReviewSetup) -> int:
    done = projects.create(bench.database, MAINTAINER, bench.table, "may", "demo", "all", "to be sure")
    project = int(done.message.rpartition("/")[2])
    for user in (MAINTAINER, SECOND_MAINTAINER):
        for place in (1, 2, 3):
            answers.answer(bench.database, user, bench.table, project, place, GivenAnswer("poor-image", (), "dark"))
    return project


def test_a_closed_project_gives_every_answer_and_the_export_is_on_record(bench: ReviewSetup, tmp_path: Path) -> None:
    project, path = answered(bench), tmp_path / "answers.jsonl"
    with pytest.raises(Conflict, match="Close it first"):
        individual_labels.export(bench.database, MAINTAINER, "demo", project, path)
    projects.close(bench.database, MAINTAINER, "demo", project, "next", "May")
    done = individual_labels.export(bench.database, MAINTAINER, "demo", project, path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(lines) == 6
    assert {(one["verdict"], one["note"]) for one in lines} == {("poor-image", "dark")}
    assert {one["annotator"] for one in lines} == {MAINTAINER.account, SECOND_MAINTAINER.account}
    assert sum(one["seconds"] is None for one in lines) == 2, "nobody knows how long the first answer took"
    assert done.seq is not None
    assert bench.kinds().count(individual_labels.EXPORTED) == 1
    assert individual_labels.EXPORTED in NON_PUBLIC_EVENTS
    assert path.stat().st_mode & 0o077 == 0


def test_only_maintainers_export(bench: ReviewSetup, tmp_path: Path) -> None:
    with pytest.raises(Forbidden):
        individual_labels.export(bench.database, STRANGER, "demo", 1, tmp_path / "x")
    with pytest.raises(NotFound):
        individual_labels.export(bench.database, MAINTAINER, "demo", 99, tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_the_time_of_an_answer_is_that_since_the_one_before_it() -> None:
    given = [AnnotatorAnswer("ann", item, "a", [], "", None) for item in ("x", "y", "z")]
    moments = {("ann", "y"): 100.0, ("ann", "x"): 165.5, ("ann", "z"): 3000.0, ("bob", "x"): 130.0}
    found = {one.item: one.seconds for one in individual_labels.with_seconds(given, moments)}
    assert found == {"y": None, "x": 65.5, "z": None}


def test_curate_reads_what_is_exported(bench: ReviewSetup, tmp_path: Path) -> None:
    from curate.sources import read_objects
    from curate.verification import read_answer

    project, path = answered(bench), tmp_path / "answers.jsonl"
    projects.close(bench.database, MAINTAINER, "demo", project, "next", "May")
    individual_labels.export(bench.database, MAINTAINER, "demo", project, path)
    keys = {item.key: None for item in bench.table.items}
    read = [read_answer(line, keys) for _, line in read_objects(path)]  # type: ignore[arg-type]
    assert {one.verdict for one in read} == {"poor-image"}


def test_agreement_tells_alpha_by_annotator_and_nobody_s_answers(bench: ReviewSetup) -> None:
    project = answered(bench)
    answers.answer(bench.database, SECOND_MAINTAINER, bench.table, project, 3, GivenAnswer("first", ("counting",)))
    found = agreement_report.agreement_within(bench.database, MAINTAINER, "demo", project)
    assert (found["answers"], found["shared_pairs"]) == (6, 3)
    assert found["agreement"] == pytest.approx(2 / 3)
    assert found["alpha"] == 0.0, "the one who differs does so by chance"
    assert found["tags"]["counting"]["given"] == 1
    assert set(found["annotators"]) == {MAINTAINER.account, SECOND_MAINTAINER.account}
    text = agreement_report.as_text(found)
    assert "alpha 0.00" in text
    assert "poor-image" not in text
    with pytest.raises(Forbidden):
        agreement_report.agreement_within(bench.database, STRANGER, "demo", project)
