"""The Gradio pages in a real browser, and what they make of an address."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
import pytest
from fastapi import FastAPI
from gradio_client import Client
from playwright.sync_api import expect

import leaderboard.api
import leaderboard.gradio_page
import leaderboard.routes
from benchmark.statistics.pairwise import compare_all, pack
from leaderboard import theme
from leaderboard.analysis_tab import FIRST_SHOWN, MOST_CHOSEN, draw, from_address, names, read_choice
from leaderboard.cache import BoardCache
from leaderboard.charts.catalog import CHARTS
from leaderboard.pages.item_catalog import ItemCatalog
from tests.factories.serving import serving
from tests.factories.snapshots import FixedSource, entries, entry, items, label_sets, snapshot
from tests.factories.specs import VL
from web.middleware.security_headers import SecurityHeadersMiddleware

pytestmark = pytest.mark.slow
HOSTILE = "{{value}} ${alert(1)} <img src=x onerror=alert(1)>"
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}


def some_entries() -> list[dict[str, Any]]:
    return [
        *entries([(1, 0.85), (2, 0.75), (3, 0.65)], k=5, organisation="Lab"),
        entry(4, 0.55, k=1),
        entry(5, 0.45, model=HOSTILE),
        entry(6, 0.35),
    ]


def site_of(found: list[dict[str, Any]]) -> BoardCache:
    return BoardCache(FixedSource(snapshot(found)), check_every=60)


def state(**values: Any) -> str:
    return json.dumps({"query": "", "dark": False, "width": 1200, **values})


# --- addresses --------------------------------------------------------------------------------------------------------


def test_an_address_without_a_choice_shows_the_best_judges() -> None:
    choice = read_choice(site_of(some_entries()).refresh(), {}, state())
    assert choice.entries == tuple(f"e{number:011d}" for number in range(1, FIRST_SHOWN + 1))
    assert (choice.protocol, choice.grouping, choice.revision, choice.chart) == (
        "strict",
        "official",
        "v2",
        "categories",
    )


def test_an_address_is_read_back_and_what_means_nothing_is_dropped() -> None:
    edition = site_of(some_entries()).refresh()
    query = "?entries=e00000000003,nobody,e00000000003,e00000000001&chart=tags&protocol=paper&grouping=x&revision=v0"
    named = from_address(state(query=query))
    choice = read_choice(edition, named, state())
    assert choice.entries == ("e00000000003", "e00000000001")
    assert (choice.chart, choice.protocol, choice.grouping, choice.revision) == ("tags", "paper", "official", "v0")


def test_a_figure_is_of_so_many_judges_at_most_each_once() -> None:
    edition = site_of(entries([(number, 0.6) for number in range(300)])).refresh()
    ids = [one["id"] for one in edition.snapshot["entries"]]
    assert read_choice(edition, {"entries": ids[:1] * 5000 + ids}, state()).entries == tuple(ids[:MOST_CHOSEN])


def test_an_address_that_chooses_nobody_is_an_empty_choice() -> None:
    edition = site_of(some_entries()).refresh()
    assert read_choice(edition, from_address(state(query="?entries=")), state()).entries == ()


@pytest.mark.parametrize("said", ["", "[]", "null", '{"width": "x"}', '{"width": 1e9}', '{"width": -5, "dark": 1}'])
def test_a_page_that_measures_nonsense_is_drawn_all_the_same(said: str) -> None:
    edition = site_of(some_entries()).refresh()
    choice = read_choice(edition, {"entries": [1, None, "e00000000001"], "protocol": 7, "chart": []}, said)
    assert choice.entries == ("e00000000001",)
    assert 280 <= choice.page.width <= 2400
    found = draw(edition, choice, ItemCatalog())
    assert found.figure
    assert "data-save" in found.words


def test_an_empty_board_shows_what_is_reported_and_without_that_says_what_to_do() -> None:
    bare = BoardCache(FixedSource(None), published=()).refresh()
    found = draw(bare, read_choice(bare, {}, state()), ItemCatalog())
    assert found.figure is None
    assert "/app/submit" in found.words
    edition = BoardCache(FixedSource(None)).refresh()
    choice = read_choice(edition, {}, state())
    assert len(choice.entries) == FIRST_SHOWN
    assert draw(edition, choice, ItemCatalog()).figure


def test_names_that_are_equal_are_told_apart() -> None:
    edition = site_of([entry(1, 0.7, model="Same"), entry(2, 0.6, model="Same")]).refresh()
    found = names(edition, ())
    assert list(found.values())[:2] == ["Same (e00000000001)", "Same (e00000000002)"]
    assert len(set(found.values())) == len(found)
    assert found["r-gpt-4o-2024-08-06-2411-17451"] == "GPT-4o (2024-08-06) · arXiv:2411.17451"


# --- the running pages ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Yield the public pages and the Gradio pages on a free port."""
    body = snapshot(some_entries())
    names = [one["id"] for one in body["entries"]]
    verdicts = np.random.default_rng(1).integers(0, 2, (len(names), len(items()))).astype(np.int8)
    found = compare_all(names, verdicts, label_sets()["v2"], items())
    packed = pack(found.relations)
    body["relations"] = {"v2": {"id": packed.id, "judges": len(names), **found.summary}}
    source = FixedSource({**snapshot(entries([(7, 0.7)], model="Of the past")), "created_at": "2026-10-01T09:30:00Z"})
    source.turn({**body, "disclosure": {"v0": "categories"}})
    site = BoardCache(source, check_every=60)
    materials = ItemCatalog(relations_body=lambda name: packed.body if name == packed.id else None)
    app = FastAPI()
    app.include_router(leaderboard.routes.build(site))
    app.include_router(leaderboard.api.build(site))
    with gr.Blocks(analytics_enabled=False) as pages:
        leaderboard.gradio_page.build_board(site)
    with pages.route("Analyse", "/analyse"):
        leaderboard.gradio_page.build_analyse(site, materials)
    design = {"theme": theme.theme(), "css": theme.css(VL), "head": theme.head(VL)}
    app = gr.mount_gradio_app(app, pages, "/app", ssr_mode=False, run_history=False, footer_links=[], **design)
    with serving(SecurityHeadersMiddleware(app)) as address:
        yield address


