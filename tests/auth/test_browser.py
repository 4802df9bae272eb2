"""The account page in a real browser: its forms work under its own policy, and pages of other sites get nowhere."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.responses import HTMLResponse, Response
from playwright.sync_api import Page, expect

from auth.middleware import IdentityMiddleware
from auth.pages import AccountPages
from auth.routes import build
from leaderboard import render
from leaderboard.render_context import RenderContext
from storage.database import Database
from tests.factories.fakes.openid_provider import Provider, serving, serving_on
from tests.factories.services.auth_site import AuthSite, openid_settings

pytestmark = pytest.mark.browser


@pytest.fixture
def address(provider: Provider, sqlite: Database) -> Iterator[str]:
    """Yield the service in the layout of the public pages, on http://127.0.0.1."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    provider.redirect_uris = {f"{url}/auth/callback"}
    site = AuthSite(openid_settings(provider, public_url=url, maintainers=("alice",)), sqlite, provider=provider)
    app = FastAPI()
    app.include_router(build(site.identities, AccountPages(render.environment(RenderContext()))))

    @app.get("/static/{name}")
    def static(name: str) -> Response:
        found = next(asset for asset in render.assets().values() if asset.url.endswith(name))
        return Response(found.body.encodings["identity"], media_type=found.body.media_type)

    with serving_on(listener, IdentityMiddleware(app, site.settings, resolver=site.identities.resolver)) as served:
        yield served


def test_a_page_on_another_port_cannot_use_the_session(page: Page, address: str) -> None:
    # Same site for the browser, so SameSite lets the cookie through; the Origin is what stops it.
    evil = FastAPI()

    @evil.get("/")
    def attack() -> HTMLResponse:
        form = f'<form method="post" action="{address}/auth/sign-out"><input name="csrf" value="x"></form>'
        return HTMLResponse(f"<body>{form}<script>document.forms[0].submit()</script>")

    page.goto(f"{address}/auth/sign-in?next=/account")
    page.get_by_role("heading", name="alice").wait_for()
    sent: list[Any] = []
    page.on("request", lambda request: sent.append(request) if request.method == "POST" else None)
    with serving(evil) as elsewhere:
        page.goto(elsewhere, wait_until="commit")  # its script leaves at once
        page.wait_for_url(f"{address}/auth/sign-out")
    expect(page.locator("body")).to_contain_text("another site")
    assert "vlrb_session" in sent[0].all_headers().get("cookie", "")  # it did come along
    page.goto(f"{address}/account")
    page.get_by_role("heading", name="alice").wait_for()
