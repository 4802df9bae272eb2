"""Tables of the documentation that follow from declarations in code: `python -m scripts.doc_tables` writes them.

A table is between ``<!-- name -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from auth import Role
from leaderboard.share.exports import FORMATS
from maintenance.registry import Action, ActionParameter, ActionRegistry
from settings import Settings
from settings.declared import keys_of
from storage.metadata import FIELDS
from vlrb.benchmarks.spec import DEFAULT_BENCHMARK
from vlrb.benchmarks.spec_file import load_spec
from vlrb.protocols import protocols
from vlrb.readers import READERS
from web.actions import ACTIONS

DOCS = Path(__file__).parents[1] / "docs"
_BLOCK = re.compile(r"(<!-- ([a-z]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def _table(heading: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    titles = tuple(heading)
    lines = [titles, ("---",) * len(titles), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def _protocols() -> str:
    rows = (
        (f"`{rule.key}`", f"**{rule.title}** {rule.text}") for rule in protocols(load_spec(DEFAULT_BENCHMARK)).values()
    )
    return _table(("name in addresses", "how an answer counts"), rows)


def _exports() -> str:
    rows = ((form.title, f"`/export/board.{form.suffix}`", form.content) for form in FORMATS.values())
    return _table(("file", "address", "content"), rows)


def _readers() -> str:
    return _table(("tool", "what to upload"), ((reader.tool, reader.upload) for reader in READERS))


_BASE = "/api/v1/maintenance"


def action_rows(registry: ActionRegistry) -> list[tuple[str, str, str]]:
    """Return command, request and effect of every action for maintainers and on entries."""
    return [
        (_usage(action), f"`{action.method} {action.path.removeprefix(_BASE)}`", action.summary)
        for action in registry
        if action.declared.role is Role.MAINTAINER or action.area == "entries"
    ]


def _usage(action: Action[Any, Any]) -> str:
    if not action.command:
        return ""
    words = [
        action.command,
        *(_argument(each) for each in action.parameters),
        *(["[--wait]"] if action.declared.waits else []),
    ]
    return f"`{' '.join(words)}`"


def _argument(action_parameter: ActionParameter) -> str:
    name = action_parameter.info.metavar or action_parameter.name.upper()
    usage = " ".join(filter(None, (action_parameter.info.option, "" if action_parameter.type is bool else name)))
    usage += " ..." if action_parameter.is_list or action_parameter.is_mapping else ""
    return usage if action_parameter.required else f"[{usage}]"


def _actions() -> str:
    return _table(("command", "request", "effect"), action_rows(ACTIONS))


def _metadata() -> str:
    rows = (
        (f"`--{name.replace('_', '-')}`", f"{field.help}{'; required' * field.required}", field.limits)
        for name, field in FIELDS.items()
    )
    return _table(("option", "meaning", "what is taken"), rows)


def _settings() -> str:
    rows = []
    for key, info in keys_of(Settings):
        extra: Any = info.json_schema_extra
        default = f"{info.default:g}" if isinstance(info.default, float) else str(info.default)
        rows.append((f"`{key.upper()}`", extra["shown"] or f"`{default}`", info.description or ""))
    return _table(("setting", "default", "meaning"), rows)


TABLES: Mapping[str, Callable[[], str]] = {
    "protocols": _protocols,
    "exports": _exports,
    "readers": _readers,
    "actions": _actions,
    "metadata": _metadata,
    "settings": _settings,
}


def filled(text: str) -> str:
    """Return a document with its tables as the code declares them."""
    return _BLOCK.sub(lambda match: match[1] + TABLES[match[2]]() + match[3], text)


def documents() -> list[Path]:
    """Return the documents that hold such a table."""
    return [path for path in sorted(DOCS.glob("*.md")) if _BLOCK.search(path.read_text(encoding="utf-8"))]


def main() -> None:
    """Write every table anew."""
    for path in documents():
        path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")
        sys.stdout.write(f"{path.relative_to(DOCS.parent)}\n")


if __name__ == "__main__":
    main()
