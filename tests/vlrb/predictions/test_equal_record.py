"""The equal record: what files of three benchmarks give stays what `equal_record.json` says.

`equal_boards.json` has what follows from them together: rank ranges, composites, and the number check of each one's
percentages. `python -m tests.vlrb.predictions.test_equal_record` writes both, which hold no text and no label. A
difference is meant: it stands in the message of the commit that changes the record.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.real_data import real_file, rows
from tests.vlrb.predictions.test_hostile import english_words
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.label_files import load_labels
from vlrb.benchmarks.labels import LabelSet
from vlrb.benchmarks.pairs import label_set, pair_table, read_pairs
from vlrb.benchmarks.spec_file import load_spec
from vlrb.commands.interface import check_numbers
from vlrb.numbers.definition_check import figure_names
from vlrb.predictions.parse import Predictions, UploadRejected, build_report, parse_predictions
from vlrb.protocols import category_counts, protocols
from vlrb.scorecard import score_row
from vlrb.scoring import FIELDS, tally
from vlrb.statistics.composite import BenchmarkScore, composites
from vlrb.statistics.pairwise import compare_all
from vlrb.statistics.uncertainty import Interval
from vlrb.votes import condensed

RECORD = Path(__file__).with_name("equal_record.json")
BOARDS = Path(__file__).with_name("equal_boards.json")
VL, MM_RLHF, MMRB = "vl-rewardbench", "mm-rlhf-rewardbench", "multimodal-rewardbench"
LABELS = {"v0": "items_v0.jsonl", "v1": "items_v1.json", "v2": "labels_v2.jsonl"}
PAIRS = {MM_RLHF: "benchmarks/mm_rlhf_rewardbench.jsonl", MMRB: "benchmarks/multimodal_rewardbench_part.json"}
OF_MMRB = ("07-", "09-", "18-", "multimodal")
FOLDERS = ("cases", "tools", "predictions")
NO_PREDICTIONS = ("README.md", "votes.jsonl", "expected.json", "expected_real.json")

Write = Callable[[random.Random, Mapping[str, Any], tuple[str, str]], dict[str, Any]]


def _reply(dice: random.Random) -> str:
    return dice.choice(("so [[A]]", "so [[B]]", "[[C]]", "none", "<answer>1</answer>", "<answer>2</answer>"))


def _answer(dice: random.Random) -> str:
    return json.dumps({"better": dice.choice(("A", "B", "equal", 1, 2)), "reasoning": "so"})


def _reward(dice: random.Random) -> list[float]:
    return dice.choice(([1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.7, 0.2], [-3.0, 2.0]))


def _prompt(texts: tuple[str, str], *, turned: int) -> str:
    return f"[Response 1]:\n{texts[turned]}\n[Response 2]:\n{texts[1 - turned]}\n"


WRITTEN: dict[str, Write] = {
    "votes": lambda dice, row, texts: {"votes": [dice.choice((0, 1, None)) for _ in range(3)]},
    "judgements": lambda dice, row, texts: {"judgements": [{"text": _reply(dice), "swapped": dice.random() < 0.5}]},
    "scores": lambda dice, row, texts: {"scores": [_reward(dice), _reward(dice)]},
    "output": lambda dice, row, texts: {"output": _reply(dice), "Meta": {}},
    "outputs": lambda dice, row, texts: {"outputs": [_reply(dice), _reply(dice)], "Meta": dict(row)},
    "json": lambda dice, row, texts: {"output": _answer(dice), "PredBetter": None, "Meta": dict(row)},
    "rewards": lambda dice, row, texts: {"rewards": _reward(dice)},
    "rewards of rows": lambda dice, row, texts: {**row, "critic": "", "rewards": [_reward(dice), _reward(dice)]},
    "rewards reversed": lambda dice, row, texts: {**row, "rewards": _reward(dice), "reverse": dice.random() < 0.5},
    "rewards prompted": lambda dice, row, texts: {
        **row, "rewards": _reward(dice), "qs": _prompt(texts, turned=dice.randrange(2)),
    },
    "lmms": lambda dice, row, texts: {"doc_id": 0, "doc": dict(row), "filtered_resps": [_reply(dice)]},
}  # fmt: skip


def _names() -> list[str]:
    data = Path(__file__).resolve().parents[4] / "shared" / "data"
    files = [path for folder in FOLDERS for path in sorted((data / folder).rglob("*")) if path.is_file()]
    names = [str(path.relative_to(data)) for path in files if not path.name.endswith(NO_PREDICTIONS)]
    written = [f"{benchmark}: {name}" for benchmark in PAIRS for name in WRITTEN]
    return [*names, "benchmarks/multimodal_rewardbench_output_example.jsonl", *written]


@cache
def _table(benchmark: str) -> tuple[ItemTable, LabelSet | None]:
    if benchmark == VL:
        return ItemTable.load(load_spec(VL)), None
    pairs = read_pairs(rows(PAIRS[benchmark]), load_spec(benchmark))
    table = pair_table([pairs])
    return table, label_set(pairs.rows, pairs.edition, table=table)


@cache
def _labels(revision: str) -> LabelSet:
    return load_labels(real_file(f"data/{LABELS[revision]}"), revision, table=_table(VL)[0])


def _written(benchmark: str, name: str) -> bytes:
    """Return a file about the benchmark's own rows, in their order."""
    fields = load_spec(benchmark).fields
    assert fields is not None
    dice, lines = random.Random(name), []
    for number, row in enumerate(rows(PAIRS[benchmark])):
        first, second = (row[field] for field in fields.responses)
        line = WRITTEN[name](dice, row, (first, second))
        key = "ID" if fields.id == "ID" or "output" in line or "outputs" in line else "id"
        lines.append(line | ({"doc_id": number} if "doc_id" in line else {key: row[fields.id]}))
    return "\n".join(map(json.dumps, lines)).encode()


