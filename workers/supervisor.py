"""Supervisor of one worker process beside the web process. Plain asyncio; imports nothing of the worker itself."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
from asyncio.subprocess import Process
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from common.exit_deadline import WORKER_SECONDS, end_with_parent
from workers import WRONG_CONFIGURATION

log = logging.getLogger(__name__)

_FIRST_DELAY, _LONGEST_DELAY = 0.2, 30.0  # seconds before a restart; doubles with each early death
_STEADY = 20.0  # seconds after which a worker counts as having started well
_PATIENCE = WORKER_SECONDS + 1.0  # seconds that a program gets to finish what it does
_EVENTS = ("started", "ended", "misconfigured")  # in the log, after the program's name


class Supervisor:
    """Supervises a command: starts it, restarts it when it dies, and stops it on request."""

    def __init__(
        self,
        command: Sequence[str],
        environ: Mapping[str, str],
        *,
        give_up: Callable[[], None] | None = None,
        name: str = "worker",
    ) -> None:
        """`give_up`: called when the worker cannot use its settings at its first start; it is not started again then.
        Later, a file that was edited must not end a service that works. `name`: of the program, in the log."""
        self._started, self._ended, self._misconfigured = (f"{name}.{word}" for word in _EVENTS)
        self._command, self._environ, self._give_up = tuple(command), dict(environ), give_up
        self._process: Process | None = None

    @property
    def pid(self) -> int | None:
        """Of the running process."""
        return self._process.pid if self._process else None

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop` is set. Must run on the main thread: Linux ties the child's life to the thread that made it."""
        delay, first = _FIRST_DELAY, True
        while not stop.is_set():
            started = time.monotonic()
            self._process = process = await self._start()
            try:
                if await _either(process, stop):
                    await _end(process)
                    return
            except asyncio.CancelledError:  # nobody waits for it any longer
                _kill(process)
                raise
            if process.returncode == WRONG_CONFIGURATION:
                log.error(self._misconfigured, extra={"data": {"pid": process.pid, "again": not first}})
                if first:
                    if self._give_up is not None:
                        self._give_up()
                    return
            first = False
            delay = _FIRST_DELAY if time.monotonic() - started > _STEADY else min(2 * delay, _LONGEST_DELAY)
            facts = {"pid": process.pid, "code": process.returncode, "restart_seconds": delay}
            log.warning(self._ended, extra={"data": facts})
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), delay)

    async def _start(self) -> Process:
        # Its own group: Ctrl-C in a terminal reaches this process only, which then stops the worker in order.
        process = await asyncio.create_subprocess_exec(
            *self._command,
            env=self._environ,
            process_group=0,
            preexec_fn=partial(end_with_parent, os.getpid(), signal.SIGTERM),
        )
        log.info(self._started, extra={"data": {"pid": process.pid}})
        return process


async def _either(process: Process, stop: asyncio.Event) -> bool:
    """Wait for the end of the process or the order to stop; True if it was the order."""
    ended, stopping = asyncio.ensure_future(process.wait()), asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({ended, stopping}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopping.cancel()
        ended.cancel()
    return stop.is_set()


async def _end(process: Process) -> None:
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), _PATIENCE)
    except TimeoutError:
        _kill(process)
        await process.wait()


def _kill(process: Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()
