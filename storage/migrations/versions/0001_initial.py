"""Every table, index and trigger: what storage/models and triggers.py declare.

Nothing is released, so there is one migration, and its revision is a digest of what it makes: a database with any other
schema is refused (UnknownSchema). The first release freezes it: `alembic revision --autogenerate` writes it out.
"""

import hashlib
from importlib import import_module
from pkgutil import iter_modules

import sqlalchemy as sa
from alembic import op
from sqlalchemy.schema import CreateIndex, CreateTable

from storage import models
from storage.migrations.triggers import postgresql_triggers, sqlite_triggers
from storage.models.core import Base

for module in iter_modules(models.__path__):
    import_module(f"{models.__name__}.{module.name}")


def _digest() -> str:
    made = [str(CreateTable(table)) for table in Base.metadata.sorted_tables]
    made += sorted(str(CreateIndex(index)) for table in Base.metadata.sorted_tables for index in table.indexes)
    return hashlib.sha256("\n".join((*made, *postgresql_triggers())).encode()).hexdigest()[:16]


revision = f"initial_{_digest()}"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    bind = op.get_bind()
    Base.metadata.create_all(bind)
    op.execute(sa.insert(Base.metadata.tables["audit_head"]).values(id=1, seq=0, hash="0" * 64))
    for statement in postgresql_triggers() if bind.dialect.name == "postgresql" else sqlite_triggers():
        op.execute(statement)
