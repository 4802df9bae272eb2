"""Recognition of Parquet files by their first bytes."""

from __future__ import annotations

from pathlib import Path


def is_parquet(path: Path) -> bool:
    """Return whether a file begins as Parquet files do. Raises OSError."""
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"
