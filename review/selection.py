"""Plan of a new annotation project, and its pairs: of the benchmark or of a file, of a category, a sample of them.

A file has JSON lines. A line about one of the benchmark's own pairs has `item` or `id`, and perhaps `label`, which is
known to be right. A line about another pair has `query` and two texts in `response`, too, and perhaps `image`, beside
the file. A and B are the responses in the order of the file, or as on the page of the benchmark's pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, Field, ValidationError

from maintenance.registry import ParamInfo
from maintenance.types import Conflict, absolute_path
from storage.annotation.annotation_projects import PairText, ProjectPair
from storage.database import LARGEST
from storage.files.import_folders import path_below
from vlrb.benchmarks.items import ItemTable
from vlrb.common.json_files import first_problem
from vlrb.label_quality.annotation import VERDICTS

FEWEST_ANSWERS, MOST_ANSWERS = 2, 100
"""Answers of a pair: nobody changes a label alone."""
_LONGEST_KEY = 70


class NamedPairLine(BaseModel, strict=True):
    """A line that names one of the benchmark's pairs. `label`: known to be right."""

    item: str = ""
    id: str = ""
    label: Annotated[str, Field(pattern=f"^({'|'.join(VERDICTS)})$")] | None = None

    @property
    def name(self) -> str:
        """Name of the pair."""
        return self.item or self.id


class OwnPairLine(NamedPairLine):
    """A line with the texts of another pair."""

    query: str
    response: Annotated[list[str], Field(min_length=2, max_length=2)]
    image: str | None = None


_PairLine = TypeVar("_PairLine", bound=NamedPairLine)


@dataclass(frozen=True, slots=True)
class ProjectPlan:
    """Pairs in a file; without one all of the base revision. Of them those of a category, and of these a sample. How
    many answers each needs, and what is read beside it."""

    file: Annotated[
        str,
        ParamInfo(
            "File of pairs",
            "to_annotate.jsonl",
            option="--file",
            help="JSON lines: pairs by key or id, or with texts and images of their own; labels make gold pairs",
            read=absolute_path,
        ),
    ] = ""
    category: Annotated[
        str, ParamInfo("Category", option="--category", metavar="NAME", help="only pairs of this category")
    ] = ""
    sample: Annotated[
        int,
        Field(ge=0, le=LARGEST),
        ParamInfo("Sample", "300", option="--sample", metavar="N", help="only so many of them"),
    ] = 0
    seed: Annotated[
        int,
        Field(ge=0, le=LARGEST),
        ParamInfo("Seed", "1", option="--seed", metavar="N", help="of the sample (1)"),
    ] = 1
    answers: Annotated[
        int,
        Field(ge=FEWEST_ANSWERS, le=MOST_ANSWERS),
        ParamInfo("Answers per pair", option="--answers", metavar="N", help="people who answer each pair (2)"),
    ] = FEWEST_ANSWERS
    guidelines: Annotated[
        str,
        ParamInfo("Guidelines", option="--guidelines", metavar="TEXT", help="what annotators read beside each pair"),
    ] = ""


def select_pairs(
    table: ItemTable, directories: Sequence[Path] | None, *, base: str, plan: ProjectPlan
) -> list[ProjectPair]:
    """Return the pairs in the order of the table or file, which tells nothing. Raises Conflict.

    `directories`: below which files are read; None: anywhere.
    """
    if plan.file:
        path = find_pair_file(plan.file, directories)
        chosen = _read_named_pairs(path, table) if base else _read_own_pairs(path)
    elif not base:
        raise Conflict("no-base", "Name the label revision, or a file with pairs and their texts.")
    else:
        held = table.in_revision(base) if base in table.revisions else range(len(table))
        chosen = [ProjectPair(table.items[index].key) for index in sorted(held)]
    if plan.category:
        chosen = _of_category(chosen, table, category=plan.category)
    if plan.sample:
        chosen = _sample(chosen, plan.sample, seed=plan.seed)
    if not chosen:
        raise Conflict("no-items", "There are no such pairs.")
    return chosen


def _of_category(chosen: Sequence[ProjectPair], table: ItemTable, *, category: str) -> list[ProjectPair]:
    known = table.spec.category_keys
    if category not in known:
        raise Conflict("bad-category", f"A category is one of {', '.join(known)}.")
    members = {item.key for item in table.items if item.category == category}
    return [item for item in chosen if item.item in members]


def _sample(chosen: Sequence[ProjectPair], count: int, *, seed: int) -> list[ProjectPair]:
    """Return so many of the pairs by a digest of seed and key, gold pairs and others alike."""
    if count > len(chosen):
        raise Conflict("small-pool", f"There are {len(chosen)} such pairs, so no sample of more.")
    drawn = sorted((item.item for item in chosen), key=lambda key: sha256(f"{seed}\n{key}".encode()).digest())
    kept = set(drawn[:count])
    return [item for item in chosen if item.item in kept]


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


def _read_named_pairs(path: Path, table: ItemTable) -> list[ProjectPair]:
    """Return the pairs of the benchmark that a file names, in the order of the table. Raises Conflict."""
    labels: dict[str, str | None] = {}
    for number, line in _lines(path, NamedPairLine):
        named = [item.key for item in table.items if item.key == line.name]
        named = named or [table.items[index].key for index in table.by_id(line.name)]
        if len(named) != 1 or named[0] in labels:
            problem = "`item` must be the key of one pair of the benchmark, or `id` its id, once."
            raise _fault(path, number, problem=problem)
        labels[named[0]] = line.label
    return [ProjectPair(item.key, labels[item.key]) for item in table.items if item.key in labels]


def _read_own_pairs(path: Path) -> list[ProjectPair]:
    """Return the pairs of a file with their texts, in its order. Raises Conflict."""
    pairs: dict[str, ProjectPair] = {}
    for number, line in _lines(path, OwnPairLine):
        name, image = line.name, line.image or ""
        if name in pairs or len(name) > _LONGEST_KEY:
            problem = f"`item` must be a name of its own with at most {_LONGEST_KEY} characters."
            raise _fault(path, number, problem=problem)
        if image and path_below(image, [path.parent], is_wanted=Path.is_file) is None:
            problem = f"there is no image {image[:200]!r} beside the file; copy the images, too."
            raise _fault(path, number, problem=problem)
        first, second = line.response
        text = PairText(line.id or name, line.query, responses=(first, second), image=image)
        pairs[name] = ProjectPair(name, line.label, text)
    return list(pairs.values())


def _lines(path: Path, kind: type[_PairLine]) -> list[tuple[int, _PairLine]]:
    """Return (number, line) of the lines. Raises Conflict."""
    lines, number = [], 0
    try:
        with path.open(encoding="utf-8") as file:
            for number, text in enumerate(file, start=1):
                if text.strip():
                    lines.append((number, kind.model_validate_json(text)))
                    if not lines[-1][1].name:
                        raise _fault(path, number, problem="`item` is missing; name the pair.")
    except ValidationError as error:
        raise _fault(path, number, problem=first_problem(error)) from None
    except UnicodeDecodeError:
        raise Conflict("bad-file", f"{path.name} is not JSON lines in UTF-8.") from None
    if not lines:
        raise Conflict("bad-file", f"{path.name} names no pair.")
    return lines


def _fault(path: Path, number: int, *, problem: str) -> Conflict:
    return Conflict("bad-file", f"{path.name}, line {number}: {problem}")
