"""Pairs of annotation projects, as an annotator may see them: never a preference."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from maintenance.action_context import ActionContext
from maintenance.types import NotFound
from review.items import pair_names
from review.pair_file import find_image
from storage.annotation import annotation_projects
from storage.annotation.annotation_projects import PairText, Project
from storage.database import Session
from vlrb.common.messages import _

Two = tuple[str, str]


class PairContent(NamedTuple):
    """What a pair asks. Responses and models: A, then B. `image`: an address. None: the installation has none."""

    name: str
    query: str | None = None
    responses: Two | None = None
    image: str | None = None
    models: Two | None = None


def content(ctx: ActionContext, session: Session, *, project: Project, place: int) -> PairContent:
    """Return a pair of a project. Raises NotFound where it is not there any more."""
    item = annotation_projects.item_at(session, project.id, place=place)
    text = None if item is None else annotation_projects.text_of(session, project.id, item=item)
    if text is not None:
        image = f"/annotate/{project.id}/{place}/image" if text.image else None
        return PairContent(text.id, text.query, text.responses, image=image)
    index = next((index for index, known in enumerate(ctx.items.table.items) if known.key == item), None)
    if index is None or item is None:
        raise NotFound(_("This pair is not in the benchmark any more."))
    name = pair_names(ctx.items.table)[item]
    texts = ctx.items.texts[index] if ctx.items.texts else None
    if texts is None:
        return PairContent(name)
    image = f"/explore/{item}/image" if ctx.items.image(texts.image) else None
    return PairContent(name, texts.query, texts.responses, image=image, models=texts.models)


def image_file(text: PairText | None, project: Project) -> Path | None:
    """Return the image of a pair of a file; None where it is not there any more."""
    return find_image(Path(project.folder), text.image) if text is not None and text.image else None


def names_of_pairs(ctx: ActionContext, session: Session, *, project: Project) -> dict[str, str]:
    """Return item key -> what people call it."""
    known = pair_names(ctx.items.table) | annotation_projects.names(session, project.id)
    keys = (item.item for item in annotation_projects.items(session, project.id))
    return {key: known.get(key, key[:12]) for key in keys}


def in_order(pair: Two, seen: Sequence[int]) -> Two:
    """Return what belongs to A and B in the order in which somebody sees them."""
    return pair[seen[0]], pair[seen[1]]
