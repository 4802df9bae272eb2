"""Command `python -m workers.demo_files DIRECTORY`: write the demo benchmark.

A process of its own, because it reads labels and the web process must never hold any.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from vlrb.demo import JUDGES, PICTURES, SAMPLE, demo_archive, demo_items, demo_label_rows, demo_pairs

COMPLETE = "items.json"  # written last: where it is, the rest is
_SHOWN = ("id", "query", "response", "category", "source", "query_source")  # of a pair; the others tell its label


def write_demo(directory: Path) -> bool:
    """Write the demo's pairs, labels, pictures and prediction files below `directory`; False if they are there already.

    The files of an interrupted attempt are replaced.
    """
    if (directory / COMPLETE).exists():
        return False
    directory.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(directory / JUDGES, ignore_errors=True)
    pairs, archive = demo_pairs(), demo_archive()
    folders = (f"{JUDGES}/", f"{PICTURES}/")
    archive.extractall(directory, [name for name in archive.namelist() if name == SAMPLE or name.startswith(folders)])
    public = ({name: pair[name] for name in _SHOWN} | _image(directory, pair["id"]) for pair in pairs)
    _write_lines(directory / "pairs.jsonl", public)
    _write_lines(directory / "labels.jsonl", demo_label_rows(pairs), mode=0o600)
    _replace(directory / COMPLETE, json.dumps(demo_items(pairs).to_json(), separators=(",", ":")).encode())
    return True


def _image(directory: Path, pair: str) -> dict[str, str]:
    picture = f"{PICTURES}/{pair}.png"
    return {"image": picture} if (directory / picture).exists() else {}


def _write_lines(path: Path, rows: Iterable[Mapping[str, Any]], *, mode: int = 0o644) -> None:
    _replace(path, b"".join(json.dumps(row).encode() + b"\n" for row in rows), mode=mode)


def _replace(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    part = path.with_name(path.name + ".part")
    part.touch(mode)
    part.write_bytes(content)
    part.replace(path)


if __name__ == "__main__":
    write_demo(Path(sys.argv[1]))
