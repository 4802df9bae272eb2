from __future__ import annotations

import pytest

from storage.database import Database
from workers.runner import Worker
from workers.scorer import Scorer


@pytest.fixture
def worker(ready: Database, scorer: Scorer) -> Worker:
    return Worker(ready, [scorer], lease_seconds=60)
