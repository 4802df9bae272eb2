from pathlib import Path

import pytest

from storage.database import Database
from tests.databases import with_labels
from tests.factories.submission_service import BENCHMARK, SubmissionSetup, make_setup


@pytest.fixture
def folder(database: Database, tmp_path: Path) -> Path:
    """Return a folder beside a database with labels."""
    with_labels(database, "r1", benchmark=BENCHMARK)
    (tmp_path / "setup").mkdir()
    return tmp_path / "setup"


@pytest.fixture
def setup(database: Database, folder: Path) -> SubmissionSetup:
    return make_setup(database, folder)
