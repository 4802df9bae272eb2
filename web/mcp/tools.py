"""Tools of the MCP endpoint: what each takes, and the request to the REST API that answers it. Pure.

No rule is decided here: parameters, disclosure and errors are those of the REST API.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.pairs.definition_check import figure_names
from vlrb.protocols import protocols

Arguments = Mapping[str, Any]
USUAL_ROWS = 20
MOST_JUDGES = 10  # of those whose name holds a text
_ID = re.compile(r"[0-9A-Za-z_-]{1,60}")
_LONGEST = 200


class BadCall(ValueError):
    """A tool cannot be called like this; the message says what to send instead."""


class ApiRequest(NamedTuple):
    """A GET request to the REST API."""

    path: str
    parameters: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a tool. ``schema``: its JSON type, of which "object" holds texts."""

    name: str
    description: str
    required: bool = False
    schema: str = "string"

    def to_json_schema(self) -> dict[str, Any]:
        """Return its JSON schema."""
        values = {"additionalProperties": {"type": ["string", "number"]}} if self.schema == "object" else {}
        return {"type": self.schema, "description": self.description, **values}


def _whole(arguments: Arguments, body: dict[str, Any]) -> dict[str, Any]:
    return body


@dataclass(frozen=True, slots=True)
class ReadTool:
    """A tool that reads. ``request``: what to ask the API; ``answer``: what of its answer is handed on."""

    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...]
    request: Callable[[Arguments], ApiRequest]
    answer: Callable[[Arguments, dict[str, Any]], dict[str, Any]] = _whole

    def to_json_schema(self) -> dict[str, Any]:
        """Return the JSON schema of its arguments."""
        return {
            "type": "object",
            "properties": {argument.name: argument.to_json_schema() for argument in self.arguments},
            "required": [argument.name for argument in self.arguments if argument.required],
            "additionalProperties": False,
        }

    def check(self, given: Arguments) -> dict[str, Any]:
        """Return the arguments as texts; those left out, null or empty are missing.

        Raises:
            BadCall: one is unknown, missing or of a wrong type.
        """
        known = {argument.name: argument for argument in self.arguments}
        for name in given:
            if name not in known:
                raise BadCall(f"{self.name} takes {', '.join(known)}, not {name[:60]!r}. Leave it out.")
        result = {name: _value(known[name], value) for name, value in given.items() if value not in (None, "")}
        missing = [argument for argument in self.arguments if argument.required and argument.name not in result]
        if missing:
            raise BadCall(f"{self.name} needs {missing[0].name}. {missing[0].description}")
        return result


def _value(argument: Argument, value: Any) -> Any:
    if argument.schema == "object":
        if not isinstance(value, dict):
            raise BadCall(f"{argument.name} is an object of names and percentages. {argument.description}")
        return {str(name): _text(str(name), each) for name, each in value.items()}
    return _text(argument.name, value)


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise BadCall(f"{name[:60]} is a text or a number, not {type(value).__name__}.")
    text = str(value).strip()
    if len(text) > _LONGEST:
        raise BadCall(f"{name[:60]} is longer than {_LONGEST} letters.")
    return text


def read_tools(specs: Sequence[BenchmarkSpec]) -> tuple[ReadTool, ...]:
    """Return the tools of a service; ``specs``: its benchmarks, the first one first."""
    benchmark = Argument("benchmark", f"One of {', '.join(spec.id for spec in specs)}; {specs[0].id} if left out.")
    return (
        _leaderboard(specs, benchmark),
        _judge(benchmark),
        _compare(benchmark),
        _check(specs, benchmark),
        _policy(benchmark),
    )


def _leaderboard(specs: Sequence[BenchmarkSpec], benchmark: Argument) -> ReadTool:
    rules = "; ".join(f"{spec.id}: {', '.join(protocols(spec))}" for spec in specs)
    groupings = "; ".join(f"{spec.id}: {', '.join(spec.groupings)}" for spec in specs if len(spec.groupings) > 1)
    return ReadTool(
        "leaderboard",
        "Leaderboard",
        description="Judges and how often each agrees with people, with 95% intervals, ranks, ranges of ranks, size, "
        "weights and base model where stated. "
        'Accuracies are fractions. Those scored here are ranked; a row with a "remark" is not. '
        "Numbers that authors reported are not "
        'verified here: ask for them with tier "reported".',
        arguments=(
            benchmark,
            Argument("protocol", f"Rule that turns votes into right or wrong. {rules}. The first is the ranking one."),
            Argument("tier", '"scored" (from uploaded predictions; if left out), "reported" (by authors) or "all".'),
            Argument("grouping", f"Which sources make a category. {groupings}. The first is the official one."),
            Argument("revision", "Label revision; the current one if left out."),
            Argument("as_of", "The board as it was: a day, an instant or the id of a snapshot."),
            Argument("sort", 'Column to order by, for instance "general" or "general:asc". Ranked order if left out.'),
            Argument("limit", f"Rows, 1 to 1,000; {USUAL_ROWS} if left out.", schema="integer"),
            Argument("cursor", '"next" of the answer before, for the rows that follow.'),
        ),
        request=lambda given: ApiRequest("/api/v1/leaderboard", {"limit": str(USUAL_ROWS), "tier": "scored", **given}),
    )


