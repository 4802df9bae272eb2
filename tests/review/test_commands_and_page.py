"""Reviews from the command line and on the maintain page: the same use cases, and what they show is text."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import gradio as gr
import numpy as np
import pytest

import review.cli
from auth import LOCAL, Identity
from leaderboard.pages.item_catalog import ItemCatalog
from maintenance.actions import operations
from maintenance.cli import CliContext, CliResult
from maintenance.page_context import PageContext
from maintenance.types import Conflict
from review import answers, text_output
from review import tab as review_page
from review.answers import GivenAnswer
from tests.factories.accounts import MAINTAINER, STRANGER
from tests.factories.review_setup import HOSTILE, ReviewSetup, add_judges, materials
from tests.maintenance.test_accounts import SETTINGS

STATES = ("open", "accepted", "rejected", "all")
WHY = f"The preferred response invents a second dog. {HOSTILE}"


def _catalog(bench: ReviewSetup) -> ItemCatalog:
    folder = bench.state / "shelf"
    if not folder.exists():
        folder.mkdir(parents=True)
        return materials(bench.table, folder)
    return ItemCatalog(folder / "manifest.json", folder / "items.jsonl")


def _parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    review.cli.add_commands(parser.add_subparsers(required=True))
    return parser.parse_args(list(arguments))


def _run(bench: ReviewSetup, *arguments: str) -> CliResult:
    options = _parsed(*arguments)
    context = CliContext(bench.database, LOCAL, "demo", dict, (), _catalog(bench), lambda question: "")
    answer: CliResult = options.command(context, options)
    return answer


def test_a_label_is_disputed_accepted_drafted_verified_and_drafted_again_with_commands(bench: ReviewSetup) -> None:
    add_judges(bench, np.tile(1 - bench.labels.preferred, (6, 1)), [f"o{n}" for n in range(6)])
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
    with pytest.raises(Conflict, match="Nobody has answered"):
        _run(bench, "verification", "close", "1", "last", "--reason", "x")
    assert "1  may: 1 pair, from next, open: x" in _run(bench, "verification", "list").text


def test_pairs_are_answered_with_commands_as_on_the_page_and_over_rest(bench: ReviewSetup) -> None:
    _run(bench, "verification", "start", "may", "--base", "demo", "--item", bench.key(1), "--reason", "x")
    shown = _run(bench, "verification", "show", "1", "1")
    seen = answers.show(bench.database, LOCAL, _catalog(bench), 1, 1)
    assert seen.question and seen.responses
    places = [shown.text.index(part) for part in ("Question", seen.question, *seen.responses)]
    assert places == sorted(places)
    assert "Not answered yet." in shown.text and "model" not in shown.text
    with pytest.raises(Conflict, match="Answer first"):
        _run(bench, "verification", "models", "1", "1")
    said = ("second", "--error", "counting", "--error", "recognition-text", "--note", "blurred")
    assert _run(bench, "verification", "answer", "1", "1", *said).data["changed"]
    assert not _run(bench, "verification", "answer", "1", "1", *said).data["changed"], "the same again"
    assert answers.show(bench.database, LOCAL, _catalog(bench), 1, 1).said == GivenAnswer(
        "second", ("counting", "recognition-text"), "blurred"
    )
    told = _run(bench, "verification", "models", "1", "1").text
    assert "Your answer: second; counting, recognition-text; blurred" in told and "another model" in told
    with pytest.raises(Conflict, match="your preference stays"):
        _run(bench, "verification", "answer", "1", "1", "first")


def test_where_people_sign_in_answers_are_theirs_and_not_the_machines(bench: ReviewSetup) -> None:
    _run(bench, "verification", "start", "may", "--base", "demo", "--item", bench.key(1), "--reason", "x")
    context = CliContext(
        bench.database, LOCAL, "demo", dict, (), _catalog(bench), lambda question: "", identity=SETTINGS
    )
    for words_ in (("answer", "1", "1", "first"), ("models", "1", "1")):
        options = _parsed("verification", *words_)
        with pytest.raises(Conflict, match="/annotate or over REST"):
            options.command(context, options)


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
    assert "Say which one by its number" in capsys.readouterr().err


def test_what_a_text_would_do_to_a_terminal_is_gone_and_its_lines_stay() -> None:
    pair = answers.ShownPair(1, 1, "a\x1b[2Jb\nc", ("\x9b31m", "\u202e"), None, None, None, False)
    assert "a [2Jb\nc\n\nFirst\n 31m\n\nSecond\n \n" in text_output.pair(pair)


def test_without_texts_it_is_said_which_setting_brings_them() -> None:
    said = text_output.pair(answers.ShownPair(1, 1, None, None, None, None, None, False))
    assert "ITEMS_FILE" in said and "image" not in said


def test_of_an_image_the_address_is_told_and_otherwise_that_there_is_none() -> None:
    pair = answers.ShownPair(1, 1, "what?", ("a", "b"), "/explore/k/image", None, None, False)
    assert "\nImage: /explore/k/image\n" in text_output.pair(pair)
    assert "\nThere is no image here.\n" in text_output.pair(pair._replace(image=None))


@pytest.fixture
def context(bench: ReviewSetup) -> Callable[[Identity], tuple[gr.Blocks, list[str]]]:
    def lay_out(user: Identity) -> tuple[gr.Blocks, list[str]]:
        refused: list[str] = []
        made = PageContext(
            bench.database,
            "demo",
            lambda raw: dict(raw),
            lambda request: user,
            (),
            lambda refusal, where, address: refused.append(where),
            lambda: bench.table,
        )
        blocks = gr.Blocks(analytics_enabled=False)
        with blocks, gr.Tab("Review"):
            review_page.build(made)
        return blocks, refused

    return lay_out


def _call(blocks: gr.Blocks, name: str, *values: Any, nth: int = 0) -> Any:
    request = SimpleNamespace(client=SimpleNamespace(host="203.0.113.7"))
    functions = [one.fn for one in blocks.fns.values() if one.fn is not None and one.fn.__name__ == name]
    return functions[nth](*values, request)


HANDLERS: list[tuple[str, tuple[Any, ...]]] = [
    ("look", ("open",)),
    ("decide", ("1", "no", "open")),
    ("drafting", ("next", "demo", "because", "", False)),
    ("finding", ()),
    ("starting", ("may", "demo", "all", "", "", "because")),
    ("adding", ("1", "local")),
    ("closing", ("1", "next", "because", False)),
    ("opening", ("open",)),
]


def test_every_handler_refuses_who_is_no_maintainer_and_notes_it(
    context: Callable[[Identity], tuple[gr.Blocks, list[str]]],
) -> None:
    blocks, refused = context(STRANGER)
    for name, values in HANDLERS:
        answer = _call(blocks, name, *values)
        for text in answer if isinstance(answer, tuple) else (answer,):
            assert "vl-bad" in text, (name, text)
    for nth in range(2):
        assert "vl-bad" in _call(blocks, "looking", nth=nth)
    assert len(refused) == 15
    assert blocks.get_api_info()["named_endpoints"] == {}


def test_disputes_and_projects_are_worked_on_the_page_and_shown_as_text(
    bench: ReviewSetup, context: Callable[[Identity], tuple[gr.Blocks, list[str]]]
) -> None:
    _run(bench, "disputes", "open", bench.key(0), "--better", "a", "--reason", WHY)
    blocks, _ = context(MAINTAINER)
    shown = _call(blocks, "look", "open")
    assert HOSTILE not in shown and "&lt;img" in shown
    said, shown = _call(blocks, "decide", "1", "you are right", "open")
    assert "is accepted" in said and "Nothing is disputed" in shown
    _run(bench, "disputes", "open", bench.key(1), "--better", "b", "--reason", WHY)
    assert [all(word in _call(blocks, "look", state) for word in (">open<", ">accepted<")) for state in STATES] == [
        False,
        False,
        False,
        True,
    ]
    assert "its number" in _call(blocks, "decide", "one", "x", "open")[0]
    assert "writes draft next" in _call(blocks, "drafting", "next", "demo", "because", "1", "public")
    assert "Not accepted: 7." in _call(blocks, "drafting", "more", "demo", "because", "1, 7", False)
    assert operations.recent_tasks(bench.database, MAINTAINER)[0].params["disclosure"] == "public"
    said, shown = _call(blocks, "starting", "may", "demo", "listed", f"{bench.key(2)}, WildVision-1", "", "x")
    assert "has 2 pairs" in said and "may" in shown
    said, _ = _call(blocks, "adding", "1", "nobody")
    assert "no account" in said
    said, shown = _call(blocks, "adding", "1", "local")
    assert "1 more may answer" in said and "local 0" in shown
    disputed, listed = _call(blocks, "opening", "all")
    assert ">accepted<" in disputed and "local 0" in listed, "both stand there when the tab is opened"
    said, _ = _call(blocks, "closing", "1", "more", "x", "public")
    assert "Nobody has answered" in said
    answers.answer(bench.database, MAINTAINER, bench.table, 1, 1, GivenAnswer("first"))
    said, _ = _call(blocks, "closing", "1", "more", "x", "public")
    assert "writes draft more" in said
    assert operations.recent_tasks(bench.database, MAINTAINER)[0].params["disclosure"] == "public"
