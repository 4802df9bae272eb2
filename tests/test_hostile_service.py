"""The whole service, attacked from outside: floods of bytes, guessed functions, markup in every field, lost secrets.

One installation with sign-in, on PostgreSQL, with a value of its own for every secret and strings planted in labels.
"""

from __future__ import annotations

import base64
import json
import re
import select
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import httpx
import psycopg
import pytest
from markupsafe import escape
from playwright.sync_api import Browser, BrowserContext, expect

from tests.factories.fakes.openid_provider import CLIENT_SECRET
from tests.factories.services.gradio_pages import open_submit
from tests.factories.services.service import PATIENCE, Service, until
from tests.factories.services.signed_in import SignedInService, running_signed_in
from tests.postgres import Cluster
from tests.real_data import real_file
from tests.web.test_gradio_allowlist import of
from web.middleware.gradio_allowlist import is_allowed

pytestmark = [pytest.mark.slow, pytest.mark.postgres, pytest.mark.browser]

LIMIT_MB = 8
SECRETS = {
    "the Hub's token": "hf_CanaryOfTheHub0123456789abcdefghij",
    "the database's password": "CanaryOfTheDatabase42",
    "the session secret": "CanarySession-x8Fo2nT4sVb7Zc1Kd9Lw3Rj6Hy5Gp0Ae",
    "the client's secret": CLIENT_SECRET,
    "the receipt key": base64.b64encode(b"CanaryOfTheReceiptKeyThirtyTwo!!").decode(),
}
PLANTED = tuple(f"LABEL-CANARY-{number}-{number * 7919 % 9973}" for number in range(20))
WORKERS = (
    "submission.scored", "relations.", "head.", "snapshot.", "identity.refused"
)  # fmt: skip
MARKUP = "<img src=x onerror=alert(1)><script>alert(2)</script>"
HOSTILE = {
    "model": f"M {MARKUP} [x](javascript:alert(3)) ![](https://track.example/p.png) `|",
    "version": f"V {MARKUP}",
    "organisation": f'O "{MARKUP}',
    "base_model": f"B {MARKUP} {{{{value}}}} ${{alert(4)}}",
    "prompt": f"P {MARKUP}\n</textarea></pre>{MARKUP}",
    "notes": f"N {MARKUP} javascript:alert(5) //evil.example <a href=https://evil.example>x</a>",
    "link": "https://example.org/?q=%22onmouseover=alert(6)",
}


@dataclass
class HostileWorld:
    """The installation, what it stands on, and every answer that was seen."""

    signed_in: SignedInService
    database_url: str
    labels: Path
    seen: list[str] = field(default_factory=list)
    entry: str = ""

    @property
    def service(self) -> Service:
        """What answers."""
        return self.signed_in.service

    def browser(self, user: str) -> httpx.Client:
        """Somebody signed in, or nobody; all that comes back is kept."""
        return self.signed_in.browser(user, note=self._note)

    def _note(self, answer: httpx.Response) -> None:
        answer.read()
        self.seen.append(f"{answer.url} {answer.status_code} {list(answer.headers.multi_items())}\n{answer.text}")

    def rows(self) -> dict[str, object]:
        """Return how many rows there are in what a stranger could want to change, and which events nobody but people
        make.

        Jobs are told by their events: workers queue what a board lacks by themselves.
        """
        with psycopg.connect(self.database_url) as connection:
            tables = ("submissions", "board", "switches", "api_tokens", "label_sets")
            counted = {one: connection.execute(f"SELECT count(*) FROM {one}").fetchone() for one in tables}
            counted["tasks"] = connection.execute("SELECT count(*) FROM queue WHERE queue <> 'jobs'").fetchone()
            kinds = connection.execute("SELECT kind FROM events ORDER BY seq").fetchall()
        return {**counted, "events": [kind for (kind,) in kinds if not kind.startswith(WORKERS)]}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, postgres_cluster: Cluster) -> Iterator[HostileWorld]:
    folder = tmp_path_factory.mktemp("hostile")
    labels = folder / "labels_v2.jsonl"
    rows = [json.loads(line) for line in real_file("data/labels_v2.jsonl").read_text().splitlines()]
    for row, planted in zip(rows, PLANTED, strict=False):
        row["note"] = planted
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows))
    database_url, password = postgres_cluster.new_database(), SECRETS["the database's password"]
    environ = {
        "OIDC_CLIENT_SECRET": SECRETS["the client's secret"],
        "SESSION_SECRET": SECRETS["the session secret"],
        "RECEIPT_KEY": SECRETS["the receipt key"],
        "HF_TOKEN": SECRETS["the Hub's token"],
        "DATABASE_URL": database_url.replace("postgres@", f"postgres:{password}@", 1),
        "LABELS": f"v2={labels},v0={real_file('data/items_v0.jsonl')}",
        "MAINTAINERS": "alice",
        "QUOTA_PER_DAY": "0",
        "UPLOAD_LIMIT_MB": str(LIMIT_MB),
        "REQUESTS_PER_MINUTE": "0",
    }
    with running_signed_in(folder / "data", gradio=True, **environ) as signed_in:
        yield HostileWorld(signed_in, database_url, labels=labels)


