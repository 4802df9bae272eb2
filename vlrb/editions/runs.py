"""Runs of judges over a pool, from any file of predictions that the service reads, or the directory of a judge run."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from vlrb.arrays import BoolArray, Int8Array
from vlrb.benchmarks.items import ItemTable, build_table
from vlrb.benchmarks.spec import DEFAULT_BENCHMARK
from vlrb.benchmarks.spec_file import load_spec
from vlrb.editions.errors import CurateError, listed
from vlrb.editions.pools.pool import DROPPED, PoolPair, read_json
from vlrb.predictions.matching import UNKNOWN, item_label, match, report_text_differences, resolve_orientation
from vlrb.predictions.problems import Problem, ProblemCollector, UploadRejected
from vlrb.readers import read_file
from vlrb.votes import ABSENT, UNDECIDED

_POOL = "pool"
_PREDICTIONS, _RUN = "predictions.jsonl", "run.json"


@dataclass(frozen=True, slots=True)
class JudgeFile:
    """Votes of one file: pairs x runs x (choice in the pool's order, response shown first).

    A choice is 0, 1, UNDECIDED, or ABSENT where a pair lacks some run; a response shown first is 0, 1, or -1 where the
    file does not tell.
    """

    judge: str
    name: str
    sha256: str
    format: str
    votes: Int8Array

    @property
    def judged(self) -> BoolArray:
        """Which pairs it judged in all of its runs: (pairs,)."""
        return np.asarray((self.votes[:, :, 0] != ABSENT).all(axis=1))


@dataclass(frozen=True, slots=True)
class RunVerdicts:
    """Verdicts of all runs about the pairs that all of them judged. Arrays are pairs x runs.

    ``judge``: of each run its judge's number in ``judges``. What is neither right nor wrong is undecided.
    """

    judges: tuple[str, ...]
    judge: Int8Array
    right: BoolArray
    wrong: BoolArray
    shown: Int8Array

    def runs_of(self, judges: Sequence[int]) -> npt.NDArray[np.intp]:
        """Return the numbers of the runs of some judges."""
        return np.flatnonzero(np.isin(self.judge, judges))

    def only(self, runs: npt.NDArray[np.intp]) -> RunVerdicts:
        """Return the verdicts of some runs; judges keep their numbers."""
        right, wrong, shown = self.right[:, runs], self.wrong[:, runs], self.shown[:, runs]
        return RunVerdicts(self.judges, self.judge[runs], right=right, wrong=wrong, shown=shown)


def pool_table(pairs: Sequence[PoolPair]) -> ItemTable:
    """Return the items that readers match predictions with.

    Their definition and source are placeholders: readers ask only what a question's text is.
    """
    spec = replace(load_spec(DEFAULT_BENCHMARK), id=_POOL, drop_from_questions=DROPPED)
    return build_table(spec, {_POOL: [{**pair, "source": spec.sources[0].key} for pair in pairs]})


def read_judge_file(name: str, table: ItemTable) -> JudgeFile:
    """Return the votes of `FILE`, or of `JUDGE=FILE`; a file may be the directory of a judge run.

    Raises:
        CurateError: the file cannot be read, or holds pairs that the pool lacks.
    """
    judge, _equals, rest = name.rpartition("=")
    path, judge = (Path(rest), judge) if judge and not Path(name).exists() else (Path(name), "")
    run = path if path.is_dir() else None
    path = path / _PREDICTIONS if run else path
    if not path.is_file():
        remedy = f" `vlrb judge status {run}` says what is missing." if run else ""
        raise CurateError(f"There is no file {path}.{remedy}")
    data = path.read_bytes()
    findings = ProblemCollector()
    try:
        votes = _votes(data, table, findings=findings)
    except UploadRejected as rejected:
        raise CurateError(f"{path} cannot be read.\n{listed([*map(_in_words, rejected.problems)])}") from None
    digest = hashlib.sha256(data).hexdigest()
    return JudgeFile(judge or _judge_of(run, path), path.name, digest, findings.format or "", votes)


def _judge_of(run: Path | None, path: Path) -> str:
    if run is not None and (run / _RUN).is_file():
        return str(read_json(run / _RUN, "model")["model"])
    return path.name.partition(".")[0]


def _in_words(problem: Problem) -> str:
    place = (f"line {problem.line}" if problem.line else "", problem.id, f"`{problem.field}`" if problem.field else "")
    return ": ".join(filter(None, (*place, problem.message)))


def _votes(data: bytes, table: ItemTable, *, findings: ProblemCollector) -> Int8Array:
    """Return the votes of each pair in stored order. Raises UploadRejected."""
    reading = read_file(data, findings, table=table)
    matched = match(reading, table)
    report_text_differences(reading, table, matched=matched, findings=findings)
    resolve_orientation(reading, matched, findings=findings)
    votes: dict[int, list[tuple[int, int]]] = {}
    for row, item, flip in zip(reading.rows, matched.items, matched.flips, strict=True):
        if item == UNKNOWN:
            message = "the pool has no such pair; run the judge on the pool's pairs.jsonl"
            findings.add("unknown-item", message, line=row.line, id=row.id)
            continue
        if item in votes and not reading.one_vote_a_row:
            message = "the pair was already answered; give each pair once"
            findings.add("duplicate-item", message, line=row.line, id=item_label(item, table, revision=_POOL))
        turned = (flip or 0) ^ int(row.by_parity and table.items[item].swapped_by_parity)
        shown_first = row.shown or [-1] * len(row.choices)
        votes.setdefault(item, []).extend(
            (choice if choice == UNDECIDED else choice ^ turned, first if first < 0 else first ^ turned)
            for choice, first in zip(row.choices, shown_first, strict=True)
        )
    if findings.problem_count:
        raise findings.rejected()
    runs = Counter(map(len, votes.values())).most_common(1)[0][0]  # what most pairs have
    whole = {item: given for item, given in votes.items() if len(given) == runs}
    result = np.full((len(table), runs, 2), ABSENT, dtype=np.int8)
    result[list(whole)] = list(whole.values())
    return result


def collect(files: Sequence[JudgeFile], pairs: Sequence[PoolPair], *, numbers: Sequence[int]) -> RunVerdicts:
    """Return the verdicts of all files about the pairs of these numbers, which must have a preference."""
    judges = tuple(dict.fromkeys(file.judge for file in files))
    judge = np.array([judges.index(file.judge) for file in files for _ in range(file.votes.shape[1])], dtype=np.int8)
    votes = np.concatenate([file.votes for file in files], axis=1)[list(numbers)]
    preferred = np.array([pairs[number]["preferred"] for number in numbers], dtype=np.int8)[:, None]
    choice, shown = votes[:, :, 0], votes[:, :, 1]
    right = choice == preferred
    return RunVerdicts(judges, judge, right=right, wrong=~right & (choice != UNDECIDED), shown=shown)
