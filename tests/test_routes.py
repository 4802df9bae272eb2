"""Every route of the whole application that changes something is shut to pages of other sites, anyone who added it."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.responses import HTMLResponse
from starlette.testclient import TestClient

from auth.problem_details import MEDIA_TYPE
from auth.role_route import MOST_PARTS
from leaderboard.board.pages import BoardFastPathMiddleware
from receipts.jws import Signer
from settings import Settings
from storage.database import Database
from tests.databases import new_database
from tests.factories.services.layers import application_within, flat
from web.app import create_app
from web.middleware.security_headers import SecurityHeadersMiddleware
from web.services import build_services

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
    return built(settings, database)


def built(settings: Settings, database: Database) -> Any:
    signer = Signer.parse(base64.b64encode(bytes(range(32))).decode())
    services = build_services(settings, database, signer=signer)
    services.spool.sweep()
    return create_app(services, on_misconfigured=lambda: None)


@pytest.fixture(scope="module")
def client(asgi: Any) -> TestClient:
    return TestClient(asgi, base_url=OWN, raise_server_exceptions=False)


@pytest.fixture(scope="module")
def local_asgi(tmp_path_factory: pytest.TempPathFactory, database: Database) -> Any:
    environ = {"DATA_DIR": str(tmp_path_factory.mktemp("local")), "LABELS": "v2=/labels.jsonl", "IDENTITY": "local"}
    return built(Settings.from_env(environ | {"REQUESTS_PER_MINUTE": "0"}), database)


@pytest.fixture
def local(local_asgi: Any) -> TestClient:
    """Somebody with every role: the person at this machine."""
    return TestClient(local_asgi, base_url="http://localhost", raise_server_exceptions=False)


def served(asgi: Any) -> set[tuple[str, str]]:
    """(method, path) of every route; what stands for a value is left as it is written."""
    routes = flat(application_within(asgi).routes)
    return {(method, route.path) for route in routes for method in getattr(route, "methods", None) or ()}


def filled(path: str, value: str = "x") -> str:
    return re.sub(r"\{[^}]*\}", value, path)


def readable(asgi: Any) -> list[str]:
    """Every path that can be read."""
    return sorted({path for method, path in served(asgi) if method == "GET"})


def changing(asgi: Any) -> list[tuple[str, str]]:
    """(method, path) of every route that changes something, Gradio's included."""
    found = {(method, filled(path)) for method, path in served(asgi) if method not in ("GET", "HEAD", "OPTIONS")}
    gradio = {("POST", f"/app/gradio_api/{path}") for path in GRADIO}
    return sorted(found | gradio | {("DELETE", "/"), ("PUT", "/app/submit")})


ASKS_NOBODY = {"/api/v1/check"}
MAINTAINERS_ALONE = "/api/v1/maintenance/"


def for_roles(asgi: Any) -> list[tuple[str, str]]:
    """(method, path) of every route of the API that changes something, and of all that is for maintainers."""
    found = {
        (method, filled(path))
        for method, path in served(asgi)
        if method not in ("HEAD", "OPTIONS") and (method != "GET" or path.startswith(MAINTAINERS_ALONE))
    }
    return sorted(one for one in found if one[1].startswith("/api/") and one[1] not in ASKS_NOBODY)


