"""Every page of the whole service in a real browser: on a phone and on a wide screen, light and dark, with axe."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.factories.services.axe import axe_results
from tests.factories.services.service import Service, until
from tests.factories.services.signed_in import running_signed_in
from tests.factories.services.targets import small_targets
from tests.test_chinese_pages import pages_with_english

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(600)]

PHONE, WIDE = {"width": 390, "height": 844}, {"width": 1440, "height": 900}
# Where a page is one of many, a * stands for which; the first that another page leads to is looked at.
PAGES = (
    *("/", "/entries/*", "/entries/nobody"),
    *("/compare", "/compare?entries=*", "/explore", "/explore/*", "/check-numbers", "/check-numbers?general=63.8"),
    *(
        "/about",
        "/policy",
        "/decisions",
        "/decisions/*",
        "/red-team",
        "/reported",
        "/judges",
        "/judges/*",
        "/status",
        "/docs",
    ),
    *("/account", "/account/submissions/*", "/disputes", "/dispute/*", "/annotate"),
    *("/analyse", "/analyse?chart=history", "/app/submit", "/maintain"),
)
SIGNED_OUT = ("/account", "/dispute/*", "/disputes", "/annotate", "/app/submit", "/maintain")
# What is no page of the board: data, files, the way to the provider of accounts, and where Gradio's hidden bar leads.
_NO_PAGE = re.compile(
    r"/(api|export|static|auth)/|/app/$|/openapi\.json|/analyse\.|\.(xml|bib|svg|png|yaml|jsonl|tex|txt)$"
)
_WHICH = re.compile(r"^(/entries|/explore|/judges|/dispute|/decisions|/account/submissions)/[^/]+$")
_ENTRY, _PAIR, _DECISION = r'href="/entries/(e[a-z2-7]{11})"', r"/explore/([0-9a-f]+)", r"/decisions/(\d+)"
_GRAVE = ("serious", "critical")
_TRANSITIONS_END = """() => Promise.allSettled(
  document.getAnimations().filter((one) => one instanceof CSSTransition).map((one) => one.finished))"""
_LINKS = ".top a:not(.language)"  # to other pages; the others lead to the same one in another language


@dataclass
class PagesWorld:
    """The service with sign-in, and a page for who is signed in and for who is not.

    `found`: for every kind of page the first address; `led_to`: where links lead; `broken`: rules of the policy that a
    page broke, as inline code and requests to elsewhere do.
    """

    service: Service
    browser: Browser
    inside: Page
    outside: Page
    found: dict[str, str]
    led_to: set[str] = field(default_factory=set)
    broken: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for page in (self.inside, self.outside):
            page.on("console", lambda said: self.broken.append(said.text) if "Security Policy" in said.text else None)

    def address(self, kind: str) -> str:
        return self.service.url + self.found.get(kind, kind)


@pytest.fixture(scope="module")
def world(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PagesWorld]:
    data = tmp_path_factory.mktemp("pages") / "data"
    with running_signed_in(data, gradio=True, MAINTAINERS="alice", REQUESTS_PER_MINUTE="0") as signed_in:
        service = signed_in.service
        inside, outside = browser.new_context(), browser.new_context()
        page = inside.new_page()
        page.goto(f"{service.url}/auth/sign-in?next=/account")
        expect(page.get_by_role("heading", name="alice")).to_be_visible()
        found = _addresses(page, service, data=data)
        yield PagesWorld(service, browser=browser, inside=page, outside=outside.new_page(), found=found)
        inside.close()
        outside.close()


def _addresses(page: Page, service: Service, *, data: Path) -> dict[str, str]:
    """Return one page of each kind, found as readers find them; alice's own submission is one of them."""
    judge = sorted((data / "demo" / "judges").glob("*.jsonl"))[0]
    # Signed in as alice; other bytes, or it would be the submission that is there already.
    file = {"name": "mine.jsonl", "mimeType": "text/plain", "buffer": judge.read_bytes() + b"\n"}
    form: Any = {"file": file, "model": "Mine"}
    reply = page.request.post(f"{service.url}/api/v1/submissions", multipart=form, headers={"Origin": service.url})
    assert reply.status == 202, reply.text()
    mine = reply.json()["id"]
    until(lambda: page.request.get(f"{service.url}/entries/{mine}").status == 200, 60, what="it is on the board")

    def listed(path: str, pattern: str) -> list[str]:
        return re.findall(pattern, service.http.get(path).text)

    until(lambda: len(listed("/", _ENTRY)) > 6, 60, what="others are")
    until(lambda: listed("/decisions", _DECISION), 60, what="something is decided")
    entries, pair, decision = listed("/", _ENTRY), listed("/explore", _PAIR)[0], listed("/decisions", _DECISION)[0]
    return {
        "/entries/*": f"/entries/{mine}",
        "/judges/*": "/judges/mine",
        "/compare?entries=*": f"/compare?entries={','.join(entries[:3])}",
        "/explore/*": f"/explore/{pair}",
        "/dispute/*": f"/dispute/{pair}",
        "/decisions/*": f"/decisions/{decision}",
        "/account/submissions/*": f"/account/submissions/{mine}",
    }