@pytest.fixture(scope="module")
def cached(browser: Any) -> Iterator[Any]:
    """Yield what keeps Gradio's scripts from one test to the next."""
    context = browser.new_context(accept_downloads=True)
    yield context
    context.close()


@pytest.fixture
def visit(cached: Any, url: str) -> Iterator[Any]:
    """Open a page; at the end of the test nothing may have been asked of another host, and nothing have failed."""
    opened, foreign, errors = [], [], []

    def visit(path: str, viewport: dict[str, int] = WIDE, scheme: str = "light") -> Any:
        page = cached.new_page()
        opened.append(page)
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=scheme)
        page.on("request", lambda r: foreign.append(r.url) if not r.url.startswith((url, "data:", "blob:")) else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: errors.append(said.text) if "Security Policy" in said.text else None)
        page.on("dialog", lambda dialog: errors.append(f"a dialog: {dialog.message}"))
        page.goto(url + path)
        return page

    yield visit
    for page in opened:
        with suppress(Exception):
            page.close()
    assert not foreign
    assert not errors


LOOK = """() => { const d = document.querySelector("#vl-figure .js-plotly-plot");
    const count = (selector) => d.querySelectorAll(selector).length;
    return {title: d.layout.meta.title, ground: d.layout.paper_bgcolor, width: d.offsetWidth,
            dots: count(".scatterlayer .point"), modebar: count(".modebar-btn")}; }"""


FITS = "document.documentElement.scrollWidth <= innerWidth"


def drawn(page: Any, **expected: Any) -> dict[str, Any]:
    """Title, ground and number of dots of the figure on the page, once it is there and as expected."""
    page.wait_for_selector("#vl-figure .main-svg")
    as_expected = f"(one) => {{ const found = ({LOOK})(); return Object.keys(one).every((k) => found[k] === one[k]); }}"
    page.wait_for_function(as_expected, arg=expected)
    found: dict[str, Any] = page.evaluate(LOOK)
    return found


@pytest.mark.browser
def test_the_board_stands_at_app_and_sorts_by_click(visit: Any) -> None:
    page = visit("/app/")
    page.wait_for_selector(".board tbody tr.scored")
    first = page.locator(".board tbody tr.scored th").first
    expect(first).to_contain_text("Judge 1")
    page.wait_for_selector("[data-mounted]")
    heading = page.locator("th.general button")
    heading.click()
    page.wait_for_selector("th.general[aria-sort=descending]")
    heading.click()
    page.wait_for_selector("th.general[aria-sort=ascending]")
    assert "/app" in page.url
    expect(first).to_contain_text(re.compile("^Judge 6"))


@pytest.mark.browser
def test_what_a_submitter_wrote_is_text_on_both_pages(visit: Any) -> None:
    page = visit("/app/")
    page.wait_for_selector(".board tbody tr.scored")
    page.get_by_text(HOSTILE).first.wait_for()
    page = visit("/app/analyse?entries=e00000000005,e00000000001")
    drawn(page)
    page.locator("#vl-figure").get_by_text("{{value}}").first.wait_for(state="attached")
    expect(page.locator("#vl-figure img, .vl-numbers img")).to_have_count(0)


@pytest.mark.browser
def test_a_choice_is_drawn_kept_in_the_address_and_found_again(visit: Any) -> None:
    page = visit("/app/analyse")
    drawn(page, dots=4 * FIRST_SHOWN)
    page.get_by_text("Error tags", exact=True).click()
    page.wait_for_function('document.querySelector("[data-chart]")?.dataset.chart === "tags"')
    page.locator(".vl-judges .token-remove").first.click()
    page.wait_for_function('document.querySelectorAll("#vl-figure .scatterlayer .point").length === 24')
    page.wait_for_url(re.compile(r"/app/analyse\?entries=e00000000002,[^&]*&revision=v2&chart=tags$"))
    again = visit("/app/" + page.url.split("/app/")[1])
    drawn(again, dots=24)
    expect(again.locator(".vl-judges .token")).to_have_count(4)