def test_no_route_that_changes_something_can_be_used_by_a_page_of_another_site(asgi: Any, client: TestClient) -> None:
    routes = changing(asgi)
    assert len(routes) > 60
    assert {path for _, path in routes} >= {"/api/v1/submissions", "/api/v1/check", "/account/tokens", "/auth/sign-out"}
    for method, path in routes:
        for user, headers in FOREIGN.items():
            answer = client.request(method, path, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (403, "other-site"), (method, path, user)
            assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("junk", ["9223372036854775808", "-1", "a%00b", "%ED%A0%80"])
def test_no_number_or_name_that_no_database_holds_is_a_fault_of_the_service(
    asgi: Any, client: TestClient, junk: str
) -> None:
    found = {filled(path, junk) for path in readable(asgi) if "{" in path}
    asked = {f"/api/v1/{name}={junk}" for name in ("chain?after", "decisions?before", "account/events?before")}
    assert len(found) > 15
    for address in sorted(found | asked):
        answer = client.get(address, headers={"Origin": OWN}, follow_redirects=False)
        assert answer.status_code < 500, (address, answer.text)
        if address in asked:
            assert answer.status_code in (401, 422), address


def test_half_a_character_in_a_body_is_the_askers_fault(local: TestClient) -> None:
    headers = {"Content-Type": "application/json"}
    for path, field in (("rescore/undo", "revision"), ("reported", "content")):
        body = f'{{"{field}": "\\ud800", "reason": "x"}}'
        answer = local.post(f"/api/v1/maintenance/{path}", content=body, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid-parameter"), path


def test_every_answer_says_what_browsers_may_do_with_it(asgi: Any, client: TestClient, settings: Settings) -> None:
    Path(settings.data_dir).mkdir(exist_ok=True)
    paths = {filled(path) for _, path in served(asgi)} | {"/app/submit", "/nowhere", "/app/gradio_api/info"}
    foreign = {"Origin": "https://evil.example", **COOKIE}
    for path in sorted(paths):
        answer = client.get(path, headers={"Accept": "text/html", **foreign}, follow_redirects=False)
        preflight = client.options(path, headers={**foreign, "Access-Control-Request-Method": "POST"})
        assert not [name for name in (*answer.headers, *preflight.headers) if name.startswith("access-control")], path
        assert answer.headers["x-content-type-options"] == "nosniff", path
        assert answer.headers["strict-transport-security"] == "max-age=31536000", path
        if answer.headers.get("content-type", "").startswith(("text/css", "text/javascript")):
            continue  # the policies of the page that loads it
        assert ("api-version" in answer.headers) == path.startswith("/api/"), path
        assert answer.headers["referrer-policy"], path
        assert answer.headers["cross-origin-opener-policy"] == "same-origin", path
        assert "camera=()" in answer.headers["permissions-policy"], path
        policy = dict(one.strip().partition(" ")[::2] for one in answer.headers["content-security-policy"].split(";"))
        assert set(policy) >= {"default-src", "frame-ancestors"}, path
        assert not any("http" in value for name, value in policy.items() if name != "frame-ancestors"), path
        if not path.startswith("/app"):
            assert "unsafe" not in policy.get("script-src", policy["default-src"]), path
            assert policy["default-src"] == "'none'", path
        elif answer.headers["content-type"].startswith("text/html"):
            assert policy["object-src"] == "'none'" and policy["base-uri"] == policy["form-action"] == "'self'"


def test_browsers_are_held_to_https_only_where_they_come_over_it(local: TestClient) -> None:
    for path in ("/", "/about", "/nowhere"):
        assert "strict-transport-security" not in local.get(path).headers
        behind_a_proxy = TestClient(SecurityHeadersMiddleware(HTMLResponse("a page")), base_url="https://board.example")
        assert behind_a_proxy.get(path).headers["strict-transport-security"] == "max-age=31536000"


HOSTS = ("evil.example", "evil.example/x", 'evil".example', "board.example.evil.example:80")


def test_the_host_that_a_request_claims_is_in_no_answer(asgi: Any, client: TestClient) -> None:
    claimed = cycle(HOSTS)
    paths = {filled(path).rstrip("/") for path in readable(asgi)} | {"/app", "/app/submit"}
    redirected = 0
    for path in sorted(paths):
        for asked in (path or "/", f"{path}/?q=1"):
            host = next(claimed)
            answer = client.get(asked, headers={"Host": host, "X-Forwarded-Host": host}, follow_redirects=False)
            told = [value for value in answer.headers.values() if "evil" in value]
            assert not told and "evil" not in answer.text, asked
            if "location" in answer.headers and answer.status_code == 308:
                redirected += 1
                assert answer.headers["location"].startswith(("/", OWN)), asked
    assert redirected > 50


def test_while_too_many_wait_for_pages_others_get_a_busy_error_and_the_board_is_served(asgi: Any) -> None:
    fast = asgi
    while not isinstance(fast, BoardFastPathMiddleware):
        fast = fast._app
    executor = fast._boards["/"].executor
    visitor = TestClient(asgi, base_url=OWN, raise_server_exceptions=False)
    before, executor._waiting = executor._waiting, executor._most
    try:
        for path in ("/?sort=model", "/api/v1/leaderboard?protocol=paper"):
            answer = visitor.get(path)
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "5"), path
            assert (answer.headers["content-type"] == MEDIA_TYPE) == path.startswith("/api/")
        assert visitor.get("/").status_code == 200
    finally:
        executor._waiting = before


def framed_by(answer: httpx.Response) -> str:
    return answer.headers["content-security-policy"].partition("frame-ancestors ")[2]


def test_another_site_may_frame_pages_where_people_sign_in_and_it_is_hugging_face(
    client: TestClient, local: TestClient, tmp_path: Path, database: Database
) -> None:
    space = {"SPACE_ID": "o/n", "SPACE_HOST": "o-n.hf.space", "INSECURE_ALLOW_PUBLIC": "1"}
    settings = Settings.from_env({"DATA_DIR": str(tmp_path), "LABELS": "v2=/labels.jsonl", **space})
    on_a_space = TestClient(built(settings, database), base_url="https://o-n.hf.space")
    for visitor, frames in (
        (client, "'self' https://huggingface.co"),
        (local, "'self'"),
        (on_a_space, "'self' https://huggingface.co"),
    ):
        for path in ("/", "/?sort=model", "/about", "/nowhere", "/app/submit"):  # from the bytes, made, and Gradio's
            for _ in range(2):
                answer = visitor.get(path, headers={"Accept": "text/html"})
                assert framed_by(answer) == frames, path
        assert framed_by(visitor.get("/?embed=1")) == "*"
        for path in ("/account", "/maintain"):
            assert framed_by(visitor.get(path, headers={"Accept": "text/html"})) in ("'self'", "'none'"), path
    assert framed_by(local.get("/maintain")) == "'none'"


FOR_MAINTAINERS = re.compile(r"/maintenance\b|/(hide|restore|verify|unverify|flag|unflag|transfer)$")


NO_SENSE: tuple[dict[str, Any], ...] = (
    {},
    {"json": {}},
    {"content": "{", "headers": {"Content-Type": "application/json"}},
)


def test_a_route_reveals_its_schema_only_after_authentication(asgi: Any, client: TestClient) -> None:
    routes = for_roles(asgi)
    assert len(routes) > 50
    for (method, path), sent in zip(routes, cycle(NO_SENSE), strict=False):
        answer = client.request(method, path, **sent)
        assert (answer.status_code, answer.json()["code"]) == (401, "sign-in-needed"), (method, path)


@pytest.fixture(scope="module")
def submitters_asgi(tmp_path_factory: pytest.TempPathFactory, database: Database) -> Any:
    """Return an application in which everybody is a submitter."""
    environ = {"DATA_DIR": str(tmp_path_factory.mktemp("public")), "LABELS": "v2=/labels.jsonl"}
    return built(Settings.from_env(environ | {"INSECURE_ALLOW_PUBLIC": "1", "REQUESTS_PER_MINUTE": "0"}), database)


def test_maintainers_routes_reveal_no_schema_to_others(submitters_asgi: Any) -> None:
    client = TestClient(submitters_asgi, base_url=OWN, raise_server_exceptions=False)
    routes = [
        one
        for one in for_roles(submitters_asgi)
        if one[1].startswith(MAINTAINERS_ALONE) or FOR_MAINTAINERS.search(one[1])
    ]
    assert len(routes) > 40
    for (method, path), sent in zip(routes, cycle(NO_SENSE), strict=False):
        answer = client.request(method, path, **sent)
        assert (answer.status_code, answer.json()["code"]) == (403, "not-allowed"), (method, path)


def test_a_body_of_very_many_values_is_refused_unread(asgi: Any, local: TestClient) -> None:
    routes = [one for one in for_roles(asgi) if one[0] != "GET" and one[1] != "/api/v1/submissions"]
    for parts in (MOST_PARTS + 1, MOST_PARTS // 4):  # refused; and the control, which is read
        bodies = cycle(['{"errors": [' + f"{value}," * parts + value + "]}" for value in ("1", "[]", "{}")])
        for method, path in routes:
            headers = {"Content-Type": "application/json"}
            answer = local.request(method, path, content=next(bodies), headers=headers)
            assert ("too-many-parts" in answer.text) is (parts > MOST_PARTS), (method, path)
            assert len(answer.content) < 4000
