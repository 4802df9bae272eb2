"""Web processes and workers on one PostgreSQL: killed, restarted, frozen. Nothing is lost or done twice."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import quantiles

import httpx
import psycopg
import pytest

from tests.factories.services.service import KEPT, PATIENCE, ROOT, halt, until
from tests.factories.services.service_launcher import LaunchedProcess, copy_demo_files, launch
from tests.postgres import Cluster, running_cluster, why_unavailable

pytestmark = [pytest.mark.slow, pytest.mark.postgres, pytest.mark.timeout(900)]
LONG = {"SUBMISSIONS": "1000", "KILLS": "50"}  # of the long form, unless TOPOLOGY_SUBMISSIONS and so on say otherwise
LONGEST = 30.0  # seconds that anybody waits for a frozen worker


@dataclass
class Topology:
    """Processes on one database, and what clients have seen."""

    cluster: Cluster
    database: str
    folder: Path
    processes: dict[str, subprocess.Popen[bytes] | LaunchedProcess] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)
    refusals: Counter[int] = field(default_factory=Counter)
    unanswered: int = 0
    waits: list[float] = field(default_factory=list)  # seconds until each submission was acknowledged

    def start(self, name: str, root: Path = ROOT) -> None:
        """Start or restart `web-1`, `worker-2` and so on. `root`: the sources of its release."""
        role = name.partition("-")[0]
        environ = {key: os.environ[key] for key in KEPT if key in os.environ}
        environ |= {"IDENTITY": "local", "ROLE": role, "DATA_DIR": str(self.folder / "data"), "LEASE_SECONDS": "3"}
        environ |= {"DATABASE_URL": f"{self.database}&application_name={name}", "BACKUP_KEEP": "0"}
        if role == "web":
            self.ports.setdefault(name, free_port())
            environ["PORT"] = str(self.ports[name])
        path = self.folder / f"{name}.log"
        if root == ROOT:
            self.processes[name] = launch(environ, self.folder, log=path)
            return
        with path.open("ab") as log:
            command = [sys.executable, str(root / "app.py")]
            self.processes[name] = subprocess.Popen(command, env=environ, stdout=log, stderr=log, cwd=self.folder)

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

    def submit(self, number: int, webs: Sequence[str] = ("web-1", "web-2")) -> tuple[str, float]:
        """Submit until one of `webs` acknowledges it, as clients do; the id, and how long that took."""
        started, judge = time.monotonic(), self.folder / "data" / "demo" / "judges" / "judge-e.native-votes.jsonl"
        form = {"files": {"file": ("v.jsonl", judge.read_bytes() + b"\n" * number)}, "data": {"model": f"J{number}"}}
        for attempt in range(1000):
            self.require_all_alive()
            port = self.ports[webs[(number + attempt) % len(webs)]]
            try:
                reply = httpx.post(f"http://127.0.0.1:{port}/api/v1/submissions", timeout=60, **form)  # type: ignore[arg-type]
            except httpx.HTTPError:
                self.unanswered += 1
                time.sleep(0.2)
                continue
            if reply.status_code == 202:
                self.waits.append(time.monotonic() - started)
                return str(reply.json()["id"]), self.waits[-1]
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


@dataclass(frozen=True)
class FaultPlan:
    """How many submissions, and after which of them what happens."""

    submissions: int
    kills: Mapping[int, str] = field(default_factory=dict)
    restarts: Collection[int] = ()
    terminations: Collection[int] = ()
    frozen: int = 0
    workers: Collection[str] = ("worker-1", "worker-2")

    @classmethod
    def long(cls, submissions: int, kills: int, *, seed: int) -> FaultPlan:
        """Return kills of web processes and workers, terminated sessions and two restarts, spread at random."""
        random, workers = Random(seed), ("worker-1", "worker-2", "worker-3")
        places = random.sample(range(2, submissions - 1), kills + 32)
        names = [random.choice(("web-1", "web-2", *workers)) for _ in range(kills)]
        restarts, ends = places[kills : kills + 2], set(places[kills + 2 :])
        return cls(
            submissions,
            dict(zip(places, names, strict=False)),
            restarts=restarts,
            terminations=ends,
            frozen=submissions,
            workers=workers,
        )


SHORT = FaultPlan(16, {3: "worker-1", 5: "web-2", 7: "worker-2"}, restarts={9}, terminations=(), frozen=12)


def start_all(topology: Topology, workers: Collection[str]) -> None:
    copy_demo_files(topology.folder / "data")
    for name in ("web-1", "web-2", *workers):
        topology.start(name)
    until(lambda: ready(topology, "web-1") and ready(topology, "web-2"), 240, what="both answer, and a worker is there")


def suffer(topology: Topology, plan: FaultPlan, *, number: int) -> None:
    """Do what the plan has after a submission."""
    if number in plan.kills:
        topology.kill(plan.kills[number])
    if number in plan.terminations:
        others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name ~ '^w'"
        topology.ask(f"{others} ORDER BY random() LIMIT 1")
    if number in plan.restarts:
        topology.kill("worker-1")  # so that one starts while the database is away
        topology.cluster.restart()


def figures(topology: Topology, plan: FaultPlan, *, number: int) -> str:
    """Return what happened until this submission, and how long clients waited."""
    kills, ends = sum(at <= number for at in plan.kills), sum(at <= number for at in plan.terminations)
    *_, high = quantiles(topology.waits, n=20)
    return (
        f"{number} acknowledged, {kills} kills, {sum(at <= number for at in plan.restarts)} restarts, "
        f"{ends} terminated sessions; 95 % within {high:.1f} s, longest {max(topology.waits):.1f} s; "
        f"unanswered {topology.unanswered}, refused {dict(topology.refusals)}"
    )


def run_plan(topology: Topology, plan: FaultPlan) -> None:
    """Submit through both web processes while the faults happen; nothing may be lost or done twice."""
    start_all(topology, plan.workers)
    accepted = []
    for number in range(1, plan.submissions + 1):
        accepted.append(topology.submit(number)[0])
        suffer(topology, plan, number=number)
        if number % 50 == 0:
            print(figures(topology, plan, number=number))
        if number == plan.frozen:
            until(lambda: ready(topology, "web-1"), 120, what="a worker is there")
            topology.freeze_inside_a_transaction("worker-1")
            name, waited = topology.submit(plan.submissions + 1)
            accepted.append(name)
            print(f"acknowledged {waited:.1f} s after a worker froze inside a transaction")
            assert waited < LONGEST + 15, "with time for a busy machine"
    ids = sorted(accepted)
    assert len(set(ids)) == plan.submissions + 1
    scored = "SELECT submission_id, count(*) FROM scores GROUP BY 1 ORDER BY 1"
    patience = 240 + plan.submissions
    until(lambda: set(ids) <= {row[0] for row in topology.ask(scored)}, patience, what="the other worker scores all")
    assert {number for _, number in topology.ask(scored)} == {1}, "nothing is scored twice"
    assert topology.ask("SELECT count(*) FROM submissions") == [(plan.submissions + 1 + 6,)], "with the six of the demo"
    (head, events), *_ = topology.ask("SELECT (SELECT seq FROM audit_head), (SELECT count(*) FROM events)")
    assert head == events, "the chain has no gap"
    assert set(topology.refusals) <= {503}, "clients are told to come back, never that the service is broken"


def test_nothing_is_lost_or_done_twice_and_nobody_waits_for_a_frozen_worker(topology: Topology) -> None:
    run_plan(topology, SHORT)


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_a_thousand_submissions_and_fifty_kills_lose_nothing(topology: Topology) -> None:
    submissions, kills = (int(os.environ.get(f"TOPOLOGY_{name}", usual)) for name, usual in LONG.items())
    run_plan(topology, FaultPlan.long(submissions, kills, seed=int(os.environ.get("SEED", "7"))))
