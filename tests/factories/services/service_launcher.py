"""Services that start from a process which has imported everything: a test run pays for these imports once.

`launch` gives a process that behaves as one of `subprocess.Popen`. It runs app.py's `main` with an environment, a
directory and an output of its own; only the interpreter is not a new one. Its worker forks from a child that was there
before the service began, so that it holds nothing of it. `running(fresh=True)` starts a new interpreter, and so is its
worker.
"""

from __future__ import annotations

import asyncio
import ctypes
import fcntl
import gc
import importlib
import json
import logging
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from asyncio.subprocess import Process
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial, partialmethod
from pathlib import Path
from typing import Any, NoReturn

from tests.factories.suite.fork_server import IMPORTED_AT_WORK
from tests.factories.suite.forked_readers import end_with, read_in_forks
from tests.factories.suite.opened_files import record
from workers.demo_files import write_demo
from workers.supervisor import Supervisor

ROOT = Path(__file__).parents[3]


class LaunchedProcess:
    """A child of the launcher."""

    def __init__(self, launcher: _Launcher, pid: int) -> None:
        self._launcher, self.pid = launcher, pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code; None while it runs; -9 after a SIGKILL."""
        if self.returncode is None:
            self.returncode = self._launcher.exit_code(self.pid)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Raise subprocess.TimeoutExpired where it does not end in time."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if deadline is not None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("app.py", timeout or 0)
            time.sleep(0.01)
        return code

    def send_signal(self, sign: signal.Signals) -> None:
        """Do nothing where it has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it may end at this moment
                os.kill(self.pid, sign)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Send SIGTERM."""
        self.send_signal(signal.SIGTERM)


class _Launcher:
    """The process that forks, as one of its clients sees it: what it has said of the ends of this client's children.

    All processes of a test run share it. The first one that needs it starts it; it ends when the last one has gone.
    """

    def __init__(self) -> None:
        run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or str(os.getpid())
        self._address = Path(tempfile.gettempdir()) / f"launcher-{run}"
        with Path(__file__).open() as lock:  # any file that all of them have
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._connection = self._connect() or self._start()
        # Without a buffer: a second line that readline() takes along would be one that select() does not see.
        self._said = self._connection.makefile("rb", buffering=0)
        self._codes: dict[int, int] = {}

    @property
    def demo_files(self) -> Path:
        """The files of a demo, made once; for copies."""
        pid, _, _ = struct.unpack("3i", self._connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        return _demo_files(pid)

    def _connect(self) -> socket.socket | None:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(str(self._address))
        except OSError:
            connection.close()
            return None
        return connection

    def _start(self) -> socket.socket:
        # As the tests are called, but without what only one of the services is to be told.
        quiet = {"HF_HUB_OFFLINE": "1", "GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_DISABLE_TELEMETRY": "1"}
        quiet["OPENBLAS_NUM_THREADS"] = "1"  # as workers set it for themselves before numpy is imported
        kept = {
            name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "HF_TOKEN")
        }
        self._address.unlink(missing_ok=True)
        command, nowhere = [sys.executable, "-m", __name__, str(self._address)], subprocess.DEVNULL
        process = subprocess.Popen(command, cwd=ROOT, env=kept | quiet, stdin=nowhere, stdout=nowhere)
        while (connection := self._connect()) is None:
            if process.poll() is not None:
                raise RuntimeError(f"what launches services ended with {process.returncode}")
            time.sleep(0.05)
        return connection

    def launch(self, environ: Mapping[str, str], folder: Path, *, log: Path) -> LaunchedProcess:
        """Start a service; its log is there at once."""
        log.touch()
        _send(self._connection, {"environ": dict(environ), "folder": str(folder), "log": str(log)})
        while True:
            answer = json.loads(self._said.readline())
            if "started" in answer:
                return LaunchedProcess(self, answer["started"])
            self._codes[answer["ended"]] = answer["code"]

    def exit_code(self, pid: int) -> int | None:
        """Return what a child ended with, if it has."""
        while select.select([self._said], [], [], 0)[0]:
            answer = json.loads(self._said.readline())
            self._codes[answer["ended"]] = answer["code"]
        return self._codes.get(pid)


def _send(connection: socket.socket, message: Mapping[str, Any]) -> None:
    connection.sendall(json.dumps(message).encode() + b"\n")


@cache
def _launcher() -> _Launcher:
    return _Launcher()


def copy_demo_files(data_dir: Path) -> None:
    """Put the demo's files where a service looks for them before it makes them."""
    shutil.copytree(_launcher().demo_files, data_dir / "demo", dirs_exist_ok=True)


def launch(environ: Mapping[str, str], folder: Path, *, log: Path) -> LaunchedProcess:
    """Start app.py with these settings, in this directory; `log` gets all of its output."""
    return _launcher().launch(environ, folder, log=log)


# What follows runs in the launcher ------------------------------------------------------------------------------------


def _main(address: str) -> None:
    import app  # noqa: F401
    import web.gradio_app  # noqa: F401
    from leaderboard import cache as page_cache
    from tests.factories.suite.prepared_service import prepare_service

    for name in IMPORTED_AT_WORK:
        importlib.import_module(name)
    page_cache.BROTLI_QUALITY = 5  # a board is compressed in a twentieth of the time
    prepare_service()
    read_in_forks()
    write_demo(_demo_files(os.getpid()))
    gc.freeze()  # no child writes into the pages of what all share

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        waits = [listener]
        while waits:
            _fork_when_asked([listener.accept()[0]], run=_serve, listener=listener)
            Path(address).unlink(missing_ok=True)  # whoever comes now starts another one, but for who waits already
            waits, _, _ = select.select([listener], [], [], 0)
    shutil.rmtree(_demo_files(os.getpid()))


