"""Tables of reported results, backups and quota grants."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any

from sqlalchemy import JSON, BigInteger, Boolean, CheckConstraint, Dialect, Double, ForeignKey, Index, Integer
from sqlalchemy.exc import DontWrapMixin
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.types import TypeDecorator

from storage.clock import database_now
from storage.metadata import JUDGE_TYPES
from storage.models.core import MAX_VOTES, Base, EntryId, Instant, Sha256, Words


def _check(name: str, rule: str) -> CheckConstraint:
    return CheckConstraint(rule, name=name)


class UnfitFigures(ValueError, DontWrapMixin):
    """Figures must be percentages or unknown (None), and one of them must be known."""

    def __init__(self) -> None:
        super().__init__(UnfitFigures.__doc__)


class FiguresJson(TypeDecorator[dict[str, float | None]]):
    """Name of a score -> percentage, as printed; the names are those of the benchmark."""

    impl = JSON
    cache_ok = True

    def process_bind_param(self, value: Mapping[str, Any] | None, dialect: Dialect) -> dict[str, float | None]:
        """Raise UnfitFigures for what is not from 0 to 100, and where no figure is known."""
        known = [figure for figure in (value or {}).values() if figure is not None]
        if not known or not all(math.isfinite(figure) and 0 <= figure <= 100 for figure in known):
            raise UnfitFigures
        return dict(value or {})


FiguresColumn = Annotated[dict[str, float | None], mapped_column(FiguresJson)]


class ReportedResult(Base):
    """A result that was published elsewhere, as maintainers imported it. Figures in percent, as printed."""

    __tablename__ = "reported_results"
    __table_args__ = (
        _check("id", "substr(id, 1, 2) = 'r-' AND length(id) <= 80"),
        _check("benchmark", "length(benchmark) BETWEEN 1 AND 64"),
        _check("name", "length(trim(name)) > 0 AND length(name) <= 200"),
        _check("source", "length(trim(source)) > 0 AND length(source) <= 300"),
        _check("url", "(substr(url, 1, 8) = 'https://' OR substr(url, 1, 7) = 'http://') AND length(url) <= 2000"),
        _check("judge_type", "judge_type IN ('" + "', '".join(JUDGE_TYPES) + "')"),
        _check("judge_name", "length(judge_name) <= 200"),
        _check("reported_by", "reported_by IN ('authors', 'benchmark', 'others')"),
        _check("parameters_b", "parameters_b > 0 AND parameters_b <= 1000000"),
        _check("votes_per_item", f"votes_per_item BETWEEN 1 AND {MAX_VOTES}"),
        _check("removed", "(removed_at IS NULL) = (removed_reason IS NULL)"),
    )
    benchmark: Mapped[Words] = mapped_column(primary_key=True)
    id: Mapped[Words] = mapped_column(primary_key=True)
    name: Mapped[Words]
    organisation: Mapped[Words | None]
    judge_type: Mapped[Words | None]
    base_model: Mapped[Words | None]
    parameters_b: Mapped[float | None] = mapped_column(Double)
    open_weights: Mapped[bool | None] = mapped_column(Boolean(create_constraint=True, name="open_weights"))
    votes_per_item: Mapped[int | None]
    date: Mapped[Words | None]  # ISO day of publication
    figures: Mapped[FiguresColumn]
    source: Mapped[Words]
    place: Mapped[Words | None]  # where in the source
    url: Mapped[Words]
    notes: Mapped[Words | None]
    imported_by: Mapped[Words]  # account
    imported_at: Mapped[Instant] = mapped_column(default=database_now())
    removed_at: Mapped[Instant | None]
    removed_reason: Mapped[Words | None]
    judge_name: Mapped[Words | None]
    reported_by: Mapped[Words | None]
    # whether the judge was given a part of the answer
    oracle: Mapped[bool | None]


class Backup(Base):
    """One copy of the database: begun, and how it ended."""

    __tablename__ = "backups"
    __table_args__ = (
        _check("name", "length(name) BETWEEN 1 AND 200"),
        _check("ended", "(finished_at IS NULL) OR (error IS NOT NULL) <> (sha256 IS NOT NULL)"),
        _check("size", "(sha256 IS NULL) = (size_bytes IS NULL)"),
        _check("chain", "(sha256 IS NULL) = (chain_seq IS NULL) AND (sha256 IS NULL) = (chain_hash IS NULL)"),
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


class QuotaGrant(Base):
    """So many submissions beyond the quota, that a maintainer allowed an account."""

    __tablename__ = "quota_grants"
    __table_args__ = (
        _check("account", "length(account) BETWEEN 1 AND 200"),
        _check("extra", "extra BETWEEN 1 AND 1000"),
        _check("reason", "length(reason) BETWEEN 1 AND 500"),
        Index("ix_quota_grants_account", "account"),
    )
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    account: Mapped[Words]
    extra: Mapped[int]
    reason: Mapped[Words]
    granted_by: Mapped[Words]  # account
    granted_at: Mapped[Instant] = mapped_column(default=database_now())
    revoked_at: Mapped[Instant | None]


class QuotaGrantUse(Base):
    """A submission that used a grant instead of the quota."""

    __tablename__ = "quota_grant_uses"
    submission_id: Mapped[EntryId] = mapped_column(ForeignKey("attempts.submission_id"), primary_key=True)
    grant_id: Mapped[int] = mapped_column(ForeignKey("quota_grants.id"), index=True)
