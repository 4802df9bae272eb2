"""Annotation projects for maintainers: items, annotators, agreement, and the draft revision."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from benchmark.annotation import PairAgreement, agreement
from benchmark.items import ItemTable
from common.canonical_json import canonical_json
from common.text import pluralize
from maintenance import queries
from maintenance.actions import account_search
from maintenance.actions.labels import stated_level
from maintenance.types import ActionResult, Conflict, Identity, NotFound, clean_reason, require_maintainer
from review import drafts
from review.items import find_item
from storage import annotation_projects, audit, disputes, label_imports, tasks
from storage.annotation_projects import AnnotatorAnswer, Project
from storage.database import Database

CREATED, ANNOTATORS, CLOSED = "verification.created", "verification.annotators", "verification.closed"
ALL, DISPUTED, CANDIDATES, LISTED = WHICH = ("all", "disputed", "candidates", "listed")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")


class AnnotatorProgress(NamedTuple):
    """Number of pairs that an annotator has answered."""

    account: str
    name: str
    answered: int


class ProjectReport(NamedTuple):
    """A project with its progress and agreement. `draft`: the newest draft made of it, and what the worker counted."""

    project: Project
    progress: tuple[AnnotatorProgress, ...]
    agreement: tuple[PairAgreement, ...]
    draft: str | None
    result: dict[str, Any] | None


def create(
    database: Database,
    user: Identity,
    table: ItemTable,
    name: str,
    base: str,
    which: str,
    reason: str,
    *,
    items: Sequence[str] = (),
    annotators: Sequence[str] = (),
) -> ActionResult:
    """Start a project. For maintainers.

    `which`: all items of the base revision, those with open or accepted disputes, the candidates, or those listed in
    `items` by key or id. Raises AuthError, NotFound, Conflict.
    """
    require_maintainer(user)
    why = clean_reason(reason)
    if not _NAME.fullmatch(name):
        raise Conflict("bad-name", "Name the project with small letters, digits, dots and dashes, for instance may.")
    if which not in WHICH or (which == LISTED) != bool(items):
        raise Conflict("bad-items", "Choose all, disputed or candidates, or listed with the items.")
    listed = {table.items[find_item(table, one)].key for one in items}
    with database.write() as session:
        audit.acquire_chain_lock(session)
        drafts.check_base(session, table.benchmark, base)
        if any(one.name == name for one in annotation_projects.projects(session, table.benchmark)):
            raise Conflict("known-project", f"There is a project {name}. Choose another name.")
        keys = _chosen(session, table, base, which, listed)
        if not keys:
            raise Conflict("no-items", f"There are no {which} items.")
        project = annotation_projects.create(session, table.benchmark, name, base, why, user.account, keys)
        added = _add(session, project, annotators)
        facts = {"project": project, "name": name, "base": base, "which": which, "items": len(keys)}
        seq = audit.append(session, CREATED, {**facts, "annotators": added, "reason": why, "by": user.account})
    return ActionResult(
        True, f"Project {project} ({name}) has {pluralize(len(keys), 'pair')}: /annotate/{project}", seq
    )


def add_annotators(
    database: Database, user: Identity, benchmark: str, project: int, accounts: Sequence[str]
) -> ActionResult:
    """Let accounts, named by ids or user names, answer in a project. For maintainers, who may always.

    Raises AuthError, NotFound, Conflict.
    """
    require_maintainer(user)
    with database.write() as session:
        found = known(session, benchmark, project, lock=True)
        added = _add(session, project, accounts)
        if not added:
            return ActionResult(False, "They may answer already.")
        facts = {"project": project, "annotators": added, "by": user.account, "via": user.auth_method}
        seq = audit.append(session, ANNOTATORS, facts)
    return ActionResult(True, f"{len(added)} more may answer in {found.name}.", seq)


def close(
    database: Database,
    user: Identity,
    benchmark: str,
    project: int,
    revision: str,
    reason: str,
    *,
    public: bool = False,
    disclosure: str = "",
    accept_weak_hiding: bool = False,
) -> ActionResult:
    """End a project and have a worker write its draft revision. For maintainers.

    Of a closed project another draft can be asked for, under another name. `disclosure`: what may be shown of scores
    under it, as of the base's if left out. Raises AuthError, NotFound, Conflict.
    """
    require_maintainer(user)
    why = clean_reason(reason)
    shown: dict[str, Any] = {"disclosure": stated_level(disclosure, public, usual="")}
    shown |= {"accept_weak_hiding": accept_weak_hiding}
    with database.write() as session:
        found = known(session, benchmark, project, lock=True)
        given = annotation_projects.answers(session, project)
        if not given:
            raise Conflict("no-answers", f"Nobody has answered in {found.name} yet.")
        said = {"project": project}
        if (written := _written(session, benchmark, project, revision)) is not None:
            return ActionResult(False, f"{found.name} is closed, and its draft {revision} is written.", task_id=written)
        task, new = drafts.request(session, user, benchmark, revision, found.base_revision, why, said, **shown)
        seq = None
        if annotation_projects.close(session, project, user.account):
            facts = {"project": project, "answers": len(given), "answers_sha256": _digest(given), "draft": revision}
            seq = audit.append(session, CLOSED, {**facts, "reason": why, "by": user.account, "via": user.auth_method})
    return ActionResult(new, f"{found.name} is closed; a worker writes draft {revision} (task {task}).", seq, task)


def _written(session: Any, benchmark: str, project: int, revision: str) -> int | None:
    """Return the task that wrote this draft from this project's answers; None where it is not there."""
    asked = tasks.latest(session, 200, kind=drafts.DRAFT, benchmark=benchmark)
    mine = [one.id for one in asked if (one.subject, one.params.get("project")) == (revision, project)]
    return mine[0] if mine and revision in label_imports.names(session, benchmark) else None


