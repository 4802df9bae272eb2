"""Scoring rules that wait for a maintainer: the workers of a new release count by them, the board by the old ones."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy.orm import Session

from storage.jobs import worker_heartbeats
from storage.labels import label_sets
from vlrb.benchmarks import board_rules
from vlrb.common.messages import Message, _


def pending_rules(session: Session, benchmark: str) -> Message | None:
    """Return the decision that a board's new submissions wait for: what happens until when, and the command. None where
    a running worker counts as the board does."""
    board, running = label_sets.current(session, benchmark), worker_heartbeats.scorer_versions(session)
    if board is None or not running or board.scorer_version in running:
        return None
    return _(
        "New submissions wait for a maintainer: the board shows scorer version {shown}, the workers count by "
        "{newer}. Look at the change with rescore preview {revision} --scorer-version {newer}, then: "
        'rescore apply {revision} --scorer-version {newer} --reason "..." --confirm "{revision} scorer {newer}"',
        shown=board.scorer_version,
        newer=running[-1],
        revision=board.label_revision,
    )


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
