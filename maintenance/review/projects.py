"""Projects of verification by hand, as maintainers see them: which pairs, who answers, how they agree, the draft."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from benchmark.annotation import PairAgreement, agreement
from benchmark.items import ItemTable
from benchmark.wording import counted
from maintenance import queries
from maintenance.accounts import directory
from maintenance.labels import stated_level
from maintenance.review import drafts
from maintenance.review.pairs import find_item
from maintenance.values import Done, Identity, NotFound, NotPossible, require_maintainer, words
from storage import audit, disputes, label_imports, tasks, verification
from storage.canonical import canonical_json
from storage.database import Database
from storage.verification import Given, Verified

CREATED, ANNOTATORS, CLOSED = "verification.created", "verification.annotators", "verification.closed"
ALL, DISPUTED, CANDIDATES, LISTED = WHICH = ("all", "disputed", "candidates", "listed")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")


class Progress(NamedTuple):
    """How many pairs somebody has answered."""

    account: str
    name: str
    answered: int


class ProjectReport(NamedTuple):
    """A project with its progress and agreement. `draft`: the newest draft made of it, and what the worker counted."""

    project: Verified
    progress: tuple[Progress, ...]
    agreement: tuple[PairAgreement, ...]
    draft: str | None
    result: dict[str, Any] | None


def create(
    database: Database,
    who: Identity,
    table: ItemTable,
    name: str,
    base: str,
    which: str,
    reason: str,
    *,
    items: Sequence[str] = (),
    annotators: Sequence[str] = (),
) -> Done:
    """Start a project. For maintainers.

    `which`: all items of the base revision, those with open or accepted disputes, the candidates, or those listed in
    `items` by key or id. Raises Refused, NotFound, NotPossible.
    """
    require_maintainer(who)
    why = words(reason)
    if not _NAME.fullmatch(name):
        raise NotPossible("bad-name", "Name the project with small letters, digits, dots and dashes, for instance may.")
    if which not in WHICH or (which == LISTED) != bool(items):
        raise NotPossible("bad-items", "Choose all, disputed or candidates, or listed with the items.")
    listed = {table.items[find_item(table, one)].key for one in items}
    with database.write() as session:
        audit.stand_in_line(session)
        drafts.check_base(session, table.benchmark, base)
        if any(one.name == name for one in verification.projects(session, table.benchmark)):
            raise NotPossible("known-project", f"There is a project {name}. Choose another name.")
        keys = _chosen(session, table, base, which, listed)
        if not keys:
            raise NotPossible("no-items", f"There are no {which} items.")
        project = verification.create(session, table.benchmark, name, base, why, who.account, keys)
        added = _add(session, project, annotators)
        facts = {"project": project, "name": name, "base": base, "which": which, "items": len(keys)}
        seq = audit.append(session, CREATED, {**facts, "annotators": added, "reason": why, "by": who.account})
    return Done(True, f"Project {project} ({name}) has {counted(len(keys), 'pair')}: /annotate/{project}", seq)


def add_annotators(database: Database, who: Identity, benchmark: str, project: int, accounts: Sequence[str]) -> Done:
    """Let accounts, named by ids or user names, answer in a project. For maintainers, who may always.

    Raises Refused, NotFound, NotPossible.
    """
    require_maintainer(who)
    with database.write() as session:
        found = known(session, benchmark, project, lock=True)
        added = _add(session, project, accounts)
        if not added:
            return Done(False, "They may answer already.")
        facts = {"project": project, "annotators": added, "by": who.account, "via": who.via}
        seq = audit.append(session, ANNOTATORS, facts)
    return Done(True, f"{len(added)} more may answer in {found.name}.", seq)


def close(
    database: Database,
    who: Identity,
    benchmark: str,
    project: int,
    revision: str,
    reason: str,
    *,
    public: bool = False,
    disclosure: str = "",
    accept_weak_hiding: bool = False,
) -> Done:
    """End a project and have a worker write its draft revision. For maintainers.

    Of a closed project another draft can be asked for, under another name. `disclosure`: what may be shown of scores
    under it, as of the base's if left out. Raises Refused, NotFound, NotPossible.
    """
    require_maintainer(who)
    why = words(reason)
    shown: dict[str, Any] = {"disclosure": stated_level(disclosure, public, usual="")}
    shown |= {"accept_weak_hiding": accept_weak_hiding}
    with database.write() as session:
        found = known(session, benchmark, project, lock=True)
        given = verification.answers(session, project)
        if not given:
            raise NotPossible("no-answers", f"Nobody has answered in {found.name} yet.")
        said = {"project": project}
        if (written := _written(session, project, revision)) is not None:
            return Done(False, f"{found.name} is closed, and its draft {revision} is written.", task_id=written)
        task, new = drafts.request(session, who, benchmark, revision, found.base_revision, why, said, **shown)
        seq = None
        if verification.close(session, project, who.account):
            facts = {"project": project, "answers": len(given), "answers_sha256": _digest(given), "draft": revision}
            seq = audit.append(session, CLOSED, {**facts, "reason": why, "by": who.account, "via": who.via})
    return Done(new, f"{found.name} is closed; a worker writes draft {revision} (task {task}).", seq, task)


def _written(session: Any, project: int, revision: str) -> int | None:
    """The task that wrote this draft from this project's answers; None where it is not there."""
    asked = tasks.latest(session, 200, kind=drafts.DRAFT)
    mine = [one.id for one in asked if (one.subject, one.params.get("project")) == (revision, project)]
    return mine[0] if mine and revision in label_imports.names(session) else None


