"""The maintain page: no function of it is listed, and what it shows is escaped."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from identity import Identity, Refused
from maintenance import entries, markup, page
from maintenance.decisions import decisions
from storage.database import Database
from storage.tasks import TaskView
from submissions.metadata import Metadata
from tests.databases import new_database, with_labels
from tests.maintenance.people import LOCAL, MAINTAINER, STRANGER
from tests.workers import invented

HOSTILE = '<img src=x onerror=alert(1)>"'


def _desk(database: Database, who: Identity, refused: list[str]) -> page.Desk:
    def note(refusal: Refused, where: str, address: str) -> None:
        refused.append(where)

    return page.Desk(database, "demo", lambda raw: Metadata.parse(raw).columns(), lambda request: who, (), note)


@pytest.fixture
def board(tmp_path: Path) -> Database:

    opened = new_database(f"sqlite:///{tmp_path}/board.db")
    with_labels(opened)
    return opened


def _blocks(desk: page.Desk) -> gr.Blocks:
    blocks = gr.Blocks(analytics_enabled=False)
    with blocks:
        page.build(desk)
    return blocks


def _call(blocks: gr.Blocks, name: str, *values: Any) -> Any:
    """Calls a handler as Gradio does, whatever the browser shows."""
    request = SimpleNamespace(client=SimpleNamespace(host="203.0.113.7"))
    functions = [one.fn for one in blocks.fns.values() if one.fn is not None and one.fn.__name__ == name]
    return functions[0](*values, request)


def test_no_function_of_the_page_is_listed_for_programs(board: Database) -> None:
    blocks = _blocks(_desk(board, LOCAL, []))
    info = blocks.get_api_info()
    assert info["named_endpoints"] == {} and info["unnamed_endpoints"] == {}
    assert len(blocks.fns) > 10


def test_every_handler_refuses_who_is_no_maintainer_and_notes_it(board: Database) -> None:
    (entry,) = invented.submit(board, range(1), owner="aowner000000")
    refused: list[str] = []
    blocks = _blocks(_desk(board, STRANGER, refused))
    answers = [
        _call(blocks, "look"),
        *_call(blocks, "pausing", "because"),
        *_call(blocks, "deciding", entry, "Hide", "", "because"),
        *_call(blocks, "changing", entry, "notes", "new"),
        *_call(blocks, "retrying", "All of them"),
        _call(blocks, "results"),
        *_call(blocks, "correcting", "r-x", "because", "macro", "50"),
        _call(blocks, "granted"),
        *_call(blocks, "granting", "astranger000", "because", 1),
        *_call(blocks, "revoking", "1", "because"),
        _call(blocks, "verifying"),
        _call(blocks, "heading"),
    ]
    assert all("vl-bad" in answer for answer in answers), answers
    assert len(refused) == len(answers)
    assert entries.look(board, MAINTAINER, entry)[0].gone is None


def test_decisions_can_be_made_on_the_page(board: Database) -> None:
    (entry,) = invented.submit(board, range(1), owner="aowner000000")
    blocks = _blocks(_desk(board, MAINTAINER, []))
    said, shown = _call(blocks, "deciding", f" {entry} ", "Put a public note", "", HOSTILE)
    assert "carries the note" in said and HOSTILE not in shown and "&lt;img" in shown
    said, shown = _call(blocks, "changing", entry, "organisation", HOSTILE)
    assert "Changed: organisation." in said and HOSTILE not in shown
    said, _ = _call(blocks, "deciding", entry, "Merge into", "e00000000000", "because")
    assert "no entry" in said
    assert "hold" in _call(blocks, "verifying")


def test_a_long_task_shows_how_far_it_is() -> None:
    about = {"id": 3, "kind": "rescore.apply", "subject": "v2", "params": {}, "reason": HOSTILE, "requested_by": "x"}
    times = {"created_at": 1.0, "started_at": 2.0, "finished_at": None}
    going = TaskView(**about, **times, state="running", outcome="", progress=500, total=10_000, worker="w")
    assert '<progress max="10000" value="500"' in markup.task(going)
    assert "500 of 10000 entries" in markup.task(going)
    assert HOSTILE not in markup.task(replace(going, state="failed", outcome=HOSTILE, finished_at=3.0))


def test_every_text_is_escaped() -> None:
    found = {
        "from": {"label_revision": "v1"},
        "to": {"label_revision": HOSTILE},
        "labels": {"flipped": 1, "added": 0, "dropped": 0, "tags_changed": None},
        "columns": ["macro"],
        "summary": {"entries": 1, "changed": 1, "moved": 0, "largest_change": 0.01, "significance_changed": 0},
        "entries": [{"id": "e1", "model": HOSTILE, "version": "", "rank": [1, 1], "macro": [0.5, 0.4999]}],
        "significance": [],
    }
    text = markup.preview(found) + markup.table(HOSTILE, (HOSTILE,), [(HOSTILE,)], "") + markup.refusal(HOSTILE)
    assert HOSTILE not in text
    assert "50.0 → 50.0 (-0.01)" in text


def test_times_are_shown_as_on_the_public_pages(board: Database) -> None:
    (entry,) = invented.submit(board, range(1), owner="aowner000000")
    blocks = _blocks(_desk(board, MAINTAINER, []))
    _call(blocks, "deciding", entry, "Verify", "", "checked by hand")
    shown = "".join([*_call(blocks, "deciding", entry, "Put a public note", "", "a note"), _call(blocks, "heading")])
    shown += markup.decisions(decisions(board))
    assert len(re.findall(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", shown)) >= 4
    assert not re.search(r"\dT\d", shown)
