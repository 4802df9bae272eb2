"""The board among the Gradio pages, in a real browser and for gradio_client."""

from collections.abc import Iterator
from typing import Any

import gradio as gr
import pytest
from fastapi import FastAPI
from gradio_client import Client
from playwright.sync_api import Page, expect

import leaderboard.api
import leaderboard.gradio_page
import leaderboard.routes
from leaderboard import theme
from leaderboard.cache import BoardCache
from tests.factories.services.serving import serving
from tests.factories.snapshots import FixedSource, entries, entry, snapshot
from tests.factories.specs import VL
from web.middleware.security_headers import SecurityHeadersMiddleware

pytestmark = pytest.mark.slow
HOSTILE = "{{value}} ${alert(1)} <img src=x onerror=alert(1)>"
WIDE: Any = {"width": 1440, "height": 900}


def some_entries() -> list[dict[str, Any]]:
    return [
        *entries([(1, 0.85), (2, 0.75), (3, 0.65)], k=5, organisation="Lab"),
        entry(4, 0.55, k=1),
        entry(5, 0.45, model=HOSTILE),
        entry(6, 0.35),
    ]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Yield the public pages and the Gradio pages on a free port."""
    cache = BoardCache(FixedSource(snapshot(some_entries())), check_every=60)
    app = FastAPI()
    app.include_router(leaderboard.routes.build(cache))
    app.include_router(leaderboard.api.build(cache))
    with gr.Blocks(analytics_enabled=False) as pages:
        leaderboard.gradio_page.build_board(cache)
    design = {"theme": theme.theme(), "css": theme.css(VL), "head": theme.head(VL)}
    app = gr.mount_gradio_app(app, pages, "/app", ssr_mode=False, run_history=False, footer_links=[], **design)
    with serving(SecurityHeadersMiddleware(app)) as address:
        yield address


@pytest.mark.browser
def test_the_board_stands_at_app_with_names_as_text_and_its_links_lead_to_the_board(page: Page, url: str) -> None:
    wrong: list[str] = []  # asked of another host, or failed
    page.set_viewport_size(WIDE)
    page.on("request", lambda one: wrong.append(one.url) if not one.url.startswith((url, "data:", "blob:")) else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if "Security Policy" in said.text else None)
    page.on("dialog", lambda dialog: wrong.append(f"a dialog: {dialog.message}"))
    page.goto(f"{url}/app/")
    expect(page.get_by_text(HOSTILE).first).to_be_visible()
    first = page.locator(".board tbody tr.scored th").first
    expect(first).to_contain_text("Judge 1")
    assert not wrong
    page.locator("th.general a").click()
    page.wait_for_url(f"{url}/?sort=general&dir=desc")


def test_the_client_reads_the_board_and_sees_no_other_endpoint(url: str) -> None:
    client = Client(f"{url}/app", verbose=False)
    assert set(client.view_api(return_format="dict", print_info=False)["named_endpoints"]) == {"/leaderboard"}
    found = client.predict(api_name="/leaderboard")
    assert next(one["id"] for one in found["entries"] if one["tier"] == "scored") == "e00000000001"
    paper = client.predict(protocol="paper", revision="v2", api_name="/leaderboard")
    assert (paper["protocol"], paper["label_revision"]) == ("paper", "v2")
    with pytest.raises(Exception, match="protocol is one of strict"):
        client.predict(protocol="nonsense", api_name="/leaderboard")
