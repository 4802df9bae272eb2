"""Every route of the whole application that changes something is shut to pages of other sites, whoever added it."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

import app as service
from settings import Settings
from storage.database import Database
from submissions.receipts.issuing import Receipts
from submissions.receipts.signing import Signer
from submissions.spool import Spool
from tests.databases import new_database

OWN = "https://board.example"
COOKIE = {"Cookie": "__Host-vlrb_session=x; vlrb_session=x"}
FOREIGN: dict[str, dict[str, str]] = {
    "another site": {"Origin": "https://evil.example"},
    "another site, with the cookie": {"Origin": "https://evil.example", **COOKIE},
    "a sandboxed frame": {"Origin": "null", **COOKIE},
    "the same name without encryption": {"Origin": "http://board.example", **COOKIE},
    "a longer name": {"Origin": "https://board.example.evil.example", **COOKIE},
    "no origin, with the cookie": COOKIE,
    "an old browser's word": {"Sec-Fetch-Site": "cross-site", **COOKIE},
}
# Gradio's own, which it adds when it is laid out: all that it takes with POST.
GRADIO = (
    "upload", "queue/join", "queue/data", "run/predict", "run/submit", "api/predict", "call/submit", "call/look",
    "component_server", "reset", "cancel", "stream/x/x/x", "startup-events", "login", "process_recording",
)  # fmt: skip


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    opened = new_database(f"sqlite:///{tmp_path_factory.mktemp('routes')}/leaderboard.db")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    environ = {
        "DATA_DIR": str(tmp_path_factory.mktemp("data")),
        "LABELS": "v2=/labels.jsonl",
        "PUBLIC_URL": OWN,
        "OIDC_CLIENT_ID": "id",
        "SESSION_SECRET": "Qm8fXo2nT4sVb7Zc1Kd9Lw3Rj6Hy5Gp0AeUiBtNx",
        "REQUESTS_PER_MINUTE": "0",
    }
    return Settings.from_env(environ)


@pytest.fixture(scope="module")
def asgi(settings: Settings, database: Database) -> Any:
    signer = Signer.parse(base64.b64encode(bytes(range(32))).decode())
    intake = service._intake(settings, database, signer)
    receipts = Receipts(database, settings.benchmark, signer, settings.hidden_labels)
    spool = Spool(settings.spool_dir, settings.upload_limit_bytes)
    spool.sweep()
    return service.build_app(settings, database, intake, spool, receipts, lambda: None)


@pytest.fixture(scope="module")
def client(asgi: Any) -> TestClient:
    return TestClient(asgi, base_url=OWN, raise_server_exceptions=False)


def inner(asgi: Any) -> FastAPI:
    """The application behind all that stands around it."""
    while not isinstance(asgi, FastAPI):
        asgi = asgi._app
    return asgi


def changing(asgi: Any) -> list[tuple[str, str]]:
    """(method, path) of every route that changes something, Gradio's included."""
    found = {
        (method, re.sub(r"\{[^}]*\}", "x", route.path))
        for route in flat(inner(asgi).routes)
        for method in getattr(route, "methods", None) or ()
        if method not in ("GET", "HEAD", "OPTIONS")
    }
    gradio = {("POST", f"/app/gradio_api/{path}") for path in GRADIO}
    return sorted(found | gradio | {("DELETE", "/"), ("PUT", "/app/")})


def flat(routes: Any) -> Iterator[Any]:
    for route in routes:
        inside = getattr(route, "routes", None) or getattr(getattr(route, "original_router", None), "routes", None)
        if inside:
            yield from flat(inside)
        else:
            yield route


