"""Tables of reported results and backups."""

from __future__ import annotations

from sqlalchemy import BigInteger, Index, Integer
from sqlalchemy.orm import Mapped, mapped_column

from storage.clock import database_now
from storage.models.core import Base, Instant, JsonColumn, Sha256, Words, check


class ReportedResult(Base):
    """A result that was published elsewhere, as maintainers imported it, or what they changed of one that a definition
    ships. `facts`: the fields of storage.reported_results and the figures, as the reader of files has checked them.
    """

    __tablename__ = "reported_results"
    __table_args__ = (
        check("id", "substr(id, 1, 2) = 'r-' AND length(id) <= 80"),
        check("benchmark", "length(benchmark) BETWEEN 1 AND 64"),
    )
    benchmark: Mapped[Words] = mapped_column(primary_key=True)
    id: Mapped[Words] = mapped_column(primary_key=True)
    facts: Mapped[JsonColumn]
    imported_by: Mapped[Words]  # account
    imported_at: Mapped[Instant] = mapped_column(default=database_now())


class Backup(Base):
    """One copy of the database: begun, and how it ended."""

    __tablename__ = "backups"
    __table_args__ = (
        check("name", "length(name) BETWEEN 1 AND 200"),
        check("ended", "(finished_at IS NULL) OR (error IS NOT NULL) <> (sha256 IS NOT NULL)"),
        check("size", "(sha256 IS NULL) = (size_bytes IS NULL)"),
        check("chain", "(sha256 IS NULL) = (chain_seq IS NULL) AND (sha256 IS NULL) = (chain_hash IS NULL)"),
        Index("ix_backups_started_at", "started_at"),
    )
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    name: Mapped[Words]  # of the file
    started_at: Mapped[Instant] = mapped_column(default=database_now())
    finished_at: Mapped[Instant | None]
    size_bytes: Mapped[int | None] = mapped_column(BigInteger)
    sha256: Mapped[Sha256 | None]
    chain_seq: Mapped[int | None]  # the last audit event in it
    chain_hash: Mapped[Sha256 | None]
    error: Mapped[Words | None]
