"""Services that start from a process which has imported everything: the seconds that imports take are paid once.

`launch` gives a process that behaves as one of `subprocess.Popen`. It runs app.py's `main` with an environment,
a directory and an output of its own; only the interpreter is not a new one, and Gradio's pages are built when somebody
asks for one. `running(fresh=True)` starts a new interpreter, which builds them at once.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import select
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

from tests.factories.gradio_stubs import write_no_gradio_stubs

if TYPE_CHECKING:  # the launcher imports it, the tests' own process need not
    from web.middleware.gradio_allowlist import GradioAllowlistMiddleware

ROOT = Path(__file__).parents[2]


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
            os.kill(self.pid, sign)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)


class _Launcher:
    """The process that forks, and what it has said of the ends of its children."""

    def __init__(self) -> None:
        # As the tests are called, but without what only one of the services is to be told.
        quiet = {"HF_HUB_OFFLINE": "1", "GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_DISABLE_TELEMETRY": "1"}
        kept = {
            name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "HF_TOKEN")
        }
        command = [sys.executable, "-m", __name__]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, cwd=ROOT, env=kept | quiet, stdin=pipe, stdout=pipe)
        self._codes: dict[int, int] = {}
        atexit.register(self._process.kill)

    @property
    def _said(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout

    def launch(self, environ: Mapping[str, str], folder: Path, log: Path) -> LaunchedProcess:
        """Start a service."""
        assert self._process.stdin is not None
        order = {"environ": dict(environ), "folder": str(folder), "log": str(log)}
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()
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


@cache
def _launcher() -> _Launcher:
    return _Launcher()


def launch(environ: Mapping[str, str], folder: Path, log: Path) -> LaunchedProcess:
    """Start app.py with these settings, in this directory; `log` gets all of its output."""
    return _launcher().launch(environ, folder, log)


# What follows runs in the launcher ------------------------------------------------------------------------------------


def _main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # nothing else is to be printed between the answers
    write_no_gradio_stubs()
    import app  # noqa: F401
    import web.gradio_app  # noqa: F401

    waking, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    orders = os.fdopen(0, "rb", buffering=0, closefd=False)
    while True:
        ready, _, _ = select.select([0, waking], [], [])
        if waking in ready:
            os.read(waking, 1000)
            _report_ends(answers)
        if 0 in ready:
            line = orders.readline()
            if not line:
                return
            order = json.loads(line)
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                os.close(answers.fileno())
                _serve(order)
            answers.write(json.dumps({"started": pid}) + "\n")


def _report_ends(answers: IO[str]) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        answers.write(json.dumps({"ended": pid, "code": os.waitstatus_to_exitcode(status)}) + "\n")


def _serve(order: dict[str, str]) -> NoReturn:
    """Become the service: what a new interpreter would be given, and nothing of the launcher."""
    for sign in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(sign, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", buffering=1, closefd=False)
    os.environ.clear()
    os.environ.update(order["environ"])  # type: ignore[arg-type]
    os.chdir(order["folder"])
    code = 1
    try:
        import app

        _build_gradio_when_asked()
        code = app.main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _build_gradio_when_asked() -> None:
    """Let this service build Gradio's pages at the first request for one: most tests ask for none.

    Until then it answers as a service does that has just been started.
    """
    from web import background
    from web.middleware.gradio_allowlist import GradioAllowlistMiddleware

    asked, build, answer = asyncio.Event(), background._run_gradio, GradioAllowlistMiddleware.__call__

    async def answer_and_note(allowlist: GradioAllowlistMiddleware, *arguments: Any) -> None:
        asked.set()
        await answer(allowlist, *arguments)

    async def build_when_asked(*arguments: Any) -> None:
        stop: asyncio.Event = arguments[-1]
        waits = [asyncio.ensure_future(event.wait()) for event in (asked, stop)]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()
        if not stop.is_set():
            await build(*arguments)

    GradioAllowlistMiddleware.__call__ = answer_and_note  # type: ignore[method-assign,assignment]
    background._run_gradio = build_when_asked


if __name__ == "__main__":
    _main()
