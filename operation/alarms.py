"""Alarms of an installation: what is wrong, and what to do."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from sqlalchemy.orm import Session

from operation import figures
from operation.figures import ServiceFigures
from operation.litestream import Litestream
from storage.integrity import integrity_alarms
from storage.jobs import worker_heartbeats
from storage.labels import label_imports, label_sets
from storage.labels.pending_rules import changed_rules, pending_rules

KEPT_FREE = 512 * 2**20
"""Bytes that stay free: below them no file is taken (web/middleware/request_limits.py)."""
NO_FILES, SCORES_LATE, FIGURES_DIFFER = "no-files", "scores-late", "figures-differ"
DECISION_PENDING = "decision-pending"
"""What visitors notice: no file is taken, scores come late, a stored figure is not what the audit chain says, new files
wait until a maintainer has decided on scoring rules."""


class ServiceAlarm(NamedTuple):
    """An alarm. `blocking`: nothing is taken or scored until somebody acts. `effect`: what visitors notice, or "".
    `sentence`: for operators; `public`: what everybody may read in its place where it names an address or a path.
    """

    code: str
    sentence: str
    blocking: bool = False
    effect: str = ""
    public: str = ""


Alarms = Callable[[Session], Sequence[ServiceAlarm]]


def service_alarms(
    session: Session,
    paths: Sequence[Path] = (),
    *,
    litestream: Litestream | None = None,
    benchmarks: Mapping[str, str] = MappingProxyType({}),
) -> list[ServiceAlarm]:
    """Return what is wrong with the service. Whatever tells of trouble asks this, and nothing else.

    `paths`: whose disks are looked at. `litestream`: where there is a replica. `benchmarks`: those that are served,
    id -> title.
    """
    alarms = [alarm for path in paths if path.exists() and (alarm := _disk(path))]
    if alarm := _scoring(figures.gather(session)):
        alarms.append(alarm)
    alarms += _labels_alarms(session, benchmarks)
    if (rows := integrity_alarms.alarm(session)) is not None:
        alarms.append(ServiceAlarm("rows-changed", rows.sentence, effect=FIGURES_DIFFER))
    if litestream is not None and (behind := litestream.alarm()) is not None:
        alarms.append(ServiceAlarm("replica-behind", behind, effect=NO_FILES))
    return alarms


def _labels_alarms(session: Session, benchmarks: Mapping[str, str]) -> Iterator[ServiceAlarm]:
    """Yield an alarm for each board (id -> title) whose labels no running worker, or not every one, holds, and for
    each whose scorer version none counts by."""
    for benchmark, title in benchmarks.items():
        board = label_sets.current(session, benchmark)
        if board is None:
            continue
        if (pending := pending_rules(session, benchmark)) is not None:
            words = f"{title}: {pending}"
            yield ServiceAlarm(DECISION_PENDING, words, effect=DECISION_PENDING)
        if (other := changed_rules(session, benchmark)) is not None:
            yield ServiceAlarm("rules-pending", f"{title}: {other}")
        holding = worker_heartbeats.workers_holding(session, benchmark, revision=board.label_revision)
        strangers = [name for name, holds in holding.items() if not holds]
        labels = f"the labels of revision {board.label_revision}, which the board of {title} shows"
        if len(strangers) == len(holding) > 0:
            remedy = labels_remedy(session, benchmark, revision=board.label_revision)
            words = f"No running worker has {labels}, so submissions wait and the board stays as it is: {remedy}."
            public = f"No running worker has {labels}; submissions are kept and scored later."
            yield ServiceAlarm("labels-missing", words, blocking=True, effect=SCORES_LATE, public=public)
        elif strangers:
            words = f"These workers lack {labels}, and score nothing for it: {', '.join(strangers)}. "
            words += "Start them with the LABELS of the others, or stop them."
            public = "A worker lacks the labels of a board and scores nothing for it. The command health names it."
            yield ServiceAlarm("worker-without-labels", words, public=public)


def labels_remedy(session: Session, benchmark: str, *, revision: str) -> str:
    """Return what to do where workers lack the labels of a revision."""
    if label_imports.find(session, benchmark, revision=revision) is None:
        return f"name {revision} in LABELS again and start the workers anew"
    return f"bring the file DATA_DIR/labels/{benchmark}/{revision}.json back to them"


def _disk(path: Path) -> ServiceAlarm | None:
    free = shutil.disk_usage(path).free
    if free > KEPT_FREE:
        return None
    words = (
        f"The disk of {path} is full: {free // 2**20} MB are free, and {KEPT_FREE // 2**20} MB are kept free. "
        "Make room; until then no file is taken."
    )
    public = "A disk of the service is full. Make room; until then no file is taken."
    return ServiceAlarm("disk-full", words, blocking=True, effect=NO_FILES, public=public)


def _scoring(service_figures: ServiceFigures) -> ServiceAlarm | None:
    """Return what is wrong with workers: none is there, none gets on, or they are too few."""
    if not service_figures.workers:
        words = "No worker has shown itself lately; submissions are kept and scored later."
        return ServiceAlarm("worker-offline", words, blocking=True, effect=SCORES_LATE)
    waits = max(service_figures.oldest_job_age or 0.0, service_figures.oldest_running_age or 0.0)
    if service_figures.stuck:
        words = (
            f"A job has waited for {waits:.0f} s, and nothing was scored meanwhile. Look at the worker's log, "
            "and stop it: another one is started and takes the job over."
        )
        return ServiceAlarm("worker-stuck", words, blocking=True, effect=SCORES_LATE)
    if waits > figures.STUCK_SECONDS:
        words = f"The oldest job has waited for {waits:.0f} s. Start more workers if this lasts."
        return ServiceAlarm("queue-waits", words, effect=SCORES_LATE)
    return None