@pytest.mark.browser
def test_the_figure_is_taken_along_as_picture_and_as_numbers(visit: Any, tmp_path: Path) -> None:
    page = visit("/app/analyse?entries=e00000000001,e00000000002")
    assert drawn(page)["modebar"] == 0
    starts = {"png": b"\x89PNG", "svg": b"<svg", "csv": b"\xef\xbb\xbfjudge,group", "json": b"{"}
    for kind, start in starts.items():
        with page.expect_download() as waiting:
            page.locator(f"[data-save={kind}]").click()
        assert waiting.value.suggested_filename == f"vl-rewardbench-categories.{kind}"
        waiting.value.save_as(tmp_path / kind)
        assert (tmp_path / kind).read_bytes().startswith(start)
    data = json.loads((tmp_path / "json").read_bytes())
    assert (data["label_revision"], data["protocol"], data["snapshot"]) == ("v2", "strict", "snapshot-2")
    assert len(data["rows"]) == 2 * 4
    assert set(data["columns"]) >= {"judge", "value, %", "pairs"}


@pytest.mark.browser
def test_the_address_holds_board_labels_and_figure_and_says_what_is_not_shown(visit: Any) -> None:
    page = visit("/app/analyse?as_of=snapshot-1&chart=categories")
    assert drawn(page)["dots"] == 4
    expect(page.locator(".vl-then")).to_contain_text("The board as it was on 2026-10-01")
    page.get_by_text("Size", exact=True).click()
    page.wait_for_function('document.querySelector("[data-chart]")?.dataset.chart === "size"')
    lasting = re.compile(r"\?(?=.*as_of=snapshot-1\b).*chart=size\b")
    expect(page).to_have_url(lasting)
    expect(page.get_by_role("link", name="Permanent link")).to_have_attribute("href", lasting)
    page = visit("/app/analyse?as_of=0123456789ab")
    expect(page.locator(".vl-none")).to_contain_text("No leaderboard for that date")
    page = visit("/app/analyse?chart=tags&revision=v0&protocol=paper", PHONE, "dark")
    expect(page.locator(".vl-none")).to_contain_text("Not shown for this label set")
    expect(page.locator("#vl-figure .main-svg")).to_have_count(0)
    expect(page.get_by_label("Rule")).to_be_disabled()


@pytest.mark.browser
@pytest.mark.parametrize("chart", ["categories", "best-of-n"])
@pytest.mark.parametrize(("scheme", "ground"), [("light", "#ffffff"), ("dark", "#121417")])
def test_figures_follow_the_ground_and_fit_a_telephone(visit: Any, chart: str, scheme: str, ground: str) -> None:
    page = visit(f"/app/analyse?chart={chart}", PHONE, scheme)
    found = drawn(page, ground=ground)
    assert found["width"] <= PHONE["width"]
    page.wait_for_function(FITS)
    expect(page.locator("#vl-figure")).to_have_attribute("aria-label", found["title"])


@pytest.mark.browser
def test_every_figure_draws_without_a_word_in_the_console(visit: Any) -> None:
    page = visit("/app/analyse?paper=1", PHONE, "dark")
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    drawn(page)
    for name, kind in CHARTS.items():
        page.locator(".vl-seg label").get_by_text(kind.title, exact=True).click()
        page.wait_for_function(f'document.querySelector("[data-chart]")?.dataset.chart === "{name}"')
        found = drawn(page)
        assert found["width"] <= PHONE["width"], name
        page.wait_for_function(FITS)
        expect(page.locator(".vl-paper")).to_be_visible(visible=kind.paper)
        query = "new URLSearchParams(location.search)"
        page.wait_for_function(f'({query}.get("chart") ?? "categories") === "{name}" && {query}.get("paper") === "1"')
    assert not said


@pytest.mark.browser
def test_a_figure_is_drawn_again_when_the_ground_turns(visit: Any) -> None:
    page = visit("/app/analyse")
    drawn(page, ground="#ffffff")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function('document.querySelector("#vl-figure .js-plotly-plot").layout.paper_bgcolor === "#121417"')


@pytest.mark.browser
def test_nobody_chosen_is_an_answer_not_an_empty_figure(visit: Any) -> None:
    page = visit("/app/analyse?entries=")
    expect(page.locator(".vl-none")).to_contain_text("No judge chosen")
    expect(page.locator("#vl-figure .main-svg")).to_have_count(0)


def test_the_client_reads_the_board_and_sees_no_other_endpoint(url: str) -> None:
    client = Client(f"{url}/app", verbose=False)
    assert set(client.view_api(return_format="dict", print_info=False)["named_endpoints"]) == {"/leaderboard"}
    found = client.predict(api_name="/leaderboard")
    assert next(one["id"] for one in found["entries"] if one["tier"] == "scored") == "e00000000001"
    paper = client.predict(protocol="paper", revision="v2", api_name="/leaderboard")
    assert (paper["protocol"], paper["label_revision"]) == ("paper", "v2")
    with pytest.raises(Exception, match="protocol is one of strict"):
        client.predict(protocol="nonsense", api_name="/leaderboard")
