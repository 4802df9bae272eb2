"""An installation of the invented benchmark, in a database of each kind."""

from __future__ import annotations

import pytest

from storage.database import Database
from tests.databases import fill_once
from tests.factories import small_benchmark
from workers.runner import Worker
from workers.scorer import Scorer


@pytest.fixture(scope="session")
def scorer() -> Scorer:
    return small_benchmark.scorer()


@pytest.fixture
def ready(database: Database) -> Database:
    """Return a database whose board shows the first revision of the scorer."""
    fill_once(database, small_benchmark.prepare_board)
    return database


@pytest.fixture
def worker(ready: Database, scorer: Scorer) -> Worker:
    return Worker(ready, [scorer], lease_seconds=60)
