"""Alarms of an installation: what is wrong, and what to do."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from sqlalchemy.orm import Session

from operation import figures, stored_uploads
from operation.doctor import KEPT_FREE
from operation.figures import ServiceFigures
from operation.replica_watch import ReplicaWatch
from storage.integrity import integrity_alarms


class ServiceAlarm(NamedTuple):
    """An alarm. `blocking`: nothing is taken or scored until somebody acts."""

    code: str
    sentence: str
    blocking: bool = False


def of_service(session: Session, paths: Sequence[Path]) -> list[ServiceAlarm]:
    """Return the alarms that database and disks give."""
    alarms = [alarm for path in paths if path.exists() and (alarm := _disk(path))]
    if alarm := _stuck(figures.gather(session)):
        alarms.append(alarm)
    if (uploads := stored_uploads.alarm(session)) is not None:
        alarms.append(ServiceAlarm("uploads-damaged", uploads.sentence))
    if (rows := integrity_alarms.alarm(session)) is not None:
        alarms.append(ServiceAlarm("rows-changed", rows.sentence))
    return alarms


def service_alarms(session: Session, paths: Sequence[Path], replica: ReplicaWatch | None = None) -> list[ServiceAlarm]:
    """Return the alarms of a web process: those of database and disks, and the replica's."""
    alarms = of_service(session, paths)
    if replica is not None and replica.alarm is not None:
        alarms.append(ServiceAlarm("replica-behind", replica.alarm))
    return alarms


def _disk(path: Path) -> ServiceAlarm | None:
    free = shutil.disk_usage(path).free
    if free > KEPT_FREE:
        return None
    words = f"The disk of {path} is full: {free // 2**20} MB are free, and {KEPT_FREE // 2**20} MB are kept free. "
    return ServiceAlarm("disk-full", words + "Make room; until then no file is taken.", blocking=True)


def _stuck(service_figures: ServiceFigures) -> ServiceAlarm | None:
    if not service_figures.stuck:
        return None
    waits = max(service_figures.oldest_job_age or 0.0, service_figures.oldest_running_age or 0.0)
    words = f"A job has waited for {waits:.0f} s, and nothing was scored meanwhile. Look at the worker's log, and stop "
    return ServiceAlarm("worker-stuck", words + "it: another one is started and takes the job over.", blocking=True)
