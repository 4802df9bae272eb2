"""Sandbox processes that fork from one which has imported the readers: a new interpreter takes a fifth of a second.

They lower their limits and read as those that `submissions.sandbox` starts do; `tests/vlrb/predictions/test_sandbox.py`
starts real ones.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NoReturn

from submissions import sandbox

ROOT = Path(__file__).parents[3]


class ForkedReaders:
    """What `submissions.sandbox` uses of `subprocess`."""

    DEVNULL = subprocess.DEVNULL
    TimeoutExpired = subprocess.TimeoutExpired

    def __init__(self) -> None:
        """Start the process that forks; it ends with this one."""
        listening = socket.socket(socket.AF_UNIX)
        listening.bind("")  # Linux chooses a name
        listening.listen(128)
        self._address = listening.getsockname()
        command = [sys.executable, "-m", __name__, str(listening.fileno()), str(os.getpid())]
        environ = {**os.environ, **sandbox._environment()}
        subprocess.Popen(command, cwd=ROOT, env=environ, pass_fds=[listening.fileno()])
        listening.close()

    def run(self, command: Sequence[str], *, timeout: float, **_: Any) -> subprocess.CompletedProcess[bytes]:
        """Do as `subprocess.run` does with the sandbox's command, and capture its output."""
        with ExitStack() as stack:
            connection = stack.enter_context(socket.socket(socket.AF_UNIX))
            connection.connect(self._address)
            (out, their_out), (err, their_err) = os.pipe(), os.pipe()
            for end in (out, err):
                stack.callback(os.close, end)
            order = json.dumps(command[command.index("submissions.sandbox") + 1 :]).encode()
            socket.send_fds(connection, [order + b"\n"], [their_out, their_err])
            os.close(their_out)
            os.close(their_err)
            said = {out: b"", err: b"", connection.fileno(): b""}
            if not _read_all(said, time.monotonic() + timeout):
                os.killpg(int(said[connection.fileno()].split()[0]), signal.SIGKILL)
                raise subprocess.TimeoutExpired(command, timeout)
            code = int(said[connection.fileno()].split()[1])
        return subprocess.CompletedProcess(command, code, said[out], said[err])


def read_in_forks() -> None:
    """Have the sandbox of this process, and of all that fork from it, start so."""
    sandbox.subprocess = ForkedReaders()  # type: ignore[assignment]


def _read_all(said: dict[int, bytes], deadline: float) -> bool:
    """Add what comes out of each descriptor; return whether all came to their end in time."""
    with selectors.DefaultSelector() as selector:
        for descriptor in said:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(deadline - time.monotonic(), 0))
            if not ready:
                return False
            for key, _ in ready:
                more = os.read(key.fd, 2**16)
                said[key.fd] += more
                if not more:
                    selector.unregister(key.fd)
    return True


# What follows runs in the process that forks --------------------------------------------------------------------------


def _main(descriptor: int, parent: int) -> NoReturn:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: end with the parent
    if os.getppid() != parent:
        os._exit(1)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for what answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests
    listening = socket.socket(fileno=descriptor)
    gc.freeze()
    while True:
        connection, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            _answer(connection)
            os._exit(0)
        connection.close()


def _answer(connection: socket.socket) -> None:
    """Fork a reader whose output goes to the one who asks; send its process id, and its exit code at its end."""
    order, descriptors = b"", []
    while not order.endswith(b"\n"):
        more, found, _, _ = socket.recv_fds(connection, 2**16, 2)
        order, descriptors = order + more, descriptors + found
    pid = os.fork()
    if pid == 0:
        connection.close()
        end_with(lambda: _read(json.loads(order), descriptors))
    for one in descriptors:
        os.close(one)
    connection.sendall(f"{pid} ".encode())
    _, status = os.waitpid(pid, 0)
    with suppress(BrokenPipeError):  # who asked had no more time
        connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())


def _read(arguments: list[str], descriptors: list[int]) -> int:
    os.setsid()
    for target, source in enumerate(descriptors, 1):
        os.dup2(source, target)
        os.close(source)
    sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
    os.environ.clear()
    return sandbox._main(arguments)


def end_with(main: Callable[[], int]) -> NoReturn:
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


if __name__ == "__main__":
    _main(*map(int, sys.argv[1:]))
