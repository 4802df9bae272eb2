"""The maintain page: forms of the registered actions without script, and views whose every text is escaped."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auth import Identity
from maintenance import previews
from maintenance.actions import entries, labels, reported
from maintenance.actions.reported import ReportedResultView
from maintenance.view import Row, Table, TableCell, View, terminal
from storage.database import Database
from storage.jobs import leases, tasks
from submissions.metadata import parse_metadata
from tests.databases import new_database, with_labels
from tests.factories import small_benchmark
from tests.factories.accounts import MAINTAINER, STRANGER
from tests.factories.actions import by
from tests.factories.maintain_page import MaintainVisitor
from tests.factories.review_setup import add_judges, set_up
from tests.factories.specs import VL
from web.actions import ACTIONS

HOSTILE = '<img src=x onerror=alert(1)>"'


@pytest.fixture
def board(database: Database) -> Database:
    with_labels(database)
    return database


def _page(database: Database, user: Identity = MAINTAINER, **more: Any) -> MaintainVisitor:
    return MaintainVisitor(by(database, user, parse=parse_metadata), **more)


def test_nobody_but_maintainers_sees_a_section_or_sends_a_form(board: Database) -> None:
    (entry,) = small_benchmark.submit(board, range(1), owner="aowner000000")
    page = _page(board, STRANGER)
    for answer in (page.look("health"), page.form("entries.hide", entry), page.send("entries.hide", [entry])):
        assert "not-allowed" in answer
    assert entries.look(by(board, MAINTAINER), entry)[0].gone is None


def test_decisions_are_made_on_the_page_and_shown_as_text(board: Database) -> None:
    (entry,) = small_benchmark.submit(board, range(1), owner="aowner000000")
    page = _page(board)
    assert "carries the note" in page.act("entries.flag", [entry], note=HOSTILE)
    assert "Changed: organisation." in page.act("entries.edit", [entry], changes=f"organisation={HOSTILE}")
    shown = page.show("entries", "entries.show", entry)
    assert HOSTILE not in shown and shown.count("&lt;img") == 3  # the note, the field, its change


def test_one_decision_is_made_about_several_rows_and_one_that_cannot_be_keeps_no_other(board: Database) -> None:
    first, second = small_benchmark.submit(board, range(2), owner="aowner000000")
    page = _page(board)
    said = page.act("entries.hide", [first, "e00000000000", second], reason="under review")
    assert said.count("is hidden") == 2 and said.count("no entry") == 1
    assert all(entries.look(by(board, MAINTAINER), one)[0].gone for one in (first, second))


def test_a_form_names_its_rows_and_keeps_what_was_typed_where_it_is_refused(board: Database) -> None:
    (entry,) = small_benchmark.submit(board, range(1), owner="aowner000000")
    page = _page(board)
    form = page.form("entries.hide", entry)
    assert f'<li dir="auto">judge 0 ({entry})</li>' in form and "off every public page" in form
    refused = page.send("rescore.apply", ["demo"], reason="kept", confirmation="v9")
    assert "To confirm, type demo." in refused and 'value="kept"' in refused


@pytest.mark.parametrize(
    ("action", "keys"), [("entries.nothing", ["x"]), ("entries.list", ["x"]), ("entries.hide", ["x"] * 201)]
)
def test_what_is_no_action_of_the_page_is_refused(board: Database, action: str, keys: list[str]) -> None:
    assert "Choose an action of the page" in _page(board).send(action, keys, reason="x")


def test_rows_offer_what_their_state_allows_and_what_destroys_stands_last(board: Database) -> None:
    hidden, shown = small_benchmark.submit(board, range(2), owner="aowner000000")
    page = _page(board)
    page.act("entries.hide", [hidden], reason="because")
    listed = page.look("entries")
    offered = {key: re.findall(rf"do=([\w.]+)&amp;on={key}", listed) for key in (hidden, shown)}
    assert "entries.hide" not in offered[hidden] and "entries.restore" in offered[hidden]
    assert "entries.restore" not in offered[shown] and "entries.hide" in offered[shown]
    danger = [ACTIONS[name].declared.danger for name in offered[shown]]
    assert danger == sorted(danger)


def test_sections_say_how_much_is_open_in_them(board: Database) -> None:
    small_benchmark.submit(board, range(1), owner="aowner000000", approval="waiting")
    page = _page(board)
    assert ">Health<" in page.look("tasks")
    labels.request_import(by(board, MAINTAINER), "v3", "/gone.jsonl", "errors")
    with board.write() as session:
        claim = tasks.claim(session, "worker", lease_seconds=60.0)
        assert claim is not None
        leases.fail(session, claim, outcome=HOSTILE, retry=False)
    listed = page.look("tasks")
    assert ">Health 1<" in listed and ">Approvals 1<" in listed
    failed = page.look("health")
    assert HOSTILE not in failed and "&lt;img" in failed


def test_what_is_about_no_row_has_a_form_in_its_section(board: Database) -> None:
    health = _page(board).look("health")
    for button in ("Retry failed jobs", "Pause submissions", "Resume"):
        assert f"<summary>{button}</summary>" in health, button
    assert "<summary>Import as a draft</summary>" in _page(board).look("labels")


def test_reported_results_are_checked_and_imported_from_a_file(board: Database) -> None:
    page, file = _page(board), b"name,url,overall\nA judge,https://a.example/paper,61.2\n"
    assert "1 row can be imported." in page.act("reported.import", upload=file, dry_run="on")
    assert "1 row imported." in page.act("reported.import", upload=file, reason="a survey")
    assert "r-a-judge-" in page.look("reported")
    assert "not UTF-8" in page.act("reported.import", upload=b"name\xff", reason="a survey")


def test_a_preview_is_followed_and_opened_again(tmp_path: Path) -> None:
    bench = set_up(new_database(f"sqlite:///{tmp_path}/board.db"), tmp_path)
    add_judges(bench, np.zeros((2, len(bench.table))), owners=["o0", "o1"])
    page = _page(bench.database)
    waits = page.send("rescore.preview", ["demo"])
    assert 'http-equiv="refresh"' in waits and "waits for a worker" in waits
    bench.runner.run_all()
    with bench.database.read() as session:
        number = tasks.latest(session, 1)[0].id
    shown = page.show("tasks", "tasks.show", f"{number}")
    assert "2 entries: 0 change" in shown and "refresh" not in shown
    assert f'href="/api/v1/maintenance/rescore/preview/{number}/csv"' in shown
    assert "There is no task 99" in page.show("tasks", "tasks.show", "99")


def test_a_source_leads_to_an_http_address_only(board: Database) -> None:
    result = ReportedResultView(
        "r-x",
        "X",
        source=HOSTILE,
        url="javascript:alert(1)",
        figures=dict.fromkeys(VL.score_names),
        check="",
        removed=None,
    )
    linked = reported.results.view([result, replace(result, url="https://a.example/?a=1")])
    sources = [cell for row in linked.tables[0].rows for cell in row.cells if cell.text == HOSTILE]
    assert [cell.link for cell in sources] == ["", "https://a.example/?a=1"]


def test_a_terminal_shows_a_view_as_aligned_lines_that_command_nothing() -> None:
    cells = (TableCell("abc…", whole="abcdef"), TableCell("x", link="https://a.example"), None, "a\x1b[2Jb")
    table = Table("T", ("Key", "Source", "No", "Text"), [Row(cells)])
    shown = terminal(View(["done"], alarms=["wrong"], facts=[("Jobs", "none")], tables=[table]))
    assert shown.split("\n") == [
        "done",
        "ALARM: wrong",
        "Jobs: none",
        "Key     Source               No  Text",
        "abcdef  x https://a.example  –   a [2Jb",
    ]
    assert terminal(View(tables=[Table("T", ("Key",), [], "Nothing.")])) == "Nothing."


def _previewed(moves: list[tuple[int | None, int | None]]) -> dict[str, Any]:
    rows = [
        {"id": f"e{number}", "model": f"judge-{number}.", "version": "", "rank": list(ranks), "macro": [0.5, 0.4999]}
        for number, ranks in enumerate(moves)
    ]
    summary = {"changed": 0, "moved": 2, "largest_change": 0.0}
    return {
        "from": {"label_revision": "v1"},
        "to": {"label_revision": "v2"},
        "labels": {"flipped": 1, "added": 0, "dropped": 0, "tags_changed": None},
        "columns": ["macro"],
        "summary": {**summary, "entries": len(rows)},
        "entries": rows,
    }


def test_of_a_preview_of_very_many_those_that_move_furthest_are_shown_and_where_the_rest_is() -> None:
    moves: list[tuple[int | None, int | None]] = [(place, place) for place in range(1, 1001)]
    moves[700], moves[800], moves[900] = (701, 721), (801, 771), (None, 901)
    shown = previews.shown(_previewed(moves))
    assert [row.cells[1].text for row in shown.tables[0].rows[:5]] == ["e900", "e800", "e700", "e0", "e1"]
    assert len(shown.tables[0].rows) == 200 and any("At most 200 rows" in line for line in shown.lines)
    assert "801 → 771 (▲30)" in terminal(shown) and "50.0 → 50.0 (−0.01)" in terminal(shown)
    assert "At most" not in terminal(previews.shown(_previewed(moves[699:702])))


def test_a_preview_shows_ranges_and_the_labels_that_change() -> None:
    found = _previewed([(1, 2), (2, 2), (3, 3)])
    for row, ranges in zip(found["entries"], ([[1, 2], [1, 3]], [[2, 2], None], [None, None]), strict=True):
        row["rank_range"] = ranges
    pair = {"category": "general", "tags_before": [], "tags_after": [], "pair": "a/b"}
    found["pairs"] = [{**pair, "change": "flipped", "before": "A", "after": "B"}]
    shown = terminal(previews.shown(found))
    assert "1-2 → 1-3" in shown and "2 → –" in shown and "inverted" in shown
    assert previews.shown(found).tables[1].rows[0].cells[0].link == "/explore/a%2Fb"
    assert "not shown" not in shown and "not shown" in terminal(previews.shown(_previewed([(1, 1)])))


def test_the_files_of_a_preview_hold_everything_and_no_formula() -> None:
    found = _previewed([(1, 1), (2, 5), (None, 3)])
    found["entries"][1] |= {"model": "=HYPERLINK(1)", "rank_range": [[1, 4], [2, 6]]}
    pair = {"pair": "x,1", "category": "general", "change": "tags", "before": "A", "after": "A"}
    found["pairs"] = [{**pair, "tags_before": [], "tags_after": ["existence", "other"]}]
    rows = list(csv.DictReader(io.StringIO(previews.entries_csv(found).decode())))
    assert [row["id"] for row in rows] == ["e2", "e1", "e0"]
    assert (rows[1]["model"], rows[1]["move"]) == ("'=HYPERLINK(1)", "-3")
    assert (rows[1]["rank_best_before"], rows[1]["rank_worst_after"], rows[0]["rank_before"]) == ("1", "6", "")
    (row,) = csv.DictReader(io.StringIO(previews.pairs_csv(found).decode()))
    assert (row["pair"], row["tags_after"]) == ("x,1", "existence other")
