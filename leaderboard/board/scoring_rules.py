"""Words for how a board is counted: its rules with a line of help each, and what is chosen."""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard.board.rows import Board
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
    titles = {rule.key: rule.title for rule in spec.protocols}
    rules = [
        (rule.key, rule.title, _("{text}.", text=titles.get(rule.key, rule.summary)))
        for rule in protocols(spec).values()
    ]
    return tuple(
        ScoringRule(key, title, help=_("{text} Ranks this board.", text=text) if key == spec.ranking else text)
        for key, title, text in rules
    )


def scoring_text(board: Board) -> str:
    """Return the rule, the grouping and the label revision of a board in a few words."""
    rule, grouping = protocols(board.spec)[board.protocol].title, board.spec.grouping_text(board.grouping).title
    return joined(filter(None, (rule, grouping, board.label_revision)))
