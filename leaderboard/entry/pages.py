"""Page of one entry: a scored one with its statistics, a reported one with its source."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from markupsafe import Markup
from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response

from leaderboard.analyse.pages import AnalyseQuery
from leaderboard.charts.bias_charts import own_preference
from leaderboard.charts.estimates import SnapshotEntry
from leaderboard.compare import service as compare
from leaderboard.explore.item_catalog import ItemCatalog
from leaderboard.ranking import findings, reported_results
from leaderboard.ranking.differences import Pair
from leaderboard.ranking.disclosure import entry_behaviour, strict_as_shown
from leaderboard.ranking.parameters import BoardQuery, address, compare_url, read_as_of
from leaderboard.ranking.position import marked_strips
from leaderboard.ranking.rows import Board, BoardRow
from leaderboard.reported import findings as reported_findings
from leaderboard.share import badge, citation
from leaderboard.share.pages import base_of
from leaderboard.share.summary import board_of, preview, row_of, summarize
from leaderboard.site.cache import BoardCache, BoardVersion
from leaderboard.site.pages import message_reply, not_found_page, status_page
from leaderboard.site.render import message_page, past_board_context, permanent, render
from leaderboard.site.render_context import RenderContext
from leaderboard.site.responses import query_of, requested_version, respond
from storage.metadata import facts
from vlrb.baselines import EARLIER
from vlrb.common.messages import Message, _
from vlrb.protocols import UNREAD_REPLIES, category_counts, has_unread_replies, protocols
from vlrb.readers import format_name
from vlrb.scorecard import cell_counts, named_counts, scorecard
from vlrb.scoring import Tally
from vlrb.statistics.reliability import corrected_accuracy
from vlrb.statistics.uncertainty import Z, wilson

PATIENCE = 20.0  # seconds after which no test is waited for: of one judge's versions only the best is tested


def build(cache: BoardCache, catalog: ItemCatalog, elsewhere: Callable[[str], str | None]) -> APIRouter:
    """Return the route; ``elsewhere`` tells where an entry of another benchmark is found."""
    router = APIRouter(include_in_schema=False)

    @router.api_route("/entries/{entry_id}", methods=["GET", "HEAD"])
    async def one_entry(entry_id: str, request: Request) -> Response:
        board_version = await requested_version(cache, request)
        if board_version is None:
            return message_reply(cache.context, "no-board", request.headers)
        base, as_of = base_of(board_version, request), read_as_of(query_of(request, board_version))
        revision = request.query_params.get("revision", "")
        result = board_version.entry(entry_id)
        if result is not None and (
            wrong := _without_score(board_version, result, revision=revision, as_of=as_of, headers=request.headers)
        ):
            return wrong
        asked_for = EntryQuery(entry_id, revision if result is not None else "", as_of=as_of)
        gone = (await cache.current()).removed_entry(entry_id) if as_of else None
        page = entry_page(board_version, asked_for, catalog=catalog, base=base, gone=gone)
        if page is None:
            left = board_version.removed_entry(entry_id)
            if left is None and (there := await asyncio.to_thread(elsewhere, entry_id)):
                return RedirectResponse(there, 308)
            if left is None:
                return not_found_page(cache.context, request.headers)
            return _withdrawn(cache.context, left, request.headers)
        response = await board_version.ready(f"{asked_for.url()}|{base}", lambda: status_page(page()))
        return respond(response, request.headers, drawing=True)

    return router


def _without_score(
    board_version: BoardVersion, result: Mapping[str, Any], *, revision: str, as_of: str, headers: Headers
) -> Response | None:
    """Return 404 for an entry under labels that it was not scored with; None where it was."""
    if not revision or revision in result["tallies"]:
        return None
    context, known = board_version.context, [EntryQuery(result["id"], name, as_of=as_of) for name in result["tallies"]]
    links = [(_("Labels {value}", value=other.revision), context.prefix + other.url()) for other in known]
    lead = _("This entry was not scored under labels “{revision}”.", revision=revision[:40])
    page = message_page(context, result["model"], lead=lead, links=[*links, (_("The board"), "/")])
    return respond(status_page(page), headers, status=404, cache_control="no-store")


def _withdrawn(context: RenderContext, stub: Mapping[str, Any], headers: Headers) -> Response:
    """Return 410: what is left of an entry that its owner or a maintainer has withdrawn, or of a reported result that
    was removed."""
    title = " ".join(filter(None, (stub["model"], stub["version"])))
    what, did = ("reported result", "removed") if stub.get("reported") else ("entry", "withdrawn")
    about = {"at": stub["at"], "reason": stub["reason"], "entry_id": stub["id"]}
    page = render(context, "withdrawn.html", current="", title=title, what=what, did=did, **about)
    return respond(status_page(page), headers, status=410, cache_control="no-store")


@dataclass(frozen=True, slots=True)
class EntryQuery:
    """Which entry, under which labels ("" the current ones), as of when ("" now)."""

    id: str
    revision: str = ""
    as_of: str = ""

    def url(self, **changes: str) -> str:
        """Return the address of the page, with changes."""
        view = replace(self, **changes)
        return address(f"/entries/{view.id}", {"revision": view.revision, "as_of": view.as_of})


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """How an entry stands on the board of one label revision, in the snapshot shown."""

    board: Board
    row: BoardRow
    url: str  # the entry's page under these labels
    board_url: str  # permanent


@dataclass(frozen=True, slots=True)
class SliceCounts:
    """A set of pairs: how many, how they were judged, and the share agreed with (None of nothing)."""

    name: str
    n: int
    agree: int
    reject: int
    undecided: int
    half_right: int = 0  # of the undecided: exactly half of the votes agree
    category: str = ""

    @property
    def share(self) -> float | None:
        """Agreement over all pairs (strict), of which those half right count one half."""
        return self._right / self.n if self.n else None

    @property
    def _right(self) -> float:
        return self.agree + self.half_right / 2

    @property
    def interval(self) -> Sequence[float] | None:
        """Wilson, 95%."""
        return wilson(self._right, self.n) if self.n else None


def entry_page(
    board_version: BoardVersion,
    asked: EntryQuery,
    *,
    catalog: ItemCatalog,
    base: str = "",
    gone: Mapping[str, Any] | None = None,
) -> Callable[[], str] | None:
    """Return what renders the page that is asked for; None if there is none. Nothing is computed before it is called.

    ``base`` is where the service stands for others: what is to be cited, or shown elsewhere, needs whole addresses.
    ``gone``: what is left today of an entry that is on the old board only.
    """
    result = board_version.entry(asked.id)
    if result is not None and result["tallies"]:
        return lambda: _scored_page(board_version, result, asked=asked, catalog=catalog, base=base, gone=gone)
    reported = reported_results.find(board_version.published, asked.id)
    if reported is not None:
        return lambda: _reported_page(board_version, reported, asked=asked, base=base)
    return None


def entry_summary(
    board_version: BoardVersion,
    board: Board,
    entry: SnapshotEntry,
    *,
    nearest: Sequence[Pair] = (),
    as_of: str = "",
) -> dict[str, Any]:
    """Return what a page says first of an entry: where it stands, what hurts it, its biases, and its K curve."""
    spec, revision = board.spec, board.label_revision
    tally = Tally.from_json(entry["tallies"][revision], spec)
    behaviour = entry_behaviour(entry, revision)
    card = scorecard(tally, behaviour, benchmark=board_version.spec.id, label_revision=revision)
    strict = card["protocols"][spec.ranking]
    if hides := board_version.is_redacted(revision):
        strict = strict_as_shown(tally, board_version.level(revision))
        card["groupings"] = {spec.official: {**card["groupings"][spec.official], spec.ranking: strict}}
    row, prefix = board.find(entry["id"]), board_version.context.prefix
    return {
        "spec": spec,
        "board": board,
        "entry": entry,
        "row": row,
        "card": card,
        "strict": strict,
        "tally": tally,
        "hides": hides,
        "words": compare,
        "strips": marked_strips(board, row) if row is not None else (),
        "findings": {
            "category": findings.category_finding(strict, findings.known_intervals(strict), keys=spec.category_keys),
            "tags": None if hides else findings.tag_finding(tally),
            "length": None if hides else findings.length_finding(tally),
            "behaviour": behaviour,
            "neighbours": findings.neighbour_finding(nearest, board.headline),
        },
        "by_tag": _tags(tally),
        "compare_tags": f"{prefix}/analyse?chart=tags&entries={entry['id']}",
        "curve": AnalyseQuery(spec, "votes", entries=(entry["id"],), revision=revision, as_of=as_of)
        if not hides and len(card["k_curve"]) > 1
        else None,
    }


def _scored_page(
    board_version: BoardVersion,
    entry: SnapshotEntry,
    *,
    asked: EntryQuery,
    catalog: ItemCatalog,
    base: str,
    gone: Mapping[str, Any] | None,
) -> str:
    board = board_of(board_version, entry, revision=asked.revision)
    revision, spec = board.label_revision, board.spec
    neighbours = compare.nearest(
        board_version, entry["id"], relations=catalog.relations(board_version, revision), revision=revision
    )
    summary = entry_summary(board_version, board, entry, nearest=neighbours, as_of=asked.as_of)
    tally, behaviour, hides = summary["tally"], summary["findings"]["behaviour"], summary["hides"]
    row = summary["row"]
    return render(
        board_version.context,
        "entry.html",
        current="",
        **summary,
        **past_board_context(board_version, asked.as_of, now=asked.url(as_of="")),
        asked=asked,
        gone=gone,
        family=own_preference(entry, board_version.relations_summary(revision).get("self_preference", {})),
        rerun_gap=Z * math.sqrt(2) * rerun["rerun"] if (rerun := summary["card"]["rerun"]) else 0.0,
        label_errors=_label_errors(board, row),
        other_labels=revision != board_version.snapshot["label_revision"],
        format=format_name(entry["format"]),
        neighbour_url=lambda pair: board_version.context.prefix + asked.url(id=pair.second.id),
        best_of=row.best_of if row is not None else None,
        scored=board.scored,
        revision=revision,
        by_category=(by_category := _categories(tally)),
        halves=0 if hides else sum(cell.half_right for cell in by_category),
        by_source=[]
        if hides
        else [_cell(tally, name, title=name, category=spec.source_category[name]) for name in spec.shown_sources],
        sizes=_grouping_sizes(tally),
        facts=facts(entry),
        protocols={spec.ranking: protocols(spec)[spec.ranking]} if hides else protocols(spec),
        unread_replies=UNREAD_REPLIES if has_unread_replies(behaviour.parse_rate, behaviour.first_shown_rate) else "",
        history=_history(board_version, entry, asked=asked),
        nearest=neighbours,
        compare_url=partial(compare_url, revision=asked.revision, as_of=asked.as_of),
        **_shared(board_version, asked, base=base),
    )


def _label_errors(board: Board, row: BoardRow | None) -> tuple[float, float, float] | None:
    """Return the share of the first labels that these correct, and an accuracy as it is and if as many of these are
    wrong; None where that is not known, or nothing."""
    name, earlier = board.spec.pooled, board.find(EARLIER)
    perfect, value = (None if result is None else result.value(name) for result in (earlier, row))
    if perfect is None or value is None or not 0.5 < perfect < 1:
        return None
    return 1 - perfect, value, corrected_accuracy(value, 1 - perfect)


def _cell(tally: Tally, name: str, *, title: str, category: str = "") -> SliceCounts:
    return SliceCounts(title, **cell_counts(tally, name), category=category)


def _categories(tally: Tally) -> list[SliceCounts]:
    rows = category_counts(tally.counts, tally.spec).tolist()
    return [
        SliceCounts(tally.spec.title_of(name), **named_counts(row), category=name)
        for name, row in zip(tally.spec.category_keys, rows, strict=True)
        if row[0]  # a part of a benchmark has categories without a pair
    ]


def _tags(tally: Tally) -> list[SliceCounts] | None:
    """Return the error tags, the most harmful first, then the pairs that carry none."""
    if not tally.has_tags:
        return None
    spec = tally.spec
    last = [
        replace(category, name=_("{category} (untagged)", category=Message(category.name, {})), category="")
        for category in _categories(tally)
        if category.category in spec.untagged
    ]
    tags = [_cell(tally, name, title=spec.tag_titles.get(name, name)) for name in spec.tags]
    return [*sorted(tags, key=lambda tag: 1.0 if tag.share is None else tag.share), *last]


def _grouping_sizes(tally: Tally) -> dict[str, str]:
    return {
        grouping: "/".join(str(n) for n in category_counts(tally.counts, tally.spec, grouping=grouping)[:, 0].tolist())
        for grouping in tally.spec.groupings
    }


def _history(board_version: BoardVersion, entry: SnapshotEntry, *, asked: EntryQuery) -> list[HistoryPoint]:
    """Return the entry's scores under every label revision it was scored with, the current one first."""
    current = board_version.snapshot["label_revision"]
    history_points = []
    for revision in sorted(entry["tallies"], key=lambda name: (name != current, name)):
        board = board_version.board(revision=revision)
        row = board.find(entry["id"])
        if row is not None:
            label = "" if revision == current else revision
            there = BoardQuery(board_version.spec, revision=label, as_of=permanent(board)).url()
            history_points.append(HistoryPoint(board, row, url=asked.url(revision=label), board_url=there))
    return history_points


