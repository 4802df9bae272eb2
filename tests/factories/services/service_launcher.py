"""Services that start from a process which has imported everything: a test run pays for these imports once.

`launch` gives a process that behaves as one of `subprocess.Popen`. It runs app.py's `main` with an environment, a
directory and an output of its own; only the interpreter is not a new one. Its worker comes from the same server of
forks, so that it holds nothing of the service. `running(fresh=True)` starts a new interpreter, and so is its worker.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from asyncio.subprocess import Process
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from functools import cache, partialmethod
from multiprocessing import parent_process
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NoReturn

from tests.factories.suite.fork_server import fork_server, share_fork_server
from tests.factories.suite.opened_files import record
from workers.demo_files import write_demo
from workers.supervisor import Supervisor, log


class LaunchedProcess:
    """A service that was launched."""

    def __init__(self, process: BaseProcess) -> None:
        self._process, self.pid = process, process.pid or 0

    @property
    def returncode(self) -> int | None:
        """The exit code; None while it runs; -9 after a SIGKILL."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """Return the exit code."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Raise subprocess.TimeoutExpired where it does not end in time."""
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("app.py", timeout or 0)
        return self.returncode

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


@cache
def _demo_files() -> Path:
    """Return the files of a demo, made once; for copies."""
    folder = Path(tempfile.mkdtemp(prefix="demo-files-"))
    atexit.register(shutil.rmtree, folder)
    write_demo(folder)
    return folder


def copy_demo_files(data_dir: Path) -> None:
    """Put the demo's files where a service looks for them before it makes them."""
    shutil.copytree(_demo_files(), data_dir / "demo", dirs_exist_ok=True)


def launch(environ: Mapping[str, str], folder: Path, *, log: Path) -> LaunchedProcess:
    """Start app.py with these settings, in this directory; `log` gets all of its output, and is there at once."""
    log.touch()
    process = fork_server().Process(target=_serve, args=(dict(environ), folder, log))
    process.start()
    return LaunchedProcess(process)


# What follows runs in the service, and in its worker ------------------------------------------------------------------


def _serve(environ: Mapping[str, str], folder: Path, log: Path) -> NoReturn:
    """Become the service: what a new interpreter would be given, and nothing of the tests."""
    import app
    from web.startup import child_environment

    share_fork_server()
    os.chdir(folder)
    _become(environ, log)
    if environ.get("ROLE") == "worker":
        _work(child_environment(), log)
    Supervisor._start = partialmethod(_start_forked, log, start=Supervisor._start)  # type: ignore[assignment,method-assign]
    _end_with(app.main)


def _become(environ: Mapping[str, str], log: Path) -> None:
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", buffering=1, closefd=False)
    os.environ.clear()
    os.environ.update(environ)
    if opened := environ.get("OPENED_LOG"):
        record(opened)


def _end_with(main: Callable[[], int]) -> NoReturn:
    """End a forked process with the exit code of `main`, without the exit handlers of the process before."""
    code = 1
    try:
        code = main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _work(environ: Mapping[str, str], log: Path) -> NoReturn:
    """Do as `python -m workers` does with this environment."""
    from workers.__main__ import main

    _become(environ, log)
    os.umask(0o077)
    _end_with(lambda: main([]))


def _work_for_service(environ: Mapping[str, str], folder: Path, log: Path) -> NoReturn:
    """Do so until the service has gone, out of reach of its Ctrl-C."""
    os.setpgid(0, 0)
    os.chdir(folder)
    threading.Thread(target=_end_with_service, daemon=True).start()
    _work(environ, log)


def _end_with_service() -> None:
    service = parent_process()
    assert service is not None
    wait([service.sentinel])
    os.kill(os.getpid(), signal.SIGTERM)


class ForkedWorker(LaunchedProcess):
    """A worker as its supervisor sees one of asyncio's processes."""

    async def wait(self) -> int:  # type: ignore[override]
        """Return the exit code at its end."""
        while self.returncode is None:
            await asyncio.sleep(0.02)
        return self.returncode


async def _start_forked(
    supervisor: Supervisor, output: Path, *, start: Callable[[Supervisor], Coroutine[Any, Any, Process]]
) -> Process | ForkedWorker:
    """Start a worker; another program is started as ever."""
    if supervisor._command[1:] != ("-m", "workers") or "HF_ENDPOINT" in supervisor._environ:
        return await start(supervisor)
    process = fork_server().Process(target=_work_for_service, args=(supervisor._environ, Path.cwd(), output))
    process.start()
    log.info(supervisor._started, extra={"data": {"pid": process.pid}})
    return ForkedWorker(process)