def test_no_route_that_changes_something_can_be_used_by_a_page_of_another_site(asgi: Any, client: TestClient) -> None:
    routes = changing(asgi)
    assert len(routes) > 60
    assert {path for _, path in routes} >= {"/api/v1/submissions", "/api/v1/check", "/account/tokens", "/auth/sign-out"}
    for method, path in routes:
        for who, headers in FOREIGN.items():
            answer = client.request(method, path, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (403, "other-site"), (method, path, who)
            assert answer.headers["content-type"] == "application/problem+json"


def test_the_same_requests_get_further_from_our_own_pages(asgi: Any, client: TestClient) -> None:
    """The positive control: it is the origin that was refused, not the request."""
    for method, path in changing(asgi):
        answer = client.request(method, path, headers={"Origin": OWN})
        assert "other-site" not in answer.text, (method, path)
        assert "Traceback" not in answer.text
        assert answer.status_code < 500 or path.startswith("/app/"), (method, path, answer.text)  # Gradio is not there


@pytest.mark.parametrize("junk", ["9223372036854775808", "9" * 30, "-1", "a%00b"])
def test_no_number_or_name_that_no_database_holds_is_a_fault_of_the_service(
    asgi: Any, client: TestClient, junk: str
) -> None:
    gets = {route.path for route in flat(inner(asgi).routes) if "GET" in (getattr(route, "methods", None) or ())}
    filled = {re.sub(r"\{[^}]*\}", junk, path) for path in gets if "{" in path}
    asked = {f"/api/v1/{name}={junk}" for name in ("chain?after", "decisions?before", "account/events?before")}
    assert len(filled) > 15
    for address in sorted(filled | asked):
        answer = client.get(address, headers={"Origin": OWN}, follow_redirects=False)
        assert answer.status_code < 500, (address, answer.text)
        if address in asked:
            assert answer.status_code in (401, 422), address


def test_half_a_character_in_a_body_is_the_askers_fault(client: TestClient) -> None:
    headers = {"Origin": OWN, "Content-Type": "application/json"}
    for path, field in (("rescore/undo", "revision"), ("reported", "content")):
        body = f'{{"{field}": "\\ud800", "reason": "x"}}'
        answer = client.post(f"/api/v1/maintenance/{path}", content=body, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid-parameter"), path


def test_no_route_lets_another_site_read_with_the_visitors_credentials(asgi: Any, client: TestClient) -> None:
    for route in flat(inner(asgi).routes):
        if "GET" not in (getattr(route, "methods", None) or ()):
            continue
        path = re.sub(r"\{[^}]*\}", "x", route.path)
        headers = {"Origin": "https://evil.example", **COOKIE}
        for answer in (
            client.get(path, headers=headers, follow_redirects=False),
            client.options(path, headers={**headers, "Access-Control-Request-Method": "POST"}),
        ):
            assert "access-control-allow-origin" not in answer.headers, path
            assert "access-control-allow-credentials" not in answer.headers, path


def test_every_answer_says_what_browsers_may_do_with_it(asgi: Any, client: TestClient, settings: Settings) -> None:
    Path(settings.data_dir).mkdir(exist_ok=True)
    paths = {re.sub(r"\{[^}]*\}", "x", route.path) for route in flat(inner(asgi).routes) if hasattr(route, "methods")}
    for path in sorted(paths | {"/", "/app/", "/nowhere", "/app/gradio_api/info"}):
        answer = client.get(path, headers={"Accept": "text/html"}, follow_redirects=False)
        assert answer.headers["x-content-type-options"] == "nosniff", path
        assert answer.headers["referrer-policy"], path
        policy = dict(one.strip().partition(" ")[::2] for one in answer.headers["content-security-policy"].split(";"))
        assert set(policy) >= {"default-src", "frame-ancestors"}, path
        assert not any("http" in value for name, value in policy.items() if name != "frame-ancestors"), path
        if not path.startswith("/app"):
            assert "unsafe" not in answer.headers["content-security-policy"], path
            assert policy["default-src"] == "'none'", path
        elif answer.headers["content-type"].startswith("text/html"):
            assert policy["object-src"] == "'none'" and policy["base-uri"] == policy["form-action"] == "'self'"


def test_the_description_for_programs_names_no_secret_and_no_page_of_maintainers(client: TestClient) -> None:
    described = client.get("/openapi.json").text
    for word in ("secret", "SESSION_SECRET", "labels.jsonl", "Qm8fXo2n"):
        assert word not in described, word
    assert "/app" not in client.get("/openapi.json").json()["paths"]


FOR_MAINTAINERS = re.compile(r"/maintenance\b|/(hide|restore|verify|unverify|flag|unflag|transfer|merge)$")


def test_what_is_for_maintainers_is_described_to_nobody_else(asgi: Any, client: TestClient) -> None:
    served = {route.path for route in flat(inner(asgi).routes) if hasattr(route, "methods")}
    assert len([path for path in served if FOR_MAINTAINERS.search(path)]) > 30  # they are there
    described = client.get("/openapi.json").json()["paths"]
    for_all = {"/api/v1/check", "/api/v1/submissions", "/api/v1/disputes", "/api/v1/entries/{entry}/withdraw"}
    assert for_all <= set(described)
    assert not [path for path in described if FOR_MAINTAINERS.search(path)]
    assert "/maintenance/" not in client.get("/docs").text
