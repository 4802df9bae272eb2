"""Runs of judges over a pool, from any file of predictions or the directory of a run, and what a rule keeps by them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from vlrb.arrays import BoolArray, Int8Array
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.pairs import build_table
from vlrb.benchmarks.spec import DEFAULT_BENCHMARK
from vlrb.benchmarks.spec_file import load_spec
from vlrb.common.command_line import CommandError
from vlrb.common.json_files import read_object
from vlrb.editions.pool import DROPPED, PoolPair
from vlrb.editions.sources import listed
from vlrb.predictions.parse import Problem, UploadRejected, parse_predictions
from vlrb.votes import UNDECIDED

_POOL = "pool"
WRONG_IN_ALL = "wrong == 1"
NEITHER, RIGHT, WRONG = -1, 0, 1
_PREDICTIONS, _RUN = "predictions.jsonl", "run.json"


@dataclass(frozen=True, slots=True)
class JudgeFile:
    """Votes of one file, pairs x runs: 0 or 1 in the pool's order, or UNDECIDED."""

    judge: str
    name: str
    sha256: str
    format: str
    votes: Int8Array


def pool_table(pairs: Sequence[PoolPair]) -> ItemTable:
    """Return the items that readers match predictions with.

    Their definition and source are placeholders: readers ask only what a question's text is.
    """
    spec = replace(load_spec(DEFAULT_BENCHMARK), id=_POOL, title="the pool", drop_from_questions=DROPPED)
    return build_table(spec, {_POOL: [{**pair, "source": spec.sources[0].key} for pair in pairs]})


def read_judge_file(name: str, table: ItemTable) -> JudgeFile:
    """Return the votes of `FILE`, or of `JUDGE=FILE`; a file may be the directory of a judge run.

    Raises:
        CommandError: the file cannot be read, or holds pairs that the pool lacks.
    """
    judge, _equals, rest = name.rpartition("=")
    path, judge = (Path(rest), judge) if judge and not Path(name).exists() else (Path(name), "")
    run = path if path.is_dir() else None
    path = path / _PREDICTIONS if run else path
    if not path.is_file():
        remedy = f" `vlrb judge status {run}` says what is missing." if run else ""
        raise CommandError(f"There is no file {path}.{remedy}")
    data = path.read_bytes()
    try:
        read = parse_predictions(data, table)
    except UploadRejected as rejected:
        problems = listed([*map(_in_words, rejected.problems)])
        raise CommandError(f"{path}: run the judge on all of the pool's pairs.jsonl.\n{problems}") from None
    digest = hashlib.sha256(data).hexdigest()
    return JudgeFile(judge or _judge_of(run, path), path.name, digest, read.format, read.votes.matrix)


def _judge_of(run: Path | None, path: Path) -> str:
    if run is not None and (run / _RUN).is_file():
        return str(read_object(run / _RUN, "model")["model"])
    return path.name.partition(".")[0]


def _in_words(problem: Problem) -> str:
    place = (f"line {problem.line}" if problem.line else "", problem.id, f"`{problem.field}`" if problem.field else "")
    return ": ".join(filter(None, (*place, problem.message)))


def collect(files: Sequence[JudgeFile], pairs: Sequence[PoolPair], *, numbers: Sequence[int]) -> pd.DataFrame:
    """Return the verdicts of all files about the pairs of these numbers, which must have a preference."""
    choice = np.concatenate([file.votes for file in files], axis=1)[list(numbers)]
    preferred = np.array([pairs[number]["preferred"] for number in numbers], dtype=np.int8)[:, None]
    verdicts = np.where(choice == UNDECIDED, NEITHER, choice != preferred)
    return as_verdicts(verdicts, [file.judge for file in files for _ in range(file.votes.shape[1])])


def as_verdicts(verdicts: Int8Array, judges: Sequence[Any]) -> pd.DataFrame:
    """Return a frame of verdicts, WRONG, RIGHT or NEITHER: a row for each pair, a column for each run, named by its
    judge and its number among the judge's runs."""
    names = pd.Series(judges)
    columns = pd.MultiIndex.from_arrays([names, names.groupby(names).cumcount()], names=["judge", "run"])
    return pd.DataFrame(verdicts.astype(np.int8), columns=columns)


def kept_by(rule: str, verdicts: pd.DataFrame) -> BoolArray:
    """Return which pairs stay: (pairs,).

    A rule is an expression of pandas about shares: ``wrong``, of runs that prefer the response that people reject;
    ``judges_wrong``, of judges that are wrong in more than half of their runs. So a rule means the same for some of the
    judges or runs. Undecided is not wrong.

    Raises:
        CommandError: the expression is none.
    """
    wrong = verdicts == WRONG
    by_judge = wrong.T.groupby(level="judge").mean().T
    shares = {"wrong": wrong.mean(axis=1), "judges_wrong": (by_judge > 0.5).mean(axis=1)}
    try:
        stays = np.asarray(pd.DataFrame(shares).eval(rule))
    except Exception as error:  # whatever an expression can be wrong in
        raise CommandError(f"--rule {rule}: {error}. Known are {', '.join(shares)}.") from None
    if stays.dtype != bool or stays.shape != (len(wrong),):
        raise CommandError(f"--rule {rule}: compare a share with a number, such as {WRONG_IN_ALL}.")
    return stays
