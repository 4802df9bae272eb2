"""Use cases about pools: candidates for a next edition, imported from a folder that `vlrb edition` wrote."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import Field

from maintenance import curation_text
from maintenance.action_context import ActionContext
from maintenance.actions.labels import UNTIL_DONE
from maintenance.registry import ParamInfo, Reason, action
from maintenance.request_task import request_task
from maintenance.types import (
    ActionResult,
    Conflict,
    NotFound,
    absolute_path,
    clean_reason,
    require_maintainer,
    whole_number,
)
from storage.annotation import pools
from storage.annotation.pools import PoolView
from storage.database import LARGEST
from storage.files.import_folders import FolderNotAllowed, folder_below
from storage.jobs.tasks import TaskRequest, TaskView
from vlrb.common.messages import _

IMPORT = "pools.import"
FOLLOW = _("The list has it when it is loaded again after that; the tab Tasks shows its progress.")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")


PoolNumber = Annotated[int, Field(ge=0, le=LARGEST), ParamInfo("Pool", "its number", read=whole_number)]
PoolName = Annotated[str, ParamInfo("New pool", "next-2027", metavar="name")]
Folder = Annotated[
    str,
    ParamInfo(
        "Folder of a pool",
        "pool, or pool/filtered",
        help="below LABEL_IMPORT_DIRS: what `curate pool import` or `curate filter` wrote",
        read=absolute_path,
    ),
]


@action(
    "pools.import",
    "POST /api/v1/maintenance/pools",
    help="have a worker import the candidates of a folder",
    waits=UNTIL_DONE,
    task=IMPORT,
    retry=lambda ctx, failed: _import_again(ctx, failed),
    button="Import the pool",
)
def request_import(ctx: ActionContext, name: PoolName, *, folder: Folder, reason: Reason) -> ActionResult:
    """Have a worker import the candidates of a folder that `vlrb edition` wrote. For maintainers.

    The folder has the pairs of a pool, or the candidates of a filter; it stays where it is, for the images. Preferences
    in it are not imported; draft labels and gold pairs are. Raises AuthError, Conflict.
    """
    require_maintainer(ctx.user)
    why, origin = clean_reason(reason), clean_reason(folder, "folder", limit=2000)
    if not _NAME.fullmatch(name):
        raise Conflict("bad-name", _("Name the pool with small letters, digits, dots and dashes, for instance next."))
    if ctx.import_dirs is not None:
        try:
            folder_below(origin, ctx.import_dirs)
        except FolderNotAllowed as error:
            raise Conflict("no-folder", str(error)) from None
    with ctx.database.write() as session:
        if any(pool.name == name for pool in pools.pools(session, ctx.benchmark)):
            raise Conflict("known-pool", _("There is a pool {name}. Choose another name.", name=name))
        wanted = TaskRequest(
            IMPORT, name, params={"folder": origin}, reason=why, requested_by=ctx.user.account, benchmark=ctx.benchmark
        )
        task, new = request_task(session, wanted)
    return ActionResult(
        new,
        _("A worker imports pool {name} (task {task}). {follow}", name=name, task=task, follow=FOLLOW),
        task_id=task,
    )


def _import_again(ctx: ActionContext, failed: TaskView) -> ActionResult:
    return request_import(ctx, failed.subject, folder=failed.params["folder"], reason=failed.reason)


@action("pools.list", "GET /api/v1/maintenance/pools", help="imported pools", text=curation_text.pool_list)
def imported_pools(ctx: ActionContext) -> list[PoolView]:
    """Return all imported pools, the newest first. For maintainers."""
    require_maintainer(ctx.user)
    with ctx.database.read() as session:
        return pools.pools(session, ctx.benchmark)


@action(
    "pools.report",
    "GET /api/v1/maintenance/pools/{pool}/report",
    help="the report of its filter",
    text=curation_text.filter_report,
)
def filter_report(ctx: ActionContext, pool: PoolNumber) -> dict[str, Any]:
    """Return what the filter of a pool reported: what each judge and combination removes. For maintainers.

    Raises AuthError, NotFound.
    """
    require_maintainer(ctx.user)
    with ctx.database.read() as session:
        result = pools.pool(session, ctx.benchmark, pool_id=pool)
    if result is None:
        raise NotFound(_("There is no pool {pool}.", pool=pool))
    if result.report is None:
        raise NotFound(_("Pool {name} was not filtered: its folder has no filter.json.", name=result.name))
    return result.report
