"""Hostile files over real HTTP: each is refused with a code and a line, and leaves nothing behind.

What the readers make of such content is tested beside them; here it is that nothing of it gets further, over HTTP.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import httpx
import pytest

from storage.models.core import Submission
from tests.factories import labels
from tests.factories import prediction_files as files
from tests.factories.services.service import PATIENCE, until
from tests.factories.services.submission_routes import Served, problem_of, received, served_from
from tests.factories.submission_service import LIMIT, native
from tests.vlrb.predictions.test_hostile import gzipped, tarball, zipped
from vlrb.benchmarks.items import ItemTable

ITEMS = labels.table()
GOOD = native(ITEMS)
LINES = GOOD.splitlines()
ID = json.loads(LINES[2])["id"]
WIDE = {code: code + 0xFEE0 for code in range(ord("!"), ord("~") + 1)}  # full-width letters, which NFKC folds
CATEGORY = {item.ids["r1"]: item.category for item in ITEMS.items}


def line(content: bytes, number: int = 3) -> bytes:
    """Return the good file with one line exchanged."""
    return b"\n".join([*LINES[: number - 1], content, *LINES[number:]]) + b"\n"


def with_key(extra: bytes) -> bytes:
    """Return the good file with something more in its third object."""
    return line(LINES[2][:-1] + b", " + extra + b"}")


def voting(votes: Any, name: str = ID) -> bytes:
    """Return the good file with other votes in its third line."""
    return line(json.dumps({"id": name, "votes": votes}).encode())


def saying(text: str, swapped: Any = False) -> bytes:
    """Return the good file with a judge's text in its third line."""
    return line(json.dumps({"id": ID, "judgements": [{"text": text, "swapped": swapped}]}).encode())


def named(name: str) -> bytes:
    return LINES[2].replace(ID.encode(), name.encode()) + b"\n"


def without(category: str) -> bytes:
    """Return the good file without the items of a category."""
    return b"".join(one + b"\n" for one in LINES if CATEGORY[json.loads(one)["id"]] != category)


def many(count: int) -> bytes:
    return (LINES[0] + b"\n") * count


