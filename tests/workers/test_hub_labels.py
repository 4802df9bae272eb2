"""Labels from a Hub dataset at a commit: over a real socket, and without fetching the images."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from leaderboard.explore.item_catalog import read_item_file
from tests.factories import labels
from tests.factories.fakes.fake_hub import COMMIT, DATASET, GATED, INVALID, NAME, build
from tests.factories.services.serving import serving
from tests.factories.suite.command_process import CommandProcess
from vlrb.benchmarks.items import load_table
from vlrb.benchmarks.label_files import LabelsError, load_labels
from vlrb.benchmarks.pairs import label_set
from vlrb.benchmarks.spec import DEFINITIONS

TOKEN = "hf_that_may_read_the_labels"
IMAGE_BYTES = 100_000


@dataclass(frozen=True)
class Hub:
    """A Hub with one dataset, and a process that reads it with the Hub's client."""

    file: Path
    log: Path
    client: CommandProcess
    folder: Path


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
    with serving(build(file.read_bytes(), log, TOKEN)) as url, _client(url, directory) as client:
        yield Hub(file, log, client, directory)


def _client(url: str, folder: Path) -> CommandProcess:
    """Return a process in which the Hub client, which reads these variables once, finds the Hub."""
    environ = {
        "HF_TOKEN_PATH": str(folder / "no-token"),
        "HF_ENDPOINT": url,
        "HF_HUB_OFFLINE": "0",
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HOME": str(folder / "hf"),
    }
    return CommandProcess(environ, folder)


def main(arguments: Sequence[str]) -> int:
    """Load labels from the Hub, as a worker does, and print what was found or why not, as JSON.

    `arguments`: the item manifest and where the labels are.
    """
    manifest, spec = arguments
    try:
        found = load_labels(spec, "r1", table=load_table(Path(manifest)), token=os.environ["LABELS_TOKEN"])
        print(json.dumps({"digest": found.digest}))
    except LabelsError as error:
        print(json.dumps({"error": str(error)}))
    return 0


def _load(hub: Hub, *, spec: str, token: str) -> dict[str, Any]:
    done = hub.client.run(__name__, str(_manifest(hub.folder)), spec, LABELS_TOKEN=token)
    assert done.returncode == 0, done.stderr
    assert not token or token not in done.stdout + done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _manifest(tmp_path: Path) -> Path:
    manifest = tmp_path / "items.json"
    manifest.write_text(json.dumps(labels.table().to_json()))
    return manifest


def test_labels_come_from_a_private_dataset_without_its_images(hub: Hub) -> None:
    for spec in (f"{DATASET}@{COMMIT}", f"hf://datasets/{DATASET}@{COMMIT}/{NAME}"):
        answer = _load(hub, spec=spec, token=TOKEN)
        assert answer.get("error") is None
        assert answer["digest"] == label_set(_rows(), "r1", table=labels.table()).digest
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
            assert fetched < 0.2 * chunk.total_compressed_size, (group, fetched)
    total = sum(last + 1 - first for first, last in asked)
    assert total < 0.2 * hub.file.stat().st_size


@pytest.mark.parametrize(
    ("spec", "token", "words"),
    [
        (f"{DATASET}@{COMMIT}", "", "needs LABELS_TOKEN"),
        (f"{DATASET}@{COMMIT}", INVALID, "needs LABELS_TOKEN"),
        (f"{DATASET}@{COMMIT}", GATED, "needs LABELS_TOKEN"),
        (f"{DATASET}@{COMMIT[::-1]}", TOKEN, f"shows nothing at {DATASET}@{COMMIT[::-1]}"),
        (f"{DATASET}@{COMMIT}/labels.jsonl", TOKEN, "0 JSON files; one is needed"),
    ],
    ids=["no token", "invalid token", "gated", "no such commit", "no such file"],
)
def test_a_refusal_of_the_hub_says_what_to_do(hub: Hub, spec: str, token: str, words: str) -> None:
    error = _load(hub, spec=spec, token=token)["error"]
    assert error.startswith(f"labels in {spec}: ")
    assert words in error


def test_texts_come_from_a_private_dataset_without_its_labels(hub: Hub, tmp_path: Path) -> None:
    texts, table = tmp_path / "items" / "texts.jsonl", labels.table()
    place = [table.spec.id, str(DEFINITIONS), str(_manifest(tmp_path)), f"{DATASET}@{COMMIT}"]
    command = ["workers.item_files", "--texts", str(texts), *place]
    refused = hub.client.run(*command, LABELS_TOKEN="")
    assert (refused.returncode, "ITEMS_FILE: " in refused.stderr) == (1, True)
    done = hub.client.run(*command, LABELS_TOKEN=TOKEN)
    assert done.returncode == 0, done.stderr
    assert all(one is not None for one in read_item_file(texts, table))
    assert "human_ranking" not in texts.read_text()
