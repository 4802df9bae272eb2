"""Input at the three interfaces - command line, REST, page - is judged alike: heads, numbers and
searches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from maintenance.actions import entries
from maintenance.cli import CliResult
from maintenance.command_line import run
from maintenance.types import Conflict, whole_number
from storage.database import LARGEST, Database
from tests.databases import submitted
from tests.factories.accounts import LOCAL, MAINTAINER
from tests.factories.actions import by, run_command
from tests.factories.maintain_page import MaintainVisitor
from tests.factories.refusals import refuses
from tests.maintenance.test_api import _ApiSite

HASH = "0" * 64
NO_HEADS = (
    '{"seq": 1}', '{"seq": 9999999}', '{"seq": 1, "hash": null}', '{"seq": 1, "hash": 0}', '{"seq": 1, "hash": ""}',
    json.dumps({"seq": 1, "hash": "0" * 63}), json.dumps({"seq": 1, "hash": HASH + "\n"}),
    json.dumps({"seq": 1, "hash": "g" * 64}), json.dumps({"hash": HASH}), json.dumps({"seq": None, "hash": HASH}),
    json.dumps({"seq": True, "hash": HASH}), json.dumps({"seq": 1.0, "hash": HASH}),
    json.dumps({"seq": "1", "hash": HASH}), json.dumps({"seq": -1, "hash": HASH}),
    json.dumps({"seq": LARGEST + 1, "hash": HASH}), json.dumps({"seq": 10**30, "hash": HASH}),
    "[1]", "null", "7", "", "{", "[" * 100_000,
)  # fmt: skip
BEYOND = json.dumps({"seq": 999_999, "hash": HASH})
TOO_LARGE = (str(LARGEST + 1), "9" * 40, "9" * 5000)


@pytest.fixture
def board(database: Database) -> Database:
    for entry in submitted(database, 2):
        entries.flag(by(database, MAINTAINER), entry, "a note")
    return database


def _command(database: Database, *arguments: str, benchmark: str = "demo") -> CliResult:
    return run_command(by(database, LOCAL, benchmark=benchmark), *arguments)


def test_what_is_no_head_is_no_check_that_holds(board: Database, tmp_path: Path) -> None:
    file = tmp_path / "head.json"
    for text in NO_HEADS:
        file.write_text(text)
        with refuses(Conflict, "no-head") as refused:
            _command(board, "audit", "verify", "--head", str(file))
        assert refused.value.code == "no-head"


def test_a_file_that_is_no_text_is_no_head(board: Database, tmp_path: Path) -> None:
    (tmp_path / "head").write_bytes(b"\xff\xfe\x00")
    with refuses(Conflict, "no-head"):
        _command(board, "audit", "verify", "--head", str(tmp_path / "head"))


def test_a_head_beyond_the_end_of_the_chain_does_not_hold(board: Database, tmp_path: Path) -> None:
    (tmp_path / "head.json").write_text(BEYOND)
    assert not _command(board, "audit", "verify", "--head", str(tmp_path / "head.json")).ok


@pytest.mark.parametrize("typed", [*TOO_LARGE, "-1", "1.5", "", "x", "\u0661", "\u00b2"], ids=lambda typed: typed[:20])
def test_a_number_that_nothing_can_have_is_refused_on_the_command_line(board: Database, typed: str) -> None:
    with pytest.raises(Conflict):
        whole_number(typed)
    for command in (
        ("tasks", "show", typed),
        ("jobs", "retry", typed),
        ("rescore", "show", typed),
        ("quota", "revoke", typed, "--reason", "x"),
        ("disputes", "accept", typed, "--note", "x"),
        ("disputes", "draft", "d1", "--base", "v1", "--dispute", typed, "--reason", "x"),
        ("verification", "annotators", typed, "local"),
        ("verification", "close", typed, "d1", "--reason", "x"),
    ):
        with pytest.raises(SystemExit) as ended:
            _command(board, *command)
        assert ended.value.code == 2, command


def test_an_unknown_option_leads_to_the_help_of_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run(["rescore", "undo", "v3", "--reason", "x", "--nope"])
    assert "maintenance rescore undo --help" in capsys.readouterr().err


def test_and_on_the_page(board: Database) -> None:
    page = MaintainVisitor(by(board, MAINTAINER))
    for typed in TOO_LARGE:
        for action in ("verification.close", "verification.annotators", "disputes.accept", "quota.revoke"):
            assert "by its number" in page.act(action, [typed], reason="because"), action
        draft = {"revision": "d1", "base": "v1", "reason": "x", "disputes": typed}
        assert "by its number" in page.act("disputes.draft", **draft)
        assert "by its number" in page.show("tasks", "tasks.show", typed)
    for extra in ("1e999", "99999999999", "-1", "x"):
        assert "Grant from 1" in page.act("quota.grant", ["local"], extra=extra, reason="because"), extra


def test_the_largest_number_is_one(board: Database) -> None:
    assert whole_number(f" {LARGEST} ") == LARGEST
    with pytest.raises(LookupError, match="no task"):
        _command(board, "tasks", "show", str(LARGEST))


def test_a_search_for_what_no_text_can_hold_is_refused(board: Database) -> None:
    page = MaintainVisitor(by(board, MAINTAINER))
    for text in ("\x00", "a\x00b", "\ud800"):
        for words in (("entries", "list"), ("accounts", "list")):
            with pytest.raises(ValueError, match="cannot be kept"):
                _command(board, *words, "--search", text)
        if text.isascii():  # an address cannot hold half a character
            assert "cannot be kept" in page.look("entries", search=text)
            assert "cannot be kept" in page.look("accounts", search=text)


def test_over_rest_too_and_in_every_address(board: Database) -> None:
    site = _ApiSite(board)
    for method, path, body in (
        ("GET", "/api/v1/maintenance/entries?search=%00", None),
        ("GET", "/api/v1/maintenance/accounts?search=a%00b", None),
        ("POST", "/api/v1/entries/%00/hide", {"reason": "x"}),
        ("PUT", "/api/v1/maintenance/bans/%00", {"reason": "x"}),
    ):
        answer = site.ask(MAINTAINER, method, path=path, body=body)
        assert (answer.status_code, answer.json()["code"]) == (422, "bad-text"), path
