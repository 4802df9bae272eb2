"""The annotation page in a real browser: keys, saving, reloading, several annotators, and blind throughout."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from auth import Identity
from review.actions import projects
from review.items import pair_names
from review.selection import ProjectPlan
from storage.annotation import annotation_projects
from tests.databases import new_database
from tests.factories.accounts import MAINTAINER, SECOND_MAINTAINER
from tests.factories.actions import by
from tests.factories.review_setup import ReviewSetup, materials, seen_order, set_up
from tests.factories.services.axe import expect_accessible, expect_accessible_light_and_dark
from tests.factories.services.review_pages import serve
from tests.factories.services.serving import serving
from vlrb.label_quality.annotation import PREFERENCES

pytestmark = pytest.mark.browser
SAVED = '#saved:text-is("Saved")'


@dataclass
class _AnnotateSite:
    bench: ReviewSetup
    url: str

    def said(self, user: Identity) -> dict[str, tuple[str, list[str], str]]:
        with self.bench.database.read() as session:
            given = annotation_projects.answers(session, 1)
        return {one.item: (one.verdict, one.errors, one.note) for one in given if one.account == user.account}

    def letter(self, user: Identity, index: int, *, place: int) -> str:
        """Return what the one who stands first (0) or second (1) is called."""
        return PREFERENCES[seen_order(self.bench.database, user.account, place=index + 1)[place]]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_AnnotateSite]:
    directory = tmp_path_factory.mktemp("annotate")
    database = new_database(f"sqlite:///{directory}/site.db")
    bench = set_up(database, directory / "state")
    projects.create(
        by(database, MAINTAINER, table=bench.table), "may", base="demo", reason="because", plan=ProjectPlan()
    )
    with serving(serve(database, materials(bench.table, directory))) as url:
        yield _AnnotateSite(bench, url)
    database.close()


def _open(browser: Browser, site: _AnnotateSite, *, user: Identity, path: str = "/annotate/1", **options: Any) -> Page:
    context = browser.new_context(extra_http_headers={"X-Account": user.account}, **options)
    page = context.new_page()
    page.goto(site.url + path)
    page.wait_for_selector("#pair:not([hidden])")
    return page


def _place(page: Page, number: int) -> None:
    expect(page.locator("#place")).to_have_text(str(number))


def _jump(page: Page, number: int) -> None:
    page.keyboard.press("j")
    page.keyboard.type(str(number))
    page.keyboard.press("Enter")
    _place(page, number)


def test_pairs_are_answered_with_keys_alone_and_every_answer_survives_a_reload(
    browser: Browser, site: _AnnotateSite
) -> None:
    page = _open(browser, site, user=MAINTAINER)
    received: list[str] = []

    def note(route: Route) -> None:
        answer = route.fetch()
        received.append(answer.text())
        route.fulfill(response=answer)

    page.route("**/api/v1/verification/**", note)
    key = site.bench.key
    begun = page.text_content("#place")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#place")).not_to_have_text(begun or "")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#place")).to_have_text(begun or "")
    _jump(page, 1)
    expect(page.locator('[data-error="existence"]')).to_be_disabled()  # errors of what, before there is an answer?
    for keys in ("1", "w", "q"):
        page.keyboard.press(keys)
    page.wait_for_selector(SAVED)
    _jump(page, 2)
    page.keyboard.press("2")
    page.keyboard.press("q")
    page.wait_for_selector('[data-error][aria-pressed="true"]')
    page.keyboard.press("i")  # the wrong way round: the error was one of the other response
    expect(page.locator('[data-error][aria-pressed="true"]')).to_have_count(0)
    page.keyboard.press("n")
    page.keyboard.type("i2f: a note is no shortcut")
    page.keyboard.press("Enter")
    _jump(page, 3)
    page.keyboard.press("f")
    _jump(page, 21)
    page.keyboard.press("p")
    page.wait_for_selector(SAVED)
    page.wait_for_selector('#done:text-is("4 of 21 answered")')
    page.reload()
    _place(page, 21)
    expect(page.locator('[data-verdict="poor-image"]')).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#bar")).to_have_js_property("value", 4)
    assert site.said(MAINTAINER) == {
        key(0): (site.letter(MAINTAINER, 0, place=0), ["recognition-text", "existence"], ""),
        key(1): (site.letter(MAINTAINER, 1, place=0), [], "i2f: a note is no shortcut"),
        key(2): ("both-false", [], ""),
        key(20): ("poor-image", [], ""),
    }
    # Anyone who looks behind the page finds no label either.
    assert len(received) > 8
    for text in received:
        assert not {"label", "preferred", "human_ranking"} & set(json.loads(text))
    assert all(item.key not in page.content() for item in site.bench.table.items)


def test_a_pair_without_its_image_says_so_and_a_wrong_number_is_forgotten_on_escape(
    browser: Browser, site: _AnnotateSite
) -> None:
    page = _open(browser, site, user=MAINTAINER)
    for place, missing in ((2, False), (3, True)):  # bench.materials: the second pair alone has an image
        page.goto(f"{site.url}/annotate/1#{place}")
        _place(page, place)
        expect(page.locator("#no-image")).to_be_visible(visible=missing)
        expect(page.locator("#image")).to_be_visible(visible=not missing)  # as soon as it is loaded
    page.keyboard.press("j")
    page.keyboard.type("99")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=There are pairs 1 to 21.")


def test_an_answer_that_could_not_be_saved_is_said_and_kept_until_it_is(browser: Browser, site: _AnnotateSite) -> None:
    page = _open(browser, site, user=SECOND_MAINTAINER)
    page.goto(f"{site.url}/annotate/1#9")
    _place(page, 9)
    page.check("#advance")
    page.context.set_offline(True)
    page.keyboard.press("k")
    page.wait_for_selector("text=Your answer is not saved.")
    page.wait_for_selector('#saved:text-is("Not saved")')
    assert site.bench.key(8) not in site.said(SECOND_MAINTAINER)
    _place(page, 9)
    page.context.set_offline(False)  # it is sent by itself, and the next pair comes
    page.wait_for_selector(SAVED)
    expect(page.locator("#place")).not_to_have_text("9")
    assert site.said(SECOND_MAINTAINER)[site.bench.key(8)][0] == "vague-knowledge"


def test_an_answer_that_was_not_sent_outlives_the_page(browser: Browser, site: _AnnotateSite) -> None:
    page = _open(browser, site, user=SECOND_MAINTAINER, path="/annotate/1#10")
    _place(page, 10)

    def refuse_answers(route: Route) -> None:
        route.abort() if route.request.method == "PUT" else route.continue_()

    page.route("**/api/v1/verification/**", refuse_answers)
    page.keyboard.press("s")
    page.wait_for_selector('#saved:text-is("Not saved")')
    page.unroute("**/api/v1/verification/**")
    page.reload()
    page.wait_for_selector(SAVED)
    assert site.said(SECOND_MAINTAINER)[site.bench.key(9)][0] == "vague-style"


def test_two_tabs_of_one_annotator_agree(browser: Browser, site: _AnnotateSite) -> None:
    page = _open(browser, site, user=SECOND_MAINTAINER, path="/annotate/1#11")
    other = page.context.new_page()
    other.goto(f"{site.url}/annotate/1#11")
    _place(other, 11)
    done = (other.text_content("#done") or "").partition(" ")[0]
    page.keyboard.press("p")
    expect(other.locator('[data-verdict="poor-image"]')).to_have_attribute("aria-pressed", "true")
    expect(other.locator("#done")).to_contain_text(f"{int(done) + 1} of ")


def test_an_answer_to_a_project_that_was_closed_meanwhile_is_taken_back_in_words(
    browser: Browser, site: _AnnotateSite
) -> None:
    bench = site.bench
    plan = ProjectPlan(file=bench.file_of(0, 4))
    projects.create(bench.by(MAINTAINER), "closing", base="demo", reason="because", plan=plan)
    page = _open(browser, site, user=MAINTAINER, path="/annotate/2")
    page.keyboard.press("1")
    page.wait_for_selector(SAVED)
    projects.close(bench.by(MAINTAINER), 2, revision="next", reason="enough")
    page.keyboard.press("ArrowRight")
    _place(page, 2)
    page.keyboard.press("1")
    page.wait_for_selector("text=closing is closed: answers do not change any more.")
    page.wait_for_selector('#saved:text-is("Not saved")')
    expect(page.locator('[data-verdict="first"]')).to_have_attribute("aria-pressed", "false")
    page.reload()
    page.wait_for_selector("text=This project is closed")
    expect(page.locator('[data-verdict="first"]')).to_be_disabled()


def test_axe_finds_nothing_and_no_page_scrolls_sideways(browser: Browser, site: _AnnotateSite) -> None:
    page = _open(browser, site, user=MAINTAINER, path="/annotate/1#2")
    _place(page, 2)
    expect(page.locator("#image")).to_be_visible()
    expect_accessible_light_and_dark(page)
    page.set_viewport_size({"width": 1440, "height": 844})
    page.emulate_media(color_scheme="light")
    page.goto(f"{site.url}/dispute/{site.bench.key(1)}")
    expect_accessible(page)


def test_the_page_shows_guidelines_and_id_enlarges_the_picture_and_goes_on_where_asked(
    browser: Browser, site: _AnnotateSite
) -> None:
    bench = site.bench
    plan = ProjectPlan(file=bench.file_of(1, 5), guidelines="Look twice.")
    done = projects.create(bench.by(MAINTAINER), "guided", base="demo", reason="because", plan=plan)
    page = _open(browser, site, user=MAINTAINER, path=f"{done.message.rpartition(' ')[2]}#1")
    expect(page.locator("#guidelines")).to_contain_text("Look twice.")
    expect(page.locator("#name")).to_have_text(pair_names(bench.table)[bench.key(1)])
    narrow = page.locator("#image").bounding_box()
    page.keyboard.press("z")
    expect(page.locator("#enlarge")).to_have_attribute("aria-pressed", "true")
    wide = page.locator("#image").bounding_box()
    assert narrow and wide and wide["width"] > narrow["width"]
    page.check("#advance")
    page.keyboard.press("1")
    _place(page, 2)
    page.reload()
    expect(page.locator("#advance")).to_be_checked()
    page.uncheck("#advance")
