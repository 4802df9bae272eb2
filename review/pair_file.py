"""Files of pairs to be annotated: JSON lines with texts, images beside the file, and labels that are known to be right.

A line of a file about the benchmark's own pairs has `item` or `id`, and perhaps `label`. A line about other pairs has
`query` and two texts in `response`, too, and perhaps `image`. A and B are the responses in the order of the file, or as
on the page of the benchmark's pair.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from maintenance.types import Conflict
from storage.annotation.annotation_projects import PairText, ProjectPair
from storage.files.import_folders import path_below
from vlrb.benchmarks.items import ItemTable
from vlrb.common.json_files import MAYBE_TEXT, JsonFileFault, Shape, check_shape
from vlrb.label_quality.annotation import VERDICTS

_NAMED: Shape = {"item?": str, "id?": str, "label?": MAYBE_TEXT}
_TEXTS: Shape = {"query": str, "response": [str], "image?": MAYBE_TEXT}
_LONGEST_KEY = 70


def find_pair_file(named: str, directories: Sequence[Path] | None) -> Path:
    """Return the path of a file of pairs. `directories`: it must be below one of these; None: anywhere.

    Raises Conflict, in the same words whether a file elsewhere exists or not.
    """
    path = Path(named) if directories is None else path_below(named, directories, is_wanted=Path.is_file)
    if path is not None and path.is_file():
        return path.resolve()
    raise Conflict(
        "no-file",
        (
            f"{named[:200]} is not a file below DATA_DIR/imports of this process. Put it there, or start the "
            "project with `python -m maintenance` where the file is."
        ),
    )


def read_named_pairs(path: Path, table: ItemTable) -> list[ProjectPair]:
    """Return the pairs of the benchmark that a file names, in the order of the table. Raises Conflict."""
    labels: dict[str, str | None] = {}
    for number, line in _lines(path):
        named = [item.key for item in table.items if item.key == _name(path, number, line=line)]
        named = named or [table.items[index].key for index in table.by_id(_name(path, number, line=line))]
        if len(named) != 1 or named[0] in labels:
            problem = "`item` must be the key of one pair of the benchmark, or `id` its id, once."
            raise _fault(path, number, problem=problem)
        labels[named[0]] = _label(path, number, line=line)
    return [ProjectPair(item.key, labels[item.key]) for item in table.items if item.key in labels]


def read_own_pairs(path: Path) -> list[ProjectPair]:
    """Return the pairs of a file with their texts, in its order. Raises Conflict."""
    pairs: dict[str, ProjectPair] = {}
    for number, line in _lines(path):
        name = _name(path, number, line=line)
        try:
            check_shape(line, _TEXTS)
        except JsonFileFault as fault:
            raise _fault(path, number, problem=str(fault)) from None
        if name in pairs or not 0 < len(name) <= _LONGEST_KEY:
            problem = f"`item` must be a name of its own with at most {_LONGEST_KEY} characters."
            raise _fault(path, number, problem=problem)
        if len(line["response"]) != 2:
            raise _fault(path, number, problem="`response` must have two texts.")
        image = line.get("image") or ""
        if image and find_image(path.parent, image) is None:
            problem = f"there is no image {image[:200]!r} beside the file; copy the images, too."
            raise _fault(path, number, problem=problem)
        first, second = line["response"]
        text = PairText(str(line.get("id") or name), line["query"], responses=(first, second), image=image)
        pairs[name] = ProjectPair(name, _label(path, number, line=line), text)
    return list(pairs.values())


def find_image(folder: Path, name: str) -> Path | None:
    """Return the path of an image below a folder; None where it would lie outside, or is not there."""
    root = folder.resolve()
    path = (root / name).resolve()
    return path if path.is_relative_to(root) and path.is_file() else None


def _lines(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """Return (number, object) of the lines. Raises Conflict."""
    lines = []
    try:
        with path.open(encoding="utf-8") as file:
            for number, text in enumerate(file, start=1):
                if text.strip():
                    line = json.loads(text)
                    check_shape(line, _NAMED)
                    lines.append((number, line))
    except JsonFileFault as fault:
        raise _fault(path, number, problem=str(fault)) from None
    except (ValueError, RecursionError):
        raise Conflict("bad-file", f"{path.name} is not JSON lines in UTF-8.") from None
    if not lines:
        raise Conflict("bad-file", f"{path.name} names no pair.")
    return lines


def _name(path: Path, number: int, *, line: Mapping[str, Any]) -> str:
    name = line.get("item") or line.get("id")
    if not name:
        raise _fault(path, number, problem="`item` is missing; name the pair.")
    return str(name)


def _label(path: Path, number: int, *, line: Mapping[str, Any]) -> str | None:
    label = line.get("label")
    if label is not None and label not in VERDICTS:
        names = ", ".join(VERDICTS)
        problem = f"`label` is {label[:40]!r}; known are {names}, or leave it out."
        raise _fault(path, number, problem=problem)
    return label


def _fault(path: Path, number: int, *, problem: str) -> Conflict:
    return Conflict("bad-file", f"{path.name}, line {number}: {problem}")
