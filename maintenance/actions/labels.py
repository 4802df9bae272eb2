"""Use cases about label revisions: import and retire. Only counts and digests are here, never a label."""

from __future__ import annotations

import re
from typing import Any

from benchmark.disclosure import BY_CATEGORY, LEVELS, PUBLIC, readers_words
from maintenance import queries
from maintenance.queries import RevisionRow
from maintenance.request_task import request_task
from maintenance.types import ActionResult, Conflict, Identity, NotFound, clean_reason, require_maintainer
from settings import DEMO_REVISION
from storage import annotation_projects, audit, label_imports, label_sets, tasks
from storage.database import Database
from storage.tasks import TaskRequest

IMPORT, RETIRE, DISCARD = "labels.import", "labels.retire", "labels.discard"
DISCLOSED, DRAFT_DISCLOSED = "labels.disclosed", "labels.draft-disclosed"
FOR_GOOD = "This reveals the salt for good, and the revision can never be previewed or applied again."
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")


def check_new(session: Any, benchmark: str, revision: str) -> None:
    """Raise Conflict where a revision cannot have this name, or one has it."""
    if not _NAME.fullmatch(revision):
        raise Conflict("bad-name", "Name the revision with small letters, digits, dots and dashes, for instance v3.")
    if any(one.revision == revision for one in queries.revisions(session, benchmark)):
        raise Conflict("known-revision", f"Revision {revision} exists, and revisions never change. Choose a new name.")
    if revision == DEMO_REVISION:
        raise Conflict("reserved-name", f"{revision} is what the demo's own revision is called. Choose another name.")


def stated_level(disclosure: str, public: bool, usual: str) -> str:
    """Return the disclosure level that was asked for; `public` is short for one. Raises Conflict."""
    if public and disclosure not in ("", PUBLIC):
        raise Conflict("two-levels", f"public and disclosure {disclosure[:40]!r} contradict one another; keep one.")
    if disclosure and disclosure not in LEVELS:
        raise Conflict("unknown-level", f"The disclosure is one of {', '.join(LEVELS)}, not {disclosure[:40]!r}.")
    return PUBLIC if public else disclosure or usual


def request_import(
    database: Database,
    user: Identity,
    benchmark: str,
    revision: str,
    spec: str,
    reason: str,
    *,
    public: bool = False,
    disclosure: str = "",
    accept_weak_hiding: bool = False,
) -> ActionResult:
    """Have a worker load a label revision as a draft: nothing public changes. For maintainers.

    `spec`: a file below the workers' LABEL_IMPORT_DIRS, or a Hub dataset `owner/name@commit`. Revisions are
    immutable: a name that is known cannot be imported again. `disclosure`: what may be shown of scores
    (benchmark.disclosure), by category if left out; `public`: everything, as the labels can be had elsewhere.
    `accept_weak_hiding`: take labels that nearly say the same as public ones.
    """
    require_maintainer(user)
    why, source = clean_reason(reason), clean_reason(spec, "source", limit=2000)
    params: dict[str, Any] = {"spec": source, "disclosure": stated_level(disclosure, public, BY_CATEGORY)}
    params |= {"accept_weak_hiding": True} if accept_weak_hiding else {}
    with database.write() as session:
        check_new(session, benchmark, revision)
        task, new = request_task(session, TaskRequest(IMPORT, revision, params, why, user.account, benchmark))
    return ActionResult(new, f"A worker imports revision {revision} (task {task}).", task_id=task)