# (the catalogue's number, the file, the code, the line or None)
CASES: tuple[tuple[str, Callable[[], bytes], str, int | None], ...] = (
    ("U3 gzip, cut off", lambda: gzip.compress(GOOD)[:-9], "bad-gzip", None),
    ("U3 a bomb in gzip", lambda: gzipped(1), "unsupported-container", None),
    ("U3 gzip in gzip", lambda: gzipped(2), "unsupported-container", None),
    ("U3 bzip2", lambda: bz2.compress(GOOD), "unsupported-container", None),
    ("U3 xz", lambda: lzma.compress(GOOD), "unsupported-container", None),
    ("U4 zip", lambda: zipped({"a.jsonl": GOOD, "b.jsonl": GOOD}), "unsupported-container", None),
    ("U4 tar", tarball, "unsupported-container", None),
    ("U4 parquet", lambda: b"PAR1" + GOOD + b"PAR1", "unsupported-container", None),
    ("U4 another workbook", lambda: files.workbook([{"a": "1"}]), "xlsx-not-vlmevalkit", None),
    ("U9 empty", lambda: b"", "empty-file", None),
    ("U9 white space", lambda: b" \r\n\t\n", "empty-file", None),
    ("U9 CR only", lambda: GOOD.replace(b"\n", b"\r"), "cr-line-ends", None),
    ("J2 UTF-16", lambda: GOOD.decode().encode("utf-16-le"), "not-utf8", None),
    ("J2 UTF-32, damaged", lambda: GOOD.decode().encode("utf-32")[:-1], "not-utf8", None),
    ("J3 overlong", lambda: with_key(b'"x": "\xc0\xaf"'), "bad-utf8", 3),
    ("J3 cut", lambda: with_key(b'"x": "\xe2\x82"'), "bad-utf8", 3),
    ("J4 NaN", lambda: with_key(b'"x": NaN'), "not-a-number", 3),
    ("J4 Infinity", lambda: with_key(b'"x": -Infinity'), "not-a-number", 3),
    ("J4 1e999", lambda: with_key(b'"x": 1e999'), "number-too-large", 3),
    ("J5 a key twice", lambda: with_key(b'"votes": [1]'), "duplicate-key", 3),
    ("J5 a key twice, escaped", lambda: with_key(b'"v\\u006ftes": [1]'), "duplicate-key", 3),
    ("J6 depth 1,000", lambda: with_key(b'"x": ' + b"[" * 1_000 + b"]" * 1_000), "too-deep", 3),
    ("J6 depth 100,000", lambda: with_key(b'"x": ' + b"[" * 100_000 + b"]" * 100_000), "too-deep", 3),
    ("J7 5,000 digits", lambda: with_key(b'"x": ' + b"9" * 5_000), "number-too-large", 3),
    ("J8 lone surrogate", lambda: with_key(b'"x": "\\ud800"'), "lone-surrogate", 3),
    ("J9 NUL", lambda: with_key(b'"x": "\\u0000"'), "nul-character", 3),
    ("J11 0.5", lambda: voting([0.5]), "bad-vote", 3),
    ("J13 a long line", lambda: with_key(b'"x": "' + b"y" * 262_144 + b'"'), "line-too-long", 3),
    ("J13 a long text", lambda: saying("x" * 65_537), "text-too-long", 3),
    ("J13 many records", lambda: many(21 * 16 + 1), "too-many-records", None),
    ("J14 no object", lambda: line(b"[0, 1]"), "not-an-object", 3),
    ("J14 blank line", lambda: line(b""), "blank-line", 3),
    ("J14 no JSON", lambda: line(b"{"), "bad-json", 3),
    ("S1 unknown", lambda: voting([0], "nobody"), "unknown-item", 3),
    ("S1 no id", lambda: line(b'{"votes": [0]}'), "missing-field", 3),
    ("S1 twice", lambda: GOOD + LINES[2] + b"\n", "duplicate-item", None),
    ("S1 twice, in capitals", lambda: GOOD + named(ID.upper()), "unknown-item", 22),
    ("S1 twice, with a space", lambda: GOOD + named(ID + " "), "duplicate-item", 22),
    ("S1 twice, after NFKC", lambda: GOOD + named(ID.translate(WIDE)), "unknown-item", 22),
    ("S2 a category absent", lambda: without("reasoning"), "missing-item", None),
    ("S2 one too many", lambda: GOOD + named("one-too-many"), "unknown-item", 22),
    ("S2 one missing", lambda: b"\n".join(LINES[1:]) + b"\n", "missing-item", None),
    ("S2 one alone", lambda: LINES[0] + b"\n", "missing-item", None),
    ("S3 K differs", lambda: voting([0, 0]), "votes-differ", 3),
    ("S3 no vote", lambda: voting([]), "votes-count", 3),
    ("S3 seventeen", lambda: native(ITEMS, 17), "votes-count", 1),
    ("S3 a text for votes", lambda: voting("0"), "bad-field", 3),
    ("S4 a vote for 3", lambda: voting([3]), "bad-vote", 3),
    ("S5 order 2", lambda: saying("Answer 1 is better", 2), "bad-order-flag", 3),
)  # fmt: skip


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served_from(tmp_path_factory.mktemp("setup")) as found:
        yield found


def nothing_left(target: Served) -> None:
    assert (target.rows(), target.attempts(), target.spooled()) == (0, 0, [])
    assert not target.setup.uploads.exists() or not list(target.setup.uploads.rglob("*.*"))


