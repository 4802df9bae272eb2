"""Imported label sets on a worker's disk: what it holds, and what it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.factories import small_benchmark
from workers.labels.loader import LabelsError
from workers.labels.store import LabelStore


def test_a_file_that_is_gone_or_damaged_is_said_to_be(tmp_path: Path) -> None:
    scorer = small_benchmark.scorer()
    store = LabelStore(tmp_path / "labels", scorer.table)
    with pytest.raises(LabelsError, match="not on this worker's disk"):
        store.load("demo")
    assert not store.has("demo")
    kept = store.keep(scorer.labels["demo"])
    assert store.has("demo")
    assert store.load("demo").labels.digest == kept.labels.digest
    path = tmp_path / "labels/demo.json"
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(LabelsError, match="the stored labels of revision demo are damaged"):
        store.load("demo")
