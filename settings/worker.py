"""The settings of a worker and of the commands on the machine."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import field_validator, model_validator

from operation.replica import Replica
from settings.benchmarks import BenchmarkSettings
from settings.declared import setting
from vlrb.benchmarks.spec import DEMO

DATABASE_FILE = "leaderboard.db"


class WorkerSettings(BenchmarkSettings):
    """What the worker and the commands on the machine need."""

    database_url: str = setting(
        "",
        "`sqlite:////path/file.db` or `postgresql://user:password@host/name`",
        shown="SQLite in `DATA_DIR`",
        repr=False,
    )
    lease_seconds: float = setting(
        60.0,
        "a worker that is silent for so long loses its job to another",
        workers_only=True,
        ge=0.1,
        le=86_400,
    )
    audit_dataset: str = setting(
        "",
        "Hub dataset `owner/name` to which the worker commits the head of the audit chain once a day",
        shown="none",
        example="owner/name",
        workers_only=True,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*/[A-Za-z0-9][A-Za-z0-9_.-]*$",
    )
    replica_url: str = setting(
        "",
        "where the database is copied to within a second, with uploads, imported labels and audit heads: a directory "
        "on another disk or a mounted bucket, or `s3://bucket/path?endpoint=...&region=...`; an empty disk is restored "
        "from it at the start ([replica](operation.md#replica))",
        shown="none",
        repr=False,
    )

    @field_validator("database_url")
    @classmethod
    def _with_driver(cls, text: str) -> str:
        scheme, _sign, rest = text.partition("://")
        if scheme in ("postgres", "postgresql", "postgresql+psycopg"):  # the first is what many hosts hand out
            return f"postgresql+psycopg://{rest}"
        if scheme == "sqlite":
            return text
        # The URL itself is not repeated: it may hold a password.
        raise ValueError(
            "DATABASE_URL starts with neither sqlite:/// nor postgresql://. For instance "
            "DATABASE_URL=postgresql://user:password@host/leaderboard."
        )

    @model_validator(mode="after")
    def _revisions_fit(self) -> Self:
        _ = self.served  # raises where the settings of benchmarks do not fit each other
        if not self.database_url:
            object.__setattr__(self, "database_url", f"sqlite:///{self.state_dir / DATABASE_FILE}")
        return self

    @property
    def import_dir(self) -> Path:
        """Below which maintainers import label files."""
        return self.data_dir / "imports"

    @property
    def replica(self) -> Replica | None:
        """Where everything is copied to that must outlive the disk. The demo has a part of its own there."""
        if not self.replica_url:
            return None
        whole = Replica(self.replica_url)
        return whole.part(DEMO) if self.is_demo else whole
