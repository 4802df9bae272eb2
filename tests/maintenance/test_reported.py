"""Results published elsewhere: all rows of a file or none, every problem named, on the board beside those shipped."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from common.refused import FieldProblem
from leaderboard.explore.item_catalog import ItemCatalog
from leaderboard.ranking.reported_results import bundled_results, load_published, merge_imported
from leaderboard.ranking.rows import build_board
from leaderboard.site.cache import BoardCache
from leaderboard.site.queries import DatabaseSnapshots
from leaderboard.site.render_context import RenderContext
from maintenance.actions import reported
from maintenance.decision_log import PublicLog
from maintenance.reported_file import ReportedFileRejected, arithmetic, fields, read, read_row
from maintenance.types import Conflict, NotFound
from storage import reported_results as stored
from storage.database import Database
from storage.integrity import audit
from storage.models.moderation import ReportedResult
from tests.factories import small_benchmark
from tests.factories.accounts import MAINTAINER
from tests.factories.actions import PUBLIC_EVENTS, by, decisions
from tests.factories.board_app import board_app
from tests.factories.refusals import refuses
from tests.factories.snapshots import snapshot
from tests.factories.specs import VL, spec_of, verdict
from vlrb.benchmarks.spec_file import load_spec
from workers.jobs.snapshot import publish_if_changed
from workers.startup import prepare

ROW = {
    "name": "Judge-7B",
    "url": "https://arxiv.org/abs/2501.00001",
    "general": 50.0,
    "hallucination": 60.0,
    "reasoning": 55.0,
    "overall": 57.3,
    "macro": 55.0,
}
OTHER = {**ROW, "name": "Judge-72B", "macro": 71.5, "general": 99.5}  # the mean of its categories is 71.5


def _csv(*rows: dict[str, Any]) -> bytes:
    names = list(dict.fromkeys(name for row in rows for name in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, names)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def _import(database: Database, *rows: dict[str, Any], **more: Any) -> reported.ImportResult:
    ctx = by(database, MAINTAINER, shipped=more.pop("shipped", ()))
    return reported.import_file(ctx, _csv(*rows).decode(), reason="a survey", **more)


def _problems(data: bytes) -> list[tuple[int | None, str | None, str]]:
    try:
        problems = read(data, VL)[1]
    except ReportedFileRejected as rejected:
        problems = list(rejected.problems)
    assert all(one.message for one in problems)
    return [(one.line, one.field, one.code) for one in problems]


@pytest.mark.parametrize(("stated", "kept"), [("true", True), ("no", False), ("", None)])
def test_that_a_judge_was_given_the_answer_is_kept_and_its_row_leads_nothing(
    database: Database, stated: str, kept: bool | None
) -> None:
    _import(database, {**ROW, "oracle": stated}, {**ROW, "name": "Judge-72B", "macro": 40.0})
    with database.read() as session:
        rows = {"reported": stored.list_active(session, "demo")}
    assert {row["name"]: row["oracle"] for row in rows["reported"]} == {"Judge-7B": kept, "Judge-72B": None}
    board = build_board(snapshot([]), VL, published=merge_imported((), rows, spec=VL))
    assert [row.model for row in board.rows][-1 if kept else 0] == "Judge-7B"
    assert {row.model: row.leads for row in board.rows} == {"Judge-7B": not kept, "Judge-72B": True}


def test_every_problem_is_named_with_its_line_and_field() -> None:
    assert _problems(
        _csv(
            ROW,
            {**ROW, "name": "", "url": "javascript:alert(1)"},
            {**ROW, "general": "sixty", "macro": 101, "date": "last May"},
            {"name": "A", "url": "https://a.example", "general": 50},
            {"name": "B", "url": "https://a.example", "overall": 0.638, "macro": "0.55"},
            {**ROW, "judge_type": "oracle", "colour": "red"},
            {**ROW, "macro": "55,0"},
        )
    ) == [
        (3, "url", "bad-value"),
        (3, "name", "missing"),
        (4, "general", "bad-value"),
        (4, "macro", "bad-value"),
        (4, "date", "bad-value"),
        (5, "macro", "missing"),
        (6, "macro", "not-percent"),
        (7, "judge_type", "bad-value"),
        (7, "colour", "unknown-field"),
        (8, "macro", "bad-value"),
    ]


def test_a_line_of_another_length_and_repeated_rows_hide_no_other_fault(database: Database) -> None:
    lines = _csv(ROW, {**OTHER, "macro": "many"}, ROW).decode().splitlines()
    lines.insert(2, "one,field,too,few")
    with pytest.raises(ReportedFileRejected) as rejected:
        reported.import_file(by(database, MAINTAINER), "\n".join(lines), reason="a survey")
    found = [(one.line, one.field, one.code) for one in rejected.value.problems]
    assert found == [(3, None, "bad-record"), (4, "macro", "bad-value"), (5, "name", "repeated")]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe\x00",
        b"name,url,macro\na,b\n",
        b'name,url,macro\n"a',
        b"x" * 2_000_001,
        b"name,url,macro\n" + b"a,https://a.example,50\n" * 2_001,
    ],
)
def test_a_file_that_is_none_is_refused_in_words(data: bytes) -> None:
    assert _problems(data)


def test_percent_signs_and_semicolons_are_understood() -> None:
    ((one,), _) = read(_csv(ROW), VL)
    head = ";".join(ROW).replace("name", "model")
    line = ";".join(f"{value}%" if isinstance(value, float) else value for value in ROW.values())
    assert read(f"\ufeff{head}\r\n{line}\r\n".encode(), VL)[0][0].facts == one.facts
    assert (one.facts["source"], set(one.facts)) == ("arXiv:2501.00001", {"id", *fields(VL)})


def test_an_import_names_a_figure_that_no_count_gives() -> None:
    spec = load_spec("mm-rlhf-rewardbench")
    said = {value: arithmetic({"acc-plus": value}, spec) for value in (26.01, 26.09)}
    assert "ACC+ 26.01" in said[26.01]
    assert said[26.09] == "too little to check"


def test_the_arithmetic_check_stands_at_every_row(database: Database) -> None:
    found = _import(database, ROW, OTHER, {**ROW, "name": "C", "macro": 60.0}, dry_run=True)
    figures = [{name: one.figures[name] for name in one.figures} for one in found.new]
    expected = [verdict(**one).remark or "adds up" for one in figures]
    assert [one.check for one in found.new] == expected
    assert expected[2] == "macro average does not match"


def test_an_import_is_all_or_nothing_and_a_dry_run_is_nothing(database: Database) -> None:
    with pytest.raises(ReportedFileRejected):
        _import(database, ROW, {**OTHER, "url": ""})
    assert len(_import(database, ROW, OTHER, dry_run=True).new) == 2
    with refuses(Conflict, "reason-needed"):
        reported.import_file(by(database, MAINTAINER), _csv(ROW).decode(), reason=" ")
    assert reported.results(by(database, MAINTAINER)) == []
    done = _import(database, ROW, OTHER)
    assert (done.changed, len(done.new), done.seq is not None) == (True, 2, True)
    again = _import(database, ROW, OTHER)
    assert (again.changed, len(again.known)) == (False, 2)
    with database.read() as session:
        assert session.execute(select(func.count()).select_from(ReportedResult)).scalar_one() == 2
        assert audit.verify(session) is None
    newest = decisions(database)[0]
    assert newest["kind"] == "reported.imported" and newest["sentence"].endswith("imported (2): a survey")


def test_what_is_there_already_is_not_repeated_and_what_contradicts_it_is_refused(database: Database) -> None:
    shipped = bundled_results(VL)
    copied = {**shipped[0], "id": None, "url": "https://elsewhere.example/table", "place": "Table 9"}
    assert not _import(database, copied, shipped=shipped).changed  # another paper repeats it
    with refuses(ReportedFileRejected, "contradicts"):
        _import(database, {**shipped[0], "macro": 99.0}, shipped=shipped)
    with refuses(ReportedFileRejected, "repeated"):
        _import(database, ROW, {**ROW, "macro": 54.0})
    assert len(_import(database, ROW, {**ROW, "macro": 54.0, "place": "Table 2"}).new) == 2


def test_a_result_is_corrected_removed_and_brought_back_with_a_reason(database: Database) -> None:
    name = _import(database, ROW).new[0].id
    told = (by(database, MAINTAINER), name)
    assert reported.edit(*told, {"macro": "54.9", "organisation": "A lab"}, "a slip").changed
    assert not reported.edit(*told, {"macro": 54.9}, "a slip").changed
    with refuses(ReportedFileRejected, "bad-value"):
        reported.edit(*told, {"macro": "many"}, "a slip")
    with refuses(Conflict, "unknown-field"):
        reported.edit(*told, {"id": "r-x"}, "a slip")
    assert reported.remove(*told, "retracted").changed
    assert not reported.remove(*told, "retracted").changed
    (kept,) = reported.results(by(database, MAINTAINER))
    assert (kept.removed, kept.figures["macro"]) == ("retracted", 54.9)
    with refuses(ReportedFileRejected, "removed"):
        _import(database, ROW)
    assert reported.undo(*told, "it stands").changed
    with pytest.raises(NotFound):
        reported.remove(by(database, MAINTAINER), "r-none", "no")
    newest = decisions(database)[:3]
    assert [(one["kind"], *map(one.get, ("name", "fields", "reason"))) for one in newest] == [
        ("reported.undone", "Judge-7B", ["removed"], "it stands"),
        ("reported.removed", "Judge-7B", ["removed"], "retracted"),
        ("reported.edited", "Judge-7B", ["macro", "organisation"], "a slip"),
    ]


def test_a_row_that_ships_later_with_the_same_numbers_is_shown_once() -> None:
    shipped = load_published(VL)
    ((twin,), _) = read(_csv({name: value for name, value in bundled_results(VL)[0].items() if name != "id"}), VL)
    ((fresh,), _) = read(_csv(ROW), VL)
    both = merge_imported(shipped, {"reported": [twin.facts, fresh.facts]}, spec=VL)
    assert [one.id for one in both] == [*(one.id for one in shipped), fresh.facts["id"]]
    assert merge_imported(shipped, {}, spec=VL) == shipped


def _visitor(database: Database) -> TestClient:
    snapshots = DatabaseSnapshots(database, spec_of("demo"))
    cache = BoardCache(snapshots, context=RenderContext(spec_of("demo")), check_every=0)
    catalog = ItemCatalog(None, None, relations_body=snapshots.relations)
    return TestClient(board_app(cache, catalog, log=PublicLog(database, PUBLIC_EVENTS)))


def test_imported_results_are_wherever_reported_ones_are_and_old_boards_stay(database: Database) -> None:
    scorer = small_benchmark.scorer()
    prepare(database, scorer, label_revision="demo")
    before = publish_if_changed(database, scorer)
    name = _import(database, {**ROW, "name": "<b>Judge</b>"}).new[0].id
    now = publish_if_changed(database, scorer)
    assert before is not None
    assert now is not None
    client = _visitor(database)

    def listed(**query: str) -> dict[str, Any]:
        rows = client.get("/api/v1/leaderboard", params=query).json()["entries"]
        return {row["id"]: row for row in rows if row["tier"] == "reported"}

    assert set(listed()) - set(listed(as_of=before)) == {name}
    assert (listed()[name]["macro"], listed()[name]["rank"]) == (0.55, None)
    for path in ("/", f"/entries/{name}", "/export/board.csv", "/export/board.md"):
        reply = client.get(path, params={"tier": "reported", "q": "Judge"} if path != f"/entries/{name}" else {})
        assert reply.status_code == 200, path
        assert "Judge" in reply.text, path
        assert "<b>Judge</b>" not in reply.text or path.endswith(".csv"), path
    told = (by(database, MAINTAINER), name)
    reported.edit(*told, {"macro": "54.9", "notes": "<i>a slip</i>", "organisation": ""}, "a typing error")
    corrected = client.get(f"/decisions/{decisions(database)[0]['seq']}").text
    link = f'<a href="/entries/{name}">&lt;b&gt;Judge&lt;/b&gt;</a>'
    assert link in corrected and "macro: <b>55.0</b> → <b>54.9</b>" in corrected
    assert "notes: nothing → <b>&lt;i&gt;a slip&lt;/i&gt;</b>" in corrected
    reported.remove(*told, "retracted by <i>its authors</i>")
    publish_if_changed(database, scorer)
    assert name not in listed()
    assert name in listed(as_of=now)
    assert client.get(f"/entries/{name}", params={"as_of": now}).status_code == 200
    gone = client.get(f"/entries/{name}")
    assert gone.status_code == 410
    for text in ("&lt;b&gt;Judge", "This reported result was removed on", "by &lt;i&gt;its authors&lt;/i&gt;"):
        assert text in gone.text
    for page in ("/decisions", f"/decisions/{decisions(database)[0]['seq']}"):
        assert link in client.get(page).text
    answer = client.get(f"/api/v1/entries/{name}")
    assert (answer.status_code, answer.json()["code"]) == (410, "removed")
    reported.undo(*told, "it stands")
    publish_if_changed(database, scorer)
    assert client.get(f"/entries/{name}").status_code == 200


def test_a_shipped_result_is_corrected_annotated_and_hidden_until_that_is_taken_back(database: Database) -> None:
    spec, scorer = spec_of("demo"), small_benchmark.scorer()
    prepare(database, scorer, label_revision="demo")
    shipped, first = load_published(spec), publish_if_changed(database, scorer)
    told = (by(database, MAINTAINER, shipped=bundled_results(spec)), shipped[0].id)
    client = _visitor(database)

    def shown(path: str = "/api/v1/leaderboard", **query: Any) -> Any:
        publish_if_changed(database, scorer)
        rows = client.get(path, params=query).json()["entries"]
        return next((row for row in rows if row["id"] == shipped[0].id), None)

    before = shown()
    for half in ("annotation", "annotation_url"):
        with refuses(ReportedFileRejected, "missing"):
            reported.edit(*told, {half: "https://a.example/note"}, "half a note")
    assert reported.edit(*told, {"annotation": "<i>No</i> code", "annotation_url": "https://a.example/x"}, "n").changed
    assert reported.edit(*told, {"overall": 30}, "a slip in the table").changed
    now = shown()
    assert (now["overall"], now["annotation"], now["macro"]) == (0.3, "<i>No</i> code", before["macro"])
    for path in (f"/?tier=reported&q={shipped[0].name}", "/reported", f"/entries/{shipped[0].id}"):
        page = client.get(path).text
        assert "&lt;i&gt;No&lt;/i&gt; code" in page and 'href="https://a.example/x"' in page, path
    with database.read() as session:  # a later version of the definition still corrects what nobody changed
        assert stored.listed(session, "demo")[0].keys() - {"annotation", "annotation_url"} == {
            "id",
            "name",
            "overall",
        }
    assert reported.remove(*told, "withdrawn by its authors").changed
    assert shown() is None and shown(as_of=first) == before
    assert client.get(f"/entries/{shipped[0].id}").status_code == 410
    newest = decisions(database)[0]
    assert (newest["before"], newest["after"]) == (
        {"removed": None},
        {"removed": "withdrawn by its authors"},
    )
    for fields_of_it in (["removed"], ["overall"], ["annotation", "annotation_url"]):
        assert reported.undo(*told, "look again").changed
        assert decisions(database)[0]["fields"] == fields_of_it
    assert not reported.undo(*told, "look again").changed
    assert shown() == before


def _row(**facts: Any) -> tuple[Any, list[FieldProblem]]:
    return read_row(1, {"name": "Judge", "url": "https://arxiv.org/abs/2501.00001", **facts}, spec=VL)


def test_an_imported_result_names_its_judge_and_who_reported_it(database: Database) -> None:
    told = {"model": "Judge X rerun", "judge_name": "Judge X", "url": "https://arxiv.org/abs/2501.00001", "macro": 55.0,
             "judge_type": "policy-as-judge", "reported_by": "Authors"}  # fmt: skip
    (row,) = _import(database, told).new
    with database.read() as session:
        (one,) = merge_imported((), {"reported": stored.list_active(session, "demo")}, spec=VL)
    assert (one.judge, one.judge_name, one.reported_by, one.judge_type) == (
        "judge-x", "Judge X", "authors", "policy-as-judge")  # fmt: skip
    reported.edit(by(database, MAINTAINER), row.id, {"judge_name": "Judge Y"}, "a slip")
    with database.read() as session:
        assert stored.list_active(session, "demo")[0]["judge_name"] == "Judge Y"
    assert _row(overall=60, reported_by="me")[1][0].message.startswith("Choose one of authors, benchmark, others")
