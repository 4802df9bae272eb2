"""Page ``GET /about``: number and length of pairs, how answers count; and a sample file."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from statistics import median
from typing import Any

from fastapi import APIRouter, Request
from markupsafe import Markup
from starlette.responses import Response

from leaderboard.about import red_team
from leaderboard.analyse.pages import AnalyseQuery
from leaderboard.explore.item_catalog import ItemCatalog
from leaderboard.site.cache import BoardCache, BoardVersion, CachedResponse
from leaderboard.site.pages import add_page, status_page
from leaderboard.site.render import render
from leaderboard.site.responses import respond
from vlrb.benchmarks.items import Item, ItemTable
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _
from vlrb.readers import READERS
from vlrb.readers.base import PredictionFormat

_SECTION = re.compile(r"<!-- ([a-z]+) -->")
_VOTES = 3  # per item in the sample file
_LINES = "application/jsonl; charset=utf-8"


def build(cache: BoardCache, catalog: ItemCatalog) -> APIRouter:
    """Return the routes of the page, of known exploits, and of the sample of predictions."""
    router = APIRouter(include_in_schema=False)
    add_page(
        router, cache, "/about", lambda version, _: ("/about", partial(about_page, version, catalog)), drawing=True
    )

    @router.api_route("/red-team", methods=["GET", "HEAD"])
    async def known_exploits(request: Request) -> Response:
        return respond(status_page(red_team.page(cache.context)), request.headers)

    @router.api_route("/sample-predictions.jsonl", methods=["GET", "HEAD"])
    async def sample(request: Request) -> Response:
        board_version = await cache.current()

        def make() -> CachedResponse:
            return CachedResponse.of(sample_file(catalog.table, board_version.snapshot["label_revision"]), _LINES)

        reply = respond(await board_version.ready("/sample-predictions.jsonl", make), request.headers)
        reply.headers["Content-Disposition"] = 'attachment; filename="sample-predictions.jsonl"'
        return reply

    return router


@dataclass(frozen=True, slots=True)
class SourceCount:
    """A line of the table of sizes: a category (``source`` "") or one of its sources; _("Total") for all."""

    category: str
    source: str
    counts: tuple[int, ...]  # by revision
    query_words: float  # medians over the pairs of the first revision
    response_words: float


_TEXTS = ("pairs", "lengths", "scores", "groupings", "reported")


@cache
def texts(spec: BenchmarkSpec) -> Mapping[str, Markup]:
    """Return the sections of `about.html` in a definition, "" where it says nothing: each follows a comment with its
    name."""
    parts = _SECTION.split((spec.read("about.html") or b"").decode())
    named = dict(zip(parts[1::2], parts[2::2], strict=True))
    return {name: Markup(named.get(name, "").strip()) for name in _TEXTS}  # noqa: S704 (ours)


def sizes(table: ItemTable) -> list[SourceCount]:
    """Return the benchmark's own Table 1, counted from its items: categories, each with its sources, then all."""
    lines, spec = [], table.spec
    for category in spec.category_keys:
        inside = [item for item in table.items if item.category == category]
        if not inside:
            continue
        lines.append(_size(table, inside, category=spec.title_of(category), source=""))
        by_source = {source: [item for item in inside if item.source == source] for source in spec.shown_sources}
        lines += [_size(table, held, category=category, source=source) for source, held in by_source.items() if held]
    return [*lines, _size(table, table.items, category=_("Total"), source="")]


def explained(spec: BenchmarkSpec, name: str) -> str:
    """Return what an overall number is, in a sentence."""
    overall = spec.overall(name)
    assert overall is not None
    return overall.about or _("{title}.", title=overall.title)


def _size(table: ItemTable, items: Sequence[Item], *, category: str, source: str) -> SourceCount:
    counts = tuple(sum(revision in item.rows for item in items) for revision in table.revisions)
    queries = [item.query_words for item in items]
    responses = [words for item in items for words in item.words]
    return SourceCount(
        category, source, counts=counts, query_words=median(queries or [0]), response_words=median(responses or [0])
    )


def guides(spec: BenchmarkSpec) -> tuple[PredictionFormat, ...]:
    """Return the formats of files that are read, the service's own last."""
    own, *others = (
        reader for reader in READERS if not reader.verdict_formats or spec.verdict_format in reader.verdict_formats
    )
    return (*others, own)


def sample_file(table: ItemTable, revision: str) -> bytes:
    """Return a complete file in the native format: every pair of a revision with votes drawn at random, always the
    same."""
    wanted = revision if revision in table.revisions else table.revisions[0]
    dice = random.Random(0)  # noqa: S311 (nothing is secret about it)
    return b"".join(json.dumps(row).encode() + b"\n" for row in _sample_rows(table, wanted, dice=dice))


def _sample_rows(table: ItemTable, revision: str, *, dice: random.Random) -> Iterable[dict[str, Any]]:
    for index in table.in_revision(revision):
        item = table.items[index]
        name = item.ids[revision]
        alone = table.by_id(name, revision) == (index,)
        yield {
            "id": name,
            **({} if alone else {"item": item.key}),
            "votes": [dice.randint(0, 1) for _ in range(_VOTES)],
        }


def about_page(board_version: BoardVersion, catalog: ItemCatalog) -> str:
    """Return what is asked, how an answer is counted, how ranks and intervals are made, how to take part."""
    table, revision = catalog.table, board_version.snapshot["label_revision"]
    lengths = board_version.relations_summary(revision).get("lengths") and not board_version.is_redacted(revision)
    return render(
        board_version.context,
        "about.html",
        current="/about",
        board=board_version.board(),
        about=texts(board_version.spec),
        sizes=sizes(table),
        revisions=table.revisions,
        lengths=AnalyseQuery(board_version.spec, "lengths") if lengths else None,
        guides=guides(board_version.spec),
        explained=partial(explained, board_version.spec),
        names_of=lambda keys: [
            board_version.context.translations.known(board_version.spec.name_of(key)) for key in keys
        ],
        pairs=len(table),
    )
