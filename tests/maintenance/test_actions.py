"""One definition per action: REST, command line, page, descriptions and logs follow from it, for every action."""

from __future__ import annotations

import re
import sys
import types
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

import maintenance.actions
from auth import Role
from maintenance import api
from maintenance.action_context import ActionContext
from maintenance.decision_log import decisions
from maintenance.registry import Action, ActionRegistry, EntryParam, ParamInfo, Reason, action
from maintenance.sections import SECTIONS
from maintenance.types import ActionResult, Conflict, clean_reason, require_owner_of
from scripts import doc_tables
from storage.database import Database
from storage.integrity import audit
from submissions.activity import ActivityRules, list_activity
from tests.databases import with_labels
from tests.factories import small_benchmark
from tests.factories.accounts import ANONYMOUS, LOCAL, MAINTAINER, OWNER_OF_IT, STRANGER
from tests.factories.actions import by, command_line, run_command
from tests.factories.maintain_page import MaintainVisitor
from tests.factories.services.review_pages import signed_in_by_header
from tests.factories.specs import spec_of
from web.actions import ACTIONS, find_actions

MAINTAINING = (Path(__file__).parents[2] / "docs" / "maintaining.md").read_text(encoding="utf-8")
BY_HAND = [("GET", "/api/v1/maintenance/rescore/preview/{task}/csv")]
PUBLIC = {("GET", "/api/v1/decisions"), ("GET", "/api/v1/chain")}
Stars = Annotated[int, ParamInfo("Stars", "1 to 5", option="--stars", help="how many, from 1 to 5")]


# --- an invented action -----------------------------------------------------------------------------------------------


@action(
    "entries.praise",
    "POST /api/v1/entries/{entry}/praise",
    audit="entry.praised",
    title="Entry praised",
    public="Entry {entry} got {stars} stars: {reason}",
    owner="It got {stars} stars: {reason}",
    button="Praise",
)
def praise(ctx: ActionContext, entry: EntryParam, stars: Stars, reason: Reason) -> ActionResult:
    """Praise an entry. For maintainers."""
    if not 1 <= stars <= 5:
        raise Conflict("bad-stars", "Give 1 to 5 stars.")
    facts = {"entry": entry, "stars": stars, "reason": clean_reason(reason), "by": ctx.user.account, "via": "session"}
    with ctx.database.write() as session:
        return ActionResult(True, f"{entry} has {stars} stars.", seq=audit.append(session, "entry.praised", data=facts))


@action("thanks.say", "POST /api/v1/thanks/{entry}", role=Role.SUBMITTER, button="Say thanks")
def thank(ctx: ActionContext, entry: EntryParam, note: str = "") -> ActionResult:
    """Thank for an entry. For its owner and maintainers."""
    require_owner_of(ctx.user, OWNER_OF_IT.account)
    return ActionResult(True, f"Thanks for {entry}. {note}".strip())


INVENTED = ActionRegistry([*ACTIONS, praise, thank], ACTIONS.areas)


class Site:
    """The routes of a registry; who asks is in a header."""

    def __init__(self, database: Database, registry: ActionRegistry = ACTIONS) -> None:
        self.app = FastAPI()
        self.app.include_router(api.build(registry, by(database, ANONYMOUS)))
        self._client = TestClient(signed_in_by_header(self.app))

    def ask(self, user: Any, method: str, *, path: str, body: Any = None) -> Any:
        return self._client.request(method, path, json=body, headers={"X-Account": user.account})


@pytest.fixture
def entry(database: Database) -> str:
    with_labels(database)
    return small_benchmark.submit(database, range(1), owner=OWNER_OF_IT.account)[0]


def test_a_new_action_is_a_route(database: Database, entry: str) -> None:
    site, path = Site(database, INVENTED), f"/api/v1/entries/{entry}/praise"
    answer = site.ask(MAINTAINER, "POST", path=path, body={"stars": 5, "reason": "clean"})
    assert (answer.status_code, answer.json()["message"]) == (200, f"{entry} has 5 stars.")
    assert site.ask(MAINTAINER, "POST", path=path, body={"stars": 6, "reason": "clean"}).json()["code"] == "bad-stars"
    assert site.ask(MAINTAINER, "POST", path=path, body={"stars": "5", "reason": "clean"}).status_code == 422, (
        "no conversion"
    )
    assert site.ask(MAINTAINER, "POST", path=path, body={"stars": 5, "reason": "x", "by": "me"}).status_code == 422
    assert site.ask(STRANGER, "POST", path=path, body={}).status_code == 403


def test_a_new_action_is_a_command(database: Database, entry: str, capsys: pytest.CaptureFixture[str]) -> None:
    done = run_command(
        by(database, LOCAL), "entries", "praise", entry, "--stars", "4", "--reason", "x", registry=INVENTED
    )
    assert (done.text, done.data["changed"]) == (f"{entry} has 4 stars.", True)
    with pytest.raises(SystemExit):
        command_line(INVENTED).parse_args(["entries", "praise", "--help"])
    shown = capsys.readouterr().out
    assert "--stars STARS" in shown and "how many, from 1 to 5" in shown
    with pytest.raises(SystemExit):
        command_line(INVENTED).parse_args(["entries", "--help"])
    assert "Praise an entry." in capsys.readouterr().out


