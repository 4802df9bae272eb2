"""The real service as `python app.py` runs it, on a free port with its own data directory."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.factories.services.service_launcher import LaunchedProcess, copy_demo_files, launch
from workers.demo_files import COMPLETE

ROOT = Path(__file__).parents[3]
PATIENCE = 60.0  # seconds; a machine that is busy with other things is slow, not wrong
KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV")


@dataclass
class Service:
    """A running service. `log` holds what it has printed so far."""

    process: subprocess.Popen[bytes] | LaunchedProcess
    url: str
    log_path: Path
    http: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.http = httpx.Client(base_url=self.url, timeout=60)

    @property
    def log(self) -> str:
        """Standard output and error."""
        return self.log_path.read_text(errors="replace")

    def worker_pid(self) -> int:
        """Of the worker that was started last."""
        return int(re.findall(r'"worker.started", "pid": (\d+)', self.log)[-1])

    def stop(self, sign: signal.Signals = signal.SIGINT, timeout: float = PATIENCE) -> int:
        """As Ctrl-C does; returns the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(sign)
        return self.process.wait(timeout)


@contextmanager
def running(
    data_dir: Path, *, gradio: bool = False, fresh: bool = False, makes_demo: bool = False, **environ: str
) -> Iterator[Service]:
    """Start the service, wait until it is ready (with `gradio`: its pages too), and stop it at the end.

    `fresh`: in a new interpreter, as people start it; else from one that has imported everything. `makes_demo`: it
    finds no demo's files and makes them; else they are a copy.
    """
    data_dir.mkdir(parents=True, exist_ok=True)
    if not makes_demo and "LABELS" not in environ and not (data_dir / "demo" / COMPLETE).exists():
        copy_demo_files(data_dir)
    log_path = data_dir.parent / f"{data_dir.name}.log"
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    environment |= {"PORT": "0", "DATA_DIR": str(data_dir), "HF_HUB_OFFLINE": "1"}
    environment |= ({} if "OIDC_CLIENT_ID" in environ else {"IDENTITY": "local"}) | environ
    log_path.write_bytes(b"")  # of a service before it on the same data
    process = _start(environment, data_dir, log_path=log_path) if fresh else launch(environment, data_dir, log=log_path)
    try:
        service = Service(process, _address(process, log_path), log_path=log_path)
        until(lambda: service.http.get("/readyz").status_code == 200, 180, what="the worker shows itself")
        if gradio:
            until(lambda: service.http.get("/app/submit").status_code == 200, 180, what="Gradio answers")
        yield service
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _start(environ: dict[str, str], folder: Path, *, log_path: Path) -> subprocess.Popen[bytes]:
    with log_path.open("wb") as log:
        command = [sys.executable, str(ROOT / "app.py")]
        return subprocess.Popen(command, env=environ, stdout=log, stderr=subprocess.STDOUT, cwd=folder)


def _address(process: subprocess.Popen[bytes] | LaunchedProcess, log_path: Path) -> str:
    deadline = time.monotonic() + 3 * PATIENCE  # it may make the demo first
    while time.monotonic() < deadline:
        if found := re.search(
            r"^[^{\n]*?(http://\S+)", log_path.read_text(errors="replace"), re.M
        ):  # no line of the log
            return found[1]
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise AssertionError("the service did not start:\n" + log_path.read_text(errors="replace"))


def until(true: object, seconds: float, *, what: str) -> None:
    """Ask again until a condition holds, for `seconds` or `PATIENCE`, whichever is longer.

    Raises:
        AssertionError: it did not hold in time.
    """
    assert callable(true)
    seconds = max(seconds, PATIENCE)
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.05)


def alive(pid: int) -> bool:
    """Return whether a process runs (a zombie does not)."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def halt(pid: int) -> None:
    """Send SIGSTOP until every thread of the process has stopped: on a busy machine that takes a while.

    Raises:
        AssertionError: it has ended.
    """

    def has_stopped() -> bool:
        assert alive(pid), f"process {pid} has ended"
        os.kill(pid, signal.SIGSTOP)  # again, too: one of a hundred was seen to have no effect
        threads = Path(f"/proc/{pid}/task")
        with suppress(FileNotFoundError):  # a thread that ended meanwhile
            return all("\nState:\tT" in (thread / "status").read_text() for thread in threads.iterdir())
        return False

    until(has_stopped, 10, what="it has stopped")
