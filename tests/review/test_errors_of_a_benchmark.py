"""Errors that annotators choose from: those of the benchmark, on the page, in answers and in drafted labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient

from maintenance.types import Conflict
from review.actions import projects
from review.selection import ProjectPlan
from tests.databases import new_database
from tests.factories.accounts import MAINTAINER, SECOND_MAINTAINER
from tests.factories.actions import TableOnly, by
from tests.factories.refusals import refuses
from tests.factories.review_setup import ReviewSetup, set_up
from tests.factories.services.review_pages import serve
from tests.factories.specs import DEMO
from vlrb.benchmarks.spec import BenchmarkSpec, ErrorChoice
from vlrb.scoring import tally
from vlrb.votes import Votes

OWN_TAGS = ("occlusion", "blur")
OWN = replace(
    DEMO,
    tags=OWN_TAGS,
    tag_names={tag: tag for tag in OWN_TAGS},
    tag_titles={"blur": "Blur"},
    errors=(
        ErrorChoice("occlusion", "occlusion", title="occlusion"),
        ErrorChoice("blur-motion", "blur", title="motion"),
        ErrorChoice("blur-focus", "blur", title="focus"),
    ),
)
UNTAGGED = replace(DEMO, tags=(), tag_names={}, tag_titles={}, errors=())
SetUp = Callable[[BenchmarkSpec], ReviewSetup]


@pytest.fixture
def started(tmp_path: Path) -> Iterator[SetUp]:
    """Return what starts a project about all pairs of a benchmark."""
    database = new_database(f"sqlite:///{tmp_path}/board.db")

    def start(spec: BenchmarkSpec) -> ReviewSetup:
        bench = set_up(database, tmp_path / "state", tags=bool(spec.tags), spec=spec)
        ctx = by(database, MAINTAINER, table=bench.table)
        projects.create(ctx, "may", base="demo", reason="to be sure", plan=ProjectPlan())
        return bench

    yield start
    database.close()


def _page(bench: ReviewSetup) -> str:
    client = TestClient(serve(bench.database, TableOnly(bench.table)))
    page = client.get("/annotate/1", headers={"X-Account": MAINTAINER.account})
    assert page.status_code == 200
    return page.text


def _shown_errors(page: str) -> list[tuple[str, str]]:
    """Return the errors of a page and their keys."""
    return re.findall(r'data-error="([^"]+)" data-key="([^"]+)"', page)


def _answer(bench: ReviewSetup, place: int, *, right: bool, errors: tuple[str, ...] = ()) -> None:
    for user in (MAINTAINER, SECOND_MAINTAINER):
        bench.prefer(user, place=place, letter=bench.says(place - 1, right=right), errors=errors)


def test_the_page_has_the_errors_of_the_benchmark_and_kinds_of_a_tag_stand_together(started: SetUp) -> None:
    page = _page(started(OWN))
    assert _shown_errors(page) == [("occlusion", "q"), ("blur-motion", "w"), ("blur-focus", "e")]
    assert re.findall(r'role="group" aria-label="([^"]+)"><span', page) == ["Blur"]
    group = page[page.index('aria-label="Blur"') :]
    assert "data-error" not in group[group.rindex("</span>") :], "both kinds are in the group"


def test_the_page_of_vl_rewardbench_has_its_nine_errors_and_their_keys(started: SetUp) -> None:
    shown = _shown_errors(_page(started(DEMO)))
    assert "".join(key for _, key in shown) == "qwertyacg"
    assert [error for error, _ in shown] == [
        "existence", "recognition-text", "recognition-position", "recognition-scene", "recognition-face",
        "recognition-object", "attribute", "counting", "other",
    ]  # fmt: skip


def test_a_benchmark_without_tags_has_no_errors_on_its_page_and_in_answers(started: SetUp) -> None:
    bench = started(UNTAGGED)
    page = _page(bench)
    assert "data-error" not in page and 'id="errors"' not in page and 'data-verdict="first"' in page
    with refuses(Conflict, "bad-error"):
        _answer(bench, 1, right=True, errors=("counting",))
    _answer(bench, 1, right=True)


def test_an_answer_names_errors_of_the_benchmark_alone(started: SetUp) -> None:
    bench = started(OWN)
    for error in ("counting", "blur"):
        with refuses(Conflict, "bad-error"):
            _answer(bench, 1, right=True, errors=(error,))


def test_drafted_labels_with_tags_of_the_benchmark_are_scored(started: SetUp) -> None:
    bench = started(OWN)
    assert bench.labels.tags is not None and bench.labels.tags[0] == {"blur"}
    _answer(bench, 1, right=False, errors=("occlusion",))
    _answer(bench, 2, right=True, errors=("blur-motion", "blur-focus"))
    projects.close(bench.by(MAINTAINER), 1, revision="next", reason="May")
    bench.runner.run_all()
    draft = bench.stored("next")
    assert draft.tags is not None and draft.tags[:3] == ({"occlusion"}, {"blur"}, frozenset())
    votes = Votes(draft.preferred[:, np.newaxis].astype(np.int8))
    counted = tally(votes, draft, table=bench.table)
    assert (counted.cell("occlusion")["agree"], counted.cell("blur")["agree"]) == (1, 7)
