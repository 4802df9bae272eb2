"""`vlrb score --benchmark ID`: scores predictions on a benchmark of labelled pairs; writes nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vlrb.benchmarks.label_files import LabelsError, load_pairs
from vlrb.benchmarks.labels import LabelSet
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.commands.scorecard_text import COUNTS, first_width, heading, interval, percentage, rates, table_row
from vlrb.common.messages import _, joined
from vlrb.pairs.pair_table import labels_of_pairs, pair_table
from vlrb.predictions.parse import Predictions, all_warnings, parse_predictions
from vlrb.predictions.problems import Problem, UploadRejected
from vlrb.protocols import category_counts, group_sums, protocols
from vlrb.scorecard import named_counts, score_row, whole
from vlrb.scoring import Tally, tally
from vlrb.statistics.uncertainty import wilson
from vlrb.votes import ABSENT, UNDECIDED

_OVERALL = "overall"  # the key of the headline, and of all groups together
_LOW_SHARE = ("mostly-unreadable", "partly-unreadable")  # the scorecard says it in numbers


@dataclass(frozen=True, slots=True)
class BenchmarkResult:
    """What to print: the scorecard (empty where the file was rejected), remarks, and whether it was scored."""

    scored: bool
    text: str
    remarks: tuple[str, ...]


def uses_label_revisions(spec: BenchmarkSpec, items: Path | None) -> bool:
    """Return whether a benchmark is scored by label revision, as VL-RewardBench is, instead of from a file of pairs.

    Raises:
        LabelsError: its item manifest is needed and not given.
    """
    if spec.synthetic and spec.fields is None and items is None:
        raise LabelsError(_("{title} has no manifest of its own; name its items.json with --items", title=spec.title))
    return spec.fields is None


def score_benchmark(
    file: Path, labels: Path, *, spec: BenchmarkSpec, edition: str | None, as_json: bool
) -> BenchmarkResult:
    """Score a file on the pairs in `labels`, by the same steps as the service. Raises LabelsError and OSError."""
    pairs = load_pairs(labels, spec, edition=edition)
    table = pair_table([pairs])
    label_set = labels_of_pairs(pairs, pairs.edition, table=table)
    try:
        upload = parse_predictions(file.read_bytes(), table)
    except UploadRejected as rejected:
        lines = [*_other_benchmark(rejected), *(_explain(problem) for problem in rejected.problems)]
        summary = _(
            "error: {file} was rejected: {problem_count} problem(s)", file=file, problem_count=rejected.problem_count
        )
        return BenchmarkResult(False, "", remarks=(*lines, summary))
    warnings = [warning.message for warning in all_warnings(upload) if warning.code not in _LOW_SHARE]
    card = pair_scorecard(tally(upload.votes, label_set, table=table), upload, labels=label_set)
    text = json.dumps(card, indent=1, ensure_ascii=False) if as_json else render_pairs(card, pairs.spec)
    return BenchmarkResult(True, text, remarks=tuple(_("warning: {warning}", warning=warning) for warning in warnings))


def pair_scorecard(counted: Tally, upload: Predictions, *, labels: LabelSet) -> dict[str, Any]:
    """Return the scorecard as JSON: counts by category, groups where there are any, and every protocol."""
    spec, present = counted.spec, upload.votes.matrix[upload.votes.matrix != ABSENT]
    categories = category_counts(counted.counts, spec)
    by_category = {key: named_counts(row.tolist()) for key, row in zip(spec.category_keys, categories, strict=True)}
    undecided = sum(counts["undecided"] for counts in by_category.values())
    card: dict[str, Any] = {
        "benchmark": spec.id,
        "edition": labels.revision,
        "items": labels.items,
        "votes_per_item": counted.k,
        "decided_rate": 1 - undecided / labels.items,
        "parse_rate": float(np.mean(present != UNDECIDED)),
        "unreadable": int((present == UNDECIDED).sum()),
        "tally": {key: whole(counts) for key, counts in by_category.items()},
        "half_right": {key: counts["half_right"] for key, counts in by_category.items()},
    }
    if spec.grouped is not None:
        card["groups"] = _groups(counted, "majority")
    card["protocols"] = {protocol.key: _scores(counted, protocol.key) for protocol in spec.protocols}
    card["rules"] = {protocol.key: protocol.title for protocol in spec.protocols}
    card["format"] = upload.format
    card["notes"] = [warning.message for warning in upload.warnings]
    return card


def _groups(counted: Tally, votes: str) -> dict[str, dict[str, float]]:
    """Return by category the groups and those wholly right by some votes; a pair half right halves its group."""
    spec, rows = counted.spec, category_counts(counted.counts, counted.spec)
    groups, right, *_ = group_sums(rows, spec, votes=votes)
    return {
        key: {"n": int(groups[place]), "right": float(right[place])} for place, key in enumerate(spec.category_keys)
    }


def _scores(counted: Tally, protocol: str) -> dict[str, Any]:
    """Return one protocol's part: accuracies by category and by name of overall, and their intervals."""
    spec = counted.spec
    row = score_row(counted, protocol, grouping=spec.official)
    intervals = {name: bounds for name, bounds in row.pop("interval").items() if bounds is not None}
    part = {**row, _OVERALL: row[spec.headline]}
    if spec.headline in intervals:
        intervals[_OVERALL] = intervals[spec.headline]
    part["interval"] = intervals
    if spec.grouped is not None:
        groups = _groups(counted, protocols(spec)[protocol].votes)
        groups[_OVERALL] = {name: sum(group[name] for group in groups.values()) for name in ("n", "right")}
        given = {key: group for key, group in groups.items() if group["n"]}
        part["groups"] = {key: group["right"] / group["n"] if group["n"] else None for key, group in groups.items()}
        part["interval"]["groups"] = {key: list(wilson(group["right"], group["n"])) for key, group in given.items()}
    return part


