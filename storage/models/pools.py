"""Tables of pools: candidates for a next edition, with their texts. Preferences of a pool are not here."""

from __future__ import annotations

from typing import Annotated, Any

from sqlalchemy import JSON, CheckConstraint, ForeignKey, Integer, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from storage.clock import database_now
from storage.models.core import Base, Instant, JsonColumn, Words
from vlrb.label_quality.annotation import PREFERENCES, VERDICTS

OptionalJsonColumn = Annotated[dict[str, Any] | None, mapped_column(JSON(none_as_null=True))]


def _one_of(column: str, names: tuple[str, ...]) -> CheckConstraint:
    return CheckConstraint(f"{column} IN ('" + "', '".join(names) + "')", name=column)


class Pool(Base):
    """A folder of candidates as a worker imported it. Images stay in the folder."""

    __tablename__ = "pools"
    __table_args__ = (
        UniqueConstraint("benchmark", "name"),
        CheckConstraint("length(name) BETWEEN 1 AND 64", name="name"),
        CheckConstraint("length(sha256) = 64 AND sha256 = lower(sha256)", name="sha256"),
        CheckConstraint("pairs > 0", name="pairs"),
    )
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    benchmark: Mapped[Words]  # that the installation serves
    name: Mapped[Words]
    folder: Mapped[Words]  # absolute
    candidates: Mapped[Words]  # file below the folder
    sha256: Mapped[Words]  # of the file
    pairs: Mapped[int]
    facts: Mapped[JsonColumn]  # counts by source, licence and category
    report: Mapped[OptionalJsonColumn]  # of the filter
    reason: Mapped[Words]
    imported_by: Mapped[Words]
    imported_at: Mapped[Instant] = mapped_column(default=database_now())


class PoolCandidate(Base):
    """A pair of a pool. Responses: A, then B."""

    __tablename__ = "pool_candidates"
    __table_args__ = (
        UniqueConstraint("pool_id", "item"),
        CheckConstraint("place > 0", name="place"),
        _one_of("draft", PREFERENCES),
        _one_of("gold", VERDICTS),
        _one_of("draft_shown_first", PREFERENCES),
    )
    pool_id: Mapped[int] = mapped_column(ForeignKey("pools.id"), primary_key=True)
    place: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    item: Mapped[Words]  # key
    query: Mapped[Words]
    response_a: Mapped[Words]
    response_b: Mapped[Words]
    image: Mapped[Words]  # file below the pool's folder
    draft: Mapped[Words | None]  # the response that a model prefers
    rationale: Mapped[Words | None]  # of the model
    drafted_by: Mapped[Words | None]
    gold: Mapped[Words | None]  # the answer that is known to be right
    draft_shown_first: Mapped[Words | None]  # the response that the rationale calls Answer 1; None: not known
