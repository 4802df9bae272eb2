"""Tables of imported revisions, reported results and what is switched on. No label is here, and nothing per item that
depends on one."""

from __future__ import annotations

from sqlalchemy import Double
from sqlalchemy.orm import Mapped, mapped_column

from storage.clock import database_now
from storage.models.core import Base, Instant, JsonColumn, Sha256, Words, check


class ServiceFlag(Base):
    """Something that is switched on, with what is said about it in public; off is no row."""

    __tablename__ = "switches"
    name: Mapped[Words] = mapped_column(primary_key=True)
    message: Mapped[Words]


class ImportedLabels(Base):
    """A label revision that maintainers imported. Its labels lie with the workers; until published nobody sees it."""

    __tablename__ = "imported_labels"
    __table_args__ = (
        check("retired", "(retired_at IS NULL) = (salt IS NULL)"),
        check("disclosure", "disclosure IN ('public', 'hidden:categories', 'hidden')"),
    )
    benchmark: Mapped[Words] = mapped_column(primary_key=True)
    revision: Mapped[Words] = mapped_column(primary_key=True)
    disclosure: Mapped[Words]  # benchmark.disclosure: what may be shown; it may become public, and nothing else
    spec: Mapped[Words]  # file or Hub dataset, as asked for; not public
    items: Mapped[int]
    digest: Mapped[Sha256]  # not public: that of a small change can be guessed
    commitment: Mapped[Sha256]  # HMAC-SHA256(salt, digest): public
    difference: Mapped[JsonColumn]  # counts against what the board showed then
    reason: Mapped[Words]
    requested_by: Mapped[Words]
    imported_at: Mapped[Instant] = mapped_column(default=database_now())
    published_at: Mapped[Instant | None] = mapped_column(Double)  # None: a draft
    retired_at: Mapped[Instant | None]
    salt: Mapped[Sha256 | None]  # revealed when the set retires; until then only the workers have it


class ReportedResult(Base):
    """A result that was published elsewhere, as maintainers imported it, or what they changed of one that a definition
    ships. `facts`: the fields of storage.reported_results and the figures, as the reader of files has checked them.
    """

    __tablename__ = "reported_results"
    benchmark: Mapped[Words] = mapped_column(primary_key=True)
    id: Mapped[Words] = mapped_column(primary_key=True)
    facts: Mapped[JsonColumn]
