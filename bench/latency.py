"""Latency of a response on a kept connection, compressed and not; and how many responses a second 50 clients get."""

from __future__ import annotations

import re
import shutil
import statistics
import subprocess
import time
from dataclasses import dataclass
from http.client import HTTPConnection

from bench.measure import Measurement

BLOCKS, BLOCK = 6, 50  # a connection that rests is acknowledged at once, so each is busy for a block of requests
LOAD_SECONDS = 30  # 50 clients wait fifteen seconds each for a Dataframe of 10,000 rows
ENCODINGS = ("identity", "br")
AT_MOST, SLACK_MS = 3, 3.0  # times the uncompressed response's p50, and milliseconds beside it


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds from the request to the last byte of its response."""

    p50: float
    p99: float

    def __str__(self) -> str:
        return f"p50 {self.p50:.2f} ms, p99 {self.p99:.2f} ms"


def latencies(address: str) -> dict[str, Latency]:
    """Return the latency of the page by encoding; they take turns block by block."""
    taken: dict[str, list[float]] = {coding: [] for coding in ENCODINGS}
    for at in range(BLOCKS + 1):
        for coding in ENCODINGS:
            times = _block(address, coding)
            taken[coding] += times if at else []  # the first block is not counted
    return {coding: _summary(times) for coding, times in taken.items()}


def _block(address: str, coding: str) -> list[float]:
    """Return the times of requests on one connection, without its first."""
    connection = HTTPConnection(address.removeprefix("http://"), timeout=60)
    try:
        return [_milliseconds(connection, coding) for _ in range(BLOCK + 1)][1:]
    finally:
        connection.close()


def _milliseconds(connection: HTTPConnection, coding: str) -> float:
    started = time.perf_counter()
    connection.request("GET", "/", headers={"Accept-Encoding": coding})
    response = connection.getresponse()
    response.read()
    took = (time.perf_counter() - started) * 1000
    if response.status != 200 or response.getheader("Content-Encoding", "identity") != coding:
        raise RuntimeError(f"the page was not answered in {coding}")
    return took


def _summary(times: list[float]) -> Latency:
    return Latency(statistics.median(times), sorted(times)[int(len(times) * 0.99) - 1])


def latency_figure(address: str, entries: int) -> Measurement:
    """Return the table's line: what a browser asks for, beside the uncompressed page."""
    taken = latencies(address)
    mine, plain = taken["br"], taken["identity"]
    limit = AT_MOST * plain.p50 + SLACK_MS
    asked = f"p50 at most {limit:.1f} ms ({AT_MOST} times + {SLACK_MS:.0f} ms)"
    what, ratio = f"the page as br, connection kept alive, {entries:,} entries", f"{mine.p50 / plain.p50:.2f}"
    return Measurement(what, str(mine), beside=f"uncompressed: {plain}", ratio=ratio, asked=asked)


def requests_per_second(address: str, coding: str = "br") -> float | None:
    """Return how many pages 50 clients get, or None without wrk."""
    if shutil.which("wrk") is None:
        return None
    header = f"Accept-Encoding: {coding}"
    command = ["wrk", "-t2", "-c50", f"-d{LOAD_SECONDS}s", "--timeout", "60s", "-H", header, f"{address.rstrip('/')}/"]
    stdout = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    match = re.search(r"Requests/sec:\s+([0-9.]+)", stdout)
    if not match or "Non-2xx" in stdout:
        raise RuntimeError(stdout)
    return float(match[1])
