"""Hostile files over real HTTP: each is refused with a code and a line, and leaves nothing behind.

What the readers make of such content is tested beside them; here it is that nothing of it gets further, over HTTP.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import suppress

import httpx
import pytest

from tests.factories import labels
from tests.factories import prediction_files as files
from tests.factories.services.service import PATIENCE, until
from tests.factories.services.submission_routes import Served, problem_of, received, served_from
from tests.factories.submission_service import native

ITEMS = labels.table()
GOOD = native(ITEMS)
LINES = GOOD.splitlines()


CASES: dict[str, tuple[bytes, str, int | None]] = {
    "another workbook": (files.workbook([{"a": "1"}]), "xlsx-not-vlmevalkit", None),
    "a key twice": (LINES[0][:-1] + b', "votes": [1]}\n' + b"\n".join(LINES[1:]), "duplicate-key", 1),
    "a pair too few": (b"\n".join(LINES[1:]) + b"\n", "missing-item", None),
}


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served_from(tmp_path_factory.mktemp("setup")) as found:
        yield found


def nothing_left(target: Served) -> None:
    assert (target.rows(), target.attempts(), target.spooled()) == (0, 0, [])
    assert not target.setup.uploads.exists() or not list(target.setup.uploads.rglob("*.*"))


@pytest.mark.parametrize(("data", "code", "number"), CASES.values(), ids=CASES.keys())
def test_a_hostile_file_is_refused_with_code_and_line_and_leaves_nothing(
    target: Served, data: bytes, code: str, number: int | None
) -> None:
    packed = code == "xlsx-not-vlmevalkit"
    body = problem_of(target.submit(data), 415 if packed else 422, code="file-rejected")
    assert (code, number) in [(one["code"], one["line"]) for one in body["problems"]]
    nothing_left(target)
    check = target.http.post("/api/v1/check", files={"file": ("x", data)})
    assert check.status_code == (415 if packed else 200)
    assert check.json()["problems"] == body["problems"]
    assert "Traceback" not in check.text
    nothing_left(target)


MULTIPART = (
    b'--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nJudge\r\n'
    b'--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n' + GOOD + b"\r\n--b--\r\n"
)


HEAD = (
    "POST /api/v1/submissions HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    f"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {len(MULTIPART)}\r\n\r\n"
).encode()
WHOLE = HEAD + MULTIPART


def test_a_client_that_goes_away_at_any_byte_leaves_nothing(target: Served) -> None:
    places = sorted({*range(0, len(WHOLE), 131), len(HEAD) - 1, len(HEAD), len(HEAD) + 1, len(WHOLE) - 1})
    for place in places:
        with target.connect() as connection:
            connection.sendall(WHOLE[:place])
            if place % 2:  # a half closed connection, and one that is reset
                connection.shutdown(1)
                assert b" 202 " not in received(connection)[:20]
    until(lambda: not target.spooled(), PATIENCE, what="nothing is left of any")
    nothing_left(target)


def test_fifty_uploads_of_the_same_bytes_over_http_are_one_submission(tmp_path_factory: pytest.TempPathFactory) -> None:
    with served_from(tmp_path_factory.mktemp("fifty")) as target:
        answers: list[httpx.Response] = []

        def send() -> None:
            with suppress(httpx.HTTPError):
                answers.append(target.submit(GOOD))

        threads = [threading.Thread(target=send) for _ in range(50)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert [one.status_code for one in answers] == [202] * 50
        assert len({json.dumps(one.json()["receipt"], sort_keys=True) for one in answers}) == 1
        assert sorted(one.json()["duplicate"] for one in answers) == [False] + [True] * 49
        assert (target.rows(), target.attempts(), target.spooled()) == (1, 1, [])
