"""The pairs of a revision come from the Hub without their labels, whole or not at all."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow
from pyarrow import parquet

from tests.factories.fakes.fake_hub import COMMIT, DATASET, build
from tests.factories.services.serving import serving
from tests.factories.suite.command_process import CommandProcess
from tests.vlrb.judge.running import PNG, item
from vlrb.benchmarks.pairs import build_table
from vlrb.benchmarks.spec_file import load_spec
from vlrb.judge.images import image_bytes
from vlrb.judge.pairs import read_pairs

SPEC = f"""\
id = "tiny"
title = "Tiny"
dataset = "https://huggingface.co/datasets/{DATASET}"
verdict_format = "official-sentence"
citation = "none"

[[categories]]
key = "all"
title = "All"
colour = "#1f5fbf"
"""


def test_a_revision_is_written_from_a_commit_and_can_be_judged(tmp_path: Path) -> None:
    rows = [item(number, category="all") for number in range(4)]
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "spec.toml").write_text(SPEC)
    table = build_table(load_spec("tiny", tmp_path), {"v1": rows[:3]})
    (tmp_path / "tiny" / "items.json").write_text(json.dumps(table.to_json()))
    stored = [{**row, "image": {"bytes": PNG, "path": "x.png"}} for row in rows]
    content = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(stored), content)
    environment = {"BENCHMARK_DEFINITIONS": str(tmp_path), "HF_HUB_OFFLINE": "0", "HF_HOME": str(tmp_path / "hf")}
    hub, asked = build(content.getvalue(), tmp_path / "ranges.txt"), ("items", "--benchmark", "tiny", "--revision")
    with serving(hub) as url, CommandProcess({**environment, "HF_ENDPOINT": url}, tmp_path) as client:
        done = client.run("vlrb.cli", *asked, "v1")
        unknown = client.run("vlrb.cli", *asked, "v9")
    assert done.returncode == 0, done.stderr
    assert f"{DATASET}@{COMMIT}" in done.stdout
    assert parquet.read_schema(tmp_path / "items.parquet").names == ["id", "query", "response", "image"]
    assert [image_bytes(pair.image) for pair in read_pairs(str(tmp_path / "items.parquet")).pairs] == [PNG] * 3
    assert (unknown.returncode, "revision v9" in unknown.stderr) == (1, True)
