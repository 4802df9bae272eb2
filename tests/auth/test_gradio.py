"""Gradio's handlers and the REST routes read the same identity."""

from __future__ import annotations

import pytest
from fastapi import FastAPI, Request
from gradio_client import Client  # type: ignore[import-untyped]

from auth import Identity, Role, require
from auth.middleware import IdentityMiddleware, identity_of
from storage.database import Database
from tests.factories.fakes.openid_provider import Provider, serving
from tests.factories.services.auth_site import AuthSite, openid_settings

pytestmark = pytest.mark.slow


def test_a_gradio_handler_knows_who_asks_and_refuses_the_others(provider: Provider, sqlite: Database) -> None:
    import gradio as gr

    site = AuthSite(openid_settings(provider, maintainers=("alice",)), sqlite, provider=provider)
    browser = site.browser()
    browser.sign_in()
    submit, maintain = browser.make_token("a"), browser.make_token("b", ("maintain",))

    def who(request: gr.Request) -> str:
        return identity_of(request.request).name or "nobody"

    def maintained(request: gr.Request) -> str:
        found: Identity = require(identity_of(request.request), Role.MAINTAINER)
        return found.name

    for handler in (who, maintained):  # what Gradio reads; the module itself does not import it
        handler.__annotations__["request"] = gr.Request

    with gr.Blocks() as demo:
        out = gr.Textbox()
        gr.Button().click(who, None, out, api_name="who")
        gr.Button().click(maintained, None, out, api_name="maintained")
    app = FastAPI()

    @app.get("/who")
    def rest(request: Request) -> str:
        return identity_of(request).name

    gr.mount_gradio_app(app, demo, path="/app", ssr_mode=False)
    with serving(IdentityMiddleware(app, site.settings, resolver=site.identities.resolver)) as url:

        def client(**headers: str) -> Client:
            return Client(f"{url}/app", headers=headers, verbose=False)

        cookie = f"{site.settings.session_cookie}={browser.session}"
        assert client().predict(api_name="/who") == "nobody"
        assert client(Authorization=f"Bearer {submit}").predict(api_name="/who") == "alice"
        signed_in = client(Cookie=cookie, Origin=site.settings.public_url)
        assert signed_in.predict(api_name="/who") == "alice"
        assert signed_in.predict(api_name="/maintained") == "alice"
        assert client(Authorization=f"Bearer {maintain}").predict(api_name="/maintained") == "alice"
        for headers in ({}, {"Authorization": f"Bearer {submit}"}):
            with pytest.raises(Exception, match=r"(?i)error|role|sign in"):
                client(**headers).predict(api_name="/maintained")
        with pytest.raises(Exception, match=r"403|(?i:another site|other-site|forbidden)"):
            client(Cookie=cookie, Origin="https://evil.example").predict(api_name="/who")
