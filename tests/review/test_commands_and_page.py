"""Reviews from the command line and on the maintain page: the same use cases, and what they show is text."""

from __future__ import annotations

import argparse
import re
from typing import Any

import numpy as np
import pytest

from auth import LOCAL
from leaderboard.pages.item_catalog import ItemCatalog
from maintenance.actions import operations
from maintenance.cli import CliResult
from maintenance.types import Conflict
from review.actions import answers
from review.actions.answers import GivenAnswer
from tests.factories.accounts import MAINTAINER
from tests.factories.actions import by, command_line, run_command
from tests.factories.maintain_page import MaintainVisitor
from tests.factories.refusals import refuses
from tests.factories.review_setup import HOSTILE, ReviewSetup, add_judges, materials

WHY = f"The preferred response invents a second dog. {HOSTILE}"


def _catalog(bench: ReviewSetup) -> ItemCatalog:
    folder = bench.state / "labels"
    if not folder.exists():
        folder.mkdir(parents=True)
        return materials(bench.table, folder)
    return ItemCatalog(folder / "manifest.json", folder / "items.jsonl")


def _parsed(*arguments: str) -> argparse.Namespace:
    return command_line().parse_args(list(arguments))


def _run(bench: ReviewSetup, *arguments: str, **services: Any) -> CliResult:
    return run_command(by(bench.database, LOCAL, items=_catalog(bench), **services), *arguments)


def test_a_label_is_disputed_accepted_drafted_verified_and_drafted_again_with_commands(bench: ReviewSetup) -> None:
    add_judges(bench, np.tile(1 - bench.labels.preferred, (6, 1)), owners=[f"o{n}" for n in range(6)])
    wrong = bench.says(0, right=False)
    _run(bench, "disputes", "open", bench.key(0), "--better", wrong, "--tag", "counting", "--reason", WHY)
    assert " : 6 : " in (shown := _run(bench, "disputes", "list").text) or "6 : 0" in shown
    assert WHY in shown
    _run(bench, "disputes", "accept", "1", "--note", "yes")
    assert _run(bench, "disputes", "list").text == "Nothing is disputed."
    assert "accepted" in _run(bench, "disputes", "list", "--state", "accepted").text
    asked = _run(bench, "disputes", "draft", "next", "--base", "demo", "--reason", "one")
    bench.runner.run_all()
    assert asked.data["changed"] and bench.stored("next").preferred[0] != bench.labels.preferred[0]
    started = _run(bench, "verification", "start", "may", "--base", "next", "--reason", "x")
    assert "has 21 pairs: /annotate/1" in started.text
    _run(bench, "verification", "annotators", "1", "local")
    with refuses(Conflict, "no-answers"):
        _run(bench, "verification", "close", "1", "last", "--reason", "x")
    assert re.search(r"1 +may +open +next +21 ", _run(bench, "verification", "list").text)


def test_a_dispute_has_a_number(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        _parsed("disputes", "accept", "-1", "--note", "x")
    with pytest.raises(SystemExit):
        _parsed("disputes", "accept", "x" * 9, "--note", "x")
    assert "by its number" in capsys.readouterr().err


def test_disputes_and_projects_are_worked_on_the_page_and_shown_as_text(bench: ReviewSetup) -> None:
    _run(bench, "disputes", "open", bench.key(0), "--better", "a", "--reason", WHY)
    page = MaintainVisitor(bench.by(MAINTAINER))
    shown = page.look("disputes")
    assert HOSTILE not in shown and "&lt;img" in shown
    assert "is accepted" in page.act("disputes.accept", ["1"], note="you are right")
    assert "Nothing is disputed" in page.look("disputes") and "accepted" in page.look("disputes", state="accepted")
    assert "its number" in page.act("disputes.accept", ["one"], note="x")
    draft = {"revision": "next", "base": "demo", "reason": "because", "disclosure": "public"}
    assert "waits for a worker" in page.act("disputes.draft", **draft)
    assert operations.recent_tasks(bench.by(MAINTAINER))[0].params["disclosure"] == "public"
    start = {"name": "may", "base": "demo", "reason": "x", "file": bench.file_of(0, 4)}
    assert "has 2 pairs" in page.act("verification.start", **start)
    assert "no account" in page.act("verification.annotators", ["1"], annotators="nobody")
    assert "1 more may answer" in page.act("verification.annotators", ["1"], annotators="local")
    assert "local 0" in page.look("verification")
    close = {"revision": "more", "reason": "x"}
    assert "Nobody has answered" in page.act("verification.close", ["1"], **close)
    answers.answer(bench.by(MAINTAINER), 1, place=1, given_answer=GivenAnswer("first"))
    assert "WildVision-" in page.show("verification", "verification.decisions", "1")
    assert "waits for a worker" in page.act("verification.close", ["1"], **close)
