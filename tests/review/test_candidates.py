"""Candidate label errors: found by a worker, shown to maintainers, written down nowhere else."""

from __future__ import annotations

import json
import logging
from typing import Any

import numpy as np
import pytest

from auth import Forbidden, Unauthenticated
from maintenance.actions import audit, operations
from maintenance.types import Conflict
from review.actions import candidates
from storage.annotation import disputes
from storage.database import Database, migrate, open_database
from storage.jobs import tasks
from tests.factories.accounts import ANONYMOUS, MAINTAINER, OPEN, STRANGER, SUBMIT_TOKEN
from tests.factories.actions import by
from tests.factories.review_setup import ReviewSetup, add_judges, on_both
from vlrb.label_quality.label_errors import FEWEST


def _agree_against(bench: ReviewSetup, wrong: set[int], *, judges: int = 8) -> np.ndarray:
    """Verdicts that contradict the labels of some items and err once each elsewhere."""
    verdicts = np.tile(bench.labels.preferred, (judges, 1))
    verdicts[:, sorted(wrong)] = 1 - verdicts[:, sorted(wrong)]
    for judge in range(judges):
        place = 9 + judge  # of the items from 9 on, none of them wrong for two
        verdicts[judge, place] = 1 - verdicts[judge, place]
    return verdicts


def _find(bench: ReviewSetup) -> Any:
    done = candidates.request(by(bench.database, MAINTAINER))
    bench.runner.run_all()
    return operations.task(by(bench.database, MAINTAINER), done.task_id or 0)


@on_both
def test_the_items_that_all_strong_judges_contradict_are_listed_for_maintainers(
    bench: ReviewSetup, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    add_judges(bench, _agree_against(bench, {0, 8}), owners=[f"o{n}" for n in range(8)])
    assert candidates.proposed(by(bench.database, MAINTAINER, table=bench.table)) == ((), None)
    task = _find(bench)
    found = candidates.proposed(by(bench.database, MAINTAINER, table=bench.table))
    assert {one.item for one in found.items} == {bench.key(0), bench.key(8)}
    assert found.facts is not None
    assert (found.facts["candidates"], found.facts["judges"], found.facts["revision"]) == (2, 8, "demo")
    with bench.database.read() as session:
        written = json.dumps(tasks.result(session, task.id))
    public = "".join(map(str, audit.public(bench.database, 0)))
    for place in (written, json.dumps(bench.event_bodies()), task.outcome, caplog.text, public):
        assert all(item.key not in place for item in bench.table.items)


def test_beside_a_candidate_stand_the_votes_of_those_who_were_heard_about_its_category(bench: ReviewSetup) -> None:
    verdicts = np.vstack([_agree_against(bench, {0}), np.tile(bench.labels.preferred, (3, 1))])
    category = bench.table.items[0].category
    there = [index for index, item in enumerate(bench.table.items) if item.category == category]
    verdicts[8:, there[1:]] = 1 - verdicts[8:, there[1:]]  # three that are wrong there, but for the label of one
    add_judges(bench, verdicts, owners=[f"o{n}" for n in range(11)])
    _find(bench)
    found = candidates.proposed(by(bench.database, MAINTAINER, table=bench.table))
    (one,) = (one for one in found.items if one.item == bench.key(0))
    assert sorted(one.votes) == [0, 0, 8], "weak judges are asked, and not heard"


@on_both
def test_the_list_is_computed_anew_when_asked_for(bench: ReviewSetup) -> None:
    add_judges(bench, _agree_against(bench, {0}), owners=[f"o{n}" for n in range(8)])
    _find(bench)
    with bench.database.write() as session:
        disputes.replace_candidates(session, "demo", items=[bench.key(5), bench.key(6)])
    _find(bench)
    found = candidates.proposed(by(bench.database, MAINTAINER, table=bench.table))
    assert [one.item for one in found.items] == [bench.key(0)]


def test_judges_of_one_owner_are_one_judge_and_too_few_propose_nothing(bench: ReviewSetup) -> None:
    add_judges(bench, _agree_against(bench, {0}), owners=[f"o{n % (FEWEST - 1)}" for n in range(8)])
    task = _find(bench)
    assert (task.state, f"needs {FEWEST} judges" in task.outcome) == ("failed", True)
    assert candidates.proposed(by(bench.database, MAINTAINER, table=bench.table)).items == ()


def test_without_sign_in_models_tell_judges_apart(bench: ReviewSetup) -> None:
    add_judges(bench, _agree_against(bench, {0}), owners=["local"] * 8)
    assert _find(bench).state == "done"


def test_nobody_but_maintainers_sees_the_list_or_asks_for_it(bench: ReviewSetup) -> None:
    others = [(user, Forbidden) for user in (STRANGER, SUBMIT_TOKEN, OPEN)]
    for user, refusal in ((ANONYMOUS, Unauthenticated), *others):
        with pytest.raises(refusal):
            candidates.proposed(by(bench.database, user, table=bench.table))
        with pytest.raises(refusal):
            candidates.request(by(bench.database, user))


def test_without_a_board_there_is_nothing_to_look_at(tmp_path: Any) -> None:
    empty: Database = open_database(f"sqlite:///{tmp_path}/empty.db")
    migrate(empty)
    with pytest.raises(Conflict):
        candidates.request(by(empty, MAINTAINER))
    empty.close()
