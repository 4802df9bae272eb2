"""Real worker processes for fault tests: the real entry point, and jobs that last."""

from __future__ import annotations

import os
import random
import sys
import time
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from storage.jobs import leases
from storage.models.queue import Job
from tests.factories.suite.fork_server import fork_server
from vlrb.scoring import Tally
from workers import __main__ as entry
from workers import runner
from workers.jobs import score


@dataclass(frozen=True)
class Manner:
    """How a worker works.

    `job_seconds`: the longest of the random durations, which are at least half of it; `overrun`: share of the jobs that
    take twice the lease, without heartbeats; `hold`: as long as a file of this name exists, no job comes to its end.
    """

    job_seconds: float = 0.0
    overrun: float = 0.0
    hold: str = ""


def start(environ: dict[str, str], log: str, *, manner: Manner) -> Any:
    """Start a worker; its process can be killed and stopped like any other."""
    process: ForkServerProcess = fork_server().Process(target=serve, args=(environ, log, manner))
    process.start()
    return process


def serve(environ: dict[str, str], log: str, manner: Manner) -> None:
    """What the process does."""
    os.environ.update(environ)
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(descriptor, 2)
    sys.stderr = os.fdopen(2, "w", buffering=1)
    _slow_down(manner, 2 * float(environ["LEASE_SECONDS"]))
    # That a job is given up at last is another rule with tests of its own; on a busy machine it would come in between.
    leases.MAX_ATTEMPTS = 1000
    sys.exit(entry.main([]))


def _slow_down(manner: Manner, overrun_seconds: float) -> None:
    real, real_get = score.tally, runner.CurrentJob.get
    dice, hanging = random.Random(), False

    def slow(*arguments: Any, **named: Any) -> Tally:
        nonlocal hanging
        hanging = dice.random() < manner.overrun
        time.sleep(overrun_seconds if hanging else dice.uniform(manner.job_seconds / 2, manner.job_seconds))
        while manner.hold and Path(manner.hold).exists():
            time.sleep(0.01)
        hanging = False
        return real(*arguments, **named)

    def get(self: runner.CurrentJob) -> Job | None:
        return None if hanging else real_get(self)  # a worker that hangs does not send heartbeats either

    score.tally = slow
    runner.CurrentJob.get = get  # type: ignore[method-assign]
