"""A file that next to nothing can be read from is refused or has to be confirmed, and says what was read from it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from storage.models.core import Submission
from submissions.submit import render as submit_html
from tests.factories import prediction_files as files
from tests.factories.labels import pairs, table
from tests.factories.services.submission_routes import Served, problem_of, served_from
from tests.factories.suite.programs import run_vlrb
from vlrb.benchmarks.items import ItemTable
from vlrb.common.translations import translations
from vlrb.predictions.parse import build_report, parse_predictions
from vlrb.predictions.readability import CONFIRMED_BELOW, REFUSED_BELOW, WARNED_BELOW

PAIRS = pairs(20)
TABLE = table(20)
LIES = "Overall Judgment: Answer 1 is better."


def report_of(data: bytes, items: ItemTable = TABLE) -> dict[str, Any]:
    """Return the check report of a file that is read as a whole."""
    return build_report(parse_predictions(data, items), items.benchmark)


def readable(share: float, count: int) -> list[list[int]]:
    """Return one vote each, of which a share is for a response."""
    return [[number % 2 if number < round(share * count) else -1] for number in range(count)]


def codes(report: dict[str, Any], name: str) -> list[str]:
    return [one["code"] for one in report[name]]


@pytest.mark.parametrize(
    ("share", "ok", "problems", "warnings"),
    [
        (0.0, False, ["unreadable"], []),
        (REFUSED_BELOW - 0.01, False, ["unreadable"], []),
        (REFUSED_BELOW, True, [], ["mostly-unreadable"]),
        (CONFIRMED_BELOW - 0.01, True, [], ["mostly-unreadable"]),
        (CONFIRMED_BELOW, True, [], ["partly-unreadable"]),
        (WARNED_BELOW - 0.01, True, [], ["partly-unreadable"]),
        (WARNED_BELOW, True, [], []),
        (1.0, True, [], []),
    ],
)
def test_the_share_of_readable_votes_decides(share: float, ok: bool, problems: list[str], warnings: list[str]) -> None:
    report = report_of(files.native_judgements(PAIRS, readable(share, len(PAIRS))))
    assert (report["ok"], codes(report, "problems"), codes(report, "warnings")) == (ok, problems, warnings)
    assert report["parse_rate"] == pytest.approx(share, abs=0.005)
    assert report["problem_count"] == len(problems)


def exchanged(data: bytes) -> bytes:
    """Return a VLMEvalKit table in which two columns are exchanged."""
    records = list(csv.DictReader(io.StringIO(data.decode(), newline=""), delimiter="\t"))
    for record in records:
        record["prediction"], record["question"] = record["question"], record["prediction"]
    return files.tsv(records)


def test_a_table_with_exchanged_columns_is_refused_and_shows_what_it_took_for_replies() -> None:
    report = report_of(exchanged(files.vlmevalkit_tsv(PAIRS, [[0]] * len(PAIRS))))
    (problem,) = report["problems"]
    assert problem["code"] == "unreadable"
    assert " 0 of 140 replies" in problem["message"]
    assert translations("zh-CN").text(problem["message"]).startswith("140 条回复中有 0 条能读出判断。")
    assert "`prediction`" in problem["message"]
    shown = [(one["reply"], one["read"], one["vote"]) for one in report["samples"]]
    assert shown == [(row["query"], "no verdict", None) for row in PAIRS[:3]]


@pytest.mark.parametrize(("name", "make"), [*files.MANY_VOTES.items(), *files.ONE_VOTE.items()])
def test_every_format_shows_one_sample_of_each_kind_with_the_vote_that_it_became(
    name: str, make: tuple[str, files.Writer]
) -> None:
    votes = [[0], [0], [0], [0], [1], [-1], *([[0]] * (len(PAIRS) - 6))]
    samples = report_of(make[1](PAIRS, votes))["samples"]
    assert [one["id"] for one in samples] == [PAIRS[number]["id"] for number in sorted({0, 4, 5})] or len(samples) == 3
    by_id = {row["id"]: held[0] for row, held in zip(PAIRS, votes, strict=True)}
    for one in samples:
        assert one["vote"] == (None if by_id[one["id"]] < 0 else by_id[one["id"]])
        assert one["reply"], name
    assert {one["read"] for one in samples} & {"no verdict", "undecided"}


def test_what_was_read_is_shown_in_the_order_that_the_judge_saw() -> None:
    judged = [{"text": LIES, "swapped": True}]
    (first, *_) = report_of(files.jsonl([{"id": row["id"], "judgements": judged} for row in PAIRS]))["samples"]
    assert (first["reply"], first["read"], first["vote"]) == (LIES, "answer 1 is better", 1)


def test_where_a_file_has_no_replies_a_sample_is_the_value_in_their_place() -> None:
    votes = [[0], [1], [-1], *([[0]] * (len(PAIRS) - 3))]
    told = {
        name: [(one["reply"], one["read"]) for one in report_of(write(PAIRS, votes))["samples"]]
        for name, write in (("votes", files.native_votes), ("scores", files.native_scores), ("jev", files.jev))
    }
    words = ["response 0 is better", "response 1 is better", "undecided"]
    assert told["votes"] == list(zip(["0", "1", "null"], words, strict=True))
    assert told["scores"] == list(zip(["[2.5, -1.0]", "[-3, 0.25]", "[1.25, 1.25]"], words, strict=True))
    assert told["jev"] == list(zip(["0.93", "0.2", "0.5"], words, strict=True))


def test_a_sample_is_short_shows_beginning_and_end_and_nothing_invisible() -> None:
    text = "Begin \u202e\x1b[31m" + "words " * 9_000 + LIES
    judged = [{"text": text, "swapped": False}]
    (first, *_) = report_of(files.jsonl([{"id": row["id"], "judgements": judged} for row in PAIRS]))["samples"]
    assert first["reply"].startswith("Begin \N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}[31mwords")
    assert first["reply"].endswith(LIES)
    assert len(first["reply"]) < 300


@pytest.mark.parametrize(
    ("marker", "told"),
    [
        ("[LMMS_EVAL_REQUEST_FAILED after 5 retries] 500: ", "[LMMS_EVAL_REQUEST_FAILED ...]"),
        ("[LMMS_EVAL_BUDGET_EXCEEDED]", "[LMMS_EVAL_BUDGET_EXCEEDED]"),
    ],
)
def test_a_call_that_failed_under_lmms_eval_is_no_vote_whatever_the_servers_error_says(marker: str, told: str) -> None:
    records = files.lmms_records(PAIRS, [[0]] * len(PAIRS))
    records[3]["filtered_resps"] = f"{marker}{LIES}"
    upload = parse_predictions(files.jsonl(records), TABLE)
    assert [vote for vote in upload.votes.matrix[:, 0] if vote != 0] == [-1]
    warning, _same_votes = upload.warnings
    assert (warning.code, warning.ids) == ("failed-reply", (PAIRS[3]["id"],))
    assert told in warning.message


# --- over REST --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served_from(tmp_path_factory.mktemp("unreadable")) as made:
        yield made


def voted(served: Served, undecided: int, *, salt: str) -> bytes:
    """Return a native file of the served benchmark with so many null votes."""
    items = served.setup.items.items
    lines = [{"id": item.ids["r1"], "votes": [None if n < undecided else 0]} for n, item in enumerate(items)]
    return files.jsonl([{**line, "note": salt} for line in lines])


def test_a_file_that_nobody_can_read_is_refused_with_samples_and_leaves_nothing(served: Served) -> None:
    data = voted(served, 21, salt="none")
    report = served.http.post("/api/v1/check", content=data).json()
    assert (report["ok"], codes(report, "problems"), len(report["samples"])) == (False, ["unreadable"], 3)
    rows = served.rows()
    for form in ({}, {"accept_unreadable": "true"}):
        body = problem_of(served.submit(data, model="None", **form), 422, code="unreadable")
        assert codes(body, "problems") == ["unreadable"]
        assert [one["read"] for one in body["samples"]] == ["undecided"] * 3
    assert (served.rows(), served.spooled()) == (rows, [])


def test_a_file_that_is_mostly_unreadable_is_taken_only_when_that_is_confirmed(served: Served) -> None:
    data = voted(served, 15, salt="most")
    assert served.http.post("/api/v1/check", content=data).json()["ok"] is True
    for form in ({}, {"accept_unreadable": "false"}):
        body = problem_of(served.submit(data, model="Most", **form), 422, code="mostly-unreadable")
        assert len(body["samples"]) == 3
        assert "accept_unreadable=true" in body["detail"]
    problem_of(served.submit(data, model="Most", accept_unreadable="perhaps"), 422, code="metadata-rejected")
    taken = served.submit(data, model="Most", accept_unreadable="true")
    assert taken.status_code == 202
    again = served.submit(data, model="Most")
    assert (again.status_code, again.json()["id"]) == (202, taken.json()["id"])


def test_replies_are_not_kept_with_a_submission(served: Served) -> None:
    taken = served.submit(voted(served, 0, salt="kept"), model="Kept").json()
    with served.database.read() as session:
        report = session.get_one(Submission, taken["id"]).report
    assert "samples" not in report
    assert report["parse_rate"] == 1.0


# --- on the page ------------------------------------------------------------------------------------------------------


def test_the_page_shows_samples_as_text_and_the_reason_in_words() -> None:
    sample = {"id": "<i>", "reply": "<script>alert(1)</script>", "read": "no verdict", "vote": None}
    problem = {"line": None, "id": None, "field": None, "code": "unreadable", "message": "Not <one> in `prediction`."}
    shown = submit_html.report_html(
        {"ok": False, "format": "native", "problems": [problem], "problem_count": 1, "samples": [sample]}
    )
    assert "file cannot be submitted" in shown
    assert "Not &lt;one&gt; in <code>prediction</code>." in shown
    assert "<script>" not in shown
    assert "<i>" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown


def test_the_page_asks_for_confirmation_where_most_votes_cannot_be_read() -> None:
    report = report_of(files.native_votes(PAIRS, readable(0.2, len(PAIRS))))
    asked = " ".join(submit_html.report_html(report).split())
    assert "Needs your confirmation: 140 pairs" in asked
    ready = submit_html.report_html(report_of(files.native_votes(PAIRS, [[n % 2] for n in range(len(PAIRS))])))
    assert "Ready to submit: 140 pairs" in " ".join(ready.split())


def test_offline_scoring_still_scores_a_file_that_abstains_and_warns(tmp_path: Path) -> None:
    (tmp_path / "items.json").write_text(json.dumps(TABLE.to_json()))
    (tmp_path / "labels.jsonl").write_bytes(files.jsonl([{"id": row["id"], "human_ranking": [0, 1]} for row in PAIRS]))
    (tmp_path / "votes.jsonl").write_bytes(files.native_votes(PAIRS, [[-1]] * len(PAIRS)))
    done = run_vlrb(
        "score", "votes.jsonl", "--labels", "labels.jsonl", "--items", "items.json", "--json", folder=tmp_path
    )
    assert (done.returncode, json.loads(done.stdout)["protocols"]["strict"]["overall"]) == (0, 0.0)
    assert "100.0% of the votes are undecided" in done.stderr
