"""Scoring rules that wait for a maintainer: the workers of a new release count by them, the board by the old ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy.orm import Session

from storage.jobs import worker_heartbeats
from storage.labels import label_sets
from vlrb.benchmarks import board_rules
from vlrb.common.messages import Message, _


@dataclass(frozen=True, slots=True)
class PendingRules:
    """A board, and the scorer version by which the running workers count instead of its own."""

    label_revision: str
    shown: str
    newer: str

    @property
    def sentence(self) -> Message:
        """What happens until when, and the command."""
        return _(
            "New submissions wait for a maintainer: the board shows scorer version {shown}, the workers count by "
            "{newer}. Look at the change with rescore preview {revision} --scorer-version {newer}, then: "
            'rescore apply {revision} --scorer-version {newer} --reason "..." --confirm "{revision} scorer {newer}"',
            shown=self.shown,
            newer=self.newer,
            revision=self.label_revision,
        )


def pending_rules(session: Session, benchmark: str) -> PendingRules | None:
    """Return the decision that a board's new submissions wait for; None where a running worker counts as it does."""
    board, running = label_sets.current(session, benchmark), worker_heartbeats.scorer_versions(session)
    if board is None or not running or board.scorer_version in running:
        return None
    return PendingRules(board.label_revision, board.scorer_version, newer=running[-1])


def changed_rules(session: Session, benchmark: str) -> Message | None:
    """Return that the definition has other rules than its board, and the command; None where it has not."""
    board = label_sets.current(session, benchmark)
    if board is None or "" in (board.rules, board.offered):
        return None
    before, after = board_rules.changes(board.rules, board.offered)
    if not before:
        return None
    return _(
        "The definition has other rules than the board, which keeps its own ({before}) until a maintainer applies "
        "those of the definition ({after}). Look at the change with rescore preview {revision} --rules, then: "
        'rescore apply {revision} --rules --reason "..." --confirm "{revision} rules"',
        before=_listed(before),
        after=_listed(after),
        revision=board.label_revision,
    )


def _listed(rules: Mapping[str, str | None]) -> str:
    return "; ".join(f"{name}: {value or '-'}" for name, value in rules.items())
