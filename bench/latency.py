"""Latency of a response on a kept connection, in each encoding, beside an empty one; and how many
responses a second 50 clients get."""

from __future__ import annotations

import re
import shutil
import statistics
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPConnection

from bench.measure import Measurement
from bench.service import kept_alive

BLOCKS, BLOCK = 6, 50  # a connection that rests is acknowledged at once, so each is busy for a block of requests
LOAD_SECONDS = 30  # 50 clients wait fifteen seconds each for a Dataframe of 10,000 rows
EMPTY = "/healthz"  # the smallest response of the service
ENCODINGS = ("identity", "gzip", "br")
AT_MOST, SLACK_MS = 3, 3.0  # times the uncompressed response's p50, and milliseconds beside it


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds from the request to the last byte of its response."""

    p50: float
    p99: float

    def __str__(self) -> str:
        return f"p50 {self.p50:.2f} ms, p99 {self.p99:.2f} ms"


def latencies(address: str) -> dict[str, Latency]:
    """Return the latency by encoding, and of the empty response; they take turns block by block."""
    asked = {coding: ("/", coding) for coding in ENCODINGS} | {EMPTY: (EMPTY, "identity")}
    taken: dict[str, list[float]] = {name: [] for name in asked}
    for at in range(BLOCKS + 1):
        for name, wanted in asked.items():
            path, encoding = wanted
            times = _block(address, path, coding=encoding)
            taken[name] += times if at else []  # the first block is not counted
    return {name: _summary(times) for name, times in taken.items()}


def _block(address: str, path: str, *, coding: str) -> list[float]:
    """Return the times of requests on one connection, without its first."""
    connection = kept_alive(address)
    try:
        return [_milliseconds(connection, path, coding=coding) for _ in range(BLOCK + 1)][1:]
    finally:
        connection.close()


def _milliseconds(connection: HTTPConnection, path: str, *, coding: str) -> float:
    started = time.perf_counter()
    connection.request("GET", path, headers={"Accept-Encoding": coding})
    response = connection.getresponse()
    response.read()
    took = (time.perf_counter() - started) * 1000
    if response.status != 200 or response.getheader("Content-Encoding", "identity") != coding:
        raise RuntimeError(f"{path} was not answered in {coding}")
    return took


def _summary(times: list[float]) -> Latency:
    return Latency(statistics.median(times), sorted(times)[int(len(times) * 0.99) - 1])


def latency_figures(taken: dict[str, Latency], entries: int) -> Iterator[Measurement]:
    """Yield the table's lines: what a browser asks for, beside the uncompressed page and an empty response."""
    plain, empty = taken["identity"], taken[EMPTY]
    limit = AT_MOST * plain.p50 + SLACK_MS
    for coding in ("br", "gzip"):
        what, mine = f"the page as {coding}, connection kept alive, {entries:,} entries", taken[coding]
        asked = f"p50 at most {limit:.1f} ms ({AT_MOST} times + {SLACK_MS:.0f} ms)"
        yield Measurement(
            what, str(mine), beside=f"uncompressed: {plain}", ratio=f"{mine.p50 / plain.p50:.2f}", asked=asked
        )
        yield Measurement(
            what, str(mine), beside=f"empty response ({EMPTY}): {empty}", ratio=f"{mine.p50 / empty.p50:.2f}", asked=""
        )


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
