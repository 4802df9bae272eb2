"""Candidates in a real browser: the draft label after the first answer, and the adjudicator's page."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, expect

from auth import Identity
from review.actions import pool_projects
from review.actions.pool_projects import VerificationTeam
from storage.annotation import adjudications, annotation_projects
from storage.database import Database
from tests.databases import new_database
from tests.factories.accounts import ANNOTATOR, MAINTAINER, OWNER_OF_IT, SECOND_MAINTAINER, STRANGER
from tests.factories.actions import by
from tests.factories.pools import imported_pool, write_pool
from tests.factories.review_setup import materials, seen_order, set_up
from tests.factories.services.axe import expect_accessible_light_and_dark
from tests.factories.services.review_pages import serve
from tests.review.test_projects import _account
from vlrb.label_quality.annotation import PREFERENCES, annotation_order

pytestmark = pytest.mark.browser
SAVED = '#saved:text-is("Saved")'


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    opened = new_database(f"sqlite:///{tmp_path_factory.mktemp('pool')}/site.db")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def url(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service with one project: eight candidates, two annotators, an adjudicator."""
    directory = tmp_path_factory.mktemp("site")
    bench = set_up(database, directory / "state")
    with database.write() as session:
        session.add_all(_account(one.account) for one in (STRANGER, ANNOTATOR))
    pool = imported_pool(bench, write_pool(directory / "pool"))
    team = VerificationTeam(2, [ANNOTATOR.account], adjudicators=[STRANGER.account])
    pool_projects.verify_pool(by(database, MAINTAINER), pool, project="candidates", reason="to verify", team=team)
    config = uvicorn.Config(serve(database, materials(bench.table, directory)), port=0, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(5)


def _open(browser: Browser, address: str, *, user: Identity, **options: Any) -> Page:
    context = browser.new_context(extra_http_headers={"X-Account": user.account}, **options)
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("#pair:not([hidden])")
    return page


def _key(database: Database, user: Identity, *, place: int, letter: str) -> str:
    """Return the key that prefers a response, which stands first or second for this annotator."""
    return "12"[seen_order(database, user.account, place=place).index(PREFERENCES.index(letter))]


def _decisive_key(database: Database, user: Identity, *, place: int, letter: str) -> str:
    """Return the key that prefers a response for this adjudicator."""
    with database.read() as session:
        item = annotation_projects.item_at(session, 1, place=place) or ""
    return "12"[annotation_order(user.account, item).index(PREFERENCES.index(letter))]


def _press(page: Page, key: str) -> None:
    page.keyboard.press(key)
    page.wait_for_selector(SAVED)


def test_without_pairs_to_adjudicate_the_page_names_none(browser: Browser, url: str) -> None:
    page = browser.new_context(extra_http_headers={"X-Account": STRANGER.account}).new_page()
    page.goto(f"{url}/annotate/1/adjudicate")
    expect(page.get_by_role("heading", level=1)).to_have_text("No pairs to adjudicate")
    expect(page.locator("#jump")).to_be_hidden()


def test_a_pair_is_verified_with_its_draft_after_the_first_answer_and_then_adjudicated(
    browser: Browser, database: Database, url: str
) -> None:
    page = _open(browser, f"{url}/annotate/1#1", user=MAINTAINER)
    expect(page.locator("#query")).to_have_text("What is in picture 0?")
    expect(page.locator("#image")).to_have_js_property("naturalWidth", 64)
    expect(page.locator("#draft")).to_be_hidden()
    assert "two dogs in" not in page.content()
    first, second = (_key(database, MAINTAINER, place=1, letter=letter) for letter in "ab")
    _press(page, first)
    expect(page.locator("#draft-why")).to_have_text("There are two dogs in 0.")
    where = page.locator(".response", has_text="Two dogs 0.").get_attribute(
        "aria-labelledby"
    )  # shown to the model first
    expect(page.locator("#draft-order")).to_contain_text(f"Answer 1 is the {where} response")
    expect(page.locator("#draft-model")).to_have_text("by Strong-1")
    expect(page.locator("#draft-note")).to_contain_text("The first one stays")
    _press(page, second)
    expect(page.locator("#draft-note")).to_contain_text("Your first answer stays")
    page.reload()
    expect(page.locator("#place")).to_have_text("1")
    expect(page.locator("#draft-note")).to_contain_text("Your first answer stays")
    with database.read() as session:
        assert list(adjudications.first_answers(session, 1).values()) == ["a"]

    other = _open(browser, f"{url}/annotate/1#1", user=SECOND_MAINTAINER)
    expect(other.locator("#draft")).to_be_hidden()
    _press(other, _key(database, SECOND_MAINTAINER, place=1, letter="a"))

    adjudicator = _open(browser, f"{url}/annotate/1", user=STRANGER)  # who may not annotate
    assert adjudicator.url.partition("#")[0].endswith("/annotate/1/adjudicate")
    expect(adjudicator.locator("#answers li")).to_have_count(2)
    expect(adjudicator.locator("#draft")).to_be_hidden()
    expect(adjudicator.locator("#done")).to_have_text("0 of 1 decided")
    _press(adjudicator, _decisive_key(database, STRANGER, place=1, letter="b"))
    expect(adjudicator.locator("#done")).to_have_text("1 of 1 decided")
    expect(adjudicator.locator("#draft")).to_be_visible()
    with database.read() as session:
        assert [one.verdict for one in adjudications.decisions(session, 1).values()] == ["b"]


def test_a_pair_that_has_enough_answers_by_others_takes_none_and_the_page_says_so(
    browser: Browser, database: Database, url: str
) -> None:
    third = _open(browser, f"{url}/annotate/1#4", user=ANNOTATOR)
    for user in (MAINTAINER, SECOND_MAINTAINER):
        _press(_open(browser, f"{url}/annotate/1#4", user=user), _key(database, user, place=4, letter="a"))
    third.keyboard.press("1")
    expect(third.locator("#problem")).to_contain_text("pair has as many")
    expect(third.locator("[data-verdict=first]")).to_be_disabled()
    third.reload()
    expect(third.locator("#problem")).to_contain_text("pair has as many")
    expect(third.locator("#done")).to_contain_text("0 of")
    third.locator("#to").fill("99")
    third.keyboard.press("Enter")
    expect(third.locator("#problem")).to_contain_text("There are pairs 1 to 8.")


def test_an_image_is_shown_to_annotators_alone(browser: Browser, url: str) -> None:
    context = browser.new_context(extra_http_headers={"X-Account": MAINTAINER.account})
    assert context.request.get(f"{url}/annotate/1/1/image").headers["content-type"] == "image/png"
    assert context.request.get(f"{url}/annotate/1/99/image").status == 404
    stranger = browser.new_context(extra_http_headers={"X-Account": OWNER_OF_IT.account})
    assert stranger.request.get(f"{url}/annotate/1/1/image").status == 404


def test_axe_finds_nothing_on_the_new_parts(browser: Browser, database: Database, url: str) -> None:
    page = _open(browser, f"{url}/annotate/1#2", user=MAINTAINER)
    _press(page, _key(database, MAINTAINER, place=2, letter="a"))
    expect(page.locator("#draft")).to_be_visible()
    expect_accessible_light_and_dark(page)
    other = _open(browser, f"{url}/annotate/1#2", user=SECOND_MAINTAINER)
    _press(other, _key(database, SECOND_MAINTAINER, place=2, letter="b"))
    adjudicator = _open(browser, f"{url}/annotate/1/adjudicate#2", user=STRANGER)
    expect_accessible_light_and_dark(adjudicator)
    adjudicator.goto(f"{url}/annotate")
    expect_accessible_light_and_dark(adjudicator)
