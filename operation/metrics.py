"""Prometheus' metrics of the web process: requests as they come, everything else when somebody asks."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError

from operation import figures
from operation.alarms import Alarms, ServiceAlarm
from operation.build import BUILD, own_commit
from operation.figures import BoardFigures, ServiceFigures
from operation.replication.litestream import Litestream
from storage.database import Database

QUANTILES = (0.5, 0.95, 1.0)


@dataclass(frozen=True, slots=True)
class InstallationCollector(Collector):
    """ServiceFigures of the installation, read from the database at each scrape."""

    database: Database
    state: Path
    alarms: Alarms
    litestream: Litestream | None = None

    def describe(self) -> Sequence[Metric]:
        """Return nothing: registering must not read the database."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yield every figure that can be measured now."""
        build = {"version": BUILD, "commit": own_commit()}
        yield InfoMetricFamily("leaderboard_build", "Version of this build, and its commit.", build)
        free = shutil.disk_usage(self.state).free
        yield GaugeMetricFamily("leaderboard_disk_free_bytes", "Room where the data directory is.", value=free)
        if self.litestream is not None and (lag := self.litestream.lag()) is not None:
            yield GaugeMetricFamily("leaderboard_replica_lag_seconds", "Since the replica had everything.", value=lag)
        try:
            with self.database.read() as session:
                result, boards = figures.gather(session), figures.of_boards(session)
                alarms = self.alarms(session)
        except SQLAlchemyError:
            yield GaugeMetricFamily("leaderboard_database_up", "Whether the database answers.", value=0)
            return
        yield GaugeMetricFamily("leaderboard_database_up", "Whether the database answers.", value=1)
        yield from _of_database(result)
        yield from _of_boards(boards)
        yield from _of_alarms(alarms)


def make_registry(collector: Collector) -> CollectorRegistry:
    """Return a registry with the figures of process and installation."""
    registry = CollectorRegistry(auto_describe=False)
    ProcessCollector(registry=registry)
    registry.register(collector)
    return registry


def _of_database(result: ServiceFigures) -> Iterator[Metric]:
    yield GaugeMetricFamily("leaderboard_submissions", "Submissions that were accepted.", value=result.submissions)
    yield _labelled("leaderboard_jobs", "Scoring jobs by state.", label="state", values=result.jobs)
    if values := result.waiting_seconds:
        shares = {str(share): float(np.quantile(values, share, method="inverted_cdf")) for share in QUANTILES}
        words = "From submission to score, of the last hour's jobs."
        yield _labelled("leaderboard_waiting_seconds", words, label="quantile", values=shares)
    yield GaugeMetricFamily("leaderboard_workers", "Workers that were seen in the last minute.", value=result.workers)


def _of_alarms(alarms: Sequence[ServiceAlarm]) -> Iterator[Metric]:
    words = "Alarms that hold, as health lists them; `effect` is what visitors notice."
    family = GaugeMetricFamily("leaderboard_alarm", words, labels=["code", "effect"])
    for alarm in alarms:
        family.add_metric([alarm.code, alarm.effect], 1)
    yield family


def _of_boards(boards: Mapping[str, BoardFigures]) -> Iterator[Metric]:
    scored = {name: board.last_score_age for name, board in boards.items() if board.last_score_age is not None}
    snapshot_ages = {name: board.snapshot_age for name, board in boards.items() if board.snapshot_age is not None}
    yield _labelled(
        "leaderboard_last_score_age_seconds", "Since a submission was scored.", label="benchmark", values=scored
    )
    yield _labelled(
        "leaderboard_snapshot_age_seconds", "Of the board that is shown.", label="benchmark", values=snapshot_ages
    )


def _labelled(name: str, text: str, *, label: str, values: dict[str, int] | dict[str, float]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, text, labels=[label])
    for key, value in sorted(values.items()):
        family.add_metric([key], value)
    return family