def render_pairs(card: Mapping[str, Any], spec: BenchmarkSpec) -> str:
    """Return the scorecard as text; accuracies in percent, each with its 95% interval."""
    wide = first_width(map(spec.title_of, (*card["tally"], *spec.overall_keys)))
    lines: list[str] = [
        heading(spec, card["edition"], pairs=card["items"], votes=card["votes_per_item"]),
        rates(card),
        "",
        table_row(_("pairs"), COUNTS, first=wide),
    ]
    for key, count in card["tally"].items():
        counts = (count["agree"], count["reject"], count["undecided"], count["n"])
        lines.append(table_row(_(spec.title_of(key)), counts, first=wide))
    if groups := card.get("groups"):
        lines += ["", table_row(_("groups"), (_("right"), _("of")), first=wide)]
        lines += [
            table_row(_(spec.title_of(key)), (f"{group['right']:g}", group["n"]), first=wide)
            for key, group in groups.items()
        ]
    for name, scores in card["protocols"].items():
        title = card["rules"][name]
        lines += ["", _("{rule}: {explanation}", rule=name, explanation=_(title))]
        for key in (*spec.category_keys, *spec.overall_keys):
            cells = (percentage(scores[key]), interval(scores["interval"].get(key)))
            lines.append(table_row(_(spec.title_of(key)), cells, first=wide))
    return joined(lines, "\n")


def _other_benchmark(rejected: UploadRejected) -> list[str]:
    """Return the advice to name another benchmark, where a rejected file is of that one."""
    if rejected.other is None:
        return []
    return [
        _(
            "This looks like a file of {title}. Score it with --benchmark {id} and that benchmark's labels.",
            title=rejected.other.title,
            id=rejected.other.id,
        )
    ]


def _explain(problem: Problem) -> str:
    line = _("line {line}", line=problem.line) if problem.line is not None else ""
    where = ", ".join(part for part in (line, f"field `{problem.field}`" if problem.field else "") if part)
    return f"{where}: {problem.message}" if where else problem.message