# What is sent --------------------------------------------------------------------------------------------------------


def poured(world: HostileWorld, path: str, *, mebibytes: int) -> tuple[int, bytes]:
    """Send a form with a file that goes on, until there is an answer: how much was sent, and what came back."""
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
    form = b'--b\r\nContent-Disposition: form-data; name="files"; filename="x"\r\n\r\n'
    part, sent = b"10000\r\n" + b"x" * (1 << 16) + b"\r\n", 0
    with socket.create_connection(("127.0.0.1", int(world.service.url.rpartition(":")[2])), PATIENCE) as connection:
        connection.sendall(f"{head}Content-Type: multipart/form-data; boundary=b\r\n\r\n".encode())
        connection.sendall(f"{len(form):x}\r\n".encode() + form + b"\r\n")
        while sent < mebibytes << 20 and not select.select([connection], [], [], 0)[0]:
            connection.sendall(part)
            sent += len(part)
        answer = b""
        while b"}" not in answer.partition(b"\r\n\r\n")[2] and (more := connection.recv(65536)):
            answer += more
        return sent, answer


def peak(process: int) -> int:
    """Return the most memory that a process has had, in bytes."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    assert found
    return int(found[1]) << 10


UPLOADS = ("/app/gradio_api/upload", "/api/v1/check", "/app/gradio_api/queue/join", "/dispute/x")


@pytest.mark.parametrize("path", UPLOADS)
def test_a_body_without_end_is_cut_off_before_any_route_and_fills_no_memory(world: HostileWorld, path: str) -> None:
    before, left = peak(world.service.process.pid), files(world)
    sent, answer = poured(world, path, mebibytes=20 * LIMIT_MB)
    assert answer.startswith(b"HTTP/1.1 413"), answer
    assert b"too-large" in answer or "upload" in path  # where Gradio counts the bytes of a file by itself
    assert sent < 10 * LIMIT_MB << 20
    assert peak(world.service.process.pid) - before < 64 << 20
    until(lambda: files(world) == left, PATIENCE, what="what had arrived is gone")


def files(world: HostileWorld) -> set[str]:
    """Return what lies in the places for uploads."""
    data = world.service.log_path.with_suffix("")
    return {str(path) for name in ("spool", "gradio", "uploads") for path in (data / name).rglob("*") if path.is_file()}


# What is guessed -----------------------------------------------------------------------------------------------------


def test_no_function_of_gradio_does_anything_for_a_stranger_who_guesses_its_number(world: HostileWorld) -> None:
    entry = submitted(world)
    before = world.rows()
    said = guessed(world.browser(""), entry)
    assert len(said) > 4
    assert not [one for one in said if "Traceback" in one or "vl-good" in one]
    assert world.rows() == before


def guessed(client: httpx.Client, entry: str) -> list[str]:
    """Return what each function says that is called by its number, with values that its fields have or could have."""
    config = client.get("/app/config").json()
    usual = {one["id"]: one["props"].get("value") for one in config["components"]}
    asked = 0
    for one in config["dependencies"]:
        data = [usual.get(number) or entry for number in one["inputs"]]
        body = {"data": data, "fn_index": one["id"], "session_hash": "guess", "trigger_id": None}
        assert client.post("/app/gradio_api/queue/join", json=body).status_code == 200
        asked += 1
    query, said = {"session_hash": "guess"}, []
    with client.stream("GET", "/app/gradio_api/queue/data", params=query, timeout=PATIENCE) as stream:
        for line in stream.iter_lines():
            if '"process_completed"' in line:
                said.append(line)
            if len(said) == asked or "close_stream" in line:
                break
    return said


def test_programs_see_no_function_and_nothing_private(world: HostileWorld) -> None:
    stranger = world.browser("")
    info = stranger.get("/app/gradio_api/info").json()
    assert info["named_endpoints"] == info["unnamed_endpoints"] == {}
    config = stranger.get("/app/config").text
    assert str(world.labels) not in config and str(world.labels.parent) not in config


NOT_SERVED = [
    ("GET", "/monitoring"),
    ("GET", "/monitoring/summary"),
    ("GET", "/gradio_api/deep_link?session_hash=x"),
    ("POST", "/gradio_api/process_recording"),
    ("POST", "/gradio_api/component_server"),
    ("POST", "/gradio_api/run/check"),
    ("POST", "/gradio_api/call/check"),
    ("POST", "/gradio_api/api/check"),
    ("POST", "/gradio_api/stream/x"),
    ("POST", "/gradio_api/vibe-edit"),
    ("POST", "/gradio_api/run-history/connect"),
    ("GET", "/gradio_api/run-history/records"),
    ("GET", "/gradio_api/dev/reload"),
    ("GET", "/gradio_api/proxy=http://127.0.0.1:1"),
    ("GET", "/gradio_api/openapi.json"),
    ("GET", "/openapi.json"),
    ("POST", "/login"),
    ("GET", "/logout"),
    ("PUT", "/gradio_api/queue/join"),
    ("DELETE", "/gradio_api/upload"),
]


def test_what_pages_do_not_need_of_gradio_is_not_there_and_leaves_nothing_behind(world: HostileWorld) -> None:
    before = set(Path(tempfile.gettempdir()).iterdir())
    for method, path in NOT_SERVED:
        assert not is_allowed(method, path.partition("?")[0]), path
        files = {"file": ("x.webm", b"x" * 1000)} if "recording" in path else None
        assert world.service.http.request(method, f"/app{path}", files=files).status_code in (404, 405), path
    left = [path for path in set(Path(tempfile.gettempdir()).iterdir()) - before if path.suffix == ".webm"]
    assert left == []


def test_no_call_reads_a_file_of_the_service_or_an_address(world: HostileWorld) -> None:
    service = world.service
    config = service.http.get("/app/config").json()
    with socket.create_server(("127.0.0.1", 0)) as heard:
        address = f"http://127.0.0.1:{heard.getsockname()[1]}/x.jsonl"
        for path in (str(world.labels), "/proc/self/environ", "/etc/passwd", address):
            for one in config["dependencies"]:
                files = [of(path)] * (len(one["inputs"]) + 1)
                call = {"data": files, "fn_index": one["id"], "session_hash": "s"}
                answer = service.http.post("/app/gradio_api/queue/join", json=call)
                assert (answer.status_code, answer.json()["code"]) == (422, "not-uploaded")
        assert select.select([heard], [], [], 1.0)[0] == []
    assert not [
        path
        for path in service.log_path.with_suffix("").rglob("gradio/*/*")
        if path.name in (world.labels.name, "environ", "passwd")
    ]


# What is shown -------------------------------------------------------------------------------------------------------


def submitted(world: HostileWorld) -> str:
    """Return the id of an entry with hostile words in every field, which is on the board and carries a hostile note."""
    if world.entry:
        return world.entry
    alice = world.browser("alice")
    data = real_file("data/predictions/vl-reward-model_qwen2vl7b_reward.json").read_bytes()
    taken = alice.post("/api/v1/submissions", files={"file": (f"{MARKUP}.json", data)}, data=HOSTILE)
    assert taken.status_code == 202, taken.text
    entry = str(taken.json()["id"])
    until(lambda: alice.get(f"/api/v1/entries/{entry}").status_code == 200, PATIENCE, what="it is on the board")
    assert alice.post(f"/api/v1/entries/{entry}/flag", json={"note": f"F {MARKUP}"}).status_code < 300
    noted = str(escape(f"F {MARKUP}"))
    until(lambda: noted in alice.get(f"/entries/{entry}").text, PATIENCE, what="the note stands on its page")
    world.entry = entry
    return entry


@pytest.fixture
def alice(world: HostileWorld, browser: Browser) -> Iterator[BrowserContext]:
    """Yield a maintainer's browser, in which no dialog may open, no policy be broken and no other host be asked."""
    wrong: list[str] = []
    own = (world.service.url, world.signed_in.provider.url, "data:", "blob:", "about:")
    with_browser = browser.new_context()
    with_browser.on("dialog", lambda one: (wrong.append(f"dialog {one.message}"), one.dismiss()))  # type: ignore[func-returns-value]
    with_browser.on("request", lambda one: None if one.url.startswith(own) else wrong.append(one.url))
    with_browser.on("weberror", lambda one: wrong.append(str(one.error)))
    with_browser.on("console", lambda one: wrong.append(one.text) if "Security Policy" in one.text else None)
    world.signed_in.provider.who = "alice"
    page = with_browser.new_page()
    page.goto(f"{world.service.url}/auth/sign-in")
    page.close()
    yield with_browser
    with_browser.close()
    assert wrong == []


