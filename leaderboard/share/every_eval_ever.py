"""Records of Every Eval Ever: one JSON document an entry, schema 0.3.0 (github.com/evaleval/every_eval_ever).

They hold what the board shows, with its intervals. Samples are left out: the schema asks of each whether it is right.
Under hidden labels that would tell them; under public ones it needs labels and votes, which the web process has not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from leaderboard.board.rows import Board, BoardRow
from storage.metadata import FIELDS
from vlrb.benchmarks.spec import BenchmarkSpec, capital
from vlrb.judges import judge_slug
from vlrb.protocols import protocols

SCHEMA_VERSION = "0.3.0"
_HUB = "https://huggingface.co/datasets/"
_CONFIDENCE = 0.95
_RUN = ("tokens_in", "tokens_out", "price_usd", "wall_seconds", "hardware")


@dataclass(frozen=True, slots=True)
class RecordContext:
    """What the records of one board have in common. ``base``: address of the service for others."""

    board: Board
    scorer_version: str
    base: str


def record(entry: Mapping[str, Any], row: BoardRow, *, context: RecordContext) -> dict[str, Any]:
    """Return the record of an entry that was scored here. ``entry``: its facts in the snapshot."""
    board, spec = context.board, context.board.spec
    model = model_id(entry, row)
    retrieved = str(int(datetime.fromisoformat(board.as_of).timestamp()))
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"{spec.id}/{model}/{row.id}-{retrieved}",
        "evaluation_timestamp": entry["submitted_at"],
        "retrieved_timestamp": retrieved,
        "source_metadata": {
            "source_name": f"{spec.title} leaderboard",
            "source_type": "evaluation_run",  # votes on each pair were uploaded and counted here
            "source_organization_name": f"{spec.title} leaderboard",
            "source_organization_url": context.base,
            "evaluator_relationship": "other",  # the submitter ran the judge
            "additional_details": {
                "entry": f"{context.base}/entries/{row.id}",
                "snapshot": board.snapshot_id,
                "label_revision": board.label_revision,
                "disclosure": board.level,
                **({"remark": str(row.remark)} if row.remark else {}),
            },
        },
        "eval_library": {"name": f"{spec.id}-leaderboard", "version": context.scorer_version or "unknown"},
        "model_info": _model(model, entry, row=row),
        "evaluation_results": [
            _result(name, row, context=context, spec=spec, entry=entry)
            for name in board.values
            if row.value(name) is not None
        ],
    }


def model_id(entry: Mapping[str, Any], row: BoardRow) -> str:
    """Return owner/name: as on the Hub where that is stated."""
    if entry.get("hub_id"):
        return str(entry["hub_id"])
    developer = re.sub(r"[^A-Za-z0-9._-]+", "-", row.organisation).strip("-.") or "unknown"
    return f"{developer}/{judge_slug(row.model)}"


def _model(model: str, entry: Mapping[str, Any], *, row: BoardRow) -> dict[str, Any]:
    weights = {True: "open_weights", False: "closed_weights", None: "unknown"}[row.open_weights]
    about = ("version", "judge_type", "base_model", "parameters_b", "link", "paper", "code")
    return {
        "name": row.model,
        "id": model,
        **({"developer": row.organisation} if row.organisation else {}),
        "additional_details": {"deployment_type": "unknown", "model_availability": weights, **_stated(entry, about)},
    }


def _stated(entry: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, str]:
    return {name: FIELDS[name].typed(entry[name]) for name in names if entry.get(name) not in (None, "")}


def _result(
    name: str, row: BoardRow, *, context: RecordContext, spec: BenchmarkSpec, entry: Mapping[str, Any]
) -> dict[str, Any]:
    board = context.board
    rule, title = protocols(spec)[board.protocol], f"{spec.title} {name}"
    number = board.sizes.get(name) or sum(board.sizes.get(key, 0) for key in spec.parts_of(name))
    score: dict[str, Any] = {"score": row.value(name), "uncertainty": _uncertainty(name, row, number=number, spec=spec)}
    return {
        "evaluation_result_id": f"{row.id}-{board.label_revision}-{name}",
        "evaluation_name": title,
        "source_data": _source(spec, number),
        "evaluation_timestamp": entry["submitted_at"],
        "metric_config": {
            "evaluation_description": f"{_about(name, spec)} {rule.title} {rule.text}",
            "metric_id": f"{spec.id}.{name}",
            "metric_name": capital(spec.accuracy_text(name)),
            "metric_kind": "accuracy",
            "metric_unit": "proportion",
            "metric_parameters": {
                "protocol": board.protocol,
                "categories": spec.grouping_text(board.grouping).title,
                "label_revision": board.label_revision,
                "votes_per_item": row.votes_per_item,
                **({"edition": entry["revision"]} if entry.get("revision") else {}),
            },
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0,
            "max_score": 1,
        },
        "score_details": score,
        "generation_config": _generation(entry),
    }


def _about(name: str, spec: BenchmarkSpec) -> str:
    """Return what a score is the share of, in a sentence."""
    overall = spec.overall(name)
    if overall is not None and (spec.counts_groups(name) or spec.is_mean(name)):
        return f"{name}: {overall.about or f'{overall.title}.'}"
    return f"Share of pairs judged as people did: {name}."


def _source(spec: BenchmarkSpec, number: int | None) -> dict[str, Any]:
    size = {"samples_number": number} if number else {}
    if spec.dataset.startswith(_HUB):
        repo = spec.dataset.removeprefix(_HUB)
        return {"dataset_name": spec.title, "source_type": "hf_dataset", "hf_repo": repo, "hf_split": "test", **size}
    return {"dataset_name": spec.title, "source_type": "url", "url": [spec.dataset]}


def _uncertainty(name: str, row: BoardRow, *, number: int | None, spec: BenchmarkSpec) -> dict[str, Any]:
    size = {"num_samples": number} if number else {}
    bounds = row.interval.get(name)
    if bounds is None:
        return size
    method = "MOVER on Wilson score intervals" if spec.is_mean(name) else "Wilson score"
    if spec.grouped is not None and not spec.counts_groups(name):
        method += " with the effective sample size of a cluster-robust variance"
    interval = {"lower": bounds[0], "upper": bounds[1], "confidence_level": _CONFIDENCE, "method": method}
    return {"confidence_interval": interval, **size}


def _generation(entry: Mapping[str, Any]) -> dict[str, Any]:
    values = {"temperature": entry.get("temperature"), "prompt_template": entry.get("prompt")}
    arguments = {name: value for name, value in values.items() if value not in (None, "")}
    return {"generation_args": arguments, "additional_details": _stated(entry, _RUN)}