@pytest.mark.parametrize("kind", PAGES)
def test_a_page_is_accessible_fits_the_screen_and_has_the_header_and_footer(world: PagesWorld, kind: str) -> None:
    _look(world, world.inside, kind=kind)


@pytest.mark.parametrize("kind", SIGNED_OUT)
def test_so_it_is_for_who_is_not_signed_in(world: PagesWorld, kind: str) -> None:
    _look(world, world.outside, kind=kind)


def _look(world: PagesWorld, page: Page, *, kind: str) -> None:
    """Raise AssertionError where axe finds something or a width does not fit."""
    wrong = []
    # The structure is the same in the dark; there the colours are looked at alone, and they have no width.
    looks: list[tuple[str, Any, tuple[str, ...]]] = [("light", (PHONE, WIDE), ())]
    if page != world.outside:
        looks.append(("dark", (WIDE,), ("color-contrast",)))
    for scheme, screens, rules in looks:
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.set_viewport_size(screens[0])
        if scheme == "light":
            _open(page, world.address(kind))
        elif page.locator(".gradio-container").count():
            expect(page.locator("body.dark")).to_be_attached()  # Gradio's script follows the scheme
            page.evaluate(_TRANSITIONS_END)
        if screens[0] == PHONE:
            _expect_header_and_footer(page)
        for screen in screens:
            page.set_viewport_size(screen)
            # What a script draws follows the width a moment later.
            expect(page.locator("html")).to_have_js_property("scrollWidth", screen["width"])
            if screen == WIDE and scheme == "light":
                continue
            found = axe_results(page, rules).response["violations"]
            where = f"{kind}, {screen['width']} px, {scheme}"
            found = [one for one in found if "/app/" not in kind or one["impact"] in _GRAVE]  # Gradio's has others
            wrong += [f"{where}: {one['id']} {one['nodes'][0]['html']}" for one in found]
    if "/app/" not in kind:
        page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        wrong += [f"{kind}: {one} is too small for a finger" for one in small_targets(page)]
    world.led_to |= set(page.eval_on_selector_all("a[href]", "all => all.map(one => one.href)"))
    assert not wrong, "\n".join(wrong)
    assert world.broken == []


def _expect_header_and_footer(page: Page) -> None:
    """Raise AssertionError where they are not those of every page, or do not say on which one the reader is."""
    texts = "all => all.map(one => one.textContent)"
    names = ["Board", "Analyse", "Compare", "Explore", "Check my numbers", "About"]
    assert page.eval_on_selector_all(_LINKS, texts) == ["VL-RewardBench", *names, "Submit predictions"]
    assert page.eval_on_selector_all(".top .language", texts) == ["中文"]
    assert page.eval_on_selector_all(".foot a", texts)[1:4] == ["Rules for submitting", "Decisions", "Red team"]
    here = page.locator(".top [aria-current=page]")
    for link in here.all():
        expect(link).to_be_in_viewport(ratio=0.95)  # on a phone too, where the row scrolls
    own = page.eval_on_selector_all(_LINKS, "all => all.map(one => new URL(one.href).pathname)")
    address = page.url
    path = urlsplit(address).path
    assert here.count() <= 1
    assert path not in own[1:] or urlsplit(here.get_attribute("href") or "").path == path
    page.locator("body").press("Tab")
    page.keyboard.press("Enter")  # "Skip to the content" comes first
    expect(page.locator("#main")).to_be_focused()
    assert page.url.startswith(address)


def _open(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator("h1").first).to_be_visible()
    if "/app/" in address:
        expect(page.locator(".foot")).to_be_visible()  # the last that Gradio draws


def test_no_page_is_led_to_that_is_not_in_the_list(world: PagesWorld) -> None:
    if not world.led_to:
        pytest.skip("no page was opened before")
    own = [urlsplit(one).path for one in world.led_to if one.startswith(world.service.url)]
    pages = {_WHICH.sub(r"\1/*", path) for path in own if not _NO_PAGE.search(path)}
    assert pages - {urlsplit(one).path for one in PAGES} == set()


def test_no_english_sentence_or_mark_is_left_on_a_chinese_page(world: PagesWorld) -> None:
    headers = {"Accept-Language": "zh-CN,zh;q=0.9", "Connection": "close"}  # reading a page takes long
    cookies = {one["name"]: one["value"] for one in world.inside.context.cookies()}  # type: ignore[typeddict-item]
    with httpx.Client(
        base_url=world.service.url, headers=headers, cookies=cookies, timeout=60, follow_redirects=True
    ) as client:
        assert pages_with_english(client) == {}


@pytest.mark.parametrize(
    ("browsers", "asked", "word"), [("en-US", "zh-CN", "点击上传"), ("zh-CN", "en", "Click to Upload")]
)
def test_words_of_gradio_follow_the_language_of_the_page_not_of_the_browser(
    world: PagesWorld, browsers: str, asked: str, word: str
) -> None:
    state = world.inside.context.storage_state()
    context = world.browser.new_context(locale=browsers, storage_state=state)
    page = context.new_page()
    page.goto(f"{world.service.url}/app/submit?lang={asked}")
    expect(page.get_by_text(word)).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", asked)
    context.close()
