"""A worker of another release: scorer version 3, whose rule takes an undecided vote for the first stored response.

Run as a process of its own, so that nothing of this rule is in the process that tests it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

import vlrb.scorecard
import vlrb.scoring
from vlrb.votes import UNDECIDED

_counted = vlrb.scoring.tally_many


def _other_rule(matrix, labels, *, table):  # type: ignore[no-untyped-def]
    return _counted(np.where(matrix == UNDECIDED, 0, matrix).astype(np.int8), labels, table=table)


def main(arguments: Sequence[str]) -> int:
    """Start as a worker does, do what maintainers asked for, show the board and be gone.

    `arguments`: address of the database, directory that workers share.
    """
    url, state = arguments
    vlrb.scoring.tally_many = _other_rule
    vlrb.scorecard.SCORER_VERSION = "3"
    from storage.database import open_database
    from tests.factories.boards import labels_file, table
    from vlrb.benchmarks.label_files import load_labels
    from workers.runner import Worker
    from workers.scorer import Scorer
    from workers.startup import prepare
    from workers.task_runner import create_task_runner

    database = open_database(url)
    loaded = Scorer(
        table(), {"v1": load_labels(labels_file("v1"), "v1", table=table())}, version=vlrb.scorecard.SCORER_VERSION
    )
    runner = create_task_runner(database, loaded, state=Path(state), lease_seconds=60.0)
    prepare(database, runner.scorer, label_revision="v1")
    runner.run_all()
    worker = Worker(database, [runner.scorer], lease_seconds=60.0, name=runner.worker)
    worker.heartbeat()
    worker.publish_snapshot()
    database.close()
    return 0
