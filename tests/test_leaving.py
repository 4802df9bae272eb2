"""Real processes that are told to stop while something hangs, or is under way."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.databases import new_database
from tests.factories import small_benchmark
from tests.factories.services.service import KEPT, PATIENCE, ROOT, alive, running, until
from tests.postgres import Cluster, running_cluster, why_unavailable

pytestmark = pytest.mark.slow


@pytest.fixture
def silent() -> Iterator[str]:
    """Yield the address of a socket that accepts and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


@contextmanager
def started(folder: Path, **environ: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start app.py as people do; its output is in `folder/log`."""
    small_benchmark.write_demo(folder)
    (folder / "demo" / "judges").mkdir(exist_ok=True)
    (folder / "demo" / "judges" / "index.json").write_text("[]")
    given = {name: os.environ[name] for name in KEPT if name in os.environ}
    given |= {"DATA_DIR": str(folder), "PORT": "0", "IDENTITY": "local", "HF_HUB_OFFLINE": "1"} | environ
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([sys.executable, str(ROOT / "app.py")], env=given, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_a_process_that_starts_and_hangs_is_gone_after_a_signal(tmp_path: Path, silent: str) -> None:
    with started(tmp_path, ROLE="worker", DATABASE_URL=f"postgresql://me@{silent}/board") as process:
        port = silent.rpartition(":")[2]
        until(lambda: _connected(process.pid, int(port)), 60, what="it waits for the answer")
        process.terminate()
        process.wait(PATIENCE)


def _connected(pid: int, port: int) -> bool:
    """Return whether a process has a connection to a port of this machine."""
    table = Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]
    connections = {line.split()[9] for line in table if line.split()[2].endswith(f":{port:04X}")}
    with suppress(FileNotFoundError):  # one was closed meanwhile
        targets = [str(descriptor.readlink()) for descriptor in Path(f"/proc/{pid}/fd").iterdir()]
        return any(f"socket:[{number}]" in targets for number in connections)
    return False


def test_a_service_that_builds_its_pages_does_not_finish_them_first(tmp_path: Path) -> None:
    with running(tmp_path / "data", fresh=True) as service:
        assert service.http.get("/app/submit").status_code != 200, "they are not built yet"
        assert service.stop(signal.SIGTERM) == 0
        assert "Timeout" not in service.log, "it left by itself"


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Yield a database server of the test's own."""
    if reason := why_unavailable():
        pytest.skip(reason)
    with running_cluster() as cluster:
        yield cluster


@pytest.mark.postgres
def test_a_service_whose_database_hangs_is_gone_after_a_signal(tmp_path: Path, cluster: Cluster) -> None:
    url = cluster.new_database()
    new_database(url).close()
    with running(tmp_path / "data", DATABASE_URL=url) as service:
        worker = service.worker_pid()
        with cluster.frozen():
            service.process.send_signal(signal.SIGTERM)
            service.process.wait(PATIENCE)
            until(lambda: not alive(worker), PATIENCE, what="the worker is gone")
