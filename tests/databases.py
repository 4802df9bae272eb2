"""Fixtures that run a test on SQLite and on PostgreSQL, and rows to fill them with."""

from __future__ import annotations

import copy
import hashlib
import os
import tempfile
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest
from sqlalchemy.engine import make_url

from storage.database import Database, Session, migrate, open_database
from storage.integrity import audit, row_commitments
from storage.labels import label_sets
from storage.models.core import Account, Submission
from tests.postgres import Cluster, binaries, running_cluster, why_unavailable

Filled = TypeVar("Filled")
BOTH = [pytest.param("sqlite"), pytest.param("postgresql", marks=pytest.mark.postgres)]
# Columns of imported labels, as maintainers import them.
DECIDED = {
    "approval", "approval_reason", "anonymous_until", "held_back_at", "hidden_at", "withdrawn_at", "withdrawn_reason",
    "verified_at", "flag",
}  # columns of a submission  # fmt: skip
IMPORTED = {
    "revision": "v2",
    "benchmark": "demo",
    "disclosure": "hidden:categories",
    "spec": "x",
    "items": 1,
    "digest": "a" * 64,
    "commitment": "a" * 64,
    "difference": {},
    "reason": "x",
    "requested_by": "local",
}


@pytest.fixture(scope="session")
def postgres_cluster() -> Iterator[Cluster]:
    """Yield one PostgreSQL server for the whole run; skipped where there is none, but not in CI."""
    reason = why_unavailable()
    if reason is not None:
        if os.environ.get("CI"):
            pytest.fail(f"CI must test PostgreSQL: {reason}")
        pytest.skip(reason)
    with running_cluster() as cluster:
        yield cluster


@pytest.fixture(params=BOTH)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of an empty database, once of each kind."""
    return empty_of_kind(request, tmp_path / "data")


def empty_of_kind(request: pytest.FixtureRequest, folder: Path) -> str:
    """Return the URL of an empty database for a fixture that has a kind as its parameter (BOTH)."""
    if request.param == "sqlite":
        return f"sqlite:///{folder}/leaderboard.db"
    cluster: Cluster = request.getfixturevalue("postgres_cluster")
    url = cluster.new_database()
    request.addfinalizer(lambda: cluster.drop(url))
    return url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """Yield a database with all tables."""
    opened = new_database(database_url)
    yield opened
    opened.close()


def new_database(url: str) -> Database:
    """Open an empty database with all tables: copied from one that has them, which takes a tenth of the time."""
    address = make_url(url)
    if address.get_backend_name() == "sqlite":
        path = Path(address.database or "")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_sqlite_file())
    else:
        cluster = Cluster(Path(str(address.query["host"])), binaries() or Path())
        cluster.replace(url, _postgres_template(cluster))
    return open_database(url)


def fill_once(database: Database, fill: Callable[..., Filled], *arguments: Hashable) -> Filled:
    """Return what `fill(database, *arguments)` returns. An empty SQLite database is filled by it once in a process, and
    by a copy from then on: the same rows with the same ids and times.

    `fill` may change the database only, and must be a function of a module.
    """
    path = Path(database.engine.url.database or "")
    if database.engine.dialect.name != "sqlite" or path.read_bytes() != _sqlite_file():
        return fill(database, *arguments)
    content, returned = _filled_sqlite_file(fill, arguments)
    database.close()
    path.write_bytes(content)
    return copy.deepcopy(returned)


@cache
def _filled_sqlite_file(fill: Callable[..., Filled], arguments: tuple[Hashable, ...]) -> tuple[bytes, Filled]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "template.db"
        opened = new_database(f"sqlite:///{path}")
        returned = fill(opened, *arguments)
        opened.close()
        return path.read_bytes(), returned


@cache
def _sqlite_file() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        opened = open_database(f"sqlite:///{folder}/template.db")
        migrate(opened)
        opened.close()
        return (Path(folder) / "template.db").read_bytes()


@cache
def _postgres_template(cluster: Cluster) -> str:
    url = cluster.new_database()
    opened = open_database(url)
    migrate(opened)
    opened.close()
    return url


def a_submission(number: int = 1, **changes: Any) -> Submission:
    """Return a valid submission; `number` makes content and model differ."""
    values: dict[str, Any] = {
        "benchmark": "demo",
        "owner": "local",
        "content_sha256": hashlib.sha256(str(number).encode()).hexdigest(),
        "file_name": "judge.jsonl",
        "format": "native",
        "revision": "demo",
        "votes_per_item": 1,
        "votes": b"\x00",
        "parse_rate": 1.0,
        "report": {"ok": True},
        "model": f"judge {number}",
    }
    return Submission(**(values | changes))


def an_account(account: str, **changes: Any) -> Account:
    """Return an account of somebody whom the provider knows by the same name."""
    named = {"issuer": "https://id.example", "subject": account, "name": account, "organisations": []}
    seen = dict.fromkeys(("confirmed_at", "first_seen_at", "last_seen_at"), 1.0)
    return Account(id=account, **(named | seen | changes))


def with_labels(database: Database, revision: str = "demo", *, benchmark: str = "demo") -> None:
    """Registers a label set (no labels needed) and makes the board show it."""
    with database.write() as session:
        label_sets.register(
            session, revision, benchmark=benchmark, digest=hashlib.sha256(revision.encode()).hexdigest(), items=1250
        )
        label_sets.activate_revision(session, benchmark, label_revision=revision, scorer_version="1", reason="test")


def shown_board(database: Database, benchmark: str = "demo") -> label_sets.ActiveBoard:
    """Return what a board shows. Raises AssertionError where it shows nothing yet."""
    with database.read() as session:
        found = label_sets.current(session, benchmark)
    assert found is not None
    return found


def on_record(database: Database, names: Iterable[str]) -> list[str]:
    """Add the audit events that submissions have which came through the service; returns the ids."""
    with database.write() as session:
        return accept(session, [session.get_one(Submission, name) for name in names])


def accept(session: Session, rows: Sequence[Submission]) -> list[str]:
    """Add submissions as if they had come through the service; returns the ids."""
    session.add_all(rows)
    session.flush()
    for row in rows:
        held = row_commitments.commitments(session, row.id)
        audit.append(session, "submission.accepted", data={"submission": row.id, "owner": row.owner, **held})
    return [row.id for row in rows]


def submitted(database: Database, count: int, **changes: Any) -> list[str]:
    """Add so many submissions without jobs; returns their ids."""
    with database.write() as session:
        rows = [a_submission(number, **changes) for number in range(count)]
        session.add_all(rows)
        session.flush()
        return [row.id for row in rows]
