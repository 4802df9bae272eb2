"""Without sign-in: what local mode lets in and what it keeps out."""

from __future__ import annotations

import hashlib

import pytest
from fastapi import FastAPI, Request
from starlette.testclient import TestClient

from auth.middleware import identity_of
from auth.settings import IdentitySettings, IdentitySettingsError, Mode, check_secret
from storage.database import Database
from tests.factories.services.auth_site import PUBLIC_URL, SECRET, AuthSite

GOOD = {
    "mode": Mode.OPENID,
    "public_url": PUBLIC_URL,
    "client_id": "leaderboard",
    "client_secret": "s",
    "session_secrets": (SECRET,),
}


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


# Settings


@pytest.mark.parametrize(
    "secret",
    [
        "",
        "shorty",
        "x" * 64,
        "changeme-changeme-changeme-changeme",
        "replace-me-with-32-random-bytes-please",
        hashlib.sha256(b"-v4").hexdigest(),  # what Gradio takes when nobody gives it a secret
    ],
)
def test_a_secret_that_others_could_know_is_refused_and_not_repeated(secret: str) -> None:
    with pytest.raises(IdentitySettingsError) as refusal:
        check_secret(secret)
    assert "SESSION_SECRET" in str(refusal.value)
    assert not secret or secret not in str(refusal.value)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"session_secrets": ()}, "SESSION_SECRET"),
        ({"session_secrets": (SECRET, "short")}, "SESSION_SECRET"),
        ({"client_id": ""}, "OIDC_CLIENT_ID"),
        ({"public_url": ""}, "PUBLIC_URL"),
        ({"public_url": "http://board.example"}, "PUBLIC_URL"),
        ({"public_url": "https://board.example/"}, "PUBLIC_URL"),
        ({"public_url": "https://board.example/path"}, "PUBLIC_URL"),
        ({"public_url": "https://board.example:443"}, "PUBLIC_URL"),
        ({"public_url": "https://Board.example"}, "PUBLIC_URL"),
        ({"public_url": "https://me@board.example"}, "PUBLIC_URL"),
        ({"public_url": "board.example"}, "PUBLIC_URL"),
        ({"issuer": "http://issuer.example"}, "OIDC_ISSUER"),
        ({"issuer": ""}, "OIDC_ISSUER"),
    ],
)
def test_settings_that_would_let_the_wrong_people_in_are_refused(changes: dict[str, object], named: str) -> None:
    with pytest.raises(IdentitySettingsError, match=named):
        IdentitySettings(**(GOOD | changes))  # type: ignore[arg-type]
    IdentitySettings(**GOOD)  # type: ignore[arg-type]


def test_an_application_without_the_middleware_fails_instead_of_letting_anybody_in() -> None:
    app = FastAPI()

    @app.get("/")
    def page(request: Request) -> str:
        return identity_of(request).name

    with pytest.raises(RuntimeError, match="IdentityMiddleware"):
        TestClient(app).get("/")
