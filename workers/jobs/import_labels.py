"""Import of a label revision, and disclosure of the salt of a retired one. Counts and digests leave, labels never."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from storage.files.import_folders import path_below
from storage.integrity import audit
from storage.jobs import tasks, worker_heartbeats
from storage.labels import label_imports, label_levels, label_sets
from storage.models.queue import Task
from vlrb.benchmarks.label_files import LabelsError, load_labels
from vlrb.benchmarks.labels import NOT_LABELLED, LabelSet
from vlrb.commitments import commit
from vlrb.common.hub_sources import FORM, parse_hub_source
from vlrb.common.messages import _, joined, ngettext
from vlrb.disclosure import CANNOT_BE_HIDDEN, PUBLIC
from vlrb.label_quality.label_diff import diff_labels
from workers.scorer import Scorer, measured_disclosure
from workers.task_context import TaskContext

IMPORTED, RETIRED = "labels.imported", "labels.retired"
NEARLY_EQUAL = 0.9
"""Agreement of a hidden set with a public one above which nothing hides it."""


def import_labels(context: TaskContext, claim: Task) -> None:
    """Load, keep and record a draft. Raises LabelsError, LeaseLost."""
    against, spec = compared_with(context, claim), claim.params["spec"]
    source = spec if context.import_dirs is None else _allowed_source(spec, context.import_dirs)
    token = context.labels_token.get_secret_value()
    labels = load_labels(source, claim.subject, table=context.scorer.table, token=token)
    keep_draft(context, claim, labels=labels, spec=spec, against=against)


def _allowed_source(spec: str, directories: Sequence[Path]) -> str | Path:
    """Return the real path of a file below one of the directories, or a Hub dataset as it was named.

    Relative names are looked up below the directories.

    Raises:
        LabelsError: it is anything else; the same words whether a file elsewhere exists or not.
    """
    if (path := path_below(spec, directories, is_wanted=Path.is_file)) is not None:
        return path
    if parse_hub_source(spec) and not Path(spec).exists():
        return spec
    where = " or ".join(map(str, directories))
    raise LabelsError(
        _(
            "{spec} is neither a file below {where} nor a Hub dataset at a commit ({form}). Put the file there.",
            spec=spec,
            where=where,
            form=FORM,
        )
    )


def compared_with(context: TaskContext, claim: Task) -> str | None:
    """Return the revision that the board shows. Raises LabelsError where there is one of the new name already."""
    with context.database.read() as session:
        if label_imports.name_taken(session, context.scorer.benchmark, revision=claim.subject):
            raise LabelsError(_("revision {subject} exists, and revisions never change", subject=claim.subject))
        board = label_sets.current(session, context.scorer.benchmark)
    return board.label_revision if board else None


def keep_draft(context: TaskContext, claim: Task, *, labels: LabelSet, spec: str, against: str | None) -> None:
    """Keep and record a draft, and end its task. Raises LabelsError, LeaseLost.

    `spec`: where the labels are from; `against`: the revision that they are compared with.
    """
    scorer = context.scorer
    with context.database.read() as session:
        levels = label_levels.levels(session, scorer.benchmark)
    level = claim.params["disclosure"] or levels.get(claim.params["base"], PUBLIC)
    close = _nearly_equal(context, labels, level=level, levels=levels)
    stored = context.store.keep(labels)
    changed = _against(scorer, against, labels=labels)
    changed |= {"given_away": close} if close and level != PUBLIC else {}
    changed |= {"measured": measured} if (measured := measured_disclosure(labels, scorer.table, level=level)) else {}
    result = {"items": labels.items, "commitment": commit(labels.digest, stored.salt), "difference": changed}
    asked = {"spec": spec, "disclosure": level}
    facts = {"benchmark": scorer.table.benchmark, "digest": labels.digest, **asked}
    why = {"reason": claim.reason, "requested_by": claim.requested_by}
    with context.database.write() as session:
        outcome = ngettext("{n:,} label imported as a draft.", "{n:,} labels imported as a draft.", labels.items)
        tasks.finish(session, claim, result=result, outcome=joined([outcome, *close], " "))
        label_imports.record(session, labels.revision, facts={**facts, **result, **why})
        worker_heartbeats.add_loaded_revision(
            session, claim.worker, benchmark=scorer.benchmark, revision=labels.revision
        )
        about = {"revision": labels.revision, "task": claim.id, "by": claim.requested_by, "reason": claim.reason}
        kept = {"benchmark": scorer.table.benchmark, "digest": labels.digest, "disclosure": level}
        audit.append(session, IMPORTED, data={**result, **about, **kept})


def retire(context: TaskContext, claim: Task) -> None:
    """Reveal the salt. Raises LabelsError, LeaseLost."""
    salt = context.store.load(claim.subject).salt.hex()
    with context.database.write() as session:
        known = label_imports.find(session, claim.benchmark, revision=claim.subject)
        board = label_sets.current(session, claim.benchmark)
        if known is None or (board is not None and board.label_revision == claim.subject):
            raise LabelsError(
                _("the board shows revision {subject}, or there is none of that name", subject=claim.subject)
            )
        tasks.finish(session, claim, result={"salt": salt}, outcome=_("The salt is public."))
        label_imports.retire(session, claim.benchmark, revision=claim.subject, salt=salt)
        facts = {"revision": claim.subject, "salt": salt, "commitment": known.commitment, "reason": claim.reason}
        about = {"task": claim.id, "by": claim.requested_by, "benchmark": claim.benchmark}
        audit.append(session, RETIRED, data={**facts, **about})


def _nearly_equal(context: TaskContext, labels: LabelSet, *, level: str, levels: Mapping[str, str]) -> list[str]:
    """Return a sentence for each set that nearly says the same, where one of the two is public and the other is not."""
    with context.database.read() as session:
        imported = label_imports.names(session, context.scorer.benchmark)
    found = []
    for name in sorted({*context.scorer.labels, *filter(context.store.has, imported)}):
        if (levels.get(name, PUBLIC) == PUBLIC) == (level == PUBLIC):
            continue
        if _agreement(labels, context.labels(name)) > NEARLY_EQUAL:
            public, hidden = (labels.revision, name) if level == PUBLIC else (name, labels.revision)
            found.append(CANNOT_BE_HIDDEN.format(hidden=hidden, public=public))
    return found


def _agreement(labels: LabelSet, other: LabelSet) -> float:
    """Return the share of the pairs that both label on which they say the same; 0 without any."""
    both = (labels.preferred != NOT_LABELLED) & (other.preferred != NOT_LABELLED)
    return float((labels.preferred == other.preferred)[both].mean()) if both.any() else 0.0


def _against(scorer: Scorer, active_revision: str | None, *, labels: LabelSet) -> dict[str, Any]:
    known = scorer.labels.get(active_revision) if active_revision else None
    return {"against": active_revision, **(diff_labels(known, labels, table=scorer.table) if known is not None else {})}
