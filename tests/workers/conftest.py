"""An installation of the invented benchmark, in a database of each kind."""

from __future__ import annotations

import pytest

from storage.database import Database
from tests.databases import database, database_url, postgres_cluster
from tests.workers import invented
from workers.runner import Worker
from workers.scorer import Scorer
from workers.start import prepare

__all__ = ["database", "database_url", "postgres_cluster"]


@pytest.fixture(scope="session")
def scorer() -> Scorer:
    return invented.scorer()


@pytest.fixture
def ready(database: Database, scorer: Scorer) -> Database:
    """A database whose board shows the first revision of the scorer."""
    prepare(database, scorer, "demo")
    return database


@pytest.fixture
def worker(ready: Database, scorer: Scorer) -> Worker:
    return Worker(ready, scorer, lease_seconds=60)
