"""Labels from a Hub dataset at a commit: over a real socket, and without fetching the images."""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from tests.factories import labels
from tests.factories.fake_hub import COMMIT, DATASET
from tests.factories.serving import held_port
from workers.labels.loader import COLUMNS, label_set

ROOT = Path(__file__).parents[2]
IMAGE_BYTES = 100_000
PROGRAM = """
import json, sys
from pathlib import Path
from benchmark.items import load_table
from workers.labels.loader import LabelsError, load_labels
try:
    labels = load_labels(sys.argv[2], "r1", load_table(Path(sys.argv[1])))
    print(json.dumps({"preferred": labels.preferred.tolist(), "digest": labels.digest}))
except LabelsError as error:
    print(json.dumps({"error": str(error)}))
"""


@dataclass(frozen=True)
class Hub:
    port: int
    file: Path
    log: Path


def _rows() -> list[dict[str, Any]]:
    dice = random.Random(1)
    return [
        {
            "id": pair["id"],
            "query": pair["query"],
            "response": pair["response"],
            "image": {"bytes": dice.randbytes(IMAGE_BYTES), "path": "x.png"},
            "human_ranking": [i % 2, 1 - i % 2],
            "models": ["a", "b"],
            "rationale": "because " * 10,
            "human_error_analysis": ["attribute"] if i == 3 else None,
        }
        for i, pair in enumerate(labels.pairs())
    ]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    directory = tmp_path_factory.mktemp("hub")
    file, log = directory / "labels.parquet", directory / "ranges.txt"
    parquet.write_table(pa.Table.from_pylist(_rows()), file, row_group_size=7)
    with held_port() as port:
        command = [sys.executable, "-m", "tests.factories.fake_hub", str(port), str(file), str(log)]
        process = subprocess.Popen(command, cwd=ROOT)
        try:
            deadline = time.monotonic() + 60
            while not _answers(port):
                assert process.poll() is None and time.monotonic() < deadline
                time.sleep(0.05)
            yield Hub(port, file, log)
        finally:
            process.terminate()
            process.wait()


def _answers(port: int) -> bool:
    with socket.socket() as visitor:
        return visitor.connect_ex(("127.0.0.1", port)) == 0


def _load(hub: Hub, tmp_path: Path, spec: str) -> dict[str, Any]:
    manifest = tmp_path / "items.json"
    manifest.write_text(json.dumps(labels.table().to_json()))
    environ = {
        **os.environ,
        # Before the import: the Hub client reads these once.
        "HF_ENDPOINT": f"http://127.0.0.1:{hub.port}",
        "HF_HUB_OFFLINE": "0",
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HOME": str(tmp_path / "hf"),
    }
    command = [sys.executable, "-c", PROGRAM, str(manifest), spec]
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_labels_come_from_a_hub_dataset_without_its_images(hub: Hub, tmp_path: Path) -> None:
    answer = _load(hub, tmp_path, f"{DATASET}@{COMMIT}")
    assert answer.get("error") is None
    assert answer["digest"] == label_set(_rows(), "r1", labels.table()).digest
    asked = [tuple(map(int, line.split())) for line in hub.log.read_text().splitlines()]
    assert asked
    metadata = parquet.ParquetFile(hub.file).metadata
    for group in range(metadata.num_row_groups):
        for column in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(column)
            if not chunk.path_in_schema.startswith("image.bytes"):
                continue
            start = chunk.dictionary_page_offset or chunk.data_page_offset
            end = start + chunk.total_compressed_size
            fetched = sum(max(0, min(last + 1, end) - max(first, start)) for first, last in asked)
            # The end of the file, with the footer, is read in one block and may touch the last chunk.
            assert fetched < 0.1 * chunk.total_compressed_size, (group, fetched)
    total = sum(last + 1 - first for first, last in asked)
    assert total < 0.1 * hub.file.stat().st_size
    assert "image" not in COLUMNS


def test_a_dataset_or_commit_that_is_not_there_is_named(hub: Hub, tmp_path: Path) -> None:
    for spec in (f"{DATASET}@feedface", f"nobody/nothing@{COMMIT}"):
        error = _load(hub, tmp_path, spec)["error"]
        assert error.startswith(f"labels in {spec}: ")
