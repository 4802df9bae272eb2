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
EVIL = "evil.example"
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


def kept(service: Service, content: bytes) -> bool:
    """Return whether Gradio still has an uploaded file with this content."""
    found = (data(service) / "demo" / "gradio").rglob("*")
    return any(path.is_file() and path.read_bytes() == content for path in found)


def uploaded(client: httpx.Client, content: bytes) -> dict[str, object]:
    answer = client.post("/app/gradio_api/upload", files={"files": ("predictions.jsonl", content)})
    assert answer.status_code == 200, answer.text
    return {"path": answer.json()[0], "meta": {"_type": "gradio.FileData"}}


def said(client: httpx.Client, name: str, *values: object) -> str:
    """Return what a function of Gradio answers in the end."""
    event = client.post(f"/app/gradio_api/call/{name}", json={"data": values})
    assert event.status_code == 200, event.text
    return client.get(f"/app/gradio_api/call/{name}/{event.json()['event_id']}").text


def test_of_one_address_only_a_few_calls_wait_and_the_next_visitor_does_not_wait_for_hundreds(
    service: Service, visitor: httpx.Client
) -> None:
    file = uploaded(visitor, judge(service) + b"\n")
    answers = [visitor.post("/app/gradio_api/call/check", json={"data": [file]}) for _ in range(PER_MINUTE - 5)]
    codes = [answer.status_code for answer in answers]
    assert set(codes) == {200, 503}
    assert codes[:MOST_OF_ONE] == [200] * MOST_OF_ONE
    assert codes.count(503) > len(codes) / 3  # a check takes longer than to ask for it
    assert "from your address" in answers[codes.index(503)].text
    with another(service) as neighbour:
        assert '"ok": true' in said(neighbour, "check", uploaded(neighbour, judge(service) + b"\n\n"))


@pytest.mark.parametrize("path", ["run/check", "api/check", "run/predict"])
def test_nobody_calls_past_the_queue(service: Service, visitor: httpx.Client, path: str) -> None:
    file = uploaded(visitor, judge(service))
    functions = {one["api_name"]: one["id"] for one in visitor.get("/app/config").json()["dependencies"]}
    refused = visitor.post(f"/app/gradio_api/{path}", json={"data": [file], "fn_index": functions["check"]})
    assert refused.status_code == 404
    assert ("queue" in refused.text) == (path == "run/predict")  # the others are not there
    assert '"ok": true' in said(visitor, "check", file)  # the control


def test_who_listens_for_what_nobody_has_asked_cannot_fill_the_log(service: Service, visitor: httpx.Client) -> None:
    def listen() -> int:
        with visitor.stream("GET", "/app/gradio_api/queue/data?session_hash=nobody") as answer:
            return answer.status_code

    assert listen() == 200  # Gradio answers first, and raises then
    until(lambda: "sse_stream" in service.log, PATIENCE, what="it is in the log")
    codes = [listen() for _ in range(PER_MINUTE + 20)]
    assert 429 in codes
    assert service.log.count("sse_stream") <= 2 * codes.count(200) + 2  # the function's name is there twice


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


def test_who_does_not_say_how_much_is_coming_is_counted_as_if_it_were_the_most(visitor: httpx.Client) -> None:
    codes = [visitor.post("/api/v1/check", content=iter([b"{}\n"])).status_code for _ in range(20)]
    assert codes == [200] * FILES_PER_HOUR + [429] * (20 - FILES_PER_HOUR)


NO_FILES = [
    ("POST", "/api/v1/disputes"),
    ("PATCH", "/api/v1/entries/x"),
    ("POST", "/api/v1/maintenance/reported"),
    ("PUT", "/api/v1/verification/1/1"),
    ("PUT", "/api/v1/submissions/x/anonymity"),
    ("POST", "/dispute/x"),
    ("POST", "/app/gradio_api/queue/join"),
    ("POST", "/nowhere"),
]
LISTS = b'{"item": [' + b"[]," * (MOST_BYTES // 3) + b"[]]}"  # seconds to read where it may be twenty times as long


@pytest.mark.parametrize(("method", "path"), NO_FILES)
def test_a_large_body_where_no_file_belongs_is_refused_unread(visitor: httpx.Client, method: str, path: str) -> None:
    refused = visitor.request(method, path, content=LISTS, headers={"Content-Type": "application/json"})
    assert (refused.status_code, refused.json()["code"]) == (413, "too-large")


def test_one_that_does_not_say_its_length_is_cut_off(visitor: httpx.Client) -> None:
    refused = visitor.post("/api/v1/disputes", content=iter([LISTS]), headers={"Content-Type": "application/json"})
    assert (refused.status_code, refused.json()["code"]) == (413, "too-large")
    assert "1 MB" in refused.json()["detail"]


def test_control_the_same_body_is_read_to_its_end_where_files_are_taken(visitor: httpx.Client) -> None:
    answer = visitor.post("/api/v1/check", content=LISTS, headers={"Content-Type": "application/json"})
    assert answer.status_code == 200 and answer.json()["problems"]


def test_what_was_refused_or_submitted_does_not_stay_among_the_uploads(service: Service, visitor: httpx.Client) -> None:
    good, bad = judge(service) + b"\n\n\n", b'{"id": "nobody", "votes": [0]}\n'
    file = uploaded(visitor, bad)
    assert kept(service, bad)  # the control
    assert '"ok": false' in said(visitor, "check", file)
    assert not kept(service, bad)
    file = uploaded(visitor, good)
    assert '"ok": true' in said(visitor, "check", file)
    assert kept(service, good)  # for anyone who submits it next
    assert '"receipt"' in said(visitor, "submit", file, "Flooding judge", *[""] * 20, "true", False)
    assert not kept(service, good)


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


def test_gradio_repeats_no_host_that_somebody_invents_and_is_kept_by_no_cache(visitor: httpx.Client) -> None:
    for name in ("X-Forwarded-Host", "X-Gradio-Server"):
        for path in ("/app/", "/app/submit", "/app/config", "/app/gradio_api/info"):
            answer = visitor.get(path, headers={name: f"http://{EVIL}"})
            assert answer.status_code == 200
            assert EVIL not in answer.text, (path, name)
            assert answer.headers["cache-control"] == "no-store", path


def test_a_slash_at_the_end_leads_to_the_page_without_it(visitor: httpx.Client) -> None:
    answer = visitor.get("/app/submit/?entries=a")
    assert (answer.status_code, answer.headers["location"]) == (308, "/app/submit?entries=a")
    assert visitor.get("/app/submit/", follow_redirects=True).status_code == 200


def test_the_service_goes_on(service: Service) -> None:
    until(lambda: service.http.get("/readyz").status_code == 200, PATIENCE, what="ready")
    failed = [line for line in service.log.splitlines() if "Traceback" in line]
    assert [line for line in failed if "sse_stream" not in line] == []  # that one was provoked
