"""In a real browser: the links to files follow the view, and the board stands in another site's frame."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from tests.factories.services.serving import serving
from tests.factories.snapshots import FixedSource, crowd, snapshot
from tests.leaderboard.test_board_browser import pytestmark as pytestmark
from tests.leaderboard.test_routes import serve


def listen(app: object) -> Iterator[int]:
    with serving(app) as url:
        yield int(url.rpartition(":")[2])


@pytest.fixture(scope="module")
def board() -> Iterator[int]:
    yield from listen(serve(FixedSource(snapshot(crowd(12)))))


@pytest.fixture(scope="module")
def elsewhere(board: int) -> Iterator[int]:
    """Yield another site (another host name and port) that frames the board, once as meant and once not."""

    def page(_: Request) -> Response:
        frames = "".join(
            f'<iframe id="{name}" width="1000" height="500" src="http://127.0.0.1:{board}/{query}"></iframe>'
            for name, query in (("meant", "?embed=1"), ("stolen", ""))
        )
        return HTMLResponse(frames)

    yield from listen(Starlette(routes=[Route("/", page)]))


def test_another_site_may_frame_the_embedded_board_and_only_that(browser: Browser, board: int, elsewhere: int) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"http://localhost:{elsewhere}/")
    meant, stolen = page.frame_locator("#meant"), page.frame_locator("#stolen")
    expect(meant.locator("tbody tr").first).to_be_visible()
    expect(meant.locator("header")).to_have_count(0)
    expect(stolen.locator("tbody tr")).to_have_count(0)
    meant.locator("thead [data-sort=reasoning]").click()
    expect(meant.locator("thead [aria-sort]")).to_contain_text("Reasoning")
    with context.expect_page() as opened:
        meant.locator("tbody tr.scored a").first.click()
    opened.value.wait_for_url(f"http://127.0.0.1:{board}/entries/*")
    context.close()