def request_retire(
    database: Database, user: Identity, benchmark: str, revision: str, reason: str, confirmation: str
) -> ActionResult:
    """Have the salt of an imported revision revealed, so that anybody can check its commitment. For maintainers.

    What is revealed stays so: `confirmation` is the revision's name typed again. Raises AuthError, NotFound, Conflict.
    """
    require_maintainer(user)
    why = clean_reason(reason)
    with database.write() as session:
        found = next((one for one in queries.revisions(session, benchmark) if one.revision == revision), None)
        if found is None or found.imported_at is None:
            raise NotFound(f"There is no imported revision {revision[:40]!r}.")
        if found.retired_at is not None:
            return ActionResult(False, f"Revision {revision} is retired already.")
        board = label_sets.current(session, benchmark)
        if board is not None and board.label_revision == revision:
            raise Conflict("in-use", f"The board shows revision {revision}; apply another one first.")
        for project in annotation_projects.projects(session, benchmark):
            if project.base_revision == revision and project.closed_at is None:
                raise Conflict("in-use", f"Project {project.name} is verifying revision {revision}; close it first.")
        if confirmation != revision:
            raise Conflict("not-confirmed", f"{FOR_GOOD} To confirm, type {revision}.")
        task, new = request_task(session, TaskRequest(RETIRE, revision, {}, why, user.account, benchmark))
    return ActionResult(new, f"A worker retires revision {revision} (task {task}).", task_id=task)


def disclose(
    database: Database, user: Identity, benchmark: str, revision: str, reason: str, confirmation: str = ""
) -> ActionResult:
    """Make an imported revision public: everything that its scores tell may be shown. For maintainers.

    That cannot be taken back. `confirmation`: the revision's name, where somebody is asked to type it again.
    Raises AuthError, NotFound, Conflict.
    """
    require_maintainer(user)
    why = clean_reason(reason)
    with database.write() as session:
        found = _imported(session, benchmark, revision, "take it out of HIDDEN_LABELS and start the service again")
        if found.disclosure == PUBLIC or found.retired_at is not None:
            return ActionResult(False, f"Revision {revision} is public already.")
        if confirmation and confirmation != revision:
            raise Conflict("not-confirmed", f"To confirm, type {revision}.")
        label_imports.disclose(session, benchmark, revision)
        facts = {"revision": revision, "from": found.disclosure, "to": PUBLIC, "reason": why}
        kind = DRAFT_DISCLOSED if found.published_at is None else DISCLOSED
        facts |= {"by": user.account, "via": user.auth_method, **audit.scope(session, benchmark)}
        seq = audit.append(session, kind, facts)
    return ActionResult(
        True, f"Revision {revision} is public: {readers_words(found.disclosure or PUBLIC, PUBLIC)}", seq
    )


def request_discard(database: Database, user: Identity, benchmark: str, revision: str, reason: str) -> ActionResult:
    """Have a worker remove a draft that was never applied, so that its name is free again. For maintainers.

    Raises AuthError, NotFound, Conflict.
    """
    require_maintainer(user)
    why = clean_reason(reason)
    with database.write() as session:
        found = _imported(session, benchmark, revision, "take it out of LABELS")
        if found.published_at is not None or found.registered_at is not None or found.retired_at is not None:
            raise Conflict("in-use", f"Something was scored under revision {revision}, so it stays; see retire.")
        for project in annotation_projects.projects(session, benchmark):
            if project.base_revision == revision:
                raise Conflict("in-use", f"Project {project.name} verifies revision {revision}, so it stays.")
        if busy := tasks.open_about(session, benchmark, revision, other_than=DISCARD):
            raise Conflict("busy", f"Task {busy} is about revision {revision} and must end first.")
        task, new = request_task(session, TaskRequest(DISCARD, revision, {}, why, user.account, benchmark))
    return ActionResult(new, f"A worker discards draft {revision} (task {task}).", task_id=task)


def _imported(session: Any, benchmark: str, revision: str, instead: str) -> RevisionRow:
    """Raise NotFound, and Conflict for a revision of the settings."""
    found = next((one for one in queries.revisions(session, benchmark) if one.revision == revision), None)
    if found is None:
        raise NotFound(f"There is no imported revision {revision[:40]!r}.")
    if found.imported_at is None:
        raise Conflict("configured", f"The settings name revision {revision}: {instead}.")
    return found


def revisions(database: Database, user: Identity, benchmark: str) -> list[RevisionRow]:
    """Return all label revisions, drafts included. For maintainers."""
    require_maintainer(user)
    with database.read() as session:
        return queries.revisions(session, benchmark)
