"""The maintain page: no function of it is listed, and what it shows is escaped."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
import pytest
from sqlalchemy import insert

from auth import Identity
from maintenance import preview_rows
from maintenance.actions import audit, entries, labels, rescoring
from maintenance.actions.reported import ReportedResultView
from maintenance.database.queries import RevisionRow
from maintenance.page import markup
from maintenance.page.reason_templates import EVERY_ACTION, reason_templates, reasons_for
from maintenance.page.row_actions import RowActions
from storage.database import Database
from storage.jobs import tasks
from storage.jobs.tasks import TaskView
from storage.models.visibility import Approval
from submissions.metadata import Metadata
from tests.databases import new_database, with_labels
from tests.factories import small_benchmark
from tests.factories.accounts import LOCAL, MAINTAINER, STRANGER
from tests.factories.actions import by, decisions
from tests.factories.maintain_page import MaintainPage
from tests.factories.review_setup import add_judges, set_up
from tests.factories.specs import VL
from web.actions import ACTIONS

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
    rows = [
        ("entries.hide", entry, {"reason": "because"}),
        ("entries.edit", entry, {"changes": "notes", "changes.value": "new"}),
        ("jobs.retry", "1", {}),
        ("tasks.retry", "1", {}),
        ("reported.edit", "r-x", {"changes": "macro", "changes.value": "50", "reason": "because"}),
        ("reported.remove", "r-x", {"reason": "because"}),
        ("quota.grant", "astranger000", {"extra": "1", "reason": "because"}),
        ("quota.revoke", "1", {"reason": "because"}),
        ("approvals.approve", entry, {"reason": "because"}),
        ("rescore.apply", "demo", {"reason": "because", "confirmation": "demo"}),
    ]
    answers = [page.act(action, [key], **fields)[0] for action, key, fields in rows]
    tabs = {"Health": (), "Entries": ("",), "Accounts": ("",)}
    opened = [page.open(tab, *typed) for tab, typed in tabs.items()]
    opened += [page.open(tab) for tab in ("Approvals", "Labels", "Reported", "Tasks")]
    answers += [answer[0] if isinstance(answer, tuple) else answer for answer in opened]
    answers += [
        page.press("Pause submissions", {"Message while submissions are paused": "because"})[0],
        page.call("verifying", ""),
        page.call("heading"),
        page.show("entries-found", entry),
        page.show("tasks", "1"),
    ]
    assert all("vl-bad" in answer for answer in answers), answers
    assert len(page.refused) >= len(answers) and "page: rescore.apply" in page.refused
    assert entries.look(by(board, MAINTAINER), entry)[0].gone is None
    assert all(set(opening) <= {""} for opening in [page.open("Health")[1:]]), "nothing else is shown either"


def test_decisions_can_be_made_on_the_page(board: Database) -> None:
    (entry,) = small_benchmark.submit(board, range(1), owner="aowner000000")
    page = _page(board, MAINTAINER)
    assert "carries the note" in page.act("entries.flag", [entry], note=HOSTILE)[0]
    shown = page.show("entries-found", entry)
    assert HOSTILE not in shown and "&lt;img" in shown
    edited = page.act("entries.edit", [entry], **{"changes": "organisation", "changes.value": HOSTILE})[0]
    assert "Changed: organisation." in edited
    shown = page.show("entries-found", entry)
    assert HOSTILE not in shown and "&lt;img" in shown
    assert "no entry" in page.act("entries.merge", [entry], into="e00000000000", reason="because")[0]
    assert "hold" in page.call("verifying", "")


def test_one_decision_is_made_about_several_rows_and_one_that_cannot_be_keeps_no_other(board: Database) -> None:
    first, second = small_benchmark.submit(board, range(2), owner="aowner000000")
    page = _page(board, MAINTAINER)
    (said, *_) = page.act("entries.hide", [first, "e00000000000", second], reason="under review")
    assert said.count("is hidden") == 2 and "no entry" in said and said.count("vl-bad") == 1
    assert all(entries.look(by(board, MAINTAINER), one)[0].gone for one in (first, second))


@pytest.mark.parametrize(
    "sent",
    [
        None,
        [],
        {},
        {"action": "entries.hide"},
        {"action": "labels.retire", "keys": ["x"], "fields": []},
        {"action": "entries.hide", "keys": [1], "fields": []},
        {"action": "entries.hide", "keys": [], "fields": []},
        {"action": "entries.hide", "keys": ["x"], "fields": [["reason"]]},
        {"action": "entries.hide", "keys": ["x"], "fields": [["reason", {}]]},
        {"action": "entries.hide", "keys": ["x"] * 201, "fields": []},
    ],
    ids=repr,
)
def test_what_no_dialog_of_a_table_sends_is_refused(board: Database, sent: Any) -> None:
    assert "vl-bad" in _page(board, MAINTAINER).send("entries.hide", sent)[0]


def test_rows_offer_what_their_state_allows_and_what_destroys_stands_last(board: Database) -> None:
    hidden, shown = small_benchmark.submit(board, range(2), owner="aowner000000")
    page = _page(board, MAINTAINER)
    page.act("entries.hide", [hidden], reason="because")
    table = page.open("Entries", "")
    without = dict(re.findall(r'data-key="(\w+)"[^>]*data-without="([^"]*)"', table))
    assert "entries.hide" in without[hidden] and "entries.restore" not in without[hidden]
    assert "entries.restore" in without[shown] and "entries.hide" not in without[shown]
    rows = RowActions.of(ACTIONS, "t", parameter="entry", areas=["entries"])
    danger = [action.declared.danger for action in rows.actions.values()]
    assert danger == sorted(danger) and {"entries.hide", "entries.merge"} <= set(rows.actions)


def test_tabs_say_how_much_is_open_in_them(board: Database) -> None:
    (entry,) = small_benchmark.submit(board, range(1), owner="aowner000000")
    page = _page(board, MAINTAINER)
    assert page.counts("Tasks") == ["Health", "Approvals", "Disputes", "Verification"]
    labels.request_import(by(board, MAINTAINER), "v3", "/gone.jsonl", "errors")
    with board.write() as session:
        session.execute(insert(Approval).values(submission_id=entry))
        claim = tasks.claim(session, "worker", lease_seconds=60.0)
        assert claim is not None
        tasks.fail(session, claim, words="gone", retry=False)
    assert page.counts("Tasks")[:2] == ["Health 1", "Approvals 1"]


def test_reasons_to_choose_from_are_short_and_belong_to_actions() -> None:
    known = {action.name for action in ACTIONS} | {EVERY_ACTION}
    for name, reasons in reason_templates().items():
        assert name in known and reasons, name
        assert all(len(reason) <= 120 and reason.endswith(".") for reason in reasons), name
    assert reasons_for("entries.verify") != reasons_for("labels.retire") == tuple(reason_templates()[EVERY_ACTION])


def test_the_chain_can_be_checked_against_a_head_that_was_kept(board: Database) -> None:
    small_benchmark.submit(board, range(1), owner="aowner000000")
    page = _page(board, MAINTAINER)
    kept = audit.head(by(board, MAINTAINER))
    assert "so does the given" in page.call("verifying", json.dumps(kept))
    assert "not the one" in page.call("verifying", json.dumps({**kept, "hash": "0" * 64}))
    for text in ("no JSON", "[]", "7"):
        assert "not the head" in page.call("verifying", text)


def test_entries_are_found_by_model_owner_and_id(board: Database) -> None:
    first, second = small_benchmark.submit(board, range(2), owner="aowner000000")
    page = _page(board, MAINTAINER)
    for wanted, ids in (("", {first, second}), ("JUDGE 1", {second}), (first[3:9], {first}), ("%", set())):
        found = page.call("find", wanted)
        assert {one for one in (first, second) if one in found} == ids
    assert "aowner000000" in page.call("find", "owner0000")
    assert "The entry waits to be scored." in page.show("entries-found", second)
    page.act("entries.hide", [second], reason="because")
    assert "The entry is hidden." in page.show("entries-found", second)


def test_an_earlier_preview_is_opened_again(tmp_path: Path) -> None:
    bench = set_up(new_database(f"sqlite:///{tmp_path}/board.db"), tmp_path)
    add_judges(bench, np.zeros((2, len(bench.table))), owners=["o0", "o1"])
    asked = rescoring.request_preview(by(bench.database, MAINTAINER), "demo")
    bench.runner.run_all()
    page = _page(bench.database, MAINTAINER)
    listed = page.open("Tasks")
    assert f'data-key="{asked.task_id}" data-called="rescore.preview demo"' in listed
    assert "2 entries: 0 change" in page.show("tasks", str(asked.task_id))
    assert "vl-bad" in page.show("tasks", "99") and "vl-bad" in page.show("tasks", {"key": 1})


def test_a_failed_task_is_asked_for_again_at_its_row(board: Database) -> None:
    failed = labels.request_import(by(board, MAINTAINER), "v3", "/gone.jsonl", "errors")
    with board.write() as session:
        claim = tasks.claim(session, "worker", lease_seconds=60.0)
        assert claim is not None
        tasks.fail(session, claim, words=HOSTILE, retry=False)
    page = _page(board, MAINTAINER)
    _, _, shown = page.open("Health")
    assert HOSTILE not in shown and "&lt;img" in shown
    assert f'data-key="{failed.task_id}" data-called="labels.import v3"' in shown
    said, _, _, shown = page.act("tasks.retry", [str(failed.task_id)], table="failed-tasks")
    assert "A worker imports revision v3" in said and "&lt;img" not in shown


def test_an_earlier_preview_goes_once_something_else_is_asked_and_stays_where_nothing_happened(tmp_path: Path) -> None:
    bench = set_up(new_database(f"sqlite:///{tmp_path}/board.db"), tmp_path)
    page = _page(bench.database, MAINTAINER)
    said, task, _, _, left, _ = page.act("rescore.preview", ["demo"])
    assert (task is not None, left) == (True, "") and "A worker computes" in said
    said, task, _, _, left, _ = page.act("rescore.apply", ["demo"], reason="because", confirmation="")
    assert "To confirm, type demo." in said and (task, left != "") == (None, True)
    assert "nothing to undo" in page.act("rescore.undo", ["demo"], reason="because", confirmation="demo")[0]
    filters = {"where": "modelqwen", "reason": "because", "confirmation": "demo"}
    assert "Write field=text" in page.act("rescore.apply", ["demo"], **filters)[0], "not everything instead of a part"


def test_the_table_of_revisions_shows_disclosure_and_salt() -> None:
    values = {"items": 3, "commitment": "ab" * 32, "difference": None, "reason": "", "requested_by": "x"}
    times = {"imported_at": 1.0, "published_at": 2.0, "retired_at": 3.0, "registered_at": 1.0}
    retired = RevisionRow("v2", **values, **times, salt="cd" * 32, disclosure="hidden")
    going = retired._replace(retired_at=None, salt=None)
    configured = going._replace(disclosure=None)  # the settings say it
    shown = markup.revisions([going, configured], {})
    assert 'data-name="Disclosure">hidden<' in shown and 'data-name="Kind">imported<' in shown
    assert 'data-name="Disclosure">as configured<' in shown
    shown = markup.revisions([retired], {})
    assert 'data-name="Kind">retired<' in shown and f'title="{"cd" * 32}"' in shown
    assert ">categories<" not in shown, "a set whose salt is known hides nothing any more"


def test_what_there_is_nothing_to_say_about_is_a_dash_that_phones_leave_out() -> None:
    assert '<td role="cell" data-name="Salt" data-nothing>–</td>' in markup.table(
        "T", ("Salt",), rows=[(None,)], nothing=""
    )
    assert "data-nothing" not in markup.table("T", ("Salt",), rows=[("-",)], nothing="")
    assert "<h2>T</h2>" in markup.table("T", ("Salt",), rows=[], nothing=""), (
        "below the page's title, no level is left out"
    )


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
    text = (
        markup.preview(found, 1)
        + markup.table(HOSTILE, (HOSTILE,), rows=[(HOSTILE,)], nothing="")
        + markup.refusal(HOSTILE)
    )
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
    assert "801 → 771 (▲30)" in shown and "At most 200 rows" in shown
    assert 'href="/api/v1/maintenance/rescore/preview/13/csv"' in shown
    few = markup.preview(_previewed(moves[699:702]), 13)
    assert "At most" not in few
    assert re.findall(r'href="/entries/e(\d+)">judge', few) == ["1", "0", "2", "0"], "the one that moves is first"


def test_a_preview_shows_ranges_and_the_labels_that_change_and_escapes_them() -> None:
    found = _previewed([(1, 2), (2, 2), (3, 3)])
    for row, ranges in zip(found["entries"], ([[1, 2], [1, 3]], [[2, 2], None], [None, None]), strict=True):
        row["rank_range"] = ranges
    same = {"category": "general", "tags_before": [], "tags_after": []}
    found["pairs"] = [
        {**same, "pair": HOSTILE, "change": "flipped", "before": "A", "after": "B"},
        {**same, "pair": "a/b", "change": "dropped", "before": "B", "after": ""},
    ]
    shown = markup.preview(found, 1)
    assert "1-2 → 1-3" in shown and ">2 → –<" in shown and HOSTILE not in shown
    assert 'href="/explore/a%2Fb"' in shown and ">inverted<" in shown and ">dropped<" in shown
    assert "compare" not in shown and "compare" in markup.preview(_previewed([(1, 1)]), 1)


def test_the_files_of_a_preview_hold_everything_and_no_formula() -> None:
    found = _previewed([(1, 1), (2, 5), (None, 3)])
    found["entries"][1] |= {"model": "=HYPERLINK(1)", "rank_range": [[1, 4], [2, 6]]}
    found["pairs"] = [
        {
            "pair": "x,1",
            "category": "general",
            "change": "tags",
            "before": "A",
            "after": "A",
            "tags_before": [],
            "tags_after": ["existence", "other"],
        }
    ]
    rows = list(csv.DictReader(io.StringIO(preview_rows.entries_csv(found).decode())))
    assert [row["id"] for row in rows] == ["e2", "e1", "e0"]
    assert (rows[1]["model"], rows[1]["move"]) == ("'=HYPERLINK(1)", "-3")
    assert (rows[1]["rank_best_before"], rows[1]["rank_worst_after"], rows[0]["rank_before"]) == ("1", "6", "")
    (pair,) = csv.DictReader(io.StringIO(preview_rows.pairs_csv(found).decode()))
    assert (pair["pair"], pair["tags_after"]) == ("x,1", "existence other")


def test_what_a_field_was_is_shown_as_text_and_not_as_json(board: Database) -> None:
    (entry,) = small_benchmark.submit(board, range(1), owner="aowner000000")
    page = _page(board, MAINTAINER)
    for field, new in (("parameters_b", "7"), ("notes", 'said "no"')):
        page.act("entries.edit", [entry], **{"changes": field, "changes.value": new})
    shown = page.show("entries-found", entry)
    assert "Parameters, in billions" in shown and "null" not in shown
    for was, became in (("–", "7"), ("–", "said &#34;no&#34;")):
        assert f'data-name="Was" data-nothing>{was}<' in shown and f'data-name="Became">{became}<' in shown


def test_a_source_leads_to_an_http_address_only() -> None:
    result = ReportedResultView(
        "r-x",
        "X",
        source=HOSTILE,
        url="https://a.example/?a=1&b=2",
        figures=dict.fromkeys(VL.score_names),
        check="",
        removed=None,
    )
    shown = markup.reported_results([result, replace(result, url="javascript:alert(1)")])
    assert shown.count('<a href="https://a.example/?a=1&amp;b=2" rel="nofollow noopener">') == shown.count("<a ") == 1
    assert HOSTILE not in shown and "javascript" not in shown


def test_a_name_in_arabic_has_an_order_of_its_own_in_its_row(board: Database) -> None:
    (entry,) = small_benchmark.submit(board, range(1), owner="aowner000000")
    page = _page(board, MAINTAINER)
    page.act("entries.edit", [entry], **{"changes": "model", "changes.value": "نموذج الحكم 7B"})
    _outcome, rows, *_rest = page.act("entries.verify", [entry], reason="x")
    assert f'<a dir="auto" href="/entries/{entry}">نموذج الحكم 7B' in rows


def test_times_are_shown_as_on_the_public_pages(board: Database) -> None:
    (entry,) = small_benchmark.submit(board, range(1), owner="aowner000000")
    page = _page(board, MAINTAINER)
    page.act("entries.verify", [entry], reason="checked by hand")
    page.act("entries.flag", [entry], note="a note")
    shown = page.show("entries-found", entry) + page.call("heading")
    shown += markup.decisions(decisions(board))
    assert len(re.findall(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", shown)) >= 4
    assert not re.search(r"\dT\d", shown)