def _shared(board_version: BoardVersion, asked: EntryQuery, *, base: str) -> dict[str, Any]:
    """Return what the page gives away: its description and picture for previews, its citation, its badge."""
    result = row_of(board_version, asked.id, revision=asked.revision)
    if result is None:  # hidden from the board; the page stands by itself
        return {"social": None, "base": base, "bibtex": "", "badge": "", "view_query": ""}
    row, board = result
    return {
        "social": preview(row, board, base=base),
        "base": base,
        "view_query": asked.url().partition("?")[2],
        "bibtex": citation.of_entry(row, board, address=f"{base}/entries/{row.id}"),
        "badge": Markup(badge.drawing(summarize(row, board))),  # noqa: S704  # our own drawing, with its texts escaped
    }


def _reported_page(
    board_version: BoardVersion, reported_figures: reported_results.ReportedFigures, *, asked: EntryQuery, base: str
) -> str:
    board = board_version.board()
    verdict, sentences = reported_findings.explanation(reported_figures, board_version.published)
    row = board.find(reported_figures.id)
    return render(
        board_version.context,
        "reported.html",
        current="",
        **past_board_context(board_version, asked.as_of, now=asked.url(as_of="")),
        compare_url=partial(compare_url, as_of=asked.as_of),
        result=reported_figures,
        row=row,
        board=board,
        strips=marked_strips(board, row) if row is not None else (),
        verdict=verdict,
        sentences=sentences,
        check_url=reported_findings.check_url(reported_figures),
        interval_note=reported_findings.interval_note(reported_figures, shown=bool(row and row.interval)),
        **_shared(board_version, asked, base=base),
    )