def _demo_files(launcher: int) -> Path:
    return Path(tempfile.gettempdir()) / f"demo-files-{launcher}"


def _fork_when_asked(
    clients: list[socket.socket], *, run: Callable[[dict[str, Any]], NoReturn], listener: socket.socket | None = None
) -> None:
    """Have a child `run` each order of a client, answer with its number, and with its code when it has ended.

    Return when the last client has gone. `listener`: where others come from.
    """
    waking, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    asked: dict[int, socket.socket] = {}
    listeners = [listener] if listener else []
    while clients:
        ready, _, _ = select.select([*clients, *listeners, waking], [], [])
        if waking in ready:
            os.read(waking, 1000)
            for pid, code in _ended():
                with suppress(OSError):  # who asked for it may have gone
                    _send(asked.pop(pid), {"ended": pid, "code": code})
        for client in set(clients).intersection(ready):
            line = client.makefile("rb", buffering=0).readline()
            if not line:
                clients.remove(client)
                client.close()
                continue
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                for descriptor in (waking, woken, *(one.fileno() for one in (*clients, *listeners))):
                    os.close(descriptor)
                run(json.loads(line))
            asked[pid] = client
            _send(client, {"started": pid})
        clients += [one.accept()[0] for one in listeners if one in ready]


def _ended() -> Iterator[tuple[int, int]]:
    """Yield number and exit code of each child that has ended."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        yield pid, os.waitstatus_to_exitcode(status)


def _serve(order: dict[str, Any]) -> NoReturn:
    """Become the service: what a new interpreter would be given, and nothing of the launcher."""
    _set_usual_signals()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", buffering=1, closefd=False)
    os.environ.clear()
    os.environ.update(order["environ"])
    os.chdir(order["folder"])
    if opened := order["environ"].get("OPENED_LOG"):
        record(opened)
    if order["environ"].get("ROLE") == "worker":
        from web.startup import child_environment

        end_with(partial(_work, child_environment()))
    end_with(_app)


def _app() -> int:
    import app

    with _workers_forked():
        return app.main()


def _work(environ: Mapping[str, str]) -> int:
    """Do as `python -m workers` does with this environment."""
    from workers.__main__ import main

    os.environ.clear()
    os.environ.update(environ)
    os.umask(0o077)
    return main([])


def _set_usual_signals() -> None:
    for sign in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(sign, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def _workers_forked() -> Iterator[None]:
    """Let the supervisor of this service start its workers by forking, and end what forks them at the end."""
    ours, theirs = socket.socketpair()
    service = os.getpid()
    pid = os.fork()
    if pid == 0:
        ours.close()
        _die_with(service, signal.SIGKILL)
        end_with(partial(_fork_workers, theirs))
    theirs.close()
    started = Supervisor._start
    Supervisor._start = partialmethod(_start_forked, ours, start=started)  # type: ignore[assignment,method-assign]
    try:
        yield
    finally:
        ours.close()
        os.waitpid(pid, 0)


def _fork_workers(orders: socket.socket) -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the service
    parent = os.getpid()

    def become_worker(order: dict[str, Any]) -> NoReturn:
        _set_usual_signals()
        os.setpgid(0, 0)
        _die_with(parent, signal.SIGTERM)
        end_with(partial(_work, order["environ"]))

    _fork_when_asked([orders], run=become_worker)
    return 0


def _die_with(parent: int, sign: signal.Signals) -> None:
    ctypes.CDLL(None).prctl(1, sign)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)


@dataclass
class ForkedWorker:
    """A worker as its supervisor sees one of asyncio's processes."""

    pid: int
    ended: asyncio.Future[int]
    watch: asyncio.Task[None] | None = None

    @property
    def returncode(self) -> int | None:
        """Return the exit code; None while it runs."""
        return self.ended.result() if self.ended.done() else None

    async def wait(self) -> int:
        return await asyncio.shield(self.ended)

    def terminate(self) -> None:
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        self._send(signal.SIGKILL)

    def _send(self, sign: signal.Signals) -> None:
        if not self.ended.done():
            os.kill(self.pid, sign)


async def _start_forked(
    supervisor: Supervisor,
    orders: socket.socket,
    *,
    start: Callable[[Supervisor], Coroutine[Any, Any, Process]],
) -> Process | ForkedWorker:
    """Start a worker; another program is started as ever."""
    if supervisor._command[1:] != ("-m", "workers") or "HF_ENDPOINT" in supervisor._environ:
        return await start(supervisor)
    loop = asyncio.get_running_loop()
    orders.setblocking(False)
    await loop.sock_sendall(orders, json.dumps({"environ": supervisor._environ}).encode() + b"\n")
    pid = (await _answer(orders))["started"]
    logging.getLogger("workers.supervisor").info(supervisor._started, extra={"data": {"pid": pid}})
    worker = ForkedWorker(pid, loop.create_future())

    async def note_end() -> None:
        worker.ended.set_result((await _answer(orders))["code"])

    worker.watch = loop.create_task(note_end())
    return worker


async def _answer(orders: socket.socket) -> dict[str, int]:
    """Return the next line that it answers: one worker runs at a time, so they come one by one."""
    loop, line = asyncio.get_running_loop(), b""
    while not line.endswith(b"\n"):
        more = await loop.sock_recv(orders, 1)
        if not more:
            raise EOFError("what forks workers has ended")
        line += more
    return dict(json.loads(line))


if __name__ == "__main__":
    _main(sys.argv[1])