def test_a_new_action_is_a_form_of_its_section(database: Database, entry: str) -> None:
    page = MaintainVisitor(by(database, MAINTAINER), INVENTED)
    assert f"do=entries.praise&amp;on={entry}" in page.look("entries")
    form = page.form("entries.praise", entry)
    assert "Praise an entry." in form and 'name="stars"' in form and 'name="reason"' in form
    assert f"{entry} has 3 stars." in page.act("entries.praise", [entry], stars="3", reason="x")
    assert "Give 1 to 5 stars." in page.act("entries.praise", [entry], stars="x", reason="x")


def test_a_new_action_is_described_to_those_who_may(database: Database) -> None:
    described = Site(database, INVENTED).app.openapi()
    assert described["paths"]["/api/v1/thanks/{entry}"]["post"]["description"].startswith("Thank for an entry.")
    assert not [path for path in described["paths"] if path.endswith("/praise")], "maintainers' actions are not listed"
    rows = doc_tables.action_rows(INVENTED)
    (row,) = [one for one in rows if "praise" in one[0]]
    assert row == (
        "`entries praise ENTRY --stars STARS --reason REASON`",
        "`POST /api/v1/entries/{entry}/praise`",
        "Praise an entry.",
    )


def test_a_new_action_is_in_the_log_and_in_the_activity_of_the_owner(database: Database, entry: str) -> None:
    ctx = by(database, MAINTAINER, public_events=INVENTED.public_events())
    praise(ctx, entry, 5, "clean")
    (line,) = decisions(database, ctx.public_events, limit=1)
    assert (line["title"], line["sentence"]) == ("Entry praised", f"Entry {entry} got 5 stars: clean")
    assert (line["stars"], line["by"]) == (5, "maintainer")
    rules = ActivityRules(spec_of("demo"), INVENTED.owner_sentences())
    assert list_activity(database, OWNER_OF_IT, rules=rules)[0].sentence == "It got 5 stars: clean"


def test_actions_are_the_functions_of_modules_and_no_two_have_one_name() -> None:
    module = types.ModuleType("invented")
    module.praise = praise  # type: ignore[attr-defined]
    assert [one.name for one in ActionRegistry.of([module])] == ["entries.praise"]
    with pytest.raises(ValueError, match=r"Two actions are named entries\.praise"):
        ActionRegistry([praise, replace(praise, parameters=())])


def test_a_new_module_is_found_without_being_named_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance.actions, "__path__", [*maintenance.actions.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "maintenance.actions.thanks", raising=False)
    (tmp_path / "thanks.py").write_text("from tests.maintenance.test_actions import thank\n")
    try:
        assert {one.name for one in find_actions()} - {one.name for one in ACTIONS} == {"thanks.say"}
    finally:
        sys.modules.pop("maintenance.actions.thanks", None)
        vars(maintenance.actions).pop("thanks", None)


def test_actions_are_in_the_order_of_areas() -> None:
    assert list(dict.fromkeys(one.area for one in ACTIONS)) == list(ACTIONS.areas)


# --- every action -----------------------------------------------------------------------------------------------------


def test_there_is_no_route_beside_the_actions_and_those_that_are_named_here(database: Database) -> None:
    router = api.build(ACTIONS, by(database, ANONYMOUS))
    there = {(method, route.path) for route in router.routes for method in route.methods}  # type: ignore[attr-defined]
    assert there == {(one.method, one.path) for one in ACTIONS} | set(BY_HAND) | PUBLIC


def test_every_route_for_maintainers_is_described_for_them_and_in_no_public_description(database: Database) -> None:
    routes = [route for route in api.build(ACTIONS, by(database, ANONYMOUS)).routes if isinstance(route, APIRoute)]
    theirs = [route for route in routes if not route.include_in_schema]
    assert {f"/api/v1/entries/{{entry}}/{name}" for name in ("hide", "transfer")} <= {route.path for route in theirs}
    for route in theirs:
        (method,) = route.methods
        assert f"`{method} {route.path.removeprefix(api.BASE)}`" in MAINTAINING
    assert {route.path for route in routes if route.path.startswith(api.BASE)} <= {route.path for route in theirs}


@pytest.mark.parametrize("one", list(ACTIONS), ids=lambda one: one.name)
def test_every_action_says_what_it_does_and_asks_by_names_that_its_route_has(one: Action[Any, Any]) -> None:
    assert one.summary.endswith(".") and one.summary[0].isupper()
    assert set(re.findall(r"{(\w+)}", one.path)) == {each.name for each in one.in_path()}
    assert len(one.parameters) == len({each.name for each in one.parameters})
    assert not one.declared.public or one.declared.audit
    assert not one.declared.owner or one.declared.audit


def test_every_button_is_in_a_section_of_the_page() -> None:
    areas = {area for section in SECTIONS for area in section.areas}
    assert {one.area for one in ACTIONS if one.declared.button} <= areas
    assert {name for section in SECTIONS for name in section.lists} <= {one.name for one in ACTIONS}
