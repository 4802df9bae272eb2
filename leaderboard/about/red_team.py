"""Red-team page: known exploits, the official script's result and this service's result.

The numbers are those of red_team.json, which `python -m bench.red_team` makes by running the exploits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from leaderboard.site.render import render
from leaderboard.site.render_context import RenderContext
from vlrb.benchmarks.spec import DEFAULT_BENCHMARK
from vlrb.benchmarks.spec_file import load_spec
from vlrb.common.messages import _, joined

_POOLED = load_spec(DEFAULT_BENCHMARK).pooled
_FILE = Path(__file__).with_name("red_team.json")
_CODES: Mapping[str, str] = {
    "missing-item": _("pairs are missing"),
    "votes-differ": _("a pair has more votes than the others"),
    "duplicate-item": _("a pair is answered twice"),
    "unknown-item": _("ids name no pair"),
}


@dataclass(frozen=True, slots=True)
class ExploitResult:
    """What one side makes of an exploit: a share, or in words why there is none."""

    share: float | None
    words: str = ""


@cache
def exploits() -> tuple[dict[str, Any], ...]:
    """Return all of them, in the file's order, with what each side makes of it as an ExploitResult."""
    sides = ("official", "here")
    return tuple({**row, **{side: _result(row[side]) for side in sides}} for row in _file()["exploits"])


def page(context: RenderContext) -> str:
    """Return the page. It is about the rules, not about a board."""
    values = {"exploits": exploits(), "backtracking": _file()["backtracking"]}
    return render(context, "red_team.html", current="/red-team", **values)


@cache
def _file() -> dict[str, Any]:
    return dict(json.loads(_FILE.read_text(encoding="utf-8")))


def _result(result: Mapping[str, Any]) -> ExploitResult:
    if "error" in result:
        return ExploitResult(None, _("stops with {result}", result=result["error"]))
    if "refused" in result:
        reasons = joined(_CODES.get(code, code) for code in result["refused"])
        return ExploitResult(None, _("refused: {reasons}", reasons=reasons))
    return ExploitResult(result[_POOLED])