def reports(database: Database, who: Identity, benchmark: str) -> list[ProjectReport]:
    """All projects, the newest first. For maintainers."""
    require_maintainer(who)
    with database.read() as session:
        found = verification.projects(session, benchmark)
        drafted = {}
        for one in reversed(tasks.latest(session, 200, kind=drafts.DRAFT)):
            drafted[one.params.get("project")] = (one.subject, tasks.result(session, one.id))
        return [_report(session, one, *drafted.get(one.id, (None, None))) for one in found]


def known(session: Any, benchmark: str, project: int, *, lock: bool = False) -> Verified:
    """A project. Raises NotFound."""
    found = verification.project(session, benchmark, project, lock=lock)
    if found is None:
        raise NotFound(f"There is no project {project}.")
    return found


def _report(session: Any, project: Verified, draft: str | None, result: dict[str, Any] | None) -> ProjectReport:
    given: dict[str, dict[str, str]] = {name: {} for name in verification.annotators(session, project.id)}
    for one in verification.answers(session, project.id):
        given[one.account][one.item] = one.verdict
    progress = tuple(
        Progress(account, queries.account_name(session, account) or account, len(said))
        for account, said in given.items()
    )
    return ProjectReport(project, progress, agreement(given, verification.items(session, project.id)), draft, result)


def _chosen(session: Any, table: ItemTable, base: str, which: str, listed: set[str]) -> list[str]:
    """Item keys in the order of the table, which tells nothing."""
    if which == ALL:
        held = table.in_revision(base) if base in table.revisions else range(len(table))
        return [table.items[index].key for index in sorted(held)]
    if which == DISPUTED:
        wanted = {one.item for one in disputes.in_states(session, table.benchmark, ("open", "accepted"))}
    else:
        wanted = listed if which == LISTED else set(disputes.candidates(session, table.benchmark))
    return [item.key for item in table.items if item.key in wanted]


def _add(session: Any, project: int, accounts: Sequence[str]) -> list[str]:
    found = [directory.find(session, named, local=True).id for named in accounts]
    return verification.add_annotators(session, project, list(dict.fromkeys(found)))


def _digest(given: Sequence[Given]) -> str:
    rows = [[one.item, one.account, one.verdict, sorted(one.errors), one.note] for one in given]
    return hashlib.sha256(canonical_json({"answers": rows}).encode("ascii")).hexdigest()
