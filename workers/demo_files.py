"""Command `python -m workers.demo_files DIRECTORY`: write the demo benchmark.

A process of its own, because it makes labels and the web process must never hold any.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from vlrb import demo
from workers.demo_pictures import draw_picture

COMPLETE = "items.json"  # written last: where it is, the rest is
PICTURES = "pictures"
_SHOWN = (
    "id",
    "query",
    "response",
    "category",
    "source",
    "query_source",
)  # of a pair; the other columns tell its label


def write_demo(directory: Path, *, pictures: bool = True) -> bool:
    """Write the demo's pairs, labels and prediction files below `directory`; False if they are there already.

    The files of an interrupted attempt are replaced. Without `pictures`: 3 s of a processor less.
    """
    if (directory / COMPLETE).exists():
        return False
    directory.mkdir(parents=True, exist_ok=True)
    pairs = demo.demo_pairs()
    if pictures:
        _write_pictures(directory / PICTURES, pairs)
    public = ({name: pair[name] for name in _SHOWN} | _image(pair, pictures) for pair in pairs)
    _write_lines(directory / "pairs.jsonl", public)
    _write_lines(directory / "labels.jsonl", demo.demo_label_rows(pairs), mode=0o600)
    _write_judges(directory / "judges", demo.simulated_judges(pairs))
    _replace(directory / "my-judge.jsonl", demo.sample_predictions(pairs))
    _replace(directory / COMPLETE, json.dumps(demo.demo_items(pairs).to_json(), separators=(",", ":")).encode())
    return True


def _image(pair: Mapping[str, Any], pictures: bool) -> dict[str, str]:
    return {"image": f"{PICTURES}/{pair['id']}.png"} if pictures else {}


def _write_pictures(directory: Path, pairs: Iterable[Mapping[str, Any]]) -> None:
    directory.mkdir(exist_ok=True)
    for pair in pairs:
        _replace(directory / f"{pair['id']}.png", draw_picture(pair["picture"]))


def _write_judges(directory: Path, judges: Iterable[demo.SimulatedJudge]) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    index = []
    for judge in judges:
        (directory / judge.file_name).write_bytes(judge.data)
        index.append({"file": judge.file_name, "metadata": dict(judge.metadata)})
    _replace(directory / "index.json", json.dumps(index, indent=1).encode())


def _write_lines(path: Path, rows: Iterable[Mapping[str, Any]], *, mode: int = 0o644) -> None:
    _replace(path, b"".join(json.dumps(row).encode() + b"\n" for row in rows), mode=mode)


def _replace(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    part = path.with_name(path.name + ".part")
    part.touch(mode)
    part.write_bytes(content)
    part.replace(path)


if __name__ == "__main__":
    write_demo(Path(sys.argv[1]))
