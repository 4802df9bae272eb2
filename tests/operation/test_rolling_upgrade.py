"""Upgrades while others run: processes of the release before go on with the newer schema; one that starts says so.

The newer schema is this one and a made-up revision that adds a table, a column and an index, as expanding ones do.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from alembic.config import Config
from sqlalchemy import select, text

from storage import database as database_module
from storage.boards import snapshots
from storage.database import Database, UnknownSchema, is_away, migrate, open_database, upgrade
from storage.integrity import audit
from storage.models.core import Score
from tests.databases import database, database_url
from tests.factories import small_benchmark
from workers.runner import Worker
from workers.startup import prepare

__all__ = ["database", "database_url"]
LATER = """
import sqlalchemy as sa
from alembic import op
revision, down_revision, branch_labels, depends_on = "9999", "{head}", None, None

def upgrade():
    op.create_table("later", sa.Column("id", sa.Integer(), primary_key=True))
    op.add_column("submissions", sa.Column("later", sa.Text(), nullable=True))
    op.create_index("ix_later", "scores", ["created_at"])
"""


@pytest.fixture
def worker(database: Database) -> Worker:
    scorer = small_benchmark.scorer()
    prepare(database, scorer, label_revision="demo")
    return Worker(database, scorer, lease_seconds=60)


def upgrade_later(database: Database, folder: Path) -> None:
    """Do what the first process of a later release does."""
    place = Path(database_module.__file__).parent / "migrations"
    with database.read() as session:
        head = session.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
    (folder / "9999_later.py").write_text(LATER.replace("{head}", head))
    config = Config()
    config.set_main_option("script_location", str(place))
    config.set_main_option("path_separator", "newline")
    config.set_main_option("version_locations", f"{place / 'versions'}\n{folder}")
    upgrade(database, config)


def test_a_worker_of_the_release_before_goes_on_during_and_after_a_migration(worker: Worker, tmp_path: Path) -> None:
    database, stop, failed, ids = worker.database, threading.Event(), list[Exception](), list[str]()

    def go_on() -> None:
        while not stop.is_set():
            try:
                ids.extend(small_benchmark.submit(database, range(len(ids), len(ids) + 1), queued=True))
                worker.work()
                worker.heartbeat()
                worker.publish_snapshot()
            except Exception as error:  # a worker's loops go on after what a database that is busy raises
                if not is_away(error):
                    failed.append(error)
                    return
            time.sleep(0.01)

    running = threading.Thread(target=go_on)
    running.start()
    while not ids and running.is_alive():
        time.sleep(0.01)
    later = open_database(database.engine.url.render_as_string(hide_password=False))
    upgrade_later(later, tmp_path)
    before = len(ids)
    while len(ids) < before + 3 and running.is_alive():
        time.sleep(0.01)
    stop.set()
    running.join()
    later.close()
    assert failed == []
    with database.read() as session:
        assert sorted(session.scalars(select(Score.submission_id))) == sorted(ids)
        assert audit.verify(session) is None
        assert None not in dict(snapshots.contents(session)).values()


@pytest.mark.parametrize("database_url", [pytest.param("postgresql", marks=pytest.mark.postgres)], indirect=True)
def test_a_migration_gives_its_locks_back_to_who_needs_them_and_then_goes_on(
    database: Database, tmp_path: Path
) -> None:
    """The lock order of a writer who reads scores, then submissions, is the reverse of the migration's."""
    later = open_database(database.engine.url.render_as_string(hide_password=False))
    with database.write() as session:
        session.execute(text("LOCK TABLE scores IN ROW EXCLUSIVE MODE"))
        running = threading.Thread(target=upgrade_later, args=(later, tmp_path))
        running.start()
        _wait_for_a_lock_wait(database)
        session.execute(text("LOCK TABLE submissions IN ROW EXCLUSIVE MODE"))  # the migration held it, exclusively
        assert running.is_alive()
    running.join(30)
    later.close()
    with database.read() as session:
        assert session.execute(text("SELECT version_num FROM alembic_version")).scalar_one() == "9999"


def _wait_for_a_lock_wait(database: Database) -> None:
    while True:
        with database.read() as session:
            if session.execute(text("SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'relation'")).first():
                return
        time.sleep(0.005)


def test_a_process_of_the_release_before_that_starts_then_says_what_to_do(worker: Worker, tmp_path: Path) -> None:
    upgrade_later(worker.database, tmp_path)
    with pytest.raises(UnknownSchema):
        migrate(worker.database)
