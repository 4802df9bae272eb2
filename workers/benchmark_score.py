"""`python -m workers score --benchmark ID`: scores predictions on a benchmark of labelled pairs; writes nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.pairs.labelled_pairs import PairSet
from benchmark.pairs.pair_scoring import (
    UNREADABLE,
    Accuracy,
    ProtocolScores,
    Verdicts,
    count_groups,
    count_pairs,
    score_protocol,
)
from benchmark.pairs.recognition import benchmark_of_record
from benchmark.spec import GROUPS, BenchmarkSpec, SpecError, known_benchmarks, load_spec
from predictions.problems import Problem, ProblemCollector, UploadRejected
from predictions.readers.pair_matching import match_predictions
from predictions.readers.pair_predictions import first_record, read_predictions
from workers.labels.loader import LabelsError
from workers.pair_labels import load_pairs


@dataclass(frozen=True, slots=True)
class BenchmarkResult:
    """What to print: the scorecard (empty where the file was rejected), remarks, and whether it was scored."""

    scored: bool
    text: str
    remarks: tuple[str, ...]


def uses_label_revisions(benchmark: str, items: Path | None) -> bool:
    """Return whether a benchmark is scored by label revision, as VL-RewardBench is, instead of from a file of pairs.

    Raises:
        LabelsError: there is no such benchmark, or its item manifest is needed and not given.
    """
    spec = _spec(benchmark)
    if spec.synthetic and spec.fields is None and items is None:
        raise LabelsError(f"{spec.title} has no manifest of its own; name its items.json with --items")
    return spec.fields is None


def score_benchmark(file: Path, labels: Path, benchmark: str, edition: str | None, as_json: bool) -> BenchmarkResult:
    """Score a file on the pairs in `labels`. Raises LabelsError and OSError."""
    pairs = load_pairs(labels, _spec(benchmark), edition)
    data, findings = file.read_bytes(), ProblemCollector()
    try:
        read = read_predictions(data, pairs.spec, findings)
        verdicts = match_predictions(read.predictions, pairs, findings)
        if findings.problem_count:
            raise findings.rejected()
    except UploadRejected as rejected:
        lines = [*_other_benchmark(data, pairs.spec), *(_explain(problem) for problem in rejected.problems)]
        summary = f"error: {file} was rejected: {rejected.problem_count} problem(s)"
        return BenchmarkResult(False, "", (*lines, summary))
    card = {**pair_scorecard(verdicts, pairs), "format": read.format, "notes": list(read.notes)}
    text = json.dumps(card, indent=1, ensure_ascii=False) if as_json else render_pairs(card, pairs.spec)
    return BenchmarkResult(True, text, tuple(f"warning: {note}" for note in read.notes))


def pair_scorecard(verdicts: Verdicts, pairs: PairSet) -> dict[str, Any]:
    """Return the scorecard as JSON: counts by category, groups where there are any, and every protocol."""
    counts = count_pairs(verdicts, pairs)
    undecided = sum(count.undecided for count in counts.values())
    card: dict[str, Any] = {
        "benchmark": pairs.spec.id,
        "edition": pairs.edition,
        "items": len(pairs.pairs),
        "votes_per_item": int(verdicts.shape[1]),
        "decided_rate": 1 - undecided / len(pairs.pairs),
        "parse_rate": float(np.mean(verdicts != UNREADABLE)),
        "unreadable": int((verdicts == UNREADABLE).sum()),
        "tally": {key: asdict(count) for key, count in counts.items()},
    }
    if pairs.spec.grouped is not None:
        card["groups"] = {key: asdict(count) for key, count in count_groups(verdicts, pairs).items()}
    card["protocols"] = {
        protocol.key: _scores(score_protocol(verdicts, pairs, protocol), pairs.spec)
        for protocol in pairs.spec.protocols
    }
    card["rules"] = {protocol.key: protocol.title for protocol in pairs.spec.protocols}
    return card


def render_pairs(card: Mapping[str, Any], spec: BenchmarkSpec) -> str:
    """Return the scorecard as text; accuracies in percent, each with its 95% interval."""
    votes = card["votes_per_item"]
    lines = [
        f"{spec.title}, edition {card['edition']}: {card['items']} pairs, {votes} vote{'s' if votes != 1 else ''} each",
        f"readable {_percent(card['parse_rate'])}%, decided {_percent(card['decided_rate'])}%",
        "",
        f"{'pairs':<16}{'agree':>10}{'reject':>10}{'undecided':>11}{'of':>8}",
    ]
    for key, count in card["tally"].items():
        lines.append(f"{key:<16}{count['agree']:>10}{count['reject']:>10}{count['undecided']:>11}{count['n']:>8}")
    for key, count in card.get("groups", {}).items():
        lines.append(f"{key + ' groups':<16}{count['right']:>10}{'':>21}{count['n']:>8}")
    for name, scores in card["protocols"].items():
        lines += ["", f"{name}: {card['rules'][name]}"]
        keys = [*spec.category_keys, *(overall.key for overall in spec.overalls if overall.kind != GROUPS)]
        lines += [_line(key, scores[key], scores["interval"].get(key)) for key in keys]
        if spec.grouped is not None:
            lines.append(_line(spec.grouped.key, scores[spec.grouped.key], scores["interval"].get(spec.grouped.key)))
    return "\n".join(lines)


def _scores(scores: ProtocolScores, spec: BenchmarkSpec) -> dict[str, Any]:
    """Return one protocol's part: accuracies by category and by name of overall, and their intervals."""
    named = {**scores.categories, **scores.overalls, "overall": scores.overalls[spec.headline]}
    if scores.groups is not None and spec.grouped is not None:
        named[spec.grouped.key] = scores.groups["overall"]
    part: dict[str, Any] = {key: _value(accuracy) for key, accuracy in named.items()}
    part["interval"] = {key: list(accuracy.interval) for key, accuracy in named.items() if accuracy is not None}
    if scores.groups is not None:
        part["groups"] = {key: _value(accuracy) for key, accuracy in scores.groups.items()}
        given = {key: accuracy for key, accuracy in scores.groups.items() if accuracy is not None}
        part["interval"]["groups"] = {key: list(accuracy.interval) for key, accuracy in given.items()}
    return part


def _other_benchmark(data: bytes, spec: BenchmarkSpec) -> list[str]:
    """Return the advice to name another benchmark, where a rejected file is of that one."""
    others = [load_spec(name) for name in known_benchmarks() if name != spec.id]
    other = benchmark_of_record(first_record(data), [spec, *(other for other in others if not other.synthetic)])
    if other is None or other.id == spec.id:
        return []
    return [
        f"This looks like a file of {other.title}. Score it with --benchmark {other.id} and that benchmark's labels."
    ]


def _spec(benchmark: str) -> BenchmarkSpec:
    try:
        return load_spec(benchmark)
    except SpecError as error:
        raise LabelsError(str(error)) from error


def _explain(problem: Problem) -> str:
    line = f"line {problem.line}" if problem.line is not None else ""
    where = ", ".join(part for part in (line, f"field `{problem.field}`" if problem.field else "") if part)
    return f"{where}: {problem.message}" if where else problem.message


def _value(accuracy: Accuracy | None) -> float | None:
    return None if accuracy is None else accuracy.value


def _line(key: str, value: float | None, interval: list[float] | None) -> str:
    ends = f"{_percent(interval[0])} to {_percent(interval[1])}" if interval else ""
    return f"  {key:<16}{'-' if value is None else _percent(value):>8}{ends:>18}"


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"
