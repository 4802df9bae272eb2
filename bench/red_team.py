"""`python -m bench.red_team`: runs the known exploits on the official rule and on this service; writes what came out.

The result, leaderboard/about/red_team.json, is what the page /red-team shows; a test runs all of it again and compares.
Files are about the synthetic benchmark, whose labels are public, so nothing here needs a secret.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench import official_rule
from vlrb import demo
from vlrb.predictions.parse import UploadRejected, parse_predictions
from vlrb.protocols import scores
from vlrb.scoring import tally
from vlrb.verdicts import choice_of

OUTPUT = Path(__file__).parents[1] / "leaderboard" / "about" / "red_team.json"
SEED = 20_250_513
_UNSURE = "I cannot decide between them."
PredictionRows = list[dict[str, Any]]


class ExploitSetup:
    """The synthetic pairs, their labels, and a simulated judge."""

    def __init__(self) -> None:
        self.pairs = demo.demo_pairs()
        self.table = demo.demo_items(self.pairs)
        self.labels = demo.demo_labels(self.pairs, self.table)
        self.category_of = {pair["id"]: pair["category"] for pair in self.pairs}
        # Chance of a right answer by pair: easy pairs and hard ones, two thirds right on average.
        self.ease = np.random.default_rng(SEED).beta(1.4, 0.7, len(self.pairs))

    def line(self, index: int, text: str, **more: Any) -> dict[str, Any]:
        """Return a line as the official script writes it, shown in stored order."""
        pair = self.pairs[index]
        meta = {"filter_choice": text, "random_number": 0, "flag_status": "doesntMatch"}
        kept = {name: pair[name] for name in ("id", "query", "response")}
        return {**kept, "ranking": pair["human_ranking"], "meta": meta, **more}

    def votes(self, k: int, seed: int = 1) -> np.ndarray[Any, Any]:
        """Return items x K verdicts of the judge: 1 or 2 as shown."""
        dice = np.random.default_rng(SEED + seed)
        right = dice.random((len(self.pairs), k)) < self.ease[:, np.newaxis]
        preferred = self.labels.preferred[:, np.newaxis]
        return np.where(right, preferred, 1 - preferred) + 1

    def answered(self, votes: np.ndarray[Any, Any]) -> PredictionRows:
        """Return a line for each verdict; 0 is undecided."""
        return [
            self.line(index, f"Overall Judgment: Answer {vote} is better." if vote else _UNSURE)
            for index, held in enumerate(votes.tolist())
            for vote in held
        ]


def _honest(bench: ExploitSetup) -> PredictionRows:
    return bench.answered(bench.votes(9))


def _third(bench: ExploitSetup) -> PredictionRows:
    return [bench.line(index, "Overall Judgment: Answer 3 is better.") for index in range(len(bench.pairs))]


def _forged(bench: ExploitSetup) -> PredictionRows:
    text = "Overall Judgment: Answer 1 is better."
    return [bench.line(index, text, ranking=[0, 1]) for index in range(len(bench.pairs))]


def _flags(bench: ExploitSetup) -> PredictionRows:
    rows = [bench.line(index, _UNSURE) for index in range(len(bench.pairs))]
    for row in rows:
        row["meta"]["flag_status"] = "agree"
    return rows


def _hard(bench: ExploitSetup) -> PredictionRows:
    votes = bench.votes(9)
    unanimous = (votes == votes[:, :1]).all(axis=1, keepdims=True)
    return bench.answered(np.where(unanimous, votes, 0))


def _three(bench: ExploitSetup) -> PredictionRows:
    """Return rows that answer one pair a category, and rightly: three labels that somebody knows."""
    votes = np.zeros((len(bench.pairs), 1), dtype=np.int64)
    for category in dict.fromkeys(bench.category_of.values()):
        index = next(i for i, pair in enumerate(bench.pairs) if pair["category"] == category)
        votes[index] = bench.labels.preferred[index] + 1
    return bench.answered(votes)


def _repeated(bench: ExploitSetup, field: str = "query") -> PredictionRows:
    """Random answers, and one known pair a thousand times more, a field longer by a space each time."""
    random_votes = np.random.default_rng(SEED).integers(1, 3, (len(bench.pairs), 1))
    known = bench.line(0, f"Overall Judgment: Answer {bench.labels.preferred[0] + 1} is better.")
    return bench.answered(random_votes) + [{**known, field: known[field] + " " * (n + 1)} for n in range(1000)]


def _even(bench: ExploitSetup) -> PredictionRows:
    return bench.answered(bench.votes(2))


def _missing(bench: ExploitSetup) -> PredictionRows:
    return [row for row in _honest(bench) if bench.category_of[row["id"]] != bench.table.spec.category_keys[0]]


EXPLOITS: Mapping[str, Callable[[ExploitSetup], PredictionRows]] = {
    "honest": _honest,
    "third-answer": _third,
    "forged-label": _forged,
    "stored-flags": _flags,
    "abstain-when-hard": _hard,
    "three-answers": _three,
    "repeated-query": _repeated,
    "repeated-id": partial(_repeated, field="id"),
    "even-votes": _even,
    "missing-category": _missing,
}
"""What makes each file, by the ids of red_team.json, which says in words what it does and why it is worth nothing."""


def run(bench: ExploitSetup, exploit: str) -> dict[str, Any]:
    """Return what both make of a file."""
    rows = EXPLOITS[exploit](bench)
    stored = exploit == "stored-flags"  # what the file says of itself
    status = (lambda row: str(row["meta"]["flag_status"])) if stored else official_rule.vote_status
    return {"official": _official(bench, rows, status=status), "here": _here(bench, rows)}


def _official(
    bench: ExploitSetup, rows: PredictionRows, *, status: Callable[[official_rule.OfficialRow], str]
) -> dict[str, Any]:
    counts = official_rule.official_counts(rows, lambda name: bench.category_of[name.strip()], status=status)
    agree = [row["agree"] for row in counts.values()]
    decided = [row["agree"] + row["reject"] for row in counts.values()]
    try:
        shares = [right / of for right, of in zip(agree, decided, strict=True)]
    except ZeroDivisionError as error:
        return {"error": type(error).__name__}
    pooled, mean = bench.table.spec.overall_keys
    return {
        pooled: round(sum(agree) / sum(decided), 4),
        mean: round(sum(shares) / len(shares), 4),
        "items": sum(row.total() for row in counts.values()),
    }


def _here(bench: ExploitSetup, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    try:
        upload = parse_predictions(data, bench.table)
    except UploadRejected as rejected:
        codes = sorted({problem.code for problem in rejected.problems})
        return {"refused": codes, "problems": rejected.problem_count}
    result = scores(tally(upload.votes, bench.labels, table=bench.table))
    rounded = {name: round(result[name] or 0.0, 4) for name in bench.table.spec.overall_keys}
    return {**rounded, "items": upload.items}


def backtracking(sizes: Sequence[int] = (50, 100, 200)) -> list[dict[str, Any]]:
    """Return seconds to read one verdict from a text that ends in so many spaces, by the official pattern and here."""
    measured = []
    for size in sizes:
        text = "Therefore" + " " * size
        here = min(_seconds(partial(choice_of, text)) for _ in range(20))
        official = _seconds(partial(official_rule.PATTERN.search, text))
        measured.append({"spaces": size, "official_seconds": round(official, 4), "here_seconds": round(here, 7)})
    return measured


def _seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def main() -> None:
    """Run everything and write the results into the file."""
    bench, stored = ExploitSetup(), json.loads(OUTPUT.read_text(encoding="utf-8"))
    for exploit in stored["exploits"]:
        exploit |= run(bench, exploit["id"])
    stored |= {"items": len(bench.table), "backtracking": backtracking()}
    OUTPUT.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
