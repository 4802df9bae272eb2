"""SQL compiled once in a process of tests: each test opens a database of its own, but the statements are the same."""

from __future__ import annotations

from typing import Any

from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine import Engine
from sqlalchemy.util import LRUCache

from storage import database

_DIALECTS: tuple[type[Any], ...] = (SQLiteDialect_pysqlite, PGDialect_psycopg)
_COMPILED: LRUCache[Any, Any] = LRUCache(5000)
_create_engine = database.create_engine


def share_compiled_statements() -> None:
    """Give all databases of this process one cache.

    Its keys hold the dialect, which belongs to an engine; those of one kind write the same SQL.
    """
    for dialect in _DIALECTS:
        dialect.__eq__ = lambda one, other: type(one) is type(other)
        dialect.__hash__ = lambda one: hash(type(one))
    database.create_engine = _with_shared_cache  # type: ignore[assignment]


def _with_shared_cache(*arguments: Any, **options: Any) -> Engine:
    return _create_engine(*arguments, execution_options={"compiled_cache": _COMPILED}, **options)
