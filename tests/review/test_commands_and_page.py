"""Reviews from the command line and on the maintain page: the same use cases, and what they show is text."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import pytest

from auth import LOCAL, Identity
from leaderboard.pages.item_catalog import ItemCatalog
from maintenance.actions import operations
from maintenance.cli import CliResult
from maintenance.types import Conflict
from review import text_output
from review.actions import answers
from review.actions.answers import GivenAnswer
from tests.factories.accounts import MAINTAINER, STRANGER
from tests.factories.actions import by, command_line, run_command
from tests.factories.maintain_page import MaintainPage
from tests.factories.refusals import refuses
from tests.factories.review_setup import HOSTILE, ReviewSetup, add_judges, materials
from tests.maintenance.test_accounts import SETTINGS

STATES = ("open", "accepted", "rejected", "all")
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
    assert "6 judges prefer" in (shown := _run(bench, "disputes", "list").text) and WHY in shown
    _run(bench, "disputes", "accept", "1", "--note", "yes")
    assert _run(bench, "disputes", "list").text == "Nothing is disputed."
    assert "accepted" in _run(bench, "disputes", "list", "--state", "accepted", "--state", "rejected").text
    asked = _run(bench, "disputes", "draft", "next", "--base", "demo", "--reason", "one")
    bench.runner.run_all()
    assert asked.data["changed"] and bench.stored("next").preferred[0] != bench.labels.preferred[0]
    assert "Never looked for" in _run(bench, "candidates", "list").text
    _run(bench, "candidates", "find")
    bench.runner.run_all()
    assert "needs 5 judges" not in _run(bench, "candidates", "list").text
    started = _run(bench, "verification", "start", "may", "--base", "next", "--items", "disputed", "--reason", "x")
    assert "has 1 pair: /annotate/1" in started.text
    _run(bench, "verification", "annotators", "1", "local")
    with refuses(Conflict, "no-answers"):
        _run(bench, "verification", "close", "1", "last", "--reason", "x")
    assert "1  may: 1 pair, from next, open: x" in _run(bench, "verification", "list").text


def test_pairs_are_answered_with_commands_as_on_the_page_and_over_rest(bench: ReviewSetup) -> None:
    _run(bench, "verification", "start", "may", "--base", "demo", "--item", bench.key(1), "--reason", "x")
    shown = _run(bench, "verification", "show", "1", "1")
    seen = answers.show(by(bench.database, LOCAL, items=_catalog(bench)), 1, place=1)
    assert seen.question and seen.responses
    places = [shown.text.index(part) for part in ("Question", seen.question, *seen.responses)]
    assert places == sorted(places)
    assert "Not answered yet." in shown.text and "model" not in shown.text
    with refuses(Conflict, "no-answer"):
        _run(bench, "verification", "models", "1", "1")
    said = ("second", "--error", "counting", "--error", "recognition-text", "--note", "blurred")
    assert _run(bench, "verification", "answer", "1", "1", *said).data["changed"]
    assert not _run(bench, "verification", "answer", "1", "1", *said).data["changed"], "the same again"
    assert answers.show(by(bench.database, LOCAL, items=_catalog(bench)), 1, place=1).said == GivenAnswer(
        "second", ("counting", "recognition-text"), note="blurred"
    )
    told = _run(bench, "verification", "models", "1", "1").text
    assert "Your answer: second; counting, recognition-text; blurred" in told and "another model" in told
    with refuses(Conflict, "models-seen"):
        _run(bench, "verification", "answer", "1", "1", "first")


def test_where_people_sign_in_answers_are_theirs_and_not_the_machines(bench: ReviewSetup) -> None:
    _run(bench, "verification", "start", "may", "--base", "demo", "--item", bench.key(1), "--reason", "x")
    for words_ in (("answer", "1", "1", "first"), ("models", "1", "1")):
        with refuses(Conflict, "sign-in-needed"):
            _run(bench, "verification", *words_, identity=SETTINGS)


def test_a_project_is_of_a_kind_of_pairs_or_of_listed_ones(
    bench: ReviewSetup, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        _parsed("verification", "start", "may", "--base", "x", "--items", "all", "--item", "k", "--reason", "x")
    assert "not allowed with" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        _parsed("disputes", "accept", "-1", "--note", "x")
    with pytest.raises(SystemExit):
        _parsed("disputes", "accept", "x" * 9, "--note", "x")
    assert "by its number" in capsys.readouterr().err


def test_what_a_text_would_do_to_a_terminal_is_gone_and_its_lines_stay() -> None:
    pair = answers.ShownPair(
        1,
        1,
        name="k",
        question="a\x1b[2Jb\nc",
        responses=("\x9b31m", "\u202e"),
        image=None,
        said=None,
        models=None,
        has_models=False,
    )
    assert "a [2Jb\nc\n\nFirst\n 31m\n\nSecond\n \n" in text_output.pair(pair)


def test_without_texts_it_is_said_which_setting_brings_them() -> None:
    said = text_output.pair(
        answers.ShownPair(
            1, 1, name="k", question=None, responses=None, image=None, said=None, models=None, has_models=False
        )
    )
    assert "ITEMS_FILE" in said and "image" not in said


def test_an_image_has_its_address_shown_or_that_there_is_none() -> None:
    pair = answers.ShownPair(
        1,
        1,
        name="k",
        question="what?",
        responses=("a", "b"),
        image="/explore/k/image",
        said=None,
        models=None,
        has_models=False,
    )
    assert "\nImage: /explore/k/image\n" in text_output.pair(pair)
    assert "\nThere is no image" in text_output.pair(pair._replace(image=None))


def _page(bench: ReviewSetup, user: Identity) -> MaintainPage:
    return MaintainPage(by(bench.database, user, table=bench.table))


ASKED: list[tuple[str, dict[str, str]]] = [
    ("disputes.accept", {"note": "no"}),
    ("disputes.reject", {"note": "no"}),
    ("verification.annotators", {"annotators": "local"}),
    ("verification.close", {"revision": "next", "reason": "because"}),
]
PRESSED: list[tuple[str, str, dict[str, Any]]] = [
    ("Disputes", "Draft from accepted ones", {"Draft": "next", "Changes revision": "demo", "Reason": "because"}),
    ("Label errors", "Look for candidates", {}),
    ("Label errors", "Show candidates", {}),
    ("Verification", "Start the project", {"New project": "may", "From revision": "demo", "Reason": "because"}),
]


def test_every_handler_refuses_who_is_no_maintainer_and_notes_it(bench: ReviewSetup) -> None:
    page = _page(bench, STRANGER)
    answers = [text for action, fields in ASKED for text in page.act(action, ["1"], **fields)]
    answers += [text for tab, button, typed in PRESSED for text in page.press(button, typed, tab=tab)]
    answers += [page.open("Disputes", "all"), page.open("Verification")]
    assert all("vl-bad" in text for text in answers), answers
    assert len(page.refused) == len(answers)
    assert page.blocks.get_api_info()["named_endpoints"] == {}


def test_disputes_and_projects_are_worked_on_the_page_and_shown_as_text(bench: ReviewSetup) -> None:
    _run(bench, "disputes", "open", bench.key(0), "--better", "a", "--reason", WHY)
    page = _page(bench, MAINTAINER)
    shown = page.open("Disputes", "open")
    assert HOSTILE not in shown and "&lt;img" in shown
    said, shown = page.act("disputes.accept", ["1"], note="you are right")
    assert "is accepted" in said and "Nothing is disputed" in shown
    _run(bench, "disputes", "open", bench.key(1), "--better", "b", "--reason", WHY)
    listed = [page.open("Disputes", state) for state in STATES]
    both = [all(word in shown for word in (">open<", ">accepted<")) for shown in listed]
    assert both == [False, False, False, True]
    assert "its number" in page.act("disputes.accept", ["one"], note="x")[0]
    draft = {"Draft": "next", "Changes revision": "demo", "Reason": "because", "Only disputes": "1"}
    written = page.press("Draft from accepted ones", {**draft, "Shown of scores": "public"}, tab="Disputes")
    assert "writes draft next" in written[0]
    assert operations.recent_tasks(by(bench.database, MAINTAINER))[0].params["disclosure"] == "public"
    draft |= {"Draft": "more", "Only disputes": "1, 7"}
    assert "Not accepted: 7." in page.press("Draft from accepted ones", draft, tab="Disputes")[0]
    start = {"New project": "may", "From revision": "demo", "Pairs": "listed", "Reason": "x"}
    start |= {"Listed pairs": f"{bench.key(2)}, WildVision-1"}
    said, shown = page.press("Start the project", start, tab="Verification")
    assert "has 2 pairs" in said and "may" in shown
    assert "no account" in page.act("verification.annotators", ["1"], annotators="nobody")[0]
    said, shown = page.act("verification.annotators", ["1"], annotators="local")
    assert "1 more may answer" in said and "local 0" in shown
    close = {"revision": "more", "reason": "x", "disclosure": "public"}
    assert "Nobody has answered" in page.act("verification.close", ["1"], **close)[0]
    answers.answer(by(bench.database, MAINTAINER, table=bench.table), 1, place=1, given_answer=GivenAnswer("first"))
    assert "writes draft more" in page.act("verification.close", ["1"], **close)[0]
    assert operations.recent_tasks(by(bench.database, MAINTAINER))[0].params["disclosure"] == "public"
