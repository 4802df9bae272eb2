"""Pairs of annotation projects: of the benchmark that is served, or candidates of a pool. Never a preference."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from maintenance.action_context import ActionContext
from maintenance.types import NotFound
from storage.annotation import pools
from storage.annotation.annotation_projects import Project
from storage.annotation.pools import Candidate
from storage.database import Session
from vlrb.benchmarks.items import ItemTable
from vlrb.common.messages import _

Two = tuple[str, str]


class DraftLabel(NamedTuple):
    """A model's label of a pair: the response that it prefers, and why."""

    preferred: str  # a or b
    rationale: str
    model: str
    shown_first: str | None  # a or b: what the rationale calls Answer 1; None: not known


class PairContent(NamedTuple):
    """What a pair asks. Responses and models: A, then B. `image`: an address. None: the installation has none."""

    query: str | None
    responses: Two | None
    image: str | None
    models: Two | None
    draft: DraftLabel | None


_NOTHING = PairContent(None, None, image=None, models=None, draft=None)


def content(ctx: ActionContext, session: Session, *, project: Project, place: int, key: str) -> PairContent:
    """Return a pair of a project. Raises NotFound where it is not there any more."""
    if project.pool_id is not None:
        return _candidate_content(session, project, place=place, key=key)
    index = _index(ctx.items.table, key)
    texts = ctx.items.texts[index] if ctx.items.texts else None
    if texts is None:
        return _NOTHING
    image = f"/explore/{key}/image" if ctx.items.image(texts.image) else None
    return PairContent(texts.query, texts.responses, image=image, models=texts.models, draft=None)


def draft_label(session: Session, project: Project, *, key: str) -> DraftLabel | None:
    """Return a pair's draft label; pairs of a benchmark have none."""
    return None if project.pool_id is None else _draft(_candidate(session, project.pool_id, key=key))


def image_file(session: Session, benchmark: str, *, project: Project, key: str) -> Path | None:
    """Return the image of a candidate; None where it would lie outside the pool's folder, or is not there."""
    pool = None if project.pool_id is None else pools.pool(session, benchmark, pool_id=project.pool_id)
    if pool is None:
        return None
    root = Path(pool.folder).resolve()
    path = (root / _candidate(session, pool.id, key=key).image).resolve()
    return path if path.is_relative_to(root) and path.is_file() else None


def _candidate_content(session: Session, project: Project, *, place: int, key: str) -> PairContent:
    result = _candidate(session, project.pool_id or 0, key=key)
    image = f"/annotate/{project.id}/{place}/image" if result.image else None
    return PairContent(
        result.query, (result.response_a, result.response_b), image=image, models=None, draft=_draft(result)
    )


def _candidate(session: Session, pool: int, *, key: str) -> Candidate:
    candidate = pools.candidate(session, pool, item=key)
    if candidate is None:
        raise NotFound(_("This pair is not in the pool."))
    return candidate


def _draft(candidate: Candidate) -> DraftLabel | None:
    return (
        None
        if candidate.draft is None
        else DraftLabel(
            candidate.draft,
            candidate.rationale or "",
            model=candidate.drafted_by or "",
            shown_first=candidate.draft_shown_first,
        )
    )


def _index(table: ItemTable, key: str) -> int:
    result = next((index for index, item in enumerate(table.items) if item.key == key), None)
    if result is None:
        raise NotFound(_("This pair is not in the benchmark any more."))
    return result


def in_order(pair: Two, seen: Sequence[int]) -> Two:
    """Return what belongs to A and B in the order in which somebody sees them."""
    return pair[seen[0]], pair[seen[1]]
