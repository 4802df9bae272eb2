"""The board in a real browser: sort, search, address, keyboard, phone, axe, and what happens without a script."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from leaderboard.ranking.columns import ALWAYS
from leaderboard.ranking.parameters import read_query
from leaderboard.ranking.reported_results import load_published
from tests.factories import pairwise
from tests.factories.board_app import serve
from tests.factories.services.axe import expect_accessible
from tests.factories.services.serving import serving
from tests.factories.snapshots import FixedSource, baselines, crowd, entry, snapshot
from tests.factories.specs import USUAL, VL
from tests.leaderboard.board.test_routes import HOSTILE

pytestmark = pytest.mark.browser
ODD = [
    entry(1001, 0.72, k=5, model="通义千问视觉奖励模型 72B 多模态评审", organisation="阿里巴巴"),
    entry(1002, 0.66, model="A-name-that-is-" + "very-" * 20 + "long", organisation="Lab " * 20, parameters_b=7.0),
    entry(1003, 0.61, model=HOSTILE, organisation=HOSTILE, version=HOSTILE, notes=HOSTILE, link="javascript:alert(1)"),
]
SCORECARDS = ("/entries/e00000001002", "/entries/r-r1-reward-2505-02835")
STUB = {"id": "egone", "withdrawn": True, "at": "2026-11-20T10:00:00Z", "version": "2"}


@pytest.fixture(scope="module")
def short() -> Iterator[str]:
    """Yield a board of few rows, with odd names: what needs no second page is drawn sooner."""
    yield from served(FixedSource(snapshot([*crowd(12), *ODD]) | {"baselines": baselines()}))


@pytest.fixture(scope="module")
def tested() -> Iterator[str]:
    """Yield a board with rank ranges, and another one before it."""
    source = FixedSource(snapshot([entry(1, 0.7, model="Pioneer")]))
    body = pairwise.body(
        entry(40, 0.66, model="Judge A", version="second", attempt=2, attempts=2, revision="v0", flag="under review"),
        entry(
            41, 0.6, k=1, organisation="Lab", verified_at="2026-11-01T00:00:00Z", open_weights=True, parameters_b=7.0
        ),
    )
    stub = {**dict.fromkeys(("model", "reason"), "a long one " * 30), **STUB}
    source.turn(body | {"baselines": baselines(), "stubs": [stub]})
    yield from served(source)


def served(source: FixedSource) -> Iterator[str]:
    # Of 110, twenty and every report of one judge.
    few = [one for place, one in enumerate(load_published(VL)) if place < 20 or one.name.startswith("R1-Reward")]
    with serving(serve(source, published=tuple(few))) as url:
        yield url


@dataclass
class WatchedPage:
    """A page of the browser, and what it said or asked of others."""

    page: Page
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        note, page = self.faults.append, self.page
        page.on("console", lambda message: note(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: note(str(error)))
        page.on("dialog", lambda dialog: note(f"dialog {dialog.message}"))
        page.on("request", lambda one: None if one.url.startswith("http://127.0.0.1:") else note(one.url))


@pytest.fixture(scope="module")
def watched(browser: Browser) -> Iterator[WatchedPage]:
    """Yield one page for all tests of this file: a process of the browser takes longer to start than a page."""
    context = browser.new_context()
    yield WatchedPage(context.new_page())
    context.close()


@pytest.fixture
def page(watched: WatchedPage) -> Iterator[Page]:
    """Yield a page that must stay silent, and talk to nobody else."""
    watched.faults.clear()
    watched.page.context.clear_cookies()
    watched.page.emulate_media(media="null", color_scheme="light")
    watched.page.set_viewport_size({"width": 1440, "height": 900})
    yield watched.page
    assert watched.faults == []


@pytest.fixture(scope="module")
def plain(browser: Browser) -> Iterator[Page]:
    """Yield a page without scripts."""
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1440, "height": 900})
    yield context.new_page()
    context.close()


JUDGES = "tbody tr:not(.baseline)"


def rows(page: Page, which: str = JUDGES) -> list[list[str]]:
    cell = "cell.querySelector('b,a,i')?.textContent ?? cell.textContent"
    script = f"rows => rows.map(row => [...row.children].map(cell => {cell}))"
    found: list[list[str]] = page.eval_on_selector_all(which, script)
    return found


def sorted_by(page: Page) -> list[tuple[str, str]]:
    script = "cells => cells.map(cell => [cell.querySelector('a').textContent, cell.getAttribute('aria-sort')])"
    return [tuple(found) for found in page.eval_on_selector_all("thead [aria-sort]", script)]


def wait_for_query(page: Page, name: str, *, value: str) -> None:
    """Wait until the script has written a value into the address; the policy of the pages forbids wait_for_function."""
    page.wait_for_url(lambda url: parse_qs(urlsplit(url).query).get(name) == [value])


_COLUMN = """key => [".ranked", ".elsewhere", ".baselines"].map(
  section => [...document.querySelectorAll(`${section} tbody tr`)].map(row => {
    const cell = row.querySelector(key === "model" ? "th a,th i" : `td.${key}`);
    return (cell.querySelector("b") ?? cell).textContent;
  }))"""


def test_a_click_on_any_heading_sorts_and_a_second_one_turns_it_round(page: Page, short: str) -> None:
    page.goto(short)
    assert sorted_by(page) == [("Macro", "descending")]
    for key in USUAL:
        first = "ascending" if key in ALWAYS else "descending"
        other = "ascending" if first == "descending" else "descending"
        for direction in (first, other) if key in ("macro", "model") else (first,):
            page.click(f"#sort-{key}")
            page.wait_for_selector(f"thead .{key}[aria-sort={direction}]")
            assert len(sorted_by(page)) == 1
            for column in page.evaluate(_COLUMN, key):
                known = [value for value in column if value]
                assert column[: len(known)] == known, f"{key}: an empty cell above a value"
                if key not in ALWAYS:
                    numbers = [float(value) for value in known]
                    assert numbers == sorted(numbers, reverse=direction == "descending"), key


def choose(page: Page, name: str, value: str) -> None:
    """Set a control of the panel."""
    page.eval_on_selector(".filters", "panel => { panel.open = true; }")
    page.select_option(f"select[name={name}]", value)
    page.eval_on_selector(".filters", "panel => { panel.open = false; }")


def test_back_and_forward_go_through_the_views_that_a_visitor_chose(page: Page, tested: str) -> None:
    page.goto(tested)
    page.evaluate("document.documentElement.dataset.same = ''")  # a page that is loaded again has it no more
    steps = (
        ("click", "#by-hallucination", "sort", "hallucination"),
        ("click", ".cards a:has-text('up to 10B')", "open", "yes"),
        ("select", "select[name=tier]", "tier", "scored"),
        ("click", "thead .general a", "sort", "general"),
        ("select", "select[name=k]", "k", "1"),
    )
    seen = [page.url]
    for action, where, name, value in steps:
        if action == "select":
            choose(page, name, value)
        else:
            page.click(where)
        wait_for_query(page, name, value=value)
        seen.append(page.url)
    page.fill("input[name=q]", "jud")
    wait_for_query(page, "q", value="jud")
    page.fill("input[name=q]", "judge")
    wait_for_query(page, "q", value="judge")
    seen[-1] = page.url
    for go, order in ((page.go_back, seen[-2::-1]), (page.go_forward, seen[1:])):
        for url in order:
            go()
            page.wait_for_url(url)
            held = {key: values[0] for key, values in parse_qs(urlsplit(url).query).items()}
            view = read_query(held, ("v2",), spec=VL)
            expect(page.locator("input[name=q]").first).to_have_value(view.search)
            expect(page.locator("select[name=open]")).to_have_value(held.get("open", ""))
            expect(page.locator("select[name=k]")).to_have_value(held.get("k", ""))
            ranked = view.sort if view.sort in VL.score_names else "macro"
            expect(page.locator(".tabs [aria-current]")).to_have_attribute("id", f"by-{ranked}")
            expect(page.locator("select[name=tier]")).to_have_value("" if view.tier == "all" else view.tier)
            expect(page.locator(".ranked thead [aria-sort]")).to_have_class(re.compile(view.sort))
            assert page.evaluate("document.documentElement.dataset.same === ''")


def test_a_tick_or_a_jump_within_the_page_is_no_view_to_go_back_to(page: Page, tested: str) -> None:
    page.goto(tested + "/about")
    page.goto(tested)
    page.click("tbody .pick >> nth=0")
    page.wait_for_url("**compare=**")
    page.click(".picked a >> nth=-1")
    page.wait_for_url(tested + "/")
    page.keyboard.press("Tab")
    page.evaluate("location.hash = 'ranking'")
    choose(page, "tier", "scored")
    wait_for_query(page, "tier", value="scored")
    page.go_back()
    expect(page.locator("select[name=tier]")).to_have_value("")
    page.go_back()
    page.go_back()
    page.wait_for_url(tested + "/about")


def test_ticks_that_come_before_the_answer_to_another_are_all_kept(page: Page, tested: str) -> None:
    page.goto(tested + "/?tier=scored")
    page.evaluate("() => [...document.querySelectorAll('tbody .pick')].slice(0, 3).forEach((one) => one.click())")
    expect(page).to_have_url(re.compile("compare=[^,%]+(?:,|%2C)[^,%]+(?:,|%2C)[^,%&]+"))
    expect(page.locator(".pick[aria-pressed=true]")).to_have_count(3)


def test_baselines_are_one_line_under_the_ranked_table_until_it_is_unfolded(page: Page, tested: str) -> None:
    page.goto(tested)
    line = page.locator(".ranked + .references summary")
    expect(line).to_contain_text("Random choice 50.0")
    expect(page.locator("tr.baseline").first).to_be_hidden()
    line.click()
    expect(page.locator("tr.baseline").first).to_be_visible()
    page.click("thead .general a")
    page.wait_for_selector("thead .general[aria-sort]")
    expect(line).to_contain_text("Random choice 50.0")


def test_each_tab_ranks_by_its_accuracy_with_and_without_a_script(page: Page, plain: Page, tested: str) -> None:
    for opened in (page, plain):
        opened.goto(tested)
        expect(opened.locator(".tabs [aria-current]")).to_have_text("Macro")
        opened.focus(".tabs #by-hallucination")
        opened.keyboard.press("Enter")
        opened.wait_for_url("**sort=hallucination**")  # without a script, the whole of another page
        expect(opened.locator(".tabs [aria-current]")).to_have_text("Hallucination")
        expect(opened.locator(".ranked caption span >> nth=0")).to_have_text("hallucination")
        values = [float(row[2]) for row in rows(opened, ".ranked tbody tr")]
        assert values == sorted(values, reverse=True)
        assert rows(opened, ".ranked tbody tr")[0][0].startswith("1")


def test_the_toolbar_stands_on_one_line_from_1280_pixels(page: Page, tested: str) -> None:
    page.goto(tested)
    for width in (1280, 1440, 1920):
        page.set_viewport_size({"width": width, "height": 800})
        middles = (
            "all => all.map(one => one.getBoundingClientRect()).map(box => Math.round((box.top + box.bottom) / 2))"
        )
        found = page.eval_on_selector_all(".views :is(input[type=search], .menu > summary)", middles)
        assert max(found) - min(found) <= 1, f"at {width}: {found}"


def test_a_second_link_skips_to_the_table(page: Page, tested: str) -> None:
    page.goto(tested)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("Skip to the table")
    page.keyboard.press("Enter")
    expect(page.locator("#ranking")).to_be_focused()


def test_judges_that_tests_cannot_separate_stand_in_one_band(page: Page, tested: str) -> None:
    page.goto(tested)
    bands = page.locator(".ranked tr.band")
    expect(bands.first).to_have_class(re.compile("begins"))
    expect(bands.last).to_have_class(re.compile("ends"))
    expect(bands.first.locator(".rank .sr")).to_have_text(re.compile(r"first place|share rank \d"))
    page.click("thead .model a")
    page.wait_for_selector("thead .model[aria-sort]")
    expect(page.locator(".ranked tr.band")).to_have_count(0)  # the rows do not stand in the order of their ranks


def test_what_was_found_is_announced_and_nothing_found_can_be_undone(page: Page, short: str) -> None:
    page.goto(short)
    assert page.get_attribute("[data-count]", "aria-live") == "polite"
    page.fill("input[name=q]", "nobody at all")
    page.wait_for_selector(".empty:not([hidden])")
    expect(page.locator("[data-count]")).to_have_text("0 judges")
    page.click(".empty a")
    page.wait_for_selector("tbody tr")
    expect(page.locator("input[name=q]").first).to_have_value("")


def test_the_orders_of_the_front_page_are_there_before_a_click_and_rows_that_cannot_be_loaded_say_so(
    context: BrowserContext, short: str
) -> None:
    page = context.new_page()
    page.route("**/?*part=board*", lambda route: route.abort())
    with page.expect_response("**/?part=orders") as orders:
        page.goto(short)
    orders.value.finished()
    page.click("thead .general a")
    page.wait_for_selector("thead .general[aria-sort]")
    page.fill("input[name=q]", "judge")
    page.locator("[data-failed]", has_text="could not be loaded").wait_for()
    page.unroute("**/?*part=board*")
    page.fill("input[name=q]", "judge 1")
    page.locator("[data-failed]").wait_for(state="hidden")


def test_an_answer_that_comes_after_a_newer_one_is_not_shown(page: Page, short: str) -> None:
    page.goto(short)
    older: list[Route] = []
    address = "**/?q=judge+1&*"
    page.route(address, lambda route: older.append(route))
    try:
        with page.expect_request(address):
            page.fill("input[name=q]", "judge 1")
        page.fill("input[name=q]", "judge 2")
        newer = page.locator("#results[data-view*='judge+2']")
        newer.wait_for()
        with page.expect_response(address) as answer:
            older[0].continue_()
        answer.value.finished()
        page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        expect(newer).to_be_visible()
    finally:
        page.unroute(address)


# One beside each breakpoint of the style sheet where columns go, and the narrowest.
WIDTHS = (1440, 1320, 1230, 1110, 1000, 900, 750, 600, 340)
FEW_WIDTHS = (1440, 1000, 770, 600, 340)  # of pages without a toolbar and a table of many columns


def test_no_width_makes_the_page_scroll_sideways(page: Page, short: str) -> None:
    shown = "rows => rows.map(row => [...row.children].filter(cell => cell.checkVisibility()).length)"
    boards = {
        f"{short}/": WIDTHS,
        f"{short}/?sort=date": (1230, 900, 340),
        f"{short}/?tier=reported": FEW_WIDTHS,
    }
    others = dict.fromkeys((f"{short}{path}" for path in (*SCORECARDS, "/about")), FEW_WIDTHS)
    for url, tried in (boards | others).items():
        page.goto(url)
        for width in tried:
            page.set_viewport_size({"width": width, "height": 800})
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{url} needs {wide} of {width}"
            heads, cells = page.eval_on_selector_all(".board tr:visible", shown)[:2] if url in boards else (0, 0)
            assert heads in (0, cells), f"at {width} {heads} headings stand over {cells} cells"


def test_every_page_works_from_the_keyboard_with_a_visible_focus(page: Page, short: str) -> None:
    page.goto(short)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    seen = []
    for _ in range(24):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate("[document.activeElement.tagName, getComputedStyle(document.activeElement).outlineStyle]")
        )
    assert {"A", "INPUT", "SUMMARY"} <= {tag for tag, _ in seen}
    assert all(style != "none" for _, style in seen)


def test_the_panel_filters_without_changing_ranks_and_its_state_is_in_the_address(page: Page, tested: str) -> None:
    page.goto(tested)
    page.click(".filters summary")
    page.select_option("select[name=open]", "yes")
    page.fill("input[name=min_size]", "7")
    page.dispatch_event("input[name=min_size]", "change")
    page.wait_for_url(re.compile("open=yes&min_size=7"))
    expect(page.locator("#filtered")).to_have_text("2")
    ranks = dict(zip([row[1] for row in rows(page)], [row[0] for row in rows(page)], strict=True))
    assert ranks["Judge 41"] not in ("", "1")
    page.reload()
    expect(page.locator("input[name=min_size]").first).to_have_value("7")
    page.keyboard.press("Tab")
    page.click(".filters summary")
    page.click(".filters .panel a")
    page.wait_for_url(tested + "/")
    page.keyboard.press("Escape")


def test_columns_are_chosen_and_kept_in_the_address(page: Page, tested: str) -> None:
    page.goto(tested)
    page.click(".filters summary")
    page.check("input[name=cols][value=organisation]")
    page.uncheck("input[name=cols][value=general]")
    page.wait_for_selector(".ranked thead .general", state="hidden")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.reload()
    expect(page.locator(".ranked thead .organisation")).to_be_visible()
    page.click(".filters summary")
    page.check("input[name=cols][value=general]")
    page.uncheck("input[name=cols][value=organisation]")
    page.wait_for_url(tested + "/")


def test_axe_finds_nothing_with_menus_open_and_a_row_ticked(page: Page, tested: str) -> None:
    view = "cols=macro,general,parameters_b&compare=e00000000001"
    page.goto(f"{tested}/?{view}&as_of=snapshot-2")
    for width, scheme in ((1440, "dark"), (900, "light"), (390, "light")):
        page.set_viewport_size({"width": width, "height": 844})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.eval_on_selector_all("details.menu", "all => all.forEach(one => { one.open = one.checkVisibility(); })")
        if width != 900:
            expect_accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_judges_are_ticked_compared_and_shown_alone(page: Page, tested: str) -> None:
    page.goto(tested + "/?tier=scored")
    page.click("thead .hallucination a")
    page.wait_for_selector("thead .hallucination[aria-sort=descending]")
    names = [row[1] for row in rows(page)][:3]
    for place in range(3):
        button = page.locator("tbody .pick").nth(place)
        button.press("Space")  # which gives it the focus first, whatever has it meanwhile
        expect(button).to_have_attribute("aria-pressed", "true")
        expect(page.locator(".picked span")).to_have_text(", ".join(names[: place + 1]))
        expect(button).to_be_focused()  # it stays where it was
    expect(page.locator(".picked .do")).to_have_text("Compare 3")
    expect(page.locator(".picked span")).to_have_text(", ".join(names))
    ids = ",".join(page.eval_on_selector_all(".pick[aria-pressed=true]", "all => all.map(one => one.value)"))
    assert f"id:{ids}" in unquote(page.get_attribute(".picked [data-export]", "href") or "")
    page.click(".picked .do")
    expect(page.locator(".chosen tbody tr")).to_have_count(3)
    page.click("text=on the board")
    expect(page.locator(".picked a >> nth=-1")).to_be_visible()
    page.wait_for_load_state()
    assert sorted(row[1] for row in rows(page)) == sorted(names)
    page.click(".picked a >> nth=-1")
    page.wait_for_selector(".picked", state="hidden")
    expect(page).not_to_have_url(re.compile("compare="))


def test_the_first_screen_holds_nine_rows_and_three_on_a_phone(page: Page, short: str) -> None:
    for (width, height), least in (((1440, 900), 9), ((390, 844), 3)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(short)
        seen = "(rows, height) => rows.filter(row => row.getBoundingClientRect().bottom <= height).length"
        assert page.eval_on_selector_all(".ranked tbody tr", seen, height) >= least
