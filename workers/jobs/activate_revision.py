"""Activate a label revision or scorer version on the board, all or nothing.

Scores are staged first, where nobody sees them, some hundred entries in one transaction with one audit event. Then one
transaction ends the revision's secrecy, moves the pointer, writes the changelog and ends the task. Killed at any point,
the old board is whole, and the next worker goes on where this one stopped.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session, aliased

from storage.database import Database
from storage.integrity import audit
from storage.jobs import tasks
from storage.labels import label_imports, label_levels, label_sets
from storage.labels.label_sets import ActiveBoard
from storage.models.core import Score
from storage.models.queue import Task
from vlrb.benchmarks import board_rules
from vlrb.benchmarks.label_files import LabelsError
from vlrb.benchmarks.labels import LabelSet
from vlrb.common.messages import _, ngettext
from vlrb.disclosure import PUBLIC, strictest
from vlrb.label_quality.label_diff import diff_labels
from workers.jobs.rescore import rescore, unscored
from workers.queries import entries_on_board, rank_both, stored_counts
from workers.scorer import Scorer
from workers.startup import register
from workers.task_context import CHUNK

APPLIED = "rescore.applied"
_ROUNDS = 10
_DIGITS = 6  # enough for whatever a page shows


class BoardChangedMeanwhile(Exception):
    """The board shows something else than when this was asked for. Look at it, make a new preview, and ask again."""


def apply(database: Database, scorer: Scorer, *, labels: LabelSet, claim: Task, chunk: int = CHUNK) -> None:
    """Score everything under labels and then move the board.

    Raises LeaseLost, BoardChangedMeanwhile, and LabelsError where new entries keep coming faster than they are scored.
    """
    staged = replace(scorer, labels={labels.revision: labels})
    register(database, staged, revision=labels.revision)
    for _round in range(_ROUNDS):
        with database.read() as session:
            total = session.scalar(select(func.count()).select_from(unscored(staged, labels.revision).subquery())) or 0

        def report(session: Session, done: int, total: int = total) -> None:
            tasks.report(session, claim, progress=done, total=total)  # the fence: nothing is recorded after it

        rescore(database, staged, revision=labels.revision, chunk=chunk, first=report)
        if _move(database, scorer, labels=labels, claim=claim):
            return
    raise LabelsError(_("entries are scored under the old labels faster than under the new ones; try again later"))


def _move(database: Database, scorer: Scorer, *, labels: LabelSet, claim: Task) -> bool:
    """Move the board and end the task; False where an entry of the board has no score under the new labels yet."""
    rules = claim.params.get("rules")
    moves = _moves(database, scorer, labels=labels, rules=rules)
    with database.write() as session:
        label_sets.lock_board(session, scorer.benchmark)
        board = _expected(session, claim)
        wanted = (labels.revision, scorer.version, board.rules if rules is None else rules)
        if (board.label_revision, board.scorer_version, board.rules) == wanted:
            tasks.finish(session, claim, result={"changed": False}, outcome=_("The board shows this already."))
            return True
        if _left_out(session, board, revision=labels.revision, version=scorer.version):
            return False
        _activate(session, scorer, labels=labels, claim=claim, board=board, moves=moves)
        return True


def _expected(session: Session, claim: Task) -> ActiveBoard:
    board = label_sets.current(session, claim.benchmark)
    active = None if board is None else {"label_revision": board.label_revision, "scorer_version": board.scorer_version}
    if board is None or active not in (claim.params["from"], claim.params["to"]):
        raise BoardChangedMeanwhile
    return board


def _left_out(session: Session, board: ActiveBoard, *, revision: str, version: str) -> int:
    """Return entries that are scored under what the board shows, but not under the new revision."""
    new = aliased(Score)
    scored = exists().where(
        new.submission_id == Score.submission_id, new.label_revision == revision, new.scorer_version == version
    )
    return session.execute(
        select(func.count())
        .select_from(Score)
        .where(
            Score.benchmark == board.benchmark,
            Score.label_revision == board.label_revision,
            Score.scorer_version == board.scorer_version,
            ~scored,
        )
    ).scalar_one()


def _activate(
    session: Session, scorer: Scorer, *, labels: LabelSet, claim: Task, board: ActiveBoard, moves: dict[str, Any]
) -> None:
    """Move the pointer in one transaction. The fence comes first, the audit chain last."""
    to = {"label_revision": labels.revision, "scorer_version": scorer.version}
    words = _("Applied.")
    if moves:
        words = ngettext("Applied: {n:,} entry.", "Applied: {n:,} entries.", moves["entries"])
    if "moved" in moves:
        words = ngettext(
            "Applied: {n:,} entry, rank moves: {moved:,}.",
            "Applied: {n:,} entries, rank moves: {moved:,}.",
            moves["entries"],
            moved=moves["moved"],
        )
    tasks.finish(session, claim, result={"changed": True, **moves}, outcome=words)
    published = label_imports.publish(session, scorer.benchmark, revision=labels.revision)
    rules = claim.params.get("rules")
    label_sets.activate_revision(session, scorer.benchmark, **to, reason=claim.reason, rules=rules)
    imported = label_imports.find(session, scorer.benchmark, revision=labels.revision)
    facts = {"from": claim.params["from"], "to": to, "reason": claim.reason, "published": published, **moves}
    about = {"by": claim.requested_by, "task": claim.id, "snapshot_before": board.snapshot_id}
    if rules is not None:
        about |= board_rules.decision(board.rules, rules)
    about["commitment"] = imported.commitment if imported else None
    audit.append(session, APPLIED, data={**facts, **about, "benchmark": scorer.benchmark})


def _moves(database: Database, scorer: Scorer, *, labels: LabelSet, rules: str | None) -> dict[str, Any]:
    """Return the diff for the changelog: counts of labels, entries and ranks."""
    with database.read() as session:
        board = label_sets.current(session, scorer.benchmark)
        if board is None:
            return {}
        where = {"revision": board.label_revision, "version": board.scorer_version}
        then = {"revision": labels.revision, "version": scorer.version}
        if where == then and rules in (None, board.rules):
            return {}
        spec_before, spec = (
            scorer.under(own).table.spec for own in (board.rules, board.rules if rules is None else rules)
        )
        # Everybody reads the event: how many labels differ depends on single ones, of both revisions.
        levels = label_levels.levels(session, board.benchmark)
        level = strictest(*(levels.get(revision, PUBLIC) for revision in (board.label_revision, labels.revision)))
        scored = {entry.id for entry in entries_on_board(session, spec.id, **then)}
        entries = [entry for entry in entries_on_board(session, spec.id, **where) if entry.id in scored]
        ids = [entry.id for entry in entries]
        counts = [stored_counts(session, ids, spec=spec, **rules) for rules in (where, then)]
    known = scorer.labels.get(board.label_revision)
    if level != PUBLIC:  # ranks and macro averages of before and after tell more than the two boards
        return {"labels": None, "entries": len(entries)}
    changed = None if known is None else diff_labels(known, labels, table=scorer.table)
    if not entries:
        return {"labels": changed, "entries": 0, "moved": 0, "largest_change": None}
    before, after = rank_both(entries, counts, specs=(spec_before, spec))
    headline = spec.headline_first.index(spec.headline)
    rounded = [ranked.shares[:, headline].round(_DIGITS) for ranked in (before, after)]
    return {
        "labels": changed,
        "entries": len(entries),
        "moved": sum(old != new for old, new in zip(before.ranks, after.ranks, strict=True)),
        "largest_change": round(float(abs(rounded[1] - rounded[0]).max()), _DIGITS),
    }
