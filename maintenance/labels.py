"""Label revisions: asking the workers to import or retire one. No label ever comes here, only counts and digests."""

from __future__ import annotations

import re
from typing import Any

from maintenance import queries
from maintenance.asking import ask
from maintenance.queries import Revision
from maintenance.values import Done, Identity, NotFound, NotPossible, require_maintainer, words
from settings import DEMO_REVISION
from storage import label_sets, verification
from storage.database import Database

IMPORT, RETIRE = "labels.import", "labels.retire"
FOR_GOOD = "This reveals the salt for good, and the revision can never be previewed or applied again."
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")


def check_new(session: Any, benchmark: str, revision: str) -> None:
    """Raises NotPossible where a revision cannot have this name, or one has it."""
    if not _NAME.fullmatch(revision):
        raise NotPossible("bad-name", "Name the revision with small letters, digits, dots and dashes, for instance v3.")
    if any(one.revision == revision for one in queries.revisions(session, benchmark)):
        raise NotPossible(
            "known-revision", f"Revision {revision} exists, and revisions never change. Choose a new name."
        )
    if revision == DEMO_REVISION:
        raise NotPossible(
            "reserved-name", f"{revision} is what the demo's own revision is called. Choose another name."
        )


def request_import(
    database: Database, who: Identity, benchmark: str, revision: str, spec: str, reason: str, *, public: bool = False
) -> Done:
    """Have a worker load a label revision as a draft: nothing public changes. For maintainers.

    `spec`: a file below the workers' LABEL_IMPORT_DIRS, or a Hub dataset `owner/name@commit`. Revisions are immutable:
    a name that is known cannot be imported again. `public`: the labels are to be had elsewhere anyway, so that the
    board may show what depends on single ones (sources, tags, counts).
    """
    require_maintainer(who)
    why, source = words(reason), words(spec, "source", limit=2000)
    params = {"spec": source, "disclosure": "public" if public else "hidden"}
    with database.write() as session:
        check_new(session, benchmark, revision)
        task, new = ask(session, who, IMPORT, revision, params, why)
    return Done(new, f"A worker imports revision {revision} (task {task}).", task_id=task)


def request_retire(
    database: Database, who: Identity, benchmark: str, revision: str, reason: str, confirmation: str
) -> Done:
    """Have the salt of an imported revision revealed, so that anybody can check its commitment. For maintainers.

    What is revealed stays so: `confirmation` is the revision's name typed again. Raises Refused, NotFound, NotPossible.
    """
    require_maintainer(who)
    why = words(reason)
    with database.write() as session:
        found = next((one for one in queries.revisions(session, benchmark) if one.revision == revision), None)
        if found is None or found.imported_at is None:
            raise NotFound(f"There is no imported revision {revision[:40]!r}.")
        if found.retired_at is not None:
            return Done(False, f"Revision {revision} is retired already.")
        board = label_sets.current(session)
        if board is not None and board.label_revision == revision:
            raise NotPossible("in-use", f"The board shows revision {revision}; apply another one first.")
        for project in verification.projects(session, benchmark):
            if project.base_revision == revision and project.closed_at is None:
                raise NotPossible("in-use", f"Project {project.name} is verifying revision {revision}; close it first.")
        if confirmation != revision:
            raise NotPossible("not-confirmed", f"{FOR_GOOD} To confirm, type {revision}.")
        task, new = ask(session, who, RETIRE, revision, {}, why)
    return Done(new, f"A worker retires revision {revision} (task {task}).", task_id=task)


def revisions(database: Database, who: Identity, benchmark: str) -> list[Revision]:
    """All label revisions, drafts included. For maintainers."""
    require_maintainer(who)
    with database.read() as session:
        return queries.revisions(session, benchmark)
