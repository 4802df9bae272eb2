"""The REST routes over a real socket: what is taken, what is refused and how, and that nothing stays behind."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from storage.models.core import Submission
from submissions.sandbox import ReadingFailed
from tests.factories.services.service import PATIENCE, until
from tests.factories.services.submission_routes import Served, problem_of, received, served_from
from tests.factories.submission_service import LIMIT, native

OVER = LIMIT + (1 << 20) + 1  # beyond file limit and form overhead


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with served_from(tmp_path) as found:
        yield found


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Yield a server that waits for nobody."""
    with served_from(tmp_path_factory.mktemp("impatient"), patience=0.5, header_seconds=1.0) as found:
        yield found


def test_a_dry_run_takes_a_form_or_the_bare_file_and_keeps_nothing(served: Served) -> None:
    data = native(served.setup.items, k=5)
    form = served.http.post("/api/v1/check", files={"file": ("x.jsonl", data)})
    bare = served.http.post("/api/v1/check", content=data)
    assert form.status_code == 200
    assert form.json() == bare.json()
    assert (form.json()["ok"], form.json()["format"], form.json()["votes_per_item"]) == (True, "native", 5)
    assert (served.rows(), served.spooled(), served.setup.uploads.exists()) == (0, [], False)


def test_a_submission_is_acknowledged_with_a_receipt_and_can_be_followed(served: Served) -> None:
    reply = served.submit(native(served.setup.items), version="1", parameters_b="7", open_weights="true")
    assert reply.status_code == 202, reply.text
    taken = reply.json()
    assert taken["status_url"] == f"/api/v1/submissions/{taken['id']}"
    state = served.http.get(taken["status_url"]).json()
    assert (state["state"], state["position"], state["entry_url"]) == ("queued", 1, None)
    assert state["receipt_url"] == f"{taken['status_url']}/receipt"
    assert served.spooled() == []


def test_a_reader_that_fails_is_a_fault_of_the_service(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Path) -> None:
        raise ReadingFailed

    monkeypatch.setattr(served.setup.intake, "read", fail)
    check = served.http.post("/api/v1/check", content=b"x")
    for reply in (check, served.submit(b"x")):
        assert "not of your file" in problem_of(reply, 500, code="internal")["detail"]
    assert (served.rows(), served.spooled()) == (0, [])


def test_who_sends_many_files_that_take_long_waits_for_their_own(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, free = served.setup.intake.read, threading.Event()

    def slowly(path: Path) -> Any:
        if path.read_bytes() == b"slow":
            assert free.wait(PATIENCE)
        return read(path)

    monkeypatch.setattr(served.setup.intake, "read", slowly)
    data, url = native(served.setup.items), f"http://127.0.0.1:{served.port}"
    with ThreadPoolExecutor(8) as many:
        waiting = [many.submit(httpx.post, f"{url}/api/v1/check", content=b"slow", timeout=PATIENCE) for _ in range(8)]
        until(lambda: len(served.spooled()) == 8, PATIENCE, what="all have arrived")
        neighbour = httpx.HTTPTransport(local_address="127.0.0.2")
        with httpx.Client(base_url=url, transport=neighbour, timeout=PATIENCE) as other:
            assert other.post("/api/v1/check", content=data).json()["ok"]
        assert served.submit(data).status_code == 202
        assert not any(one.done() for one in waiting)
        free.set()
        assert not any(one.result().json()["ok"] for one in waiting)


def test_a_file_just_beyond_the_limit_inside_the_form_overhead_is_refused(served: Served) -> None:
    reply = served.http.post("/api/v1/check", content=b"x" * (LIMIT + 1))
    assert reply.status_code == 413
    assert served.http.post("/api/v1/check", content=b"x" * LIMIT).status_code == 200


def test_a_body_that_trickles_is_cut_off(impatient: Served) -> None:
    sent = 0

    def trickle(connection: socket.socket) -> None:
        nonlocal sent
        connection.settimeout(0.05)
        while sent < 1200:
            connection.sendall(b"x")
            sent += 1
            with suppress(TimeoutError):
                connection.recv(1, socket.MSG_PEEK)
                break  # answered
        connection.settimeout(PATIENCE)

    answer = impatient.raw("POST /api/v1/check HTTP/1.1\nHost: x\nContent-Length: 100000", trickle)
    assert sent < 1200, "still reading after a minute"
    assert b" 408 " in answer.split(b"\r\n", 1)[0]


def test_a_header_that_trickles_is_cut_off_and_others_are_served_meanwhile(impatient: Served) -> None:
    with impatient.connect() as silent, impatient.connect() as slow:
        slow.sendall(b"POST /api/v1/check HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        assert impatient.http.get("/api/v1/policy").status_code == 200
        slow.settimeout(0.05)
        for _ in range(1200):
            try:
                slow.sendall(b"x")
                assert slow.recv(1) == b""
                break
            except TimeoutError:
                pass
            except (BrokenPipeError, ConnectionResetError):
                break
        else:
            raise AssertionError("still open after a minute")
        assert received(silent) == b""


def test_the_time_for_a_header_begins_anew_with_every_request(impatient: Served) -> None:
    get = b"HEAD /api/v1/policy HTTP/1.1\r\nHost: x\r\n\r\n"
    with impatient.connect() as connection:
        for _ in range(3):
            connection.sendall(get)
            answer = b""
            while not answer.endswith(b"\r\n\r\n"):
                answer += connection.recv(65536)
        connection.sendall(get[:20])
        assert received(connection) == b""


def test_who_asks_before_sending_is_refused_without_being_waited_for(served: Served) -> None:
    head = f"POST /api/v1/check HTTP/1.1\nHost: x\nExpect: 100-continue\nContent-Length: {OVER}"
    answer = served.raw(head, lambda connection: None)
    assert answer.startswith(b"HTTP/1.1 413")


def test_a_compressed_body_is_refused_unopened(served: Served) -> None:
    bomb = gzip.compress(b"0" * (100 << 20))
    reply = served.http.post("/api/v1/check", content=bomb, headers={"Content-Encoding": "gzip"})
    problem_of(reply, 415, code="compressed")


def test_more_than_one_file_or_a_thousand_fields_are_refused(served: Served) -> None:
    files = [("file", (f"{number}", b"x")) for number in range(20)]
    assert served.http.post("/api/v1/submissions", files=files).status_code in (400, 413)
    fields = {f"f{number}": (None, "x") for number in range(1001)}
    assert served.http.post("/api/v1/submissions", files=fields).status_code in (400, 413)
    assert served.spooled() == []


@pytest.mark.parametrize("name", ["../../etc/x", "a\\..\\b", "CON", "x" * 500, "a\u202egnp.exe", "'; drop table"])
def test_a_file_name_is_never_a_path(served: Served, name: str) -> None:
    taken = served.submit(native(served.setup.items), name=name)
    assert taken.status_code == 202, taken.text
    with served.database.read() as session:
        shown = session.get_one(Submission, taken.json()["id"]).file_name
    assert "/" not in shown
    assert "\\" not in shown
    assert 0 < len(shown) <= 200
    assert "\u202e" not in shown


def test_a_file_name_of_five_thousand_characters_is_refused(served: Served) -> None:
    assert served.submit(native(served.setup.items), name="x" * 5000).status_code == 400
    assert served.spooled() == []
