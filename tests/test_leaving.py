"""Real processes that are told to stop while something hangs, or is under way."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.databases import new_database
from tests.factories import small_benchmark
from tests.factories.services.service import KEPT, PATIENCE, alive, running, until
from tests.factories.services.service_launcher import launch
from tests.postgres import Cluster, running_cluster, why_unavailable

pytestmark = pytest.mark.slow


@pytest.fixture
def silent() -> Iterator[str]:
    """Yield the address of a socket that accepts and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


def test_a_process_that_starts_and_hangs_is_gone_after_a_signal(tmp_path: Path, silent: str) -> None:
    small_benchmark.write_demo(tmp_path)
    environ = {name: os.environ[name] for name in KEPT if name in os.environ}
    environ |= {"DATA_DIR": str(tmp_path), "ROLE": "worker", "DATABASE_URL": f"postgresql://me@{silent}/board"}
    process = launch(environ, tmp_path, log=tmp_path / "log")
    try:
        port = int(silent.rpartition(":")[2])
        until(lambda: _connected(process.pid, port), PATIENCE, what="it waits for the answer")
        process.terminate()
        process.wait(PATIENCE)
    finally:
        process.kill()


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