def reports(database: Database, user: Identity, benchmark: str) -> list[ProjectReport]:
    """Return all projects, the newest first. For maintainers."""
    require_maintainer(user)
    with database.read() as session:
        found = annotation_projects.projects(session, benchmark)
        drafted = {}
        for one in reversed(tasks.latest(session, 200, kind=drafts.DRAFT, benchmark=benchmark)):
            drafted[one.params.get("project")] = (one.subject, tasks.result(session, one.id))
        return [_report(session, one, *drafted.get(one.id, (None, None))) for one in found]


def known(session: Any, benchmark: str, project: int, *, lock: bool = False) -> Project:
    """Return a project. Raises NotFound."""
    found = annotation_projects.project(session, benchmark, project, lock=lock)
    if found is None:
        raise NotFound(f"There is no project {project}.")
    return found


def _report(session: Any, project: Project, draft: str | None, result: dict[str, Any] | None) -> ProjectReport:
    given: dict[str, dict[str, str]] = {name: {} for name in annotation_projects.annotators(session, project.id)}
    for one in annotation_projects.answers(session, project.id):
        given[one.account][one.item] = one.verdict
    progress = tuple(
        AnnotatorProgress(account, queries.account_name(session, account) or account, len(said))
        for account, said in given.items()
    )
    return ProjectReport(
        project, progress, agreement(given, annotation_projects.items(session, project.id)), draft, result
    )


def _chosen(session: Any, table: ItemTable, base: str, which: str, listed: set[str]) -> list[str]:
    """Return item keys in the order of the table, which tells nothing."""
    if which == ALL:
        held = table.in_revision(base) if base in table.revisions else range(len(table))
        return [table.items[index].key for index in sorted(held)]
    if which == DISPUTED:
        wanted = {one.item for one in disputes.in_states(session, table.benchmark, ("open", "accepted"))}
    else:
        wanted = listed if which == LISTED else set(disputes.candidates(session, table.benchmark))
    return [item.key for item in table.items if item.key in wanted]


def _add(session: Any, project: int, accounts: Sequence[str]) -> list[str]:
    found = [account_search.find(session, named, local=True).id for named in accounts]
    return annotation_projects.add_annotators(session, project, list(dict.fromkeys(found)))


def _digest(given: Sequence[AnnotatorAnswer]) -> str:
    rows = [[one.item, one.account, one.verdict, sorted(one.errors), one.note] for one in given]
    return hashlib.sha256(canonical_json({"answers": rows}).encode("ascii")).hexdigest()