def test_on_no_page_a_submitters_markup_is_more_than_text(world: HostileWorld, alice: BrowserContext) -> None:
    entry = submitted(world)
    first = world.service.http.get("/api/v1/leaderboard").json()["entries"][0]["id"]
    shows = ("/", f"/entries/{entry}", f"/compare?entries={entry},{first}", "/account", f"/account/submissions/{entry}")
    pages = [*shows, "/explore?q=onerror", "/feed.xml", "/about", f"/dispute/{MARKUP}"]
    page = alice.new_page()
    for path in pages:
        page.goto(world.service.url + path)
        found = page.locator("img[onerror], a[href^='javascript:'], img[src*='track.example'], a[onmouseover]")
        expect(found).to_have_count(0)
        if path in shows:
            expect(page.locator("body")).to_contain_text("<img src=x onerror=alert(1)>")
    page = alice.new_page()
    page.goto(f"{world.service.url}/analyse?entries={entry}")
    page.locator(".drawing .main-svg").first.wait_for()
    page.get_by_text("<img src=x onerror=alert(1)>").first.wait_for(state="attached")
    expect(page.locator("img[onerror], a[href^='javascript:']")).to_have_count(0)


def test_the_pages_for_submitting_and_maintaining_show_text_only(
    world: HostileWorld, alice: BrowserContext, tmp_path: Path
) -> None:
    entry = submitted(world)
    page = alice.new_page()
    open_submit(page, f"{world.service.url}/app/submit")
    expect(page.locator("#visitor")).to_contain_text("alice")
    bad = tmp_path / "bad.jsonl"
    bad.write_text(json.dumps({"id": MARKUP, "votes": [0], MARKUP: MARKUP}) + "\n")
    page.locator("#predictions input[type=file]").set_input_files(bad)
    page.locator("#report").get_by_text("<img src=x onerror=alert(1)>").first.wait_for()
    expect(page.locator("#report .vl-verdict")).to_contain_text("Fix one problem")
    expect(page.locator("#submit")).to_be_disabled()
    page = alice.new_page()
    for asked in (f"do=entries.hide&on={entry}", f"show=entries.show&on={entry}"):
        page.goto(f"{world.service.url}/maintain?{asked}")
        page.locator("main").get_by_text("<img src=x onerror=alert(1)>").first.wait_for()
    expect(page.locator("img[onerror]")).to_have_count(0)


