"""Words for how a board is counted: its rules with a line of help each, and what is chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from leaderboard.ranking.rows import Board
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _, joined
from vlrb.protocols import protocols


@dataclass(frozen=True, slots=True)
class ScoringRule:
    """A scoring rule as the board offers it, with one line of help."""

    key: str
    title: str
    help: str


def scoring_rules(spec: BenchmarkSpec) -> tuple[ScoringRule, ...]:
    """Return the scoring rules of a benchmark; the first one ranks its board."""
    rules = [(rule.key, rule.title, _("{text}.", text=rule.rule)) for rule in protocols(spec).values()]
    return tuple(
        ScoringRule(key, title, help=_("{text} Ranks this board.", text=text) if key == spec.ranking else text)
        for key, title, text in rules
    )


def scoring_context(board: Board, current_revision: str) -> dict[str, Any]:
    """Return what pages need for the choice of a rule, a grouping and a label revision, and what is chosen."""
    spec = board.spec
    chosen = (protocols(spec)[board.protocol].title, spec.grouping_text(board.grouping).title, board.label_revision)
    return {
        "spec": spec,
        "board": board,
        "rules": scoring_rules(spec),
        "scoring": joined(filter(None, chosen)),
        "current_revision": current_revision,
        "editions": {
            edition.key: f"{edition.title}, {edition.pairs:,} pairs." for edition in spec.editions if edition.pairs
        },
    }
