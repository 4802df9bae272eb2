"""The maintain page: no function of it is listed, and what it shows is escaped."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import numpy as np
import pytest

from auth import Identity
from maintenance import markup
from maintenance.actions import audit, entries, labels, rescoring
from maintenance.actions.reported import ReportedResultView
from maintenance.database.queries import RevisionRow
from storage.database import Database
from storage.jobs import tasks
from storage.jobs.tasks import TaskView
from submissions.metadata import Metadata
from tests.databases import new_database, with_labels
from tests.factories import small_benchmark
from tests.factories.accounts import LOCAL, MAINTAINER, STRANGER
from tests.factories.actions import MaintainPage, by, decisions
from tests.factories.review_setup import add_judges, set_up
from tests.factories.specs import VL

HOSTILE = '<img src=x onerror=alert(1)>"'


@pytest.fixture
def board(tmp_path: Path) -> Database:

    opened = new_database(f"sqlite:///{tmp_path}/board.db")
    with_labels(opened)
    return opened


def _page(database: Database, user: Identity) -> MaintainPage:
    return MaintainPage(by(database, user, parse=lambda raw: Metadata.parse(raw).columns()))


def test_no_function_of_the_page_is_listed_for_programs(board: Database) -> None:
    page = _page(board, LOCAL)
    info = page.blocks.get_api_info()
    assert info["named_endpoints"] == {} and info["unnamed_endpoints"] == {}
    assert len(page.blocks.fns) > 10


def test_opening_the_page_or_a_tab_makes_one_call_at_most(board: Database) -> None:
    page = _page(board, LOCAL)
    opened = Counter(
        target for one in page.blocks.fns.values() for target in one.targets if target[1] in ("load", "select")
    )
    tabs = [block._id for block in page.blocks.blocks.values() if isinstance(block, gr.Tab)]
    assert {target for target, _ in opened} <= set(tabs), "what nobody looks at is not asked for"
    assert len(opened) >= len(tabs) - 1 and set(opened.values()) == {1}


def test_every_handler_refuses_who_is_no_maintainer_and_notes_it(board: Database) -> None:
    (entry,) = small_benchmark.submit(board, range(1), owner="aowner000000")
    page = _page(board, STRANGER)
    answers = [
        page.call("look")[0],
        *page.press("Pause submissions", {"Message while submissions are paused": "because"})[:2],
        *page.call("decide", entry, "entries.hide", "", "because"),
        *page.call("edit", entry, "notes", "new"),
        *page.call("retrying", "All failed jobs")[:2],
        *page.call("retrying", "task 1")[:2],
        page.call("results"),
        *page.call("correcting", "r-x", "because", "macro", "50"),
        *page.press("Grant", {"Account": "astranger000", "Why": "because"}),
        *page.press("End the grant", {"Grant": "1", "Why": "because"}),
        *page.press("Approve", {"Submission": entry, "Reason": "because"}),
        *page.press("Dismiss", {"No.": "1", "Reason": "because"}),
        *page.press("Remove", {"Result": "r-x"}),
        page.call("verifying", ""),
        page.call("heading"),
        page.call("find", "")[0],
        page.call("choose", entry)[1],
        page.call("asked")[0],
        page.call("showing", "1"),
        page.call("listed", ""),
        *page.call("opening", ""),
        page.call("table", ""),
    ]
    assert all("vl-bad" in answer for answer in answers), answers
    assert len(page.refused) == len(answers)
    assert entries.look(by(board, MAINTAINER), entry)[0].gone is None


def test_decisions_can_be_made_on_the_page(board: Database) -> None:
    (entry,) = small_benchmark.submit(board, range(1), owner="aowner000000")
    page = _page(board, MAINTAINER)
    said, shown = page.call("decide", f" {entry} ", "entries.flag", "", HOSTILE)
    assert "carries the note" in said and HOSTILE not in shown and "&lt;img" in shown
    said, shown = page.call("edit", entry, "organisation", HOSTILE)
    assert "Changed: organisation." in said and HOSTILE not in shown
    said, _ = page.call("decide", entry, "entries.merge", "e00000000000", "because")
    assert "no entry" in said
    assert "hold" in page.call("verifying", "")


def test_the_chain_can_be_checked_against_a_head_that_was_kept(board: Database) -> None:
    small_benchmark.submit(board, range(1), owner="aowner000000")
    page = _page(board, MAINTAINER)
    kept = audit.head(by(board, MAINTAINER))
    assert "so does the given head" in page.call("verifying", json.dumps(kept))
    assert "not the one" in page.call("verifying", json.dumps({**kept, "hash": "0" * 64}))
    for text in ("no JSON", "[]", "7"):
        assert "no head of a chain" in page.call("verifying", text)


def test_entries_are_found_by_model_owner_and_id_and_one_is_chosen(board: Database) -> None:
    first, second = small_benchmark.submit(board, range(2), owner="aowner000000")
    page = _page(board, MAINTAINER)
    for wanted, ids in (("", {first, second}), ("JUDGE 1", {second}), (first[3:9], {first}), ("%", set())):
        told, choices = page.call("find", wanted)
        assert {one[1] for one in choices["choices"]} == {one for one in (first, second) if one in told} == ids
    assert "aowner000000" in page.call("find", "owner0000")[0]
    name, shown = page.call("choose", second)
    assert (name, "The entry waits to be scored." in shown) == (second, True)
    page.call("decide", second, "entries.hide", "", "because")
    assert "The entry is hidden." in page.call("choose", second)[1]


def test_an_earlier_preview_is_opened_again(tmp_path: Path) -> None:
    bench = set_up(new_database(f"sqlite:///{tmp_path}/board.db"), tmp_path)
    add_judges(bench, np.zeros((2, len(bench.table))), ["o0", "o1"])
    asked = rescoring.request_preview(by(bench.database, MAINTAINER), "demo")
    bench.runner.run_all()
    page = _page(bench.database, MAINTAINER)
    told, choices = page.call("asked")
    assert choices["choices"] == [(f"{asked.task_id}: rescore.preview demo, done", str(asked.task_id))]
    assert "rescore.preview" in told
    assert "2 entries: 0 change" in page.call("showing", str(asked.task_id))
    assert "vl-bad" in page.call("showing", "99")


def test_a_failed_task_is_chosen_and_asked_for_again(board: Database) -> None:
    failed = labels.request_import(by(board, MAINTAINER), "v3", "/gone.jsonl", "errors")
    with board.write() as session:
        claim = tasks.claim(session, "worker", 60.0)
        assert claim is not None
        tasks.fail(session, claim, HOSTILE, retry=False)
    page = _page(board, MAINTAINER)
    shown, choices = page.call("look")
    assert HOSTILE not in shown and "&lt;img" in shown
    assert choices["choices"][1:] == [(f"Task {failed.task_id}: labels.import v3", f"task {failed.task_id}")]
    said, shown, choices = page.call("retrying", f"task {failed.task_id}")
    assert "A worker imports revision v3" in said and "&lt;img" not in shown and len(choices["choices"]) == 1


def test_an_earlier_preview_goes_once_something_else_is_asked_and_an_undo_is_typed(tmp_path: Path) -> None:
    bench = set_up(new_database(f"sqlite:///{tmp_path}/board.db"), tmp_path)
    page = _page(bench.database, MAINTAINER)
    starts = [one for one in page.blocks.fns.values() if one.fn is not None and one.fn.__name__ == "run"]
    buttons = {block.value: block._id for block in page.blocks.blocks.values() if isinstance(block, gr.Button)}
    request = SimpleNamespace(client=SimpleNamespace(host="203.0.113.7"))

    def press(name: str, typed: str = "") -> tuple[str, Any]:
        (pressed,) = (one.fn for one in starts if (buttons[name], "click") in one.targets)
        assert pressed is not None
        said, *_, left = pressed(request, "demo", "", "because", "", typed, "", "", "", False)
        return said, left

    assert press("Preview")[1] == ""
    for name in ("Apply", "Undo"):
        said, left = press(name)
        assert "To confirm, type demo." in said and left != "", "what was refused takes nothing away"
    assert "nothing to undo" in press("Undo", "demo")[0]


def test_the_table_of_revisions_shows_disclosure_and_salt() -> None:
    values = {"items": 3, "commitment": "ab" * 32, "difference": None, "reason": "", "requested_by": "x"}
    times = {"imported_at": 1.0, "published_at": 2.0, "retired_at": 3.0, "registered_at": 1.0}
    retired = RevisionRow("v2", **values, **times, salt="cd" * 32, disclosure="categories")
    going = retired._replace(retired_at=None, salt=None)
    configured = going._replace(disclosure=None)  # the settings say it
    shown = markup.revisions([going, configured], {})
    assert 'data-name="Disclosure">categories<' in shown and 'data-name="Kind">imported<' in shown
    assert 'data-name="Disclosure">as configured<' in shown
    shown = markup.revisions([retired], {})
    assert 'data-name="Kind">retired<' in shown and f'title="{"cd" * 32}"' in shown
    assert ">categories<" not in shown, "a set whose salt is known hides nothing any more"


def test_what_there_is_nothing_to_say_about_is_a_dash_that_phones_leave_out() -> None:
    assert '<td role="cell" data-name="Salt" data-nothing>–</td>' in markup.table("T", ("Salt",), [(None,)], "")
    assert "data-nothing" not in markup.table("T", ("Salt",), [("-",)], "")
    assert "<h2>T</h2>" in markup.table("T", ("Salt",), [], ""), "below the page's title, no level is left out"


def test_a_long_task_shows_how_far_it_is() -> None:
    about = {
        "id": 3,
        "benchmark": "demo",
        "kind": "rescore.apply",
        "subject": "v2",
        "params": {},
        "reason": HOSTILE,
        "requested_by": "x",
    }
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
    text = markup.preview(found, 1) + markup.table(HOSTILE, (HOSTILE,), [(HOSTILE,)], "") + markup.refusal(HOSTILE)
    assert HOSTILE not in text
    assert "50.0 → 50.0 (−0.01)" in text


def _previewed(moves: list[tuple[int | None, int | None]]) -> dict[str, Any]:
    rows = [
        {"id": f"e{number}", "model": f"judge-{number}.", "version": "", "rank": list(ranks), "macro": [0.5, 0.5]}
        for number, ranks in enumerate(moves)
    ]
    summary = {"changed": 0, "moved": 2, "largest_change": 0.0, "significance_changed": 1}
    return {
        "from": {"label_revision": "v1"},
        "to": {"label_revision": "v2"},
        "labels": {"flipped": 1, "added": 0, "dropped": 0, "tags_changed": None},
        "columns": ["macro"],
        "summary": {**summary, "entries": len(rows)},
        "entries": rows,
        "significance": [{"first": "e0", "second": "gone", "p": [0.04, 0.06]}],
    }


def test_of_a_preview_of_very_many_those_that_move_furthest_are_shown_and_where_the_rest_is() -> None:
    moves: list[tuple[int | None, int | None]] = [(place, place) for place in range(1, 1001)]
    moves[700], moves[800], moves[900] = (701, 721), (801, 771), (None, 901)
    shown = markup.preview(_previewed(moves), 13)
    judges = re.findall(r'href="/entries/e(\d+)">judge', shown)
    assert judges[:5] == ["900", "800", "700", "0", "1"] and len(judges) == 200 + 1  # one in the table of significance
    assert "All 1,000 entries and 1 change of significance" in shown
    assert 'href="/api/v1/maintenance/rescore/preview/13"' in shown
    few = markup.preview(_previewed(moves[699:702]), 13)
    assert "preview/13" not in few
    assert re.findall(r'href="/entries/e(\d+)">judge', few) == ["0", "1", "2", "0"], "as they are ranked"


def test_what_a_field_was_is_shown_as_text_and_not_as_json(board: Database) -> None:
    (entry,) = small_benchmark.submit(board, range(1), owner="aowner000000")
    page = _page(board, MAINTAINER)
    page.call("edit", entry, "parameters_b", "7")
    _, shown = page.call("edit", entry, "notes", 'said "no"')
    assert "Parameters, in billions" in shown and "null" not in shown
    for was, became in (("–", "7"), ("–", "said &#34;no&#34;")):
        assert f'data-name="Was" data-nothing>{was}<' in shown and f'data-name="Became">{became}<' in shown


def test_a_source_leads_to_an_http_address_only() -> None:
    result = ReportedResultView(
        "r-x", "X", HOSTILE, "https://a.example/?a=1&b=2", dict.fromkeys(VL.score_names), "", None
    )
    shown = markup.reported_results([result, replace(result, url="javascript:alert(1)")])
    assert shown.count('<a href="https://a.example/?a=1&amp;b=2" rel="nofollow noopener">') == shown.count("<a ") == 1
    assert HOSTILE not in shown and "javascript" not in shown


def test_times_are_shown_as_on_the_public_pages(board: Database) -> None:
    (entry,) = small_benchmark.submit(board, range(1), owner="aowner000000")
    page = _page(board, MAINTAINER)
    page.call("decide", entry, "entries.verify", "", "checked by hand")
    shown = "".join([*page.call("decide", entry, "entries.flag", "", "a note"), page.call("heading")])
    shown += markup.decisions(decisions(board))
    assert len(re.findall(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", shown)) >= 4
    assert not re.search(r"\dT\d", shown)
