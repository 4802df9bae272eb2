"""A small service behind the identity of this project, and browsers that visit it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from httpx2 import Response
from sqlalchemy import text
from starlette.testclient import TestClient

from auth import AuthError, Role, require
from auth.middleware import IdentityMiddleware, identity_of
from auth.pages import build, refusals
from auth.service import AuthService
from auth.settings import IdentitySettings, Mode
from leaderboard.site.render import account_pages
from leaderboard.site.render_context import RenderContext
from storage.database import Database
from tests.factories.fakes.openid_provider import CLIENT_ID, CLIENT_SECRET, Provider

PUBLIC_URL = "https://board.example"
OUTSIDE = httpx.Client(verify=False, trust_env=False)  # what a browser asks of the provider
SECRET = "Qm8fXo2nT4sVb7Zc1Kd9Lw3Rj6Hy5Gp0AeUiBtNx"


def openid_settings(provider: Provider, **changes: Any) -> IdentitySettings:
    values: dict[str, Any] = {
        "mode": Mode.OPENID,
        "public_url": PUBLIC_URL,
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        "issuer": provider.url,
        "session_secrets": (SECRET,),
        "http_seconds": 5.0,
    }
    return IdentitySettings(**(values | changes))


class AuthSite:
    """The service. What was changed by whom stands in `done`."""

    def __init__(self, settings: IdentitySettings, database: Database, *, provider: Provider | None = None) -> None:
        self.settings, self.database, self.provider = settings, database, provider
        self.identities = AuthService.create(database, settings)
        self.done: list[tuple[str, str]] = []
        self.app = IdentityMiddleware(self._routes(), settings, resolver=self.identities.resolver)

    def browser(self) -> Browser:
        """Return a browser that was never here."""
        return Browser(self)

    def sql(self, statement: str, **values: Any) -> list[Any]:
        """Read or changes the tables behind the service's back."""
        with self.database.write() as session:
            result = session.execute(text(statement), values)
            return list(result.all()) if result.returns_rows else []  # type: ignore[attr-defined]

    def _routes(self) -> FastAPI:
        app = FastAPI()
        pages = account_pages(RenderContext())
        app.include_router(build(self.identities, pages, sections=lambda _: _SECTIONS))
        app.add_exception_handler(AuthError, refusals(self.identities, pages))

        @app.get("/whoami")
        def whoami(request: Request) -> JSONResponse:
            found = identity_of(request)
            return JSONResponse({"account": found.account, "name": found.name, "roles": sorted(found.roles)})

        @app.post("/submit")
        def submit(request: Request) -> dict[str, bool]:
            self.done.append(("submit", require(identity_of(request), Role.SUBMITTER).name))
            return {"ok": True}

        @app.api_route("/maintain", methods=["GET", "POST"])
        def maintain(request: Request) -> dict[str, bool]:
            self.done.append(("maintain", require(identity_of(request), Role.MAINTAINER).name))
            return {"ok": True}

        @app.post("/own")
        def own(request: Request) -> dict[str, bool]:
            self.done.append(("own", require(identity_of(request), Role.OWNER).name))
            return {"ok": True}

        return app


_SUBMISSION = SimpleNamespace(
    id="e0",
    title="<script>judge</script>",
    state="scored",
    shown_label="",
    entry_url="",
    reason="",
    attempt=None,
    created_at="2027-01-15T08:00:00Z",
)
_HAPPENED = SimpleNamespace(
    title="judge", entry="e0", sentence="It was flagged: <b>copied</b>", at="2026-11-21T22:00:00Z"
)
_SECTIONS = {"submissions": [_SUBMISSION], "has_pages": True, "activity": [_HAPPENED]}


class Browser:
    """Keeps cookies, says where its requests come from, and walks through the provider on the way in."""

    def __init__(self, site: AuthSite) -> None:
        self.site = site
        origin = site.settings.public_url or "http://127.0.0.1:7860"
        self.origin = origin
        self.client = TestClient(site.app, base_url=origin, follow_redirects=False)

    @property
    def cookies(self) -> dict[str, str]:
        return {cookie.name: cookie.value or "" for cookie in self.client.cookies.jar}

    @property
    def session(self) -> str:
        return self.cookies.get(self.site.settings.session_cookie, "")

    def plant(self, name: str, value: str) -> None:
        """Put a cookie into the jar, anyone who it came from."""
        self.client.cookies.delete(name) if name in self.cookies else None
        self.client.cookies.set(name, value, domain=urlsplit(self.origin).hostname or "", path="/")

    def get(self, path: str, **more: Any) -> Response:
        return self.client.get(path, **more)

    def post(self, path: str, data: Mapping[str, Any] | None = None, **more: Any) -> Response:
        """Return a form of our own page: with Origin; `headers` adds or, with None, takes away."""
        headers = {"origin": self.origin, **more.pop("headers", {})}
        kept = {name: value for name, value in headers.items() if value is not None}
        return self.client.post(path, data=dict(data or {}), headers=kept, **more)

    def start(self, target: str | None = None) -> str:
        """Clicks "Sign in"; returns where the provider sends the browser back to."""
        asked = self.get("/auth/sign-in", params={"next": target} if target is not None else {})
        assert asked.status_code == 303, asked.text
        answer = OUTSIDE.get(asked.headers["location"])
        assert answer.status_code == 302, answer.text
        return answer.headers["location"]

    def sign_in(self, user: str = "alice", target: str | None = None) -> Response:
        """Return the whole way; returns the answer to the callback."""
        assert self.site.provider is not None
        self.site.provider.who = user
        return self.get(self.start(target))

    def name(self) -> str:
        """Return who the service takes this browser for."""
        return str(self.get("/whoami").json()["name"])

    def roles(self) -> list[str]:
        return list(self.get("/whoami").json()["roles"])

    def make_token(self, name: str = "cluster", scopes: tuple[str, ...] = ("submit",), *, days: int = 30) -> str:
        page = self.post("/account/tokens", {"name": name, "scopes": list(scopes), "days": str(days)})
        found = re.search(r"vlrb_[\w-]{43}", page.text)
        assert found is not None, page.text
        return found[0]


def program(site: AuthSite, token: str = "", **headers: str) -> TestClient:
    """Return a client without a browser: no cookies, no Origin."""
    sent = {"authorization": f"Bearer {token}", **headers} if token else headers
    return TestClient(site.app, base_url=site.settings.public_url or "http://127.0.0.1:7860", headers=sent)


def query_of(url: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
