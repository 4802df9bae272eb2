"""Measurements: warm, in process, median of several runs, compared with the peer in the same run."""

import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measurement:
    """One line of the table: what took how long, against what, and what is asked of it."""

    what: str
    value: str
    beside: str
    ratio: str
    asked: str


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


def table_lines(figures: Iterable[Measurement]) -> Iterator[str]:
    """Yield a Markdown table, one line a figure."""
    yield "| what | measured | beside it, same run | ratio | asked |"
    yield "|---|---|---|---|---|"
    for figure in figures:
        yield f"| {figure.what} | {figure.value} | {figure.beside} | {figure.ratio} | {figure.asked} |"


def print_table(figures: Iterable[Measurement]) -> None:
    """Print the table line by line: it takes minutes."""
    for line in table_lines(figures):
        print(line, flush=True)
