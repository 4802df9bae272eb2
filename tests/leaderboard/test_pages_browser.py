"""The pages beside the board in a real browser: paper, keyboard, and without a script."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.factories.services.serving import serving
from tests.leaderboard.test_pages_routes import R1, A, B, item_catalog, serve

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(serve(item_catalog(tmp_path_factory.mktemp("materials")))) as url:
        yield url


def test_keys_scroll_a_table_that_is_wider_than_the_screen_and_no_other(browser: Browser, address: str) -> None:
    page = browser.new_page()
    for width in (1440, 320):
        page.set_viewport_size({"width": width, "height": 844})
        page.goto(f"{address}/entries/r-r1-reward-2505-02835")
        page.wait_for_function(
            """() => [...document.querySelectorAll(".scroll")].every(
                 part => (part.scrollWidth > part.clientWidth) === (part.tabIndex === 0))"""
        )
    page.close()


def test_paper_shows_tables_and_the_address_and_no_controls(browser: Browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 718, "height": 1020})
    for path in (f"/?compare={A}", f"/compare?entries={A},{B}", f"/entries/{A}"):
        page.goto(address + path)
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        expect(page.locator(".printed")).to_contain_text(address + path)
        expect(page.locator("table").first).to_be_visible()
        shown = "all => all.filter(one => one.checkVisibility()).length"
        assert page.eval_on_selector_all("button, input, select, nav, .do", shown) == 0, path
        page.emulate_media(media="null")
    page.close()


def test_everything_works_without_a_script_and_from_the_keyboard(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(address + "/check-numbers")
    for name, value in (pair.split("=") for pair in R1.split("&")):
        page.get_by_label(name.capitalize(), exact=True).fill(value)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/check-numbers?{R1}")
    expect(page.locator(".verdict")).to_contain_text("484/448/318")

    page.goto(address + "/compare")
    for count, letter in enumerate("AB", start=1):
        page.fill("input[type=search]", f"Judge {letter}")
        page.keyboard.press("Enter")
        expect(page.locator(".chosen tbody tr")).to_have_count(count)
    expect(page.locator(".finding")).to_contain_text("A agrees with people")

    page.goto(address + "/analyse?chart=tags")
    page.locator(".judges summary").press("Enter")
    page.get_by_label("Judge B").uncheck()
    page.fill("input[name=add]", "R1-Reward Voting@15")
    page.keyboard.press("Enter")
    expect(page.locator(".notices")).to_contain_text("Left out: R1-Reward Voting@15")
    expect(page.locator(".numbers")).to_contain_text("Judge A")
    expect(page.locator(".numbers")).not_to_contain_text("Judge B")

    page.goto(address + "/explore")
    page.select_option("select[name=category]", "reasoning")
    page.click('form button:has-text("Show")')
    page.wait_for_url("**category=reasoning**")
    page.click("tbody th a >> nth=0")
    expect(page.locator("#response-1")).not_to_be_empty()
    first = page.url
    page.click("text=Next pair")
    expect(page).not_to_have_url(first)
    expect(page.locator("h1")).to_contain_text("Pair ")
    context.close()


def test_marks_of_a_figure_say_their_numbers_choices_act_and_it_is_taken_along(browser: Browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(f"{address}/analyse?entries={A},{B}")
    page.locator(".drawing .trace:has(.errorbar) .points path").first.hover(force=True)
    expect(page.locator(".hoverlayer")).to_contain_text("95% interval")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="PNG").click()
    assert waiting.value.suggested_filename == "vl-rewardbench-categories.png"
    page.locator(".judges summary").click()
    page.get_by_label("Judge B").uncheck()
    page.get_by_role("button", name="Draw").click()
    page.wait_for_url(f"**&entries={A}")
    page.locator("summary", has_text="Scoring").click()
    page.locator("input[value=paper]").check()
    page.wait_for_url("**protocol=paper**")
    expect(page.locator(".title + .lead")).to_contain_text("Rule paper")
    page.locator(".drawing .trace:has(.errorbar) .points path").first.click(force=True)
    page.wait_for_url(f"**/entries/{A}")
    page.close()
    assert faults == []
