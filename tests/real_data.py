"""The benchmark's real files beside the checkout. The project commits none of their text and none of their labels."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


def real_file(name: str) -> Path:
    """Return a file of ../shared; without it the test is skipped, but fails in CI unless REAL_FILES=absent is set."""
    path = SHARED / name
    if not path.exists():
        reason = f"needs ../shared/{name} beside the checkout"
        if os.environ.get("CI") and os.environ.get("REAL_FILES") != "absent":
            pytest.fail(reason)
        pytest.skip(reason)
    return path


def rows(name: str) -> list[dict[str, Any]]:
    """Return the rows of a JSONL or JSON file of ../shared/data."""
    text = real_file(f"data/{name}").read_text()
    if text.lstrip().startswith("["):
        return list(json.loads(text))
    return [json.loads(line) for line in text.split("\n") if line]