# What is logged ------------------------------------------------------------------------------------------------------

FORGED = '{"level": "error", "event": "forged"}'
LINES = f"x\r\n{FORGED}\x1b[31m\x07"


def test_nothing_that_is_sent_writes_a_line_of_its_own_into_the_log(world: HostileWorld) -> None:
    alice, quoted = world.browser("alice"), quote(LINES, safe="")
    for path in ("/nowhere/", "/entries/", "/api/v1/submissions/", "/auth/callback?error=", "/auth/callback?iss=",
                 "/auth/sign-in?next=", "/?q=", "/app/gradio_api/file=", "/api/v1/decisions?before="):  # fmt: skip
        assert alice.get(path + quoted).status_code < 500, path
    bad = {"file": (LINES, json.dumps({"id": LINES, "votes": [LINES], LINES: 1}))}
    for name in (*HOSTILE, "hub_id", "judge_type", "published", LINES):
        assert alice.post("/api/v1/submissions", files=bad, data={"model": "M", name: LINES}).status_code == 422
    assert alice.post("/api/v1/check", files=bad).json()["ok"] is False
    entry = submitted(world)
    for action in ("flag", "unflag", "withdraw/x", LINES):
        alice.post(f"/api/v1/entries/{entry}/{quote(action, safe='/')}", json={"reason": LINES, "note": LINES})
    alice.put("/api/v1/maintenance/pause", json={"message": LINES})
    alice.request("DELETE", "/api/v1/maintenance/pause")
    alice.post("/api/v1/maintenance/labels", json={"revision": "v7", "source": LINES, "reason": LINES})
    alice.post("/api/v1/maintenance/reported", json={"content": LINES, "reason": LINES, "dry_run": False})
    alice.post("/app/gradio_api/queue/join", json={"data": [LINES], "session_hash": LINES})
    port = int(world.service.url.rpartition(":")[2])
    for header in (b"Authorization: Bearer \x1b[31m", b"X-Forwarded-For: \x1b[31m", b"Cookie: \x1b[31m=1", b"\x1b: 1"):
        with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
            connection.sendall(b"GET /account HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + header + b"\r\n\r\n")
            assert connection.recv(100).startswith(b"HTTP/1.1 ")
    until(lambda: "forged" in world.service.log, PATIENCE, what="the control: some of it is in the log")
    written = world.service.log_path.read_bytes().decode()
    assert "\x1b" not in written and "\x07" not in written
    lines = [line for line in written.splitlines() if not line.startswith("VL-RewardBench leaderboard: ")]
    assert not [line for line in lines if json.loads(line)["event"] == "forged"]


# What is secret ------------------------------------------------------------------------------------------------------

GETS = (
    "/", "/?sort=general", "/about", "/compare", "/explore", "/account", "/docs", "/openapi.json",
    "/policy", "/api/v1/leaderboard", "/api/v1/policy", "/api/v1/quota", "/api/v1/keys", "/api/v1/decisions",
    "/api/v1/chain", "/api/v1/account/events", "/metrics", "/healthz", "/readyz", "/auth/me",
    "/nowhere", "/auth/callback", "/export/board.csv", "/export/board.json", "/export/board.tex", "/export/board.md",
    "/export/cite.bib", "/app/config", "/app/gradio_api/info", "/maintain", "/app/submit",
    "/api/v1/maintenance/labels", "/api/v1/maintenance/health", "/api/v1/maintenance/tasks",
    "/api/v1/maintenance/audit/verify", "/api/v1/disputes",
)  # fmt: skip


def test_no_secret_and_no_label_is_in_any_answer_log_or_table(world: HostileWorld) -> None:
    entry = submitted(world)
    alice = world.browser("alice")
    rescored(world, alice)
    bad = {"file": ("x", b'{"id": "nobody", "votes": [NaN]}\n')}
    for client in (alice, world.browser("")):
        for path in (*GETS, f"/entries/{entry}", f"/api/v1/entries/{entry}", f"/api/v1/entries/{entry}/receipts",
                     f"/api/v1/submissions/{entry}/receipt", f"/api/v1/entries/{entry}/history"):  # fmt: skip
            client.get(path)
        client.post("/api/v1/check", files=bad)
        client.post("/api/v1/submissions", files=bad, data={"model": "Bad"})
        client.post("/api/v1/maintenance/labels", json={"revision": "v9", "source": str(world.labels), "reason": "x"})
    everything = {"answers": "\n".join(world.seen), "log": world.service.log, "tables": tables(world)}
    assert len(world.seen) > 80 and len(everything["log"]) > 100 and entry in everything["tables"]
    for where, text in everything.items():
        for name, secret in SECRETS.items():
            assert secret not in text, f"{name} is in the {where}"
            assert base64.b64encode(secret.encode()).decode().rstrip("=") not in text, f"{name} is in the {where}"
        found = [planted for planted in PLANTED if planted in text]
        assert found == [], f"labels are in the {where}"
    kept = b"".join(path.read_bytes() for path in world.service.log_path.with_suffix("").rglob("*") if path.is_file())
    for hidden in (*SECRETS.values(), *PLANTED):
        assert hidden.encode() not in kept or hidden in PLANTED  # a copy of imported labels may lie where labels lie


def rescored(world: HostileWorld, alice: httpx.Client) -> None:
    """Everything is scored under the other labels, and the board shows them."""
    asked = alice.post("/api/v1/maintenance/rescore/preview", json={"revision": "v0"})
    assert asked.status_code < 300, asked.text
    body = {"revision": "v0", "reason": "to see what is said", "confirmation": "v0"}
    asked = alice.post("/api/v1/maintenance/rescore/apply", json=body)
    assert asked.status_code < 300, asked.text
    until(
        lambda: alice.get("/api/v1/leaderboard").json()["label_revision"] == "v0", PATIENCE, what="the board has moved"
    )


def tables(world: HostileWorld) -> str:
    """Return everything that the database holds, as text."""
    with psycopg.connect(world.database_url) as connection:
        names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()").fetchall()
        return "\n".join(str(connection.execute(f'SELECT * FROM "{name}"').fetchall()) for (name,) in names)
