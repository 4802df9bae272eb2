"""Records of Every Eval Ever, against its own schema (schemas/, MIT licence)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from leaderboard.board.query import BoardQuery
from leaderboard.board.rows import build_board
from leaderboard.share.exports import FORMATS, EntryFacts, extract
from tests.factories.snapshots import entry, snapshot
from tests.factories.specs import spec_of

SCHEMA = json.loads((Path(__file__).parent / "schemas" / "every_eval_ever-0.3.0.schema.json").read_text())
BASE = "https://board.example"
_TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "integer": int,
    "number": (int, float),
}


def problems(value: Any, rule: Any, *, place: str = "$") -> Iterator[str]:
    """Yield what breaks a JSON schema, as far as this one uses the language."""
    if isinstance(rule, bool):
        if not rule:
            yield f"{place}: not allowed"
        return
    if "$ref" in rule:
        yield from problems(value, SCHEMA["$defs"][rule["$ref"].rpartition("/")[2]], place=place)
    kinds = rule.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        yield f"{place}: not {kinds}"
        return
    if "enum" in rule and value not in rule["enum"]:
        yield f"{place}: {value!r} is none of {rule['enum']}"
    if "const" in rule and value != rule["const"]:
        yield f"{place}: not {rule['const']}"
    if "pattern" in rule and isinstance(value, str) and not re.search(rule["pattern"], value):
        yield f"{place}: does not match"
    if "oneOf" in rule and sum(not any(problems(value, one, place=place)) for one in rule["oneOf"]) != 1:
        yield f"{place}: not exactly one of the shapes"
    if isinstance(value, dict):
        yield from (f"{place}: no {name}" for name in rule.get("required", ()) if name not in value)
        for name, one in value.items():
            yield from problems(
                one,
                rule.get("properties", {}).get(name, rule.get("additionalProperties", True)),
                place=f"{place}.{name}",
            )
    if isinstance(value, list):
        for at, one in enumerate(value):
            yield from problems(one, rule.get("items", True), place=f"{place}[{at}]")


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, _TYPES[kind]) and not (isinstance(value, bool) and kind in ("integer", "number"))


def records(*entries: dict[str, Any], benchmark: str = "vl-rewardbench") -> Any:
    spec = spec_of(benchmark)
    made = replace(build_board(snapshot([*entries], benchmark), spec), snapshot_id="5f0c" * 16)
    facts = EntryFacts({one["id"]: one for one in entries}.get, "1", base=BASE)
    taken = extract(made, BoardQuery(spec), address=BASE, facts=facts)
    return json.loads(FORMATS["eee.json"].write(taken))


STATED = {"tokens_in": 9, "hardware": "1 x A100", "temperature": 0.2, "prompt": "Which?", "open_weights": True}


def test_a_record_follows_the_schema_and_has_every_accuracy_with_its_interval() -> None:
    (found,) = records(entry(1, 0.7, organisation="A lab", parameters_b=7.0, **STATED))
    assert not list(problems(found, SCHEMA))
    results = {one["evaluation_result_id"].rpartition("-")[2]: one for one in found["evaluation_results"]}
    assert list(results) == ["macro", "overall", "general", "hallucination", "reasoning"]
    for one in results.values():
        score = one["score_details"]
        bounds = score["uncertainty"]["confidence_interval"]
        assert bounds["lower"] < score["score"] < bounds["upper"]
        assert score["uncertainty"]["num_samples"] == one["source_data"]["samples_number"]
        assert one["generation_config"]["generation_args"] == {"temperature": 0.2, "prompt_template": "Which?"}
        assert one["generation_config"]["additional_details"]["tokens_in"] == "9"
    assert results["overall"]["score_details"]["uncertainty"]["num_samples"] == 1250
    assert found["model_info"]["id"] == "A-lab/judge-1"
    assert found["model_info"]["additional_details"]["model_availability"] == "open_weights"


def test_the_check_notices_what_breaks_the_schema() -> None:
    (found,) = records(entry(1, 0.7))
    del found["eval_library"]["version"]
    found["source_metadata"]["source_type"] = "rumour"
    found["evaluation_results"][0]["source_data"] = {}
    found["more"] = 1
    assert len(list(problems(found, SCHEMA))) == 4


def test_synthetic_and_reported_results_have_no_record() -> None:
    assert records(entry(1, 0.7), benchmark="demo") == []
