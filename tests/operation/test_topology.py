"""Web processes and workers on one PostgreSQL: killed, restarted, frozen. Nothing is lost or done twice."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psycopg
import pytest

from tests.factories.services.service import KEPT, PATIENCE, halt, until
from tests.factories.services.service_launcher import LaunchedProcess, copy_demo_files, launch
from tests.postgres import Cluster, running_cluster, why_unavailable

pytestmark = [pytest.mark.slow, pytest.mark.postgres, pytest.mark.timeout(900)]
# After which submission what is killed; a worker starts again while the database restarts.
KILLS = {2: "worker-1", 4: "web-2", 6: "worker-2"}
LONGEST = 30.0  # seconds that anybody waits for a frozen worker


@dataclass
class Topology:
    """Processes on one database, and what clients have seen."""

    cluster: Cluster
    database: str
    folder: Path
    processes: dict[str, LaunchedProcess] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)
    refusals: Counter[int] = field(default_factory=Counter)

    def start(self, name: str) -> None:
        """Start or restart `web-1`, `worker-2` and so on."""
        role = name.partition("-")[0]
        environ = {key: os.environ[key] for key in KEPT if key in os.environ}
        environ |= {"IDENTITY": "local", "ROLE": role, "DATA_DIR": str(self.folder / "data"), "LEASE_SECONDS": "3"}
        environ |= {"DATABASE_URL": f"{self.database}&application_name={name}"}
        if role == "web":
            self.ports.setdefault(name, free_port())
            environ["PORT"] = str(self.ports[name])
        self.processes[name] = launch(environ, self.folder, log=self.folder / f"{name}.log")

    def kill(self, name: str) -> None:
        self.processes[name].kill()
        self.processes[name].wait()
        self.start(name)

    def require_all_alive(self) -> None:
        """Fail with the log of a process that has ended by itself: each must outlive whatever the others go through."""
        for name, process in self.processes.items():
            if process.poll() is not None:
                log = (self.folder / f"{name}.log").read_text(errors="replace")
                raise AssertionError(f"{name} ended with {process.returncode}:\n{log[-4000:]}")

    def ask(self, query: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.database) as connection:
            return connection.execute(query).fetchall()

    def submit(self, number: int) -> tuple[str, float]:
        """Submit until a web process acknowledges it, as clients do; the id, and how long that took."""
        started, judge = time.monotonic(), self.folder / "data" / "demo" / "judges" / "judge-e.native-votes.jsonl"
        form = {"files": {"file": ("v.jsonl", judge.read_bytes() + b"\n" * number)}, "data": {"model": f"J{number}"}}
        for attempt in range(1000):
            self.require_all_alive()
            port = self.ports[f"web-{1 + (number + attempt) % 2}"]
            try:
                reply = httpx.post(f"http://127.0.0.1:{port}/api/v1/submissions", timeout=60, **form)  # type: ignore[arg-type]
            except httpx.HTTPError:
                time.sleep(0.2)
                continue
            if reply.status_code == 202:
                return str(reply.json()["id"]), time.monotonic() - started
            self.refusals[reply.status_code] += 1
            time.sleep(0.5)
        raise AssertionError("nobody took it")

    def freeze_inside_a_transaction(self, name: str) -> None:
        """SIGSTOP at a moment at which a session of this process has written and not committed."""
        process = self.processes[name]
        query = f"SELECT pid FROM pg_stat_activity WHERE application_name = '{name}' AND backend_xid IS NOT NULL"
        deadline = time.monotonic() + 2 * PATIENCE
        while time.monotonic() < deadline:
            self.require_all_alive()
            halt(process.pid)
            time.sleep(0.05)  # a statement under way comes to its end
            if self.ask(query):
                return
            process.send_signal(signal.SIGCONT)
            time.sleep(0.03)
        raise AssertionError("it was never caught inside a transaction")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture
def topology(tmp_path: Path) -> Iterator[Topology]:
    if reason := why_unavailable():
        pytest.skip(reason)
    with running_cluster() as cluster:
        found = Topology(cluster, cluster.new_database(), folder=tmp_path)
        try:
            yield found
        finally:
            for process in found.processes.values():
                process.send_signal(signal.SIGCONT)
                process.terminate()
            for process in found.processes.values():
                try:
                    process.wait(PATIENCE)
                except subprocess.TimeoutExpired:
                    process.kill()


def ready(topology: Topology, name: str) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{topology.ports[name]}/readyz", timeout=30).status_code == 200
    except httpx.HTTPError:
        return False


def test_nothing_is_lost_or_done_twice_and_nobody_waits_for_a_frozen_worker(topology: Topology) -> None:
    copy_demo_files(topology.folder / "data")
    for name in ("web-1", "web-2", "worker-1", "worker-2"):
        topology.start(name)
    until(lambda: ready(topology, "web-1") and ready(topology, "web-2"), 240, what="both answer, and a worker is there")
    accepted = []
    for number in range(1, 12):
        accepted.append(topology.submit(number)[0])
        if number in KILLS:
            topology.kill(KILLS[number])
        if number == 6:
            topology.cluster.restart()
        if number == 8:
            until(lambda: ready(topology, "web-1"), 120, what="a worker is there")
            topology.freeze_inside_a_transaction("worker-1")
            name, waited = topology.submit(12)
            accepted.append(name)
            assert waited < LONGEST + 15, "with time for a busy machine"
    assert len(set(accepted)) == 12
    scored = "SELECT submission_id, count(*) FROM scores GROUP BY 1"
    until(lambda: set(accepted) <= {row[0] for row in topology.ask(scored)}, 250, what="the other worker scores all")
    assert {number for _, number in topology.ask(scored)} == {1}, "nothing is scored twice"
    assert topology.ask("SELECT count(*) FROM submissions") == [(12 + 6,)], "with the six of the demo"
    (head, events), *_ = topology.ask("SELECT (SELECT seq FROM audit_head), (SELECT count(*) FROM events)")
    assert head == events, "the chain has no gap"
    assert set(topology.refusals) <= {503}, "clients are told to come back, never that the service is broken"
