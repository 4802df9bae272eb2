"""Measurements: warm, in process, median of several runs, compared with the peer in the same run."""

import re
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

LOAD_SECONDS = 30  # 50 clients wait fifteen seconds each for a Dataframe of 10,000 rows


@dataclass(frozen=True, slots=True)
class Measurement:
    """One line of the table: what took how long, against what, and what is asked of it."""

    what: str
    value: str
    beside: str = ""
    ratio: str = ""
    asked: str = ""


def paired_seconds(runs: list[Callable[[], object]], repeats: int = 5) -> list[float]:
    """Return the medians of several candidates that take turns, so that a drift of the machine meets them all."""
    for run in runs:
        run()
    rounds = [[_seconds(run) for run in runs] for _ in range(repeats)]
    return [statistics.median(times) for times in zip(*rounds, strict=True)]


def _seconds(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def in_ms(seconds: float) -> str:
    """Return a time as the table has it."""
    return f"{seconds * 1000:.0f} ms"


def print_table(figures: Iterable[Measurement]) -> None:
    """Print a Markdown table, line by line: it takes minutes."""
    print("| what | measured | beside it, same run | ratio | asked |\n|---|---|---|---|---|")
    for figure in figures:
        print(f"| {figure.what} | {figure.value} | {figure.beside} | {figure.ratio} | {figure.asked} |", flush=True)


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
