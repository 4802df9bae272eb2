"""Table of reported results."""

from __future__ import annotations

from sqlalchemy.orm import Mapped, mapped_column

from storage.clock import database_now
from storage.models.core import Base, Instant, JsonColumn, Words


class ReportedResult(Base):
    """A result that was published elsewhere, as maintainers imported it, or what they changed of one that a definition
    ships. `facts`: the fields of storage.reported_results and the figures, as the reader of files has checked them.
    """

    __tablename__ = "reported_results"
    benchmark: Mapped[Words] = mapped_column(primary_key=True)
    id: Mapped[Words] = mapped_column(primary_key=True)
    facts: Mapped[JsonColumn]
    imported_by: Mapped[Words]  # account
    imported_at: Mapped[Instant] = mapped_column(default=database_now())
