"""Export of an edition: the answers of a closed project about candidates decide its pairs and labels."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from operation.replication.curated_folders import EXPORTED
from storage.annotation import adjudications, annotation_projects, pools, shown_orders
from storage.annotation.annotation_projects import Project
from storage.annotation.pools import PoolView
from storage.answer_times import answer_times, seconds_taken
from storage.database import Database, Session
from storage.integrity import audit
from storage.jobs import tasks
from storage.jobs.tasks import TaskClaim
from vlrb.common.messages import _, ngettext
from vlrb.editions.errors import CurateError
from vlrb.editions.folder.edition import EditionPlan, file_digest
from vlrb.editions.folder.freezing import EditionFolders, freeze
from vlrb.editions.pools.pool import locked, read_json, write_json
from vlrb.editions.verification import ADJUDICATOR, VerificationRules
from vlrb.editions.verification_record import read_candidates, record_verification
from vlrb.label_quality.annotator_agreement import PersonAnswer

_USUAL_ANSWERS = 2


def export_edition(database: Database, claim: TaskClaim, *, root: Path | None, tag_of: Mapping[str, str]) -> None:
    """Make the edition that the task names. Raises CurateError, LeaseLost.

    `root` gets three folders: `public`, `private` with the labels, `verified` with what people decided.
    `tag_of`: error that annotators choose from -> error tag.
    """
    if root is None:
        raise CurateError(_("This worker has no folder for editions."))
    with database.read() as session:
        project = annotation_projects.project(session, claim.benchmark, project_id=claim.params["project"])
        pool = pools.pool(session, claim.benchmark, pool_id=(project and project.pool_id) or 0)
        if project is None or pool is None or project.closed_at is None:
            raise CurateError(
                _("There is no closed project {project} about candidates.", project=claim.params["project"])
            )
        answers, gold = _answers(session, project), adjudications.gold(session, project.id)
    folders = EditionFolders(
        root / "verified" / claim.subject, Path(pool.folder), public=root / "public", private=root / "private"
    )
    with locked(root):
        card = _made_before(folders, claim)
        if card is None:
            _verify(folders, pool, project=project, answers=answers, gold=gold, tag_of=tag_of)
            write_json(folders.verified / "request.json", _request(claim))
            card = freeze(_plan(claim), folders, report=pool.report, partial=claim.params["partial"])
    _record(database, claim, folders=folders, card=card)


def _answers(session: Session, project: Project) -> list[PersonAnswer]:
    """Return all answers, those of adjudicators under names of their own."""
    taken = seconds_taken(answer_times(session, project.id))
    first, orders = adjudications.first_answers(session, project.id), shown_orders.of_project(session, project.id)
    given = [
        PersonAnswer(
            answer.item,
            answer.account,
            verdict=answer.verdict,
            errors=tuple(answer.errors),
            note=answer.note,
            seconds=taken.get((answer.account, answer.item)),
            first_verdict=first.get((answer.account, answer.item), ""),
            shown_first=orders.get((answer.account, answer.item), ""),
        )
        for answer in annotation_projects.answers(session, project.id)
    ]
    decided = adjudications.decisions(session, project.id).values()
    return given + [
        PersonAnswer(
            decision.item,
            f"{ADJUDICATOR}{decision.account}",
            verdict=decision.verdict,
            errors=tuple(decision.errors),
            note=decision.note,
        )
        for decision in decided
    ]


def _verify(
    folders: EditionFolders,
    pool: PoolView,
    *,
    project: Project,
    answers: list[PersonAnswer],
    gold: Mapping[str, str],
    tag_of: Mapping[str, str],
) -> None:
    path = folders.pool / pool.candidates
    if not path.is_file() or file_digest(path) != pool.sha256:
        raise CurateError(
            _("{path} is not the file that was imported as {name}. Put it back.", path=path, name=pool.name)
        )
    reviewers = frozenset(answer.annotator for answer in answers if answer.annotator.startswith(ADJUDICATOR))
    rules = VerificationRules(project.answers_wanted or _USUAL_ANSWERS, reviewers, tag_of=tag_of, unanimous=True)
    folders.verified.mkdir(mode=0o700, parents=True, exist_ok=True)
    record_verification(folders.verified, read_candidates(path), answers=answers, rules=rules, gold=gold)


def _plan(claim: TaskClaim) -> EditionPlan:
    asked = claim.params
    return EditionPlan(
        claim.subject,
        asked["version"],
        title=asked["title"],
        citation=asked["citation"],
        hidden_share=asked["hidden"] / 100,
        seed=0,
        retire=asked["retire"],
    )


def _request(claim: TaskClaim) -> dict[str, Any]:
    return {"edition": claim.subject, **claim.params}


def _made_before(folders: EditionFolders, claim: TaskClaim) -> dict[str, Any] | None:
    """Return the card of an edition that this request made already, before its worker was interrupted."""
    card, request = folders.public / claim.subject / "card.json", folders.verified / "request.json"
    if card.is_file() and request.is_file() and json.loads(request.read_bytes()) == _request(claim):
        return read_json(card)
    return None


def _record(database: Database, claim: TaskClaim, *, folders: EditionFolders, card: Mapping[str, Any]) -> None:
    judges = [judge["judge"] for judge in card["filter"]["judges"]] if card["filter"] else []
    facts = {"pairs": card["pairs"], "public": card["public"], "hidden": card["hidden"], "filtered_by": judges}
    facts |= {"title": card["title"], "version": card["version"], "label_commitment": card["label_commitment"]}
    public, private = folders.public / claim.subject, folders.private / claim.subject
    where = {"public_folder": str(public), "private_folder": str(private), "alpha": card["agreement"]["alpha"]}
    about = {"edition": claim.subject, "project": claim.params["project"], "task": claim.task_id}
    with database.write() as session:
        outcome = ngettext(
            "Edition {subject} has {n:,} pair: {public}. Labels: {private}.",
            "Edition {subject} has {n:,} pairs: {public}. Labels: {private}.",
            card["pairs"],
            subject=claim.subject,
            public=public,
            private=private,
        )
        tasks.finish(session, claim, result={**facts, **where, "project": claim.params["project"]}, outcome=outcome)
        digest = {"card_sha256": file_digest(public / "card.json")}
        audit.append(
            session, EXPORTED, data={**about, **facts, **digest, "by": claim.requested_by, "reason": claim.reason}
        )
