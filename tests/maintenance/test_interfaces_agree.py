"""Input at the three interfaces - command line, REST, page - is judged alike: heads, numbers and
searches."""

from __future__ import annotations

import json

import pytest

from maintenance.actions import audit, entries
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
    '{"seq": 1}', '{"seq": 1, "hash": null}', json.dumps({"seq": 1, "hash": HASH + "\n"}),
    json.dumps({"seq": True, "hash": HASH}), json.dumps({"seq": 1.0, "hash": HASH}),
    json.dumps({"seq": LARGEST + 1, "hash": HASH}), "[1]", "", "[" * 100_000,
)  # fmt: skip
TOO_LARGE = (str(LARGEST + 1), "9" * 5000)


@pytest.fixture
def board(database: Database) -> Database:
    for entry in submitted(database, 2):
        entries.flag(by(database, MAINTAINER), entry, "a note")
    return database


@pytest.mark.parametrize("text", [*NO_HEADS, "\udcff\udcfe\x00"], ids=range(len(NO_HEADS) + 1))
def test_what_is_no_head_is_no_check_that_holds(text: str) -> None:
    with refuses(Conflict, "no-head"):
        audit.read_head(text)


@pytest.mark.parametrize("typed", [*TOO_LARGE, "-1", "1.5", "", "x", "\u0661", "\u00b2"], ids=lambda typed: typed[:20])
def test_a_number_that_nothing_can_have_is_refused(typed: str) -> None:
    with pytest.raises(Conflict):
        whole_number(typed)
    with pytest.raises(SystemExit) as ended:
        run(["tasks", "show", typed])
    assert ended.value.code == 2


def test_numbers_are_judged_on_the_page_as_on_the_command_line(board: Database) -> None:
    page = MaintainVisitor(by(board, MAINTAINER))
    assert "by its number" in page.show("tasks", "tasks.show", TOO_LARGE[1])
    assert whole_number(f" {LARGEST} ") == LARGEST


def test_a_search_for_what_no_text_can_hold_is_refused(board: Database) -> None:
    with pytest.raises(ValueError, match="cannot be kept"):
        run_command(by(board, LOCAL), "entries", "list", "--search", "a\x00b")
    assert "cannot be kept" in MaintainVisitor(by(board, MAINTAINER)).look("accounts", search="\x00")
    site = _ApiSite(board)
    for method, path in (("GET", "/api/v1/maintenance/entries?search=%00"), ("POST", "/api/v1/entries/%00/hide")):
        answer = site.ask(MAINTAINER, method, path=path, body={"reason": "x"} if method == "POST" else None)
        assert (answer.status_code, answer.json()["code"]) == (422, "bad-text"), path
