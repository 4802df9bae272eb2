"""Without sign-in: what local mode lets in and what it keeps out."""

from __future__ import annotations

import pytest
from fastapi import FastAPI, Request
from starlette.testclient import TestClient

from auth.middleware import identity_of
from auth.settings import IdentitySettings, Mode
from storage.database import Database
from tests.factories.services.auth_site import AuthSite


@pytest.fixture
def local(sqlite: Database) -> AuthSite:
    return AuthSite(IdentitySettings(), sqlite)


def client(site: AuthSite, base_url: str = "http://127.0.0.1:7860", **headers: str) -> TestClient:
    return TestClient(site.app, base_url=base_url, headers=headers)


def test_local_mode_is_one_person_who_may_do_everything(local: AuthSite) -> None:
    found = client(local).get("/whoami").json()
    assert found == {"account": "local", "name": "local", "roles": ["maintainer", "owner", "submitter"]}
    page = client(local).get("/account").text
    assert "Local mode" in page
    assert "Sign in" not in page
    assert client(local).get("/auth/sign-in").status_code == 404


@pytest.mark.parametrize("address", ["http://localhost:7860", "http://127.0.0.1", "http://[::1]:7860"])
def test_local_mode_answers_under_the_names_of_this_machine(local: AuthSite, address: str) -> None:
    assert client(local, address).post("/submit", headers={"origin": address}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example:7860", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1"])
def test_local_mode_does_not_answer_to_names_that_others_control(local: AuthSite, host: str) -> None:
    answer = client(local, f"http://{host}").get("/whoami")
    assert (answer.status_code, answer.json()["code"]) == (403, "not-local")


PROXIES = ("for", "host", "user", "proto", "port", "server", "prefix")
HEADERS = ("forwarded", "x-real-ip", "via", "x-client-ip", "true-client-ip", "cf-connecting-ip", "cf-ray")


@pytest.mark.parametrize("header", [*(f"x-forwarded-{name}" for name in PROXIES), *HEADERS])
def test_local_mode_does_not_answer_through_a_proxy(local: AuthSite, header: str) -> None:
    assert client(local, **{header: "203.0.113.7"}).get("/whoami").status_code == 403


def test_a_foreign_page_cannot_use_local_mode(local: AuthSite) -> None:
    for origin in ("https://evil.example", "null", "http://127.0.0.1:9999", "http://evil.example:7860"):
        assert client(local, origin=origin).post("/maintain").status_code == 403
    assert client(local, **{"sec-fetch-site": "cross-site"}).post("/maintain").status_code == 403
    assert local.done == []
    assert client(local, origin="http://127.0.0.1:7860").post("/maintain").status_code == 200
    assert client(local).post("/maintain").status_code == 200  # a program of this machine


def test_open_mode_lets_everybody_submit_and_nobody_maintain(sqlite: Database) -> None:
    site = AuthSite(IdentitySettings(mode=Mode.OPEN), sqlite)
    visitor = client(site, "http://board.lan:7860")
    assert visitor.post("/submit").status_code == 200
    assert visitor.post("/maintain").status_code == 403
    assert "No sign-in" in visitor.get("/account").text
    assert visitor.post("/submit", headers={"origin": "https://evil.example"}).status_code == 403


def test_an_application_without_the_middleware_fails_instead_of_letting_anybody_in() -> None:
    app = FastAPI()

    @app.get("/")
    def page(request: Request) -> str:
        return identity_of(request).name

    with pytest.raises(RuntimeError, match="IdentityMiddleware"):
        TestClient(app).get("/")
