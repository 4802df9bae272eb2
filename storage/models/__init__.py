"""Table definitions (SQLAlchemy ORM)."""