@pytest.mark.parametrize(("make", "code", "number"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_hostile_file_is_refused_with_code_and_line_and_leaves_nothing(
    target: Served, make: Callable[[], bytes], code: str, number: int | None
) -> None:
    data = make()
    assert len(data) <= LIMIT
    reply = target.submit(data)
    packed = code in ("unsupported-container", "xlsx-not-vlmevalkit")
    body = problem_of(reply, 415 if packed else 422, code="file-rejected")
    found = [(one["code"], one["line"]) for one in body["problems"]]
    assert code in [one for one, _ in found], found
    if number is not None:
        assert (code, number) in found
    nothing_left(target)
    check = target.http.post("/api/v1/check", files={"file": ("x", data)})
    assert check.status_code == (415 if packed else 200)
    assert check.json()["problems"] == body["problems"]
    assert "Traceback" not in check.text
    nothing_left(target)


def test_what_is_harmless_is_taken_and_forged_fields_change_nothing(target: Served) -> None:
    forged = {"ranking": [0, 1], "flag_status": 1, "label": 0, "score": 1, "__class__": "x", "constructor": {"a": 1}}
    lying = b"".join(json.dumps(json.loads(one) | forged).encode() + b"\n" for one in LINES)
    plain = target.http.post("/api/v1/check", content=GOOD).json()
    for oddity in (
        b"\xef\xbb\xbf" + GOOD,
        GOOD[:-1],
        GOOD.replace(b"\n", b"\r\n"),
        with_key('"x": "a\u2028b\u0085c"'.encode()),
        lying,
    ):
        assert target.http.post("/api/v1/check", content=oddity).json() == plain
    assert plain["ok"] is True


@pytest.mark.parametrize("number", ["0", "3", "7", "12", "-1", "٣", "9" * 5_000])
def test_a_verdict_for_another_answer_is_undecided_against_the_service_too(target: Served, number: str) -> None:
    text = f"Overall Judgment: Answer {number} is better."
    rows = [{"id": json.loads(one)["id"], "judgements": [{"text": text, "swapped": False}]} for one in LINES]
    report = target.http.post("/api/v1/check", content=files.jsonl(rows)).json()
    assert (report["ok"], report["parse_rate"]) == (False, 0.0)


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


def test_control_a_client_that_stays_to_the_last_byte_has_submitted(tmp_path_factory: pytest.TempPathFactory) -> None:
    with served_from(tmp_path_factory.mktemp("stays")) as target, target.connect() as connection:
        connection.sendall(WHOLE)
        assert received(connection).startswith(b"HTTP/1.1 202 ")
        assert (target.rows(), target.attempts()) == (1, 1)


def raw_name(name: bytes) -> bytes:
    """Return a form whose file has this name, byte for byte."""
    return MULTIPART.replace(b'filename="x"', b'filename="' + name + b'"')


NAMES = (b"a\x00b", b"a\r\nX-Injected: 1", b"%2e%2e%2fx", b"..\\..\\x", b"/etc/passwd", b"\xff\xfe", b"CON", b".", b"")


@pytest.mark.parametrize("name", NAMES)
def test_a_file_name_byte_for_byte_is_shown_at_most(tmp_path_factory: pytest.TempPathFactory, name: bytes) -> None:
    folder = tmp_path_factory.mktemp("names")
    with served_from(folder) as target:
        kind = {"Content-Type": "multipart/form-data; boundary=b"}
        reply = target.http.post("/api/v1/submissions", content=raw_name(name), headers=kind)
        assert "x-injected" not in reply.headers
        assert "Traceback" not in reply.text
        if reply.status_code == 202:
            with target.database.read() as session:
                shown = session.get_one(Submission, reply.json()["id"]).file_name
            assert shown and len(shown) <= 200 and shown.isprintable() and not set("/\\") & set(shown)
        else:
            assert reply.status_code == 400
            nothing_left(target)
        kept = [path.name for path in folder.glob("uploads/**/*") if path.is_file()]
        assert all(len(one.split(".")[0]) == 64 for one in kept)


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


def test_the_same_cases_are_taken_when_the_fault_is_mended(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The positive control: it is the fault that is refused, not the file around it."""
    with served_from(tmp_path_factory.mktemp("good")) as target:
        assert target.submit(voting([0])).status_code == 202
        assert (target.rows(), target.attempts()) == (1, 1)


def test_every_number_of_the_catalogue_about_content_has_a_case() -> None:
    numbers = {case[0].split()[0] for case in CASES}
    accepted = {"J1", "J10", "J12"}  # above: what is harmless
    assert numbers >= {"U3", "U4", "U9", *(f"J{n}" for n in range(1, 15)), *(f"S{n}" for n in range(1, 6))} - accepted


def test_the_table_is_the_one_of_the_page(target: Served) -> None:
    assert isinstance(target.setup.items, ItemTable)
    assert target.http.post("/api/v1/check", content=GOOD).json()["items"] == len(LINES)
