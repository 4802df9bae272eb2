"""Alembic environment; storage.database.migrate gives the connection and its transaction."""

from alembic import context

from storage.models.core import Base


def run() -> None:
    """Apply what is missing inside the caller's transaction."""
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=Base.metadata,
        transactional_ddl=True,
        transaction_per_migration=False,
    )
    with context.begin_transaction():
        context.run_migrations()


run()
