"""Ends of a process: whatever it waits for, and where one of its loops stands still."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0  # seconds; a program that nothing ended would hang for good
_DEADLOCK = """
import ctypes, signal
signal.signal(signal.SIGTERM, lambda *_: None)
mutex = ctypes.create_string_buffer(64)
lock = ctypes.CDLL(None).pthread_mutex_lock
lock(mutex)
print("waits", flush=True)
lock(mutex)
"""
_IGNORES = """
import signal, threading
signal.signal(signal.SIGTERM, lambda *_: None)
print("waits", flush=True)
threading.Event().wait()
"""


def _started(program: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, text=True, stdout=-1, stderr=-1)


def _run(program: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=ROOT, text=True, capture_output=True, timeout=PATIENCE)


@pytest.mark.parametrize("hangs", [_DEADLOCK, _IGNORES], ids=["in a library of C", "in Python"])
def test_a_signal_ends_a_process_that_waits_for_what_never_comes(hangs: str) -> None:
    program = f"""
from common.exit_deadline import run_until_signal
def main():
{"".join(f"    {line}" for line in hangs.strip().splitlines(keepends=True))}
run_until_signal(main, 0.2)
"""
    process = _started(program)
    assert process.stdout is not None
    assert process.stdout.readline() == "waits\n"
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "Timeout" in said, "it says where it hung"


def test_a_thread_that_hangs_holds_up_no_end() -> None:
    done = _run("""
import threading
from common.exit_deadline import run_until_signal
def main():
    threading.Thread(target=threading.Event().wait).start()
    print("done")
    return 7
run_until_signal(main, 100.0)
""")
    assert (done.returncode, done.stdout) == (7, "done\n")


@pytest.mark.parametrize(("loops", "code"), [(("first", "second"), 0), (("first",), 1)])
def test_a_loop_that_makes_no_turn_ends_its_process(loops: tuple[str, ...], code: int) -> None:
    done = _run(f"""
import time
from common.exit_deadline import Watchdog
with Watchdog(["first", "second"], 2.0) as watchdog:
    end = time.monotonic() + 4.0
    while time.monotonic() < end:
        for loop in {loops}:
            watchdog.turn(loop)
        time.sleep(0.05)
""")
    assert done.returncode == code, done.stderr
