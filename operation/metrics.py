"""Prometheus' metrics of the web process: requests as they come, everything else when somebody asks."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError

from operation import figures
from operation.alarms import Alarms, ServiceAlarm
from operation.build import BuildFacts
from operation.figures import BoardFigures, ServiceFigures
from operation.replication.litestream import Litestream
from storage.database import Database

QUANTILES = (0.5, 0.95, 1.0)


@dataclass(frozen=True, slots=True)
class InstallationCollector(Collector):
    """ServiceFigures of the installation, read from the database at each scrape."""

    database: Database
    state: Path
    build: BuildFacts
    alarms: Alarms
    litestream: Litestream | None = None

    def describe(self) -> Sequence[Metric]:
        """Return nothing: registering must not read the database."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yield every figure that can be measured now."""
        yield InfoMetricFamily("leaderboard_build", "Version of this build, and its commit.", self.build._asdict())
        free = shutil.disk_usage(self.state).free
        yield gauge("leaderboard_disk_free_bytes", "Room where the data directory is.", value=free)
        if self.litestream is not None and (lag := self.litestream.lag()) is not None:
            yield gauge("leaderboard_replica_lag_seconds", "Since the replica had everything.", value=lag)
        try:
            with self.database.read() as session:
                result, boards = figures.gather(session), figures.of_boards(session)
                alarms = self.alarms(session)
        except SQLAlchemyError:
            yield gauge("leaderboard_database_up", "Whether the database answers.", value=0)
            return
        yield gauge("leaderboard_database_up", "Whether the database answers.", value=1)
        yield from _of_database(result)
        yield from _of_boards(boards)
        yield from _of_alarms(alarms)


def make_registry(collector: Collector) -> CollectorRegistry:
    """Return a registry with the figures of process and installation."""
    registry = CollectorRegistry(auto_describe=False)
    ProcessCollector(registry=registry)
    registry.register(collector)
    return registry


def render(registry: CollectorRegistry) -> bytes:
    """Return Prometheus' text format."""
    return generate_latest(registry)


def gauge(name: str, text: str, *, value: float) -> GaugeMetricFamily:
    """Return a gauge without labels."""
    return GaugeMetricFamily(name, text, value=value)


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of the values does not exceed."""
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


def _of_database(service_figures: ServiceFigures) -> Iterator[Metric]:
    yield gauge("leaderboard_submissions", "Submissions that were accepted.", value=service_figures.submissions)
    yield _labelled("leaderboard_jobs", "Scoring jobs by state.", label="state", values=service_figures.jobs)
    if values := service_figures.waiting_seconds:
        shares = {str(share): quantile(values, share) for share in QUANTILES}
        words = "From submission to score, of the last hour's jobs."
        yield _labelled("leaderboard_waiting_seconds", words, label="quantile", values=shares)
    yield gauge("leaderboard_workers", "Workers that were seen in the last minute.", value=service_figures.workers)


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
