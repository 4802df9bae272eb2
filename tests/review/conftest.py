"""An installation: on SQLite, a copy of one that is made once; on PostgreSQL too where a test asks for both."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from storage.database import open_database
from tests.databases import new_database
from tests.factories.review_setup import ReviewSetup, open_bench, set_up


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a SQLite file with all tables and a board."""
    path = tmp_path_factory.mktemp("installed") / "board.db"
    database = new_database(f"sqlite:///{path}")
    set_up(database, path.parent / "state")
    database.close()
    return path


@pytest.fixture
def bench(request: pytest.FixtureRequest, installed: Path, tmp_path: Path) -> Iterator[ReviewSetup]:
    """`@on_both` runs a test on both kinds of database."""
    if getattr(request, "param", "sqlite") == "sqlite":
        database = open_database(f"sqlite:///{shutil.copy(installed, tmp_path / 'board.db')}")
        yield open_bench(database, tmp_path / "state")
    else:
        database = new_database(request.getfixturevalue("postgres_cluster").new_database())
        yield set_up(database, tmp_path / "state")
    database.close()
