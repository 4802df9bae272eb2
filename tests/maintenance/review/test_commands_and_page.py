"""Reviews from the command line and on the maintain page: the same use cases, and what they show is text."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import gradio as gr
import numpy as np
import pytest

import maintenance.review.cli
from identity import LOCAL, Identity
from maintenance import operations, page
from maintenance.cli import Answer, Context
from maintenance.review import answers
from maintenance.review import page as review_page
from maintenance.review.answers import Said
from maintenance.values import NotPossible
from tests.maintenance.people import MAINTAINER, STRANGER
from tests.maintenance.review.bench import HOSTILE, Bench, add_judges

STATES = ("open", "accepted", "rejected", "all")
WHY = f"The preferred response invents a second dog. {HOSTILE}"


def _run(bench: Bench, *arguments: str) -> Answer:
    parser = argparse.ArgumentParser()
    maintenance.review.cli.add_commands(parser.add_subparsers(required=True))
    options = parser.parse_args(list(arguments))
    table: Callable[[], Any] = lambda: bench.table  # noqa: E731
    context = Context(bench.database, LOCAL, "demo", dict, (), lambda question: "", table=table)
    answer: Answer = options.command(context, options)
    return answer


def test_a_label_is_disputed_accepted_drafted_verified_and_drafted_again_with_commands(bench: Bench) -> None:
    add_judges(bench, np.tile(1 - bench.labels.preferred, (6, 1)), [f"o{n}" for n in range(6)])
    wrong = bench.says(0, right=False)
    _run(bench, "disputes", "open", bench.key(0), "--better", wrong, "--tag", "counting", "--reason", WHY)
    assert "6 judges prefer" in (shown := _run(bench, "disputes", "list").text) and WHY in shown
    _run(bench, "disputes", "accept", "1", "--note", "yes")
    assert _run(bench, "disputes", "list").text == "Nothing is disputed."
    assert "accepted" in _run(bench, "disputes", "list", "--state", "accepted", "--state", "rejected").text
    asked = _run(bench, "disputes", "draft", "next", "--base", "demo", "--reason", "one")
    bench.desk.drain()
    assert asked.data["changed"] and bench.stored("next").preferred[0] != bench.labels.preferred[0]
    assert "Never looked for" in _run(bench, "candidates", "list").text
    _run(bench, "candidates", "find")
    bench.desk.drain()
    assert "needs 5 judges" not in _run(bench, "candidates", "list").text
    started = _run(bench, "verification", "start", "may", "--base", "next", "--items", "disputed", "--reason", "x")
    assert "has 1 pairs: /annotate/1" in started.text
    _run(bench, "verification", "annotators", "1", "local")
    with pytest.raises(NotPossible, match="Nobody has answered"):
        _run(bench, "verification", "close", "1", "last", "--reason", "x")
    assert "1  may: 1 pairs, from next, open: x" in _run(bench, "verification", "list").text


@pytest.fixture
def desk(bench: Bench) -> Callable[[Identity], tuple[gr.Blocks, list[str]]]:
    def lay_out(who: Identity) -> tuple[gr.Blocks, list[str]]:
        refused: list[str] = []
        made = page.Desk(
            bench.database,
            "demo",
            lambda raw: dict(raw),
            lambda request: who,
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
    desk: Callable[[Identity], tuple[gr.Blocks, list[str]]],
) -> None:
    blocks, refused = desk(STRANGER)
    for name, values in HANDLERS:
        answer = _call(blocks, name, *values)
        for text in answer if isinstance(answer, tuple) else (answer,):
            assert "vl-bad" in text, (name, text)
    for nth in range(2):
        assert "vl-bad" in _call(blocks, "looking", nth=nth)
    assert len(refused) == 15
    assert blocks.get_api_info()["named_endpoints"] == {}


def test_disputes_and_projects_are_worked_on_the_page_and_shown_as_text(
    bench: Bench, desk: Callable[[Identity], tuple[gr.Blocks, list[str]]]
) -> None:
    _run(bench, "disputes", "open", bench.key(0), "--better", "a", "--reason", WHY)
    blocks, _ = desk(MAINTAINER)
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
    assert "writes draft next" in _call(blocks, "drafting", "next", "demo", "because", "1", True)
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
    said, _ = _call(blocks, "closing", "1", "more", "x", True)
    assert "Nobody has answered" in said
    answers.answer(bench.database, MAINTAINER, bench.table, 1, 1, Said("first"))
    said, _ = _call(blocks, "closing", "1", "more", "x", True)
    assert "writes draft more" in said
    assert operations.recent_tasks(bench.database, MAINTAINER)[0].params["disclosure"] == "public"
