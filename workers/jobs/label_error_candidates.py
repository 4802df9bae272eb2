"""Label error candidates: items on which the strongest judges agree against the label.

The list goes into a table that only maintainers are shown; the task's result, the log and the audit chain get counts.
"""

from __future__ import annotations

import numpy as np

from storage.annotation import disputes
from storage.database import Database
from storage.integrity import audit, stored_votes
from storage.jobs import tasks
from storage.jobs.tasks import TaskClaim
from storage.labels import label_sets
from vlrb.benchmarks.label_files import LabelsError
from vlrb.common.messages import _, ngettext
from vlrb.label_quality.label_errors import FEWEST, MOST, candidates, distinct_judges, qualified_judges
from vlrb.statistics.reliability import majority
from vlrb.votes import Matrix, Votes, resolved
from workers.board_queries import BoardEntry, entries_on_board, rank_entries, stored_counts
from workers.scorer import Scorer

PROPOSED = "labels.candidates-proposed"
_LOOKED_AT = 8 * MOST  # of the strongest entries: among them are the best of as many sources, unless they are all one's
_EVERYBODY = "local"  # the account of an installation without sign-in tells nobody apart


def propose(database: Database, scorer: Scorer, *, claim: TaskClaim) -> None:
    """Replace the list. Raises LabelsError where there is no board or too few judges; LeaseLost."""
    with database.read() as session:
        board = label_sets.current(session, scorer.benchmark)
        if board is None or board.label_revision not in scorer.labels:
            raise LabelsError(_("there is no board yet, or this worker does not have the labels that it shows"))
        if board.label_revision != claim.subject:
            raise LabelsError(
                _("the board shows revision {label_revision} now; ask again", label_revision=board.label_revision)
            )
        spec = scorer.table.spec
        where = {"revision": board.label_revision, "version": board.scorer_version}
        entries = entries_on_board(session, spec.id, **where)
        counts = stored_counts(session, [entry.id for entry in entries], spec=spec, **where)
    order = rank_entries(entries, counts, spec=spec).order if entries else ()
    strongest = [entries[index] for index in order[:_LOOKED_AT]]
    labels = scorer.labels[board.label_revision]
    verdicts = resolved(_verdicts(database, scorer, entries=strongest), labels.preferred)
    chosen = list(distinct_judges(verdicts, [_source(name) for name in strongest]))
    if len(chosen) < FEWEST:
        raise LabelsError(
            _("that needs {fewest} judges of different owners; the board has {count}", fewest=FEWEST, count=len(chosen))
        )
    proposals = candidates(verdicts[chosen], labels, table=scorer.table)
    ids = [strongest[index].id for index in chosen]
    qualified = qualified_judges(verdicts[chosen], labels, table=scorer.table)
    listened = {category: [ids[judge] for judge in judges] for category, judges in qualified.items()}
    keys = [scorer.table.items[index].key for index in proposals.items]
    facts = {
        "revision": claim.subject,
        "candidates": len(keys),
        "looked_at": proposals.looked_at,
        "judges": len(chosen),
    }
    with database.write() as session:
        result = {**facts, "entries": ids, "heard": listened}
        words = ngettext(
            "{n:,} candidate among {items:,} pairs.",
            "{n:,} candidates among {items:,} pairs.",
            len(keys),
            items=proposals.looked_at,
        )
        tasks.finish(session, claim, result=result, outcome=words)
        disputes.replace_candidates(session, board.benchmark, items=keys)
        facts |= {"task": claim.task_id, "by": claim.requested_by, **audit.scope(session, board.benchmark)}
        audit.append(session, PROPOSED, data=facts)


def _source(entry: BoardEntry) -> str:
    return f"{entry.owner} {entry.model}" if entry.owner == _EVERYBODY else entry.owner


def _verdicts(database: Database, scorer: Scorer, *, entries: list[BoardEntry]) -> Matrix:
    """Majority verdicts, (entries, items)."""
    items = len(scorer.table)
    rows = stored_votes.read(database, [entry.id for entry in entries])
    result = {row.id: majority(Votes.unpack(row.packed, items, k=row.k).matrix) for row in rows}
    return np.stack([result[entry.id] for entry in entries]) if entries else np.empty((0, items), dtype=np.int8)