def _file(name: str) -> tuple[str, bytes]:
    """Return benchmark and content of a recorded file."""
    benchmark, _, written = name.partition(": ")
    if written:
        return benchmark, _written(benchmark, written)
    data = real_file(f"data/{name}").read_bytes()
    data = gzip.decompress(data) if name.endswith(".gz") else data
    return MMRB if any(mark in name for mark in OF_MMRB) else VL, data


def measure(name: str) -> dict[str, Any]:
    """Return what is recorded of a file."""
    benchmark, data = _file(name)
    table, labels = _table(benchmark)
    try:
        result: Predictions | UploadRejected = parse_predictions(data, table)
    except UploadRejected as rejected:
        result = rejected
    report = build_report(result, benchmark)
    told = {key: report[key] for key in ("ok", "format", "revision", "items", "votes_per_item", "problem_count")}
    told |= {key: _rounded(report[key]) for key in ("parse_rate", "first_shown_rate", "one_order")}
    told["warnings"] = {warning["code"]: len(warning["ids"]) for warning in report["warnings"]}
    told["problems"] = dict(Counter(problem["code"] for problem in report["problems"]))
    messages = [*report["warnings"], *report["problems"]]
    assert [words for one in messages for words in english_words(one["message"])] == []
    told["samples"] = [sample["vote"] for sample in report["samples"]]
    return told | (_scored(result, table, labels=labels) if isinstance(result, Predictions) else {})


def _scored(upload: Predictions, table: ItemTable, *, labels: LabelSet | None) -> dict[str, Any]:
    counted = tally(upload.votes, labels or _labels(upload.revision), table=table)
    spec = table.spec
    scores = {key: score_row(counted, key, grouping=spec.official) for key in protocols(spec)}
    places = [FIELDS.index(field) for field in ("n", "agree", "reject", "undecided")]
    return {
        "tally": category_counts(counted.counts, spec)[:, places].tolist(),
        "headline": {key: _rounded(row[spec.headline]) for key, row in scores.items()},
        "scores": _digest(scores),
        "counts": _digest(counted.to_json()),
    }


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 9)
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    return [_rounded(part) for part in value] if isinstance(value, list) else value


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(_rounded(value), sort_keys=True).encode()).hexdigest()[:16]


def measure_boards() -> dict[str, Any]:
    """Return rank ranges and number checks of the files of each benchmark, and the composites over all three."""
    recorded = json.loads(RECORD.read_text(encoding="utf-8"))
    names = {VL: [name for name, told in recorded.items() if told["revision"] == "v1"]}
    names |= {benchmark: [f"{benchmark}: {name}" for name in WRITTEN] for benchmark in PAIRS}
    boards, scores = {}, {}
    for benchmark, held in names.items():
        boards[benchmark], scores[benchmark] = _board(benchmark, held)
    judges = {name: dict(zip(scores, row, strict=True)) for name, *row in zip(WRITTEN, *scores.values(), strict=False)}
    found = composites(judges, dict.fromkeys(scores, 1.0))
    together = {
        name: [_rounded(one.value), _rounded([*one.interval]), one.best, one.worst] for name, one in found.items()
    }
    return {**boards, "composites": together}


def _board(benchmark: str, names: Sequence[str]) -> tuple[dict[str, Any], list[BenchmarkScore]]:
    table, own = _table(benchmark)
    labels, spec, numbers, scores, votes = own or _labels("v1"), table.spec, {}, [], []
    for name in names:
        votes.append(parse_predictions(_file(name)[1], table).votes)
        card = score_row(tally(votes[-1], labels, table=table), spec.ranking, grouping=spec.official)
        scores.append(BenchmarkScore(card[spec.headline], Interval(*card["interval"][spec.headline])))
        shown = {key: card[key] for key in figure_names(spec) if card.get(key) is not None} | {
            "overall": card[spec.headline]
        }
        check = check_numbers(benchmark, **{key: f"{100 * value:.1f}" for key, value in shown.items()})
        fits = [{**fit, "denominators": fit["sizes"], "dropped": 0} for fit in check.get("fits", ())]
        numbers[name] = [check["verdict"], _digest(fits or check.get("definitions"))]
    matrix = np.stack([condensed(one.matrix) for one in votes])
    ranges = compare_all(names, matrix, labels=labels, table=table).summary["ranges"][spec.official]
    return {"numbers": numbers, "ranges": ranges}, scores


@pytest.mark.parametrize("name", json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else [])
def test_a_file_gives_what_was_recorded(name: str) -> None:
    assert measure(name) == json.loads(RECORD.read_text(encoding="utf-8"))[name]


def test_boards_composites_and_number_checks_are_those_recorded() -> None:
    assert measure_boards() == json.loads(BOARDS.read_text(encoding="utf-8"))


def main() -> None:
    """Write the records."""
    lines = [f"{json.dumps(name)}: {json.dumps(measure(name))}" for name in _names()]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    parts = [f"{json.dumps(name)}: {json.dumps(part)}" for name, part in measure_boards().items()]
    BOARDS.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
