"""The supervisor of a worker: which ends it takes for the end of the service."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from workers import WRONG_CONFIGURATION, supervisor
from workers.supervisor import Supervisor

# Ends as often as the file has lines: by kill -9, or as a worker does that cannot use its settings.
_PROGRAM = """
import os, pathlib, signal, sys
ends = pathlib.Path(sys.argv[1])
first, *rest = ends.read_text().split()
ends.write_text(" ".join(rest))
os.kill(os.getpid(), signal.SIGKILL) if first == "killed" else sys.exit(int(first))
"""


@pytest.mark.parametrize(
    ("ends", "gives_up"),
    [(f"{WRONG_CONFIGURATION} killed", True), (f"killed {WRONG_CONFIGURATION} killed {WRONG_CONFIGURATION}", False)],
)
def test_wrong_settings_end_the_service_at_the_first_start_only(
    tmp_path: Path, ends: str, gives_up: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "_FIRST_DELAY", 0.01)
    monkeypatch.setattr(supervisor, "_LONGEST_DELAY", 0.01)
    left, gave_up = tmp_path / "ends", list[str]()
    left.write_text(ends)

    async def supervise() -> None:
        stop = asyncio.Event()
        command = [sys.executable, "-c", _PROGRAM, str(left)]
        running = asyncio.create_task(
            Supervisor(command, dict(os.environ), give_up=lambda: gave_up.append("now")).run(stop)
        )
        while not running.done() and left.read_text():
            await asyncio.sleep(0.01)
        assert running.done() is gives_up
        stop.set()
        await running

    asyncio.run(asyncio.wait_for(supervise(), 60))
    assert bool(gave_up) is gives_up
    assert bool(left.read_text()) is gives_up, "after it gave up, nothing was started again"
