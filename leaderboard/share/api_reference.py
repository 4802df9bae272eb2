"""API reference (OpenAPI) as an HTML page without scripts or remote resources. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from leaderboard.site.render import render
from leaderboard.site.render_context import RenderContext

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Read the board": (),
    "Submit": ("/submissions", "/api/v1/check", "/policy", "/quota"),
    "Receipts and audit": ("/receipt", "/keys", "/chain", "/decisions", "/audit"),
    "Your account and entries": ("/account", "/history", "/withdraw", "/transfer"),
    "Disputes and labelling": ("/disputes", "/verification"),
    "Operate": ("/healthz", "/readyz", "/metrics", "/status"),
}
"""Headings of the page, and what is in the paths below each; the first takes what is left."""


def page(context: RenderContext, described: Mapping[str, Any], *, base: str) -> str:
    """Return the page at /docs."""
    schemas = described.get("components", {}).get("schemas", {})
    groups: dict[str, list[Mapping[str, Any]]] = {title: [] for title in GROUPS}
    for path, routes in described["paths"].items():
        title = next(
            (title for title, parts in GROUPS.items() if any(part in path for part in parts)), next(iter(GROUPS))
        )
        for verb, operation in routes.items():
            parameters = [*operation.get("parameters", ()), *_fields(operation, schemas)]
            groups[title].append({**operation, "verb": verb.upper(), "path": path, "parameters": parameters})
    values = {"groups": {title: routes for title, routes in groups.items() if routes}, "base": base}
    return render(context, "reference.html", current="", example=_example, **values)


def _fields(operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the fields of a body as parameters."""
    for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
        schema = content.get("schema", {})
        schema = schemas.get(schema["$ref"].rpartition("/")[2], {}) if "$ref" in schema else schema
        for name, field in schema.get("properties", {}).items():
            required = name in schema.get("required", ())
            yield {"name": name, "in": media_type, "required": required, "schema": field, **field}


def _example(response: Mapping[str, Any]) -> str:
    """Return the example of a response; "" without one."""
    examples = [content["example"] for content in response.get("content", {}).values() if "example" in content]
    texts = [one if isinstance(one, str) else json.dumps(one, indent=2, ensure_ascii=False) for one in examples]
    return next(iter(texts), "")
