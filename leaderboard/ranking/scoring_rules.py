"""Words for how a board is counted: its rules with a line of help each, and what is chosen."""

from __future__ import annotations

from typing import Any

from leaderboard.ranking.rows import Board
from vlrb.benchmarks.spec import BenchmarkSpec, Protocol
from vlrb.common.messages import Message, _, joined
from vlrb.protocols import protocols


def _rule_help(rule: Protocol, spec: BenchmarkSpec) -> Message:
    text = _("{text}.", text=rule.rule)
    return _("{text} Ranks this board.", text=text) if rule.key == spec.ranking else text


def scoring_context(board: Board, current_revision: str) -> dict[str, Any]:
    """Return what pages need for the choice of a rule, a grouping and a label revision, and what is chosen."""
    spec = board.spec
    chosen = (protocols(spec)[board.protocol].title, spec.grouping_text(board.grouping).title, board.label_revision)
    return {
        "spec": spec,
        "board": board,
        "rules": [(rule.key, rule.title, _rule_help(rule, spec)) for rule in protocols(spec).values()],
        "scoring": joined(filter(None, chosen)),
        "current_revision": current_revision,
        "editions": {
            edition.key: f"{edition.title}, {edition.pairs:,} pairs." for edition in spec.editions if edition.pairs
        },
    }
