"""Selection of the pairs of an annotation project: of the benchmark or of a file, of a category, a sample of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated

from pydantic import Field

from maintenance.action_context import ActionContext
from maintenance.registry import ParamInfo
from maintenance.types import Conflict, absolute_path
from review.items import find_item
from review.pair_file import find_pair_file, read_named_pairs, read_own_pairs
from storage.annotation import disputes
from storage.annotation.annotation_projects import ProjectPair
from storage.database import LARGEST, Session
from vlrb.benchmarks.items import ItemTable

ALL, DISPUTED, LISTED = WHICH = ("all", "disputed", "listed")


@dataclass(frozen=True, slots=True)
class PairSelection:
    """All items of the base revision, those with open or accepted disputes, those in `items` or `file`.

    Of them those of a category, and of these a sample.
    """

    which: Annotated[
        str,
        ParamInfo("Pairs", option="--items", metavar="{all,disputed}", choices=WHICH, exclusive="pairs"),
    ] = ""
    items: Annotated[
        Sequence[str],
        ParamInfo(
            "Listed pairs",
            "keys or ids, with commas",
            option="--item",
            exclusive="pairs",
            separator=",",
            help="only this one, by key or id",
        ),
    ] = ()
    file: Annotated[
        str,
        ParamInfo(
            "File of pairs",
            "to_annotate.jsonl",
            option="--file",
            exclusive="pairs",
            help="JSON lines: pairs by key or id, or with texts and images of their own; labels make gold pairs",
            read=absolute_path,
        ),
    ] = ""
    category: Annotated[
        str, ParamInfo("Category", option="--category", metavar="NAME", help="only pairs of this category")
    ] = ""
    sample: Annotated[
        int,
        Field(ge=0, le=LARGEST),
        ParamInfo("Sample", "300", option="--sample", metavar="N", help="only so many of them"),
    ] = 0
    seed: Annotated[
        int,
        Field(ge=0, le=LARGEST),
        ParamInfo("Seed", "1", option="--seed", metavar="N", help="of the sample (1)"),
    ] = 1


def select_pairs(ctx: ActionContext, session: Session, *, base: str, pairs: PairSelection) -> list[ProjectPair]:
    """Return the pairs in the order of the table or file, which tells nothing. Raises NotFound, Conflict."""
    table = ctx.items.table
    if pairs.file:
        path = find_pair_file(pairs.file, ctx.import_dirs)
        chosen = read_named_pairs(path, table) if base else read_own_pairs(path)
    elif not base:
        raise Conflict("no-base", "Name the label revision, or a file with pairs and their texts.")
    else:
        chosen = [ProjectPair(key) for key in _chosen(session, table, base=base, pairs=pairs)]
    if pairs.category:
        chosen = _of_category(chosen, table, category=pairs.category)
    if pairs.sample:
        chosen = _sample(chosen, pairs.sample, seed=pairs.seed)
    if not chosen:
        raise Conflict("no-items", "There are no such pairs.")
    return chosen


def _chosen(session: Session, table: ItemTable, *, base: str, pairs: PairSelection) -> list[str]:
    narrowed = bool(pairs.category or pairs.sample)
    which = pairs.which or (LISTED if pairs.items else ALL if narrowed else DISPUTED)
    if which not in WHICH or (which == LISTED) != bool(pairs.items):
        raise Conflict("bad-items", "Choose all or disputed, or listed with the pairs.")
    if which == ALL:
        held = table.in_revision(base) if base in table.revisions else range(len(table))
        return [table.items[index].key for index in sorted(held)]
    if which == LISTED:
        wanted = {table.items[find_item(table, item)].key for item in pairs.items}
    else:
        wanted = {state.item for state in disputes.in_states(session, table.benchmark, states=("open", "accepted"))}
    return [item.key for item in table.items if item.key in wanted]


def _of_category(chosen: Sequence[ProjectPair], table: ItemTable, *, category: str) -> list[ProjectPair]:
    known = table.spec.category_keys
    if category not in known:
        raise Conflict("bad-category", f"A category is one of {', '.join(known)}.")
    members = {item.key for item in table.items if item.category == category}
    return [item for item in chosen if item.item in members]


def _sample(chosen: Sequence[ProjectPair], count: int, *, seed: int) -> list[ProjectPair]:
    """Return so many of the pairs by a digest of seed and key, gold pairs and others alike."""
    if count > len(chosen):
        raise Conflict("small-pool", f"There are {len(chosen)} such pairs, so no sample of more.")
    drawn = sorted((item.item for item in chosen), key=lambda key: sha256(f"{seed}\n{key}".encode()).digest())
    kept = set(drawn[:count])
    return [item for item in chosen if item.item in kept]
