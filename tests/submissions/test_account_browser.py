"""The pages of owners and the rules, in a real browser: they fit, they are accessible, and need no script."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.responses import Response
from playwright.sync_api import Browser, expect

from auth import LOCAL, Identity
from auth.middleware import IdentityMiddleware
from auth.pages import AccountPages
from auth.routes import build
from auth.service import AuthService
from auth.settings import IdentitySettings
from leaderboard import render
from leaderboard.render_context import RenderContext
from maintenance.actions import entries
from receipts.service import ShownScore
from storage.database import Database
from storage.visibility import EntryVisibility
from submissions import pages as submissions_pages
from submissions.metadata import Metadata
from tests.databases import with_labels
from tests.factories.actions import by
from tests.factories.fakes.openid_provider import serving_on
from tests.factories.services.axe import expect_accessible_light_and_dark
from tests.factories.specs import VL
from tests.factories.submission_service import BENCHMARK, make_setup, native

pytestmark = pytest.mark.browser

SCORES = [ShownScore("r1", dict.fromkeys(("macro", "overall", "general", "hallucination"), 0.7312))]
LONG = "A judge with a name that is as long as names may be, " + "unbreakable" * 6


def columns(raw: dict[str, object]) -> dict[str, object]:
    return Metadata.parse(raw).columns()


@pytest.fixture
def local_mode() -> bool:
    """Return whether the pages say that there is no sign-in."""
    return False


@pytest.fixture
def address(database: Database, tmp_path: Path, local_mode: bool) -> Iterator[str]:
    """One user, in the layout of the public pages."""
    with_labels(database, "r1", benchmark=BENCHMARK)
    setup = make_setup(database, tmp_path)
    file = setup.arrive(native(setup.items))
    shown = EntryVisibility(time.time() + 40 * 86_400, published=False)
    taken = setup.intake.submit(file, Metadata.parse({"model": LONG, "organisation": "Lab"}), LOCAL, shown)
    identities, pages = (
        AuthService.create(database, IdentitySettings()),
        AccountPages(render.environment(RenderContext(local_mode=local_mode)), [submissions_pages.TEMPLATES]),
    )

    def edit(user: Identity, entry: str, fields: submissions_pages.Fields) -> object:
        return entries.edit(by(database, user, parse=columns), entry, fields)  # type: ignore[arg-type]

    def withdraw(user: Identity, entry: str, reason: str) -> object:
        return entries.withdraw(by(database, user), entry, reason)

    owner = submissions_pages.OwnerActions(
        lambda user, entry: entries.look(by(database, user), entry)[1],
        edit,
        withdraw=withdraw,
        scores=lambda user, entry: SCORES,
        measures=VL.headline_first,
    )
    app = FastAPI()
    app.include_router(submissions_pages.build(database, setup.intake, identities=identities, pages=pages, owner=owner))
    app.include_router(build(identities, pages))

    @app.get("/static/{name}")
    def static(name: str) -> Response:
        found = next(asset for asset in render.assets().values() if asset.url.endswith(name))
        return Response(found.body.encodings["identity"], media_type=found.body.media_type)

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    with serving_on(listener, IdentityMiddleware(app, identities.settings, resolver=identities.resolver)) as served:
        yield f"{served}/account/submissions/{taken.id}"


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_an_owner_edits_publishes_and_withdraws_without_scripts_on_a_phone(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(address)
    page.get_by_label("Version").fill("2026-11")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("heading", name="2026-11").wait_for()
    page.get_by_role("button", name="Publish this entry").click()
    page.get_by_role("heading", name="Publish").wait_for(state="detached")
    page.get_by_role("textbox", name="Until").fill("2026-01-01")
    page.get_by_role("button", name="Change the day").click()
    expect(page.get_by_role("alert")).to_contain_text("choose a day from tomorrow")
    page.get_by_role("button", name="Show my name now").click()
    page.get_by_role("heading", name="Anonymous").wait_for(state="detached")
    page.get_by_text("Take this entry off the board").click()
    page.get_by_label("Reason").fill("wrong prompt")
    page.get_by_label("Yes, withdraw").check()
    page.get_by_role("button", name="Withdraw", exact=True).click()
    page.get_by_text("The submission is not on the board. wrong prompt").wait_for()
    context.close()


@pytest.mark.parametrize("local_mode", [False, True])
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_the_pages_fit_and_are_accessible_in_light_and_dark(
    browser: Browser, address: str, local_mode: bool, long: bool
) -> None:
    page = browser.new_page()
    for path in (address, f"{address.partition('/account')[0]}/policy"):
        page.goto(path)
        assert page.locator("header .local").count() == local_mode
        if long or not local_mode or path == address:  # the note in the header is the same on every page
            expect_accessible_light_and_dark(page)
    page.close()
