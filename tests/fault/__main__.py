"""`make fault`: the tests that kill and stop processes, many times over, as a table.

The test suite runs each of them once, or a shorter form. Here each runs `--rounds` times, with seeds of its own; the
table says how many kills were tried, how many lost or doubled something, and which rate that excludes with 95%
confidence.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import beta

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Fault:
    """A promise, the test that holds it, and how many kills one run of that test makes."""

    promise: str
    test: str
    kills: int


FAULTS = (
    Fault(
        "a scoring worker is killed: nothing lost, nothing twice", "workers/test_kill.py::test_kills_during", kills=5
    ),
    Fault("a killed worker's job is scored again", "workers/test_kill.py::test_the_job_of_a_killed", kills=1),
    Fault(
        "a worker that slept through its lease is refused",
        "workers/test_kill.py::test_a_worker_that_was_stopped",
        kills=1,
    ),
    Fault("a worker told to stop finishes its job", "workers/test_kill.py::test_a_worker_told_to_stop", kills=1),
    Fault(
        "an apply is killed at each commit: old board or new", "maintenance/test_kill.py::test_a_kill_at_any", kills=9
    ),
    Fault(
        "a killed judge run goes on, asking nothing twice",
        "vlrb/judge/test_kill.py::test_a_run_that_is_killed",
        kills=2,
    ),
    Fault(
        "two web processes, two workers, PostgreSQL restarted",
        "operation/test_topology.py::test_nothing_is_lost",
        kills=5,
    ),
    Fault("uploads in two processes keep the quota", "submissions/test_quota.py::test_uploads_in_two", kills=12),
)


@dataclass(slots=True)
class Tried:
    """What came of a fault: runs that failed count as one loss each."""

    fault: Fault
    runs: int = 0
    lost: int = 0

    @property
    def kills(self) -> int:
        """Of all runs together."""
        return self.runs * self.fault.kills

    def __str__(self) -> str:
        limit = f"under {100 * upper_bound(self.lost, self.kills):.2g} % at 95 %" if self.kills else "not tried"
        return f"{self.fault.promise:<58} {self.kills:>7,} {self.lost:>5}  {limit}"


def upper_bound(lost: int, tried: int) -> float:
    """Return the one-sided 95% limit of Clopper and Pearson for a rate; with nothing lost it is 1 - 0.05^(1/tried)."""
    return float(beta.ppf(0.95, lost + 1, tried - lost)) if lost < tried else 1.0


class Rounds:
    """pytest plugin: every chosen test so many times, and what came of them."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.tried = [Tried(fault) for fault in FAULTS]

    @pytest.fixture
    def fault_round(self, request: pytest.FixtureRequest) -> Any:
        """Return the number of the round."""
        return request.param

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        metafunc.fixturenames.append("fault_round")
        metafunc.parametrize("fault_round", range(self.rounds), indirect=True)

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        chosen = [item for item in items if self._of(item.nodeid) is not None]
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = chosen

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        tried = self._of(report.nodeid)
        if tried is not None and not report.skipped and (report.when == "call" or report.failed):
            tried.runs += 1
            tried.lost += report.failed

    def _of(self, nodeid: str) -> Tried | None:
        return next((tried for tried in self.tried if nodeid.startswith(f"tests/{tried.fault.test}")), None)


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 where nothing was lost."""
    parser = argparse.ArgumentParser(prog="python -m tests.fault", description=__doc__)
    parser.add_argument("--rounds", type=int, default=20, help="how often each test runs (default: 20)")
    parser.add_argument("-k", metavar="EXPRESSION", default="", help="which tests, as pytest's -k")
    options = parser.parse_args(arguments)
    rounds = Rounds(options.rounds)
    files = sorted({str(ROOT / "tests" / fault.test.partition("::")[0]) for fault in FAULTS})
    chosen = ["-k", options.k] if options.k else []
    code = pytest.main(["-p", "no:xdist", "--long", "--rootdir", str(ROOT), *chosen, *files], plugins=[rounds])
    print(f"\n{'promise':<58} {'tried':>7} {'lost':>5}")
    print("\n".join(str(tried) for tried in rounds.tried))
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
