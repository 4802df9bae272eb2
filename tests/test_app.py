"""`python app.py` as real processes: two of them, neither in the other's way, and labels in one only."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import app
from tests.factories.services.service import ROOT, Service, alive, running, until
from tests.factories.suite.programs import Finished, run_main
from tests.real_data import real_file

pytestmark = pytest.mark.slow

# Python runs a module of this name at start, in every process.
RECORDER = """
import os
from tests.factories.suite.opened_files import record
record(os.environ["OPENED_LOG"])
"""


# Settings of the web process alone.
SECRETS = {
    "OIDC_CLIENT_SECRET": "canary of the client",
    "SESSION_SECRET": "canary of the sessions, long enough",
    "RECEIPT_KEY": b64encode(b"CanaryOfTheReceiptKeyThirtyTwo!!").decode(),
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    data = tmp_path_factory.mktemp("app") / "data"
    (data / "demo").mkdir(mode=0o755, parents=True)  # a directory that others may read
    with running(data, gradio=True, makes_demo=True, OPENED_LOG=str(data.parent / "opened.log")) as service:
        yield service


def scored(service: Service) -> list[dict[str, object]]:
    entries = service.http.get("/api/v1/leaderboard").json()["entries"]
    return [entry for entry in entries if entry["tier"] == "scored"]


def test_the_demo_prepares_itself_and_shows_six_judges(demo: Service) -> None:
    until(lambda: len(scored(demo)) == 6, 60, what="six simulated judges are on the board")
    assert all("Simulated" in str(entry["model"]) for entry in scored(demo))
    assert "demo benchmark" in demo.log
    page = demo.http.get("/")
    assert page.status_code == 200
    assert "Simulated judge A" in page.text


def test_a_worker_that_was_killed_is_replaced(demo: Service) -> None:
    first = demo.worker_pid()
    os.kill(first, signal.SIGKILL)
    until(lambda: demo.worker_pid() != first, 30, what="another worker is started")
    until(lambda: demo.http.get("/readyz").status_code == 200, 30, what="it shows itself")
    assert demo.http.get("/").status_code == 200


def expect_both_to_stop(service: Service, sign: signal.Signals) -> None:
    worker = service.worker_pid()
    service.stop(sign)
    until(lambda: not alive(worker), 30, what="the worker is gone")
    assert "Traceback" not in service.log


def test_files_of_the_service_are_private_in_every_configured_place(demo: Service) -> None:
    until(lambda: len(scored(demo)) == 6, 60, what="six judges")
    files = [path for path in demo.log_path.with_suffix("").rglob("*") if path.is_file()]
    assert "leaderboard.db" in {path.name for path in files}
    others = [path for path in files if path.stat().st_mode & 0o077]
    assert {path.parent.name for path in others} <= {"audit"}, "heads of the chain are there to be taken elsewhere"


def test_one_service_uses_a_directory_and_the_next_keeps_its_entries_and_removes_what_was_left_behind(
    tmp_path: Path,
) -> None:
    with running(tmp_path / "data") as service:
        until(lambda: len(scored(service)) == 6, 60, what="six judges")
        before = {entry["id"] for entry in scored(service)}
        ran = start(tmp_path, PORT="0")
        assert ran.returncode == 2
        assert ran.stderr.startswith(f"DATA_DIR={tmp_path / 'data'} ") and ran.stderr.strip().count("\n") == 0
        assert service.http.get("/readyz").status_code == 200
        os.kill(service.process.pid, signal.SIGKILL)
        service.process.wait(20)
    stamp = (tmp_path / "data" / "demo" / "items.json").stat().st_mtime
    places = [tmp_path / "data" / "demo" / name for name in ("spool", "gradio/ab", "uploads/zz")]
    for place in places:
        place.mkdir(parents=True, exist_ok=True)
        for name in (".incoming-old", ".incoming-new"):
            (place / name).write_bytes(b"x")
        os.utime(place / ".incoming-old", (time.time() - 7200,) * 2)
    with running(tmp_path / "data") as service:  # what a killed one held is free
        assert [sorted(path.name for path in place.iterdir()) for place in places] == [[".incoming-new"]] * 3
        time.sleep(1)
        assert {entry["id"] for entry in scored(service)} == before
    assert (tmp_path / "data" / "demo" / "items.json").stat().st_mtime == stamp


def test_from_its_start_on_each_line_is_an_event_no_label_file_is_opened_and_ctrl_c_stops_both_processes(
    tmp_path: Path,
) -> None:
    hooks, labels, log = tmp_path / "hooks", real_file("data/labels_v2.jsonl"), tmp_path / "opened.log"
    hooks.mkdir()
    (hooks / "sitecustomize.py").write_text(RECORDER)
    environ = {"PYTHONPATH": f"{hooks}:{ROOT}", "OPENED_LOG": str(log), "LABELS": f"v2={labels}"} | SECRETS
    data = real_file("data/predictions/vl-reward-model_qwen2vl7b_reward.json").read_bytes()
    with running(tmp_path / "data", gradio=True, fresh=True, **environ) as service:
        reply = service.http.post("/api/v1/submissions", files={"file": ("x", data)}, data={"model": "Judge"})
        assert reply.status_code == 202, reply.text
        until(lambda: len(scored(service)) == 1, 60, what="everything is scored")
        expect_the_worker_alone_to_open(labels, service, log=log)
        expect_the_web_process_alone_to_have(SECRETS, service)
        expect_both_to_stop(service, signal.SIGINT)
        lines = [
            line for line in service.log.splitlines() if not line.startswith("VL-RewardBench leaderboard: http://")
        ]
        assert all(json.loads(line)["event"] for line in lines)


def expect_the_worker_alone_to_open(labels: Path, service: Service, *, log: Path) -> None:
    """Visit every kind of page, and read who has opened what since the start."""
    entry = scored(service)[0]
    for path in ("/", f"/entries/{entry['id']}", "/about", "/metrics", "/app/submit", "/analyse"):
        assert service.http.get(path).status_code == 200, path
    web, worker = service.process.pid, service.worker_pid()
    opened: dict[int, set[str]] = {}
    for line in log.read_text().splitlines():
        pid, _, name = line.partition(" ")
        opened.setdefault(int(pid), set()).add(name)
    assert str(labels) in opened[worker]
    assert str(labels) not in opened[web]
    assert not any("labels" in Path(name).name and name.endswith(".jsonl") for name in opened[web])
    assert len(opened[web]) > 50  # the recorder did record


def expect_the_web_process_alone_to_have(secrets: Mapping[str, str], service: Service) -> None:
    """Read the settings that each process was started with."""
    web, worker = (Path(f"/proc/{pid}/environ").read_text() for pid in (service.process.pid, service.worker_pid()))
    assert all(secret in web and secret not in worker for secret in secrets.values())


def test_a_port_in_use_is_one_clear_sentence(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        ran = start(tmp_path, PORT=port)
    assert ran.returncode == 2
    assert ran.stderr.strip().count("\n") == 0
    assert f"Port {port}" in ran.stderr


def test_without_a_word_on_who_may_do_what_nothing_starts_and_one_sentence_says_what_to_set(tmp_path: Path) -> None:
    ran = start(tmp_path, IDENTITY="", PORT="0")
    assert ran.returncode == 2
    assert ran.stderr.strip().count("\n") == 0
    assert "IDENTITY=local" in ran.stderr and "OIDC_CLIENT_ID" in ran.stderr
    assert not (tmp_path / "data").exists()


def start(folder: Path, **environ: str) -> Finished:
    """Run what ends before it serves, in this process."""
    environment = {"PATH": os.environ["PATH"], "DATA_DIR": str(folder / "data"), "IDENTITY": "local"} | environ
    return run_main(lambda _: app.main(), (), environ=environment)


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"HOST": "0.0.0.0"}, "INSECURE_ALLOW_PUBLIC=1"),
        ({"DATA_DIR": "{folder}/file"}, "DATA_DIR={folder}/file cannot be used"),
        ({"REPLICA_URL": "nowhere://key:canary@host/up"}, "REPLICA_URL cannot be used: Protocol not known: nowhere"),
        (
            {"REPLICA_URL": "file:///proc/up"},
            "REPLICA_URL=file:///proc/up/demo cannot be used (No such file ",
        ),
        ({"LABELS": "v2=/x", "DATABASE_URL": "sqlite:///{folder}/file"}, "DATABASE_URL"),
    ],
)
def test_what_keeps_it_from_starting_is_one_sentence(tmp_path: Path, environ: dict[str, str], said: str) -> None:
    (tmp_path / "file").write_text("no database" * 100)
    named = {name: value.format(folder=tmp_path) for name, value in environ.items()}
    ran = start(tmp_path, **{"PORT": "0", "RECEIPT_KEY": SECRETS["RECEIPT_KEY"], **named})
    assert ran.returncode == 2
    assert said.format(folder=tmp_path) in ran.stderr
    assert ran.stderr.strip().count("\n") == 0 and "canary" not in ran.stderr
