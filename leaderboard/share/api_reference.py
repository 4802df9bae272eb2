"""API reference (OpenAPI) as an HTML page without scripts or remote resources. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from leaderboard.render import render
from leaderboard.render_context import RenderContext

_VERBS = ("get", "post", "put", "patch", "delete")
_LINE = 96  # characters


_GROUPS = (
    ("Read the board", ()),
    ("Submit", ("/submissions", "/api/v1/check", "/policy", "/quota")),
    ("Receipts and audit", ("/receipt", "/keys", "/chain", "/decisions", "/audit")),
    ("Your account and entries", ("/account", "/history", "/withdraw", "/transfer")),
    ("Disputes and labelling", ("/disputes", "/verification")),
    ("Operate", ("/healthz", "/readyz", "/metrics", "/status")),
)
"""Headings of the page, and what is in the paths below each; the first takes what is left."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a route, or one field of its form."""

    name: str
    place: str
    required: bool
    type: str
    description: str


@dataclass(frozen=True, slots=True)
class ResponseExample:
    """What a route may answer."""

    status: str
    description: str
    example: str


@dataclass(frozen=True, slots=True)
class Operation:
    """A route with one of its verbs."""

    verb: str
    path: str
    title: str
    text: str
    parameters: tuple[Parameter, ...]
    answers: tuple[ResponseExample, ...]
    anchor: str

    @property
    def group(self) -> str:
        """The heading that it stands under, by its path and verb."""
        if self.maintenance:
            return "For maintainers"
        return next((title for title, parts in _GROUPS if any(part in self.path for part in parts)), _GROUPS[0][0])

    @property
    def maintenance(self) -> bool:
        """Whether it answers maintainers only, by its path."""
        return "/maintenance/" in self.path


def page(context: RenderContext, described: Mapping[str, Any], *, base: str) -> str:
    """Return the page at /docs."""
    listed = operations(described)
    titles = group_titles()
    groups = [(title, [operation for operation in listed if operation.group == title]) for title in titles]
    return render(context, "reference.html", current="", groups=[group for group in groups if group[1]], base=base)


def operations(described: Mapping[str, Any]) -> tuple[Operation, ...]:
    """Return all routes of an OpenAPI description, in its order."""
    schemas = described.get("components", {}).get("schemas", {})
    return tuple(
        _operation(verb, path, described=routes[verb], schemas=schemas)
        for path, routes in described["paths"].items()
        for verb in _VERBS
        if verb in routes
    )


def _operation(verb: str, path: str, *, described: Mapping[str, Any], schemas: Mapping[str, Any]) -> Operation:
    text = described.get("description", "") or f"{described.get('summary', '')}."
    title = re.split(r"[.;](?:\s|$)", text, maxsplit=1)[0]
    parameters = (*(_parameter(each) for each in described.get("parameters", ())), *_fields(described, schemas))
    answers = tuple(_answer(status, each) for status, each in sorted(described.get("responses", {}).items()))
    anchor = "-".join(filter(str.isalnum, f"{verb}/{path}".replace("{", "/").replace("}", "/").split("/")))
    return Operation(
        verb.upper(),
        path,
        title=title,
        text=text,
        parameters=parameters,
        answers=answers,
        anchor=anchor or described.get("operationId", ""),
    )


def _parameter(definition: Mapping[str, Any]) -> Parameter:
    schema = definition.get("schema", {})
    kind = _type(schema)
    usual = schema.get("default")
    text = definition.get("description", "")
    return Parameter(
        definition["name"],
        definition["in"],
        required=bool(definition.get("required")),
        type=kind if usual in (None, "") else f"{kind}, {json.dumps(usual)} if left out",
        description=text,
    )


def _type(schema: Mapping[str, Any]) -> str:
    if "anyOf" in schema:
        kinds = [_type(option) for option in schema["anyOf"]]
        return " or ".join(kind for kind in kinds if kind != "null")
    if schema.get("format") == "binary":
        return "file"
    return str(schema.get("type", "any"))


def _fields(definition: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[Parameter]:
    for media_type, content in definition.get("requestBody", {}).get("content", {}).items():
        schema = content.get("schema", {})
        schema = schemas.get(schema["$ref"].rpartition("/")[2], {}) if "$ref" in schema else schema
        required = schema.get("required", ())
        if not schema.get("properties"):
            yield Parameter("(body)", media_type, required=False, type=_type(schema), description="")
        for name, field in schema.get("properties", {}).items():
            yield Parameter(
                name, media_type, required=name in required, type=_type(field), description=field.get("description", "")
            )


def _answer(status: str, definition: Mapping[str, Any]) -> ResponseExample:
    contents = definition.get("content", {}).values()
    example = next((content["example"] for content in contents if "example" in content), None)
    text = "" if example is None else example if isinstance(example, str) else _indented(example)
    return ResponseExample(status, definition.get("description", ""), example=text)


def _indented(example: Any) -> str:
    """Return JSON to read: innermost lists and objects on one line where they fit."""

    def shorter(result: re.Match[str]) -> str:
        line = " ".join(result[0].split()).replace("[ ", "[").replace(" ]", "]").replace("{ ", "{").replace(" }", "}")
        return line if len(line) <= _LINE else result[0]

    return re.sub(r"\[[^\[\]{}]*\]|\{[^\[\]{}]*\}", shorter, json.dumps(example, indent=2, ensure_ascii=False))


def group_titles() -> list[str]:
    """Return the titles of the groups, in their order."""
    return [*(title for title, _ in _GROUPS), "For maintainers"]