def result_card(
    board_version: BoardVersion, catalog: ItemCatalog, *, entry_id: str, base: str = "", waited: float = 0.0
) -> tuple[str, bool]:
    """Return the markup, and whether the tests against its neighbours are in it; nothing of an entry that is not on
    the board. ``waited``: seconds since it was submitted."""
    result = row_of(board_version, entry_id, revision="")
    if result is None:
        return "", True
    row, board = result
    relations = catalog.relations(board_version, "")
    settled = board.scored < 2 or board_version.is_redacted(board.label_revision) or waited > PATIENCE or not row.leads
    settled |= relations is not None and entry_id in relations.entries
    nearest = compare.nearest(board_version, entry_id, relations=relations) if settled else ()
    markup = render(
        board_version.context,
        "result_card.html",
        row=row,
        board=board,
        bounds=row.interval.get(board.headline),
        settled=settled,
        finding=findings.neighbour_finding(nearest, board.headline),
        neighbour_url=lambda pair: f"{board_version.context.prefix}/entries/{pair.second.id}",
        words=compare,
        compared=compare_url([entry_id, *(pair.second.id for pair in nearest)]) if nearest else "",
        strips=marked_strips(board, row),
        base=base,
        bibtex=citation.of_entry(row, board, address=f"{base}/entries/{row.id}"),
        badge=Markup(badge.drawing(summarize(row, board))),  # noqa: S704  # our own drawing, with its texts escaped
    )
    return markup, settled
