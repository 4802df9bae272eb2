"""A service that others can reach, flooded from one address: it goes on for the next, and the disk does not fill.

Every test comes from an address of its own (Linux has all of 127.0.0.0/8), so that none pays for another's flood.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import httpx
import pytest
from starlette.responses import PlainTextResponse

from auth.limits.rate_limit import FILES_PER_HOUR, MOST_OF_ONE
from tests.factories.services.service import PATIENCE, Service, running, until
from tests.factories.services.serving import serving
from web.middleware.request_limits import KEPT_FREE, MOST_BYTES, RequestLimitsMiddleware

pytestmark = pytest.mark.slow

LIMIT_MB, PER_MINUTE = 2, 40
_NUMBERS = count(2)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    environ = {"INSECURE_ALLOW_PUBLIC": "1", "IDENTITY": "", "UPLOAD_LIMIT_MB": str(LIMIT_MB)}
    folder = tmp_path_factory.mktemp("floods") / "data"
    with running(folder, gradio=True, REQUESTS_PER_MINUTE=str(PER_MINUTE), **environ) as service:
        yield service


@pytest.fixture
def visitor(service: Service) -> Iterator[httpx.Client]:
    """Somebody at an address that nobody had before."""
    with another(service) as client:
        yield client


def another(service: Service) -> httpx.Client:
    at = httpx.HTTPTransport(local_address=f"127.0.0.{next(_NUMBERS)}")
    return httpx.Client(base_url=service.url, transport=at, timeout=PATIENCE)


def judge(service: Service) -> bytes:
    """Return a file that the demo takes."""
    judges = data(service) / "demo" / "judges"
    return (judges / json.loads((judges / "index.json").read_bytes())[0]["file"]).read_bytes()


def data(service: Service) -> Path:
    return service.log_path.with_suffix("")


def uploaded(client: httpx.Client, content: bytes) -> dict[str, object]:
    answer = client.post("/app/gradio_api/upload", files={"files": ("predictions.jsonl", content)})
    assert answer.status_code == 200, answer.text
    return {"path": answer.json()[0], "meta": {"_type": "gradio.FileData"}}


def test_of_one_address_only_a_few_calls_wait_and_the_next_visitor_does_not_wait_for_hundreds(
    service: Service, visitor: httpx.Client
) -> None:
    file = uploaded(visitor, judge(service) + b"\n")
    config = visitor.get("/app/config").json()
    (predictions,) = (one["id"] for one in config["components"] if one["props"].get("elem_id") == "predictions")
    (check,) = (one["id"] for one in config["dependencies"] if one["inputs"] == [predictions])
    call = {"data": [file], "fn_index": check, "session_hash": "many"}
    answers = [visitor.post("/app/gradio_api/queue/join", json=call) for _ in range(PER_MINUTE - 5)]
    codes = [answer.status_code for answer in answers]
    assert set(codes) == {200, 503}
    assert codes[:MOST_OF_ONE] == [200] * MOST_OF_ONE
    assert codes.count(503) > len(codes) / 3  # a check takes longer than to ask for it
    assert "from your address" in answers[codes.index(503)].text
    with another(service) as neighbour:
        theirs = {**call, "data": [uploaded(neighbour, judge(service) + b"\n\n")], "session_hash": "next"}
        assert neighbour.post("/app/gradio_api/queue/join", json=theirs).status_code == 200


def test_what_nobody_fetches_is_kept_for_so_many_sessions_and_not_permanently() -> None:
    import gradio as gr

    from web.gradio_app import SESSIONS, limit_gradio_queue

    with gr.Blocks() as pages:
        limit_gradio_queue(pages)
    for name in ("pending_messages_per_session", "pending_event_ids_session"):
        bounded = vars(pages._queue)[name]
        for number in range(2 * SESSIONS):
            bounded[f"s{number}"] = set()
        assert next(iter(bounded)) == f"s{SESSIONS}"
        assert len(bounded) == SESSIONS


def test_one_address_may_upload_so_many_bytes_and_no_more(service: Service, visitor: httpx.Client) -> None:
    whole = b"x" * (LIMIT_MB * 2**20)
    codes = [visitor.post("/app/gradio_api/upload", files={"files": ("x", whole)}).status_code for _ in range(20)]
    assert codes == [200] * FILES_PER_HOUR + [429] * (20 - FILES_PER_HOUR)
    refused = visitor.post("/api/v1/check", content=whole)
    assert (refused.status_code, refused.json()["code"]) == (429, "too-many-bytes")  # wherever they go
    assert int(refused.headers["retry-after"]) > 60
    with another(service) as neighbour:
        assert neighbour.post("/api/v1/check", content=whole).status_code == 200


NO_FILES = [("POST", "/api/v1/disputes"), ("PATCH", "/api/v1/entries/x"), ("POST", "/app/gradio_api/queue/join")]
LISTS = b'{"item": [' + b"[]," * (MOST_BYTES // 3) + b"[]]}"  # seconds to read where it may be twenty times as long


@pytest.mark.parametrize(("method", "path"), NO_FILES)
def test_a_large_body_where_no_file_belongs_is_refused_unread(visitor: httpx.Client, method: str, path: str) -> None:
    refused = visitor.request(method, path, content=LISTS, headers={"Content-Type": "application/json"})
    assert (refused.status_code, refused.json()["code"]) == (413, "too-large")


def test_a_disk_that_is_nearly_full_takes_no_uploads() -> None:
    free = [KEPT_FREE + 2**20]

    async def taken(scope: object, receive: object, send: object) -> None:
        await PlainTextResponse("taken")(scope, receive, send)  # type: ignore[arg-type]

    with serving(RequestLimitsMiddleware(taken, 64 * 2**20, free=lambda: free[0])) as url:
        check = f"{url}/api/v1/check"
        assert httpx.post(check, content=b"x" * 2**20).text == "taken"
        free[0] -= 1
        refused = httpx.post(check, content=b"x" * 2**20)
        assert (refused.status_code, refused.json()["code"]) == (507, "no-room")
        assert "Try again later." in refused.json()["detail"]
        assert httpx.post(check, content=iter([b"x"])).status_code == 507  # it could be as much as is taken
        assert httpx.post(url, content=b"a form").text == httpx.get(url).text == "taken"


def test_the_service_goes_on(service: Service) -> None:
    until(lambda: service.http.get("/readyz").status_code == 200, PATIENCE, what="ready")
    failed = [line for line in service.log.splitlines() if "Traceback" in line]
    assert failed == []
