"""Draft revision from accepted disputes or from an annotation project.

The labels of the base revision are changed here, in the worker, and leave it only as counts. What people said is frozen
by then (decided disputes and closed projects do not change), so that a worker that takes the task over writes the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from storage.annotation import annotation_projects, disputes
from storage.annotation.pair_decisions import decided_pairs
from storage.database import Database, Session
from storage.models.queue import Task
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.label_files import LabelsError
from vlrb.benchmarks.labels import NOT_LABELLED, LabelSet, make_label_set
from vlrb.common.messages import _
from vlrb.label_quality.annotation import (
    DROP,
    GOLD,
    Proposal,
    draft_from_disputes,
    preferred_label,
)
from workers.jobs import import_labels
from workers.task_context import TaskContext


def draft(context: TaskContext, claim: Task) -> None:
    """Write the revision that the task names. Raises LabelsError, LeaseLost."""
    against, table = import_labels.compared_with(context, claim), context.scorer.table
    base = context.labels(claim.params["base"])
    proposed, source = _proposed_labels(context.database, table, params=claim.params)
    # Where people contradict one another the base's label stays.
    proposals = {key: proposal for key, proposal in proposed.items() if proposal is not None}
    labels = changed(base, claim.subject, table=table, proposals=proposals)
    import_labels.keep_draft(context, claim, labels=labels, spec=f"{base.revision} with {source}", against=against)


def changed(base: LabelSet, revision: str, *, table: ItemTable, proposals: Mapping[str, Proposal]) -> LabelSet:
    """Return the base with the proposals. Raises LabelsError where a category would lose its last item."""
    label = {i: int(base.preferred[i]) for i in np.flatnonzero(base.preferred != NOT_LABELLED).tolist()}
    tags = None if base.tags is None else {i: base.tags[i] for i in label}
    places = {item.key: index for index, item in enumerate(table.items)}
    for key, proposal in proposals.items():
        index = places.get(key, -1)
        if index not in label:
            continue
        if proposal.effect == DROP:
            del label[index]
            continue
        label[index] = preferred_label(table.items[index], proposal.effect)
        if tags is not None and proposal.tags is not None:
            tags[index] = proposal.tags
    _check_categories(label, table)
    kept = None if tags is None else {i: tags[i] for i in label}
    return make_label_set(revision, table, preferred=label, tags=kept)


def _proposed_labels(
    database: Database, table: ItemTable, *, params: Mapping[str, Any]
) -> tuple[dict[str, Proposal | None], str]:
    """Return item key -> what people want for it, None where they contradict one another; and where that is from."""
    with database.read() as session:
        if "project" in params:
            return _verified(
                session, table.benchmark, project=params["project"], tag_of=table.spec.tag_of
            ), f"verification project {params['project']}"
        named = disputes.find(session, table.benchmark, ids=params["disputes"])
    accepted = sorted(dispute for dispute in named if dispute.state == "accepted")
    by_item: dict[str, list[tuple[str, str | None]]] = {}
    for dispute in accepted:
        by_item.setdefault(dispute.item, []).append((dispute.better, dispute.tag))
    return {
        key: draft_from_disputes(group) for key, group in sorted(by_item.items())
    }, f"{len(accepted)} accepted disputes"


def _verified(
    session: Session, benchmark: str, *, project: int, tag_of: Mapping[str, str]
) -> dict[str, Proposal | None]:
    """Return item key -> what its answers decide, of pairs with answers. Gold pairs stay as they are."""
    result = annotation_projects.project(session, benchmark, project_id=project)
    if result is None:
        raise LabelsError(_("there is no project {project}", project=project))
    pairs = decided_pairs(session, result, tag_of=tag_of)
    return {pair.item: pair.proposal for pair in pairs if pair.state != GOLD and (pair.answers or pair.verdict)}


def _check_categories(label: Mapping[int, int], table: ItemTable) -> None:
    left = {table.items[index].category for index in label}
    if missing := [name for name in table.spec.category_keys if name not in left]:
        raise LabelsError(_("no pair of {names} would be left", names=", ".join(missing)))