def _judge(benchmark: Argument) -> ReadTool:
    return ReadTool(
        "judge",
        "One judge",
        description="One judge on every benchmark served here (by name), or the scorecard of one entry (by id): "
        "accuracies under each rule with intervals, parse rate, position bias.",
        arguments=(
            Argument("judge", "Name of a judge, a part of it, or its slug."),
            Argument("entry", 'Id of an entry ("id" in leaderboard).'),
            benchmark,
            Argument("revision", "Label revision of the scorecard; the current one if left out."),
        ),
        request=_judge_request,
        answer=_judge_answer,
    )


def _judge_request(given: Arguments) -> ApiRequest:
    if ("judge" in given) == ("entry" in given):
        raise BadCall("judge needs either judge (a name) or entry (an id). leaderboard lists both.")
    if "judge" in given:
        return ApiRequest("/api/v1/judges", {})
    if not _ID.fullmatch(given["entry"]):
        raise BadCall(f"entry is an id, not {given['entry'][:60]!r}. leaderboard lists ids.")
    return ApiRequest(f"/api/v1/entries/{given['entry']}", _only(given, "benchmark", "revision"))


def _judge_answer(given: Arguments, body: dict[str, Any]) -> dict[str, Any]:
    """Return the judge of that slug or name, or those whose name holds the text.

    Raises:
        BadCall: there is none, or too many.
    """
    if "judge" not in given:
        return body
    wanted = given["judge"].casefold()
    judges = body["judges"]
    exact = [line for line in judges if wanted in (line["judge"], line["name"].casefold())]
    matches = exact or [line for line in judges if wanted in line["name"].casefold()]
    if not matches:
        raise BadCall(f"No judge is called {given['judge'][:60]!r}. leaderboard lists the names.")
    if len(matches) > MOST_JUDGES:
        raise BadCall(f"{len(matches)} judges have {given['judge'][:60]!r} in their names. Write more of the name.")
    return {**body, "judges": matches}


def _compare(benchmark: Argument) -> ReadTool:
    return ReadTool(
        "compare",
        "Compare two entries",
        description="Whether two entries of one benchmark really differ: paired differences on the same pairs "
        "with intervals, p values and a sentence. Compare only what one benchmark scored.",
        arguments=(
            Argument("first", 'Id of an entry ("id" in leaderboard).', required=True),
            Argument("second", "Id of another entry of the same benchmark.", required=True),
            benchmark,
        ),
        request=lambda given: ApiRequest(
            "/api/v1/compare", {"entries": f"{given['first']},{given['second']}", **_only(given, "benchmark")}
        ),
    )


def _check(specs: Sequence[BenchmarkSpec], benchmark: Argument) -> ReadTool:
    names = {spec.id: figure_names(spec) for spec in specs}
    listed = "; ".join(f"{name}: {', '.join(each)}" for name, each in names.items())

    def request(given: Arguments) -> ApiRequest:
        known = names.get(given.get("benchmark", specs[0].id), ())
        unknown = [name for name in given["figures"] if known and name not in known]
        if unknown:
            raise BadCall(f"figures has {unknown[0][:60]!r}, but the names are {', '.join(known)}.")
        return ApiRequest("/api/v1/check-numbers", {**given["figures"], **_only(given, "benchmark")})

    return ReadTool(
        "check_numbers",
        "Check published percentages",
        description="Which counts of right answers could be behind published percentages, or why there are none.",
        arguments=(
            Argument(
                "figures",
                f'Percentages by name, as printed: {{"overall": "71.9"}}. Names of {listed}.',
                required=True,
                schema="object",
            ),
            benchmark,
        ),
        request=request,
    )


def _policy(benchmark: Argument) -> ReadTool:
    return ReadTool(
        "policy",
        "Rules of this service",
        description="What governs submissions here: quotas, limits, what is disclosed of labels.",
        arguments=(benchmark,),
        request=lambda given: ApiRequest("/api/v1/policy", given),
    )


def _only(given: Arguments, *names: str) -> dict[str, str]:
    return {name: given[name] for name in names if name in given}
