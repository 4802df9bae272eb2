"""Markup about a new entry's place on the board: rank, neighbours, strip, citation, badge, picture to share."""

from __future__ import annotations

from markupsafe import Markup

from leaderboard.board.position import marked_strips
from leaderboard.board.query import compare_url
from leaderboard.cache import BoardVersion
from leaderboard.pages import compare
from leaderboard.pages.entry_findings import neighbour_finding
from leaderboard.pages.item_catalog import ItemCatalog
from leaderboard.render import render
from leaderboard.share import badge, citation
from leaderboard.share.summary import row_of, summarize

PATIENCE = 20.0  # seconds after which no test is waited for: of one judge's versions only the best is tested


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
        spec=board_version.spec,
        row=row,
        board=board,
        bounds=row.interval.get(board.headline),
        settled=settled,
        finding=neighbour_finding(nearest, board.headline),
        neighbour_url=lambda pair: f"{board_version.context.prefix}/entries/{pair.second.id}",
        words=compare,
        compared=compare_url([entry_id, *(pair.second.id for pair in nearest)]) if nearest else "",
        strips=marked_strips(board, row),
        base=base,
        bibtex=citation.of_entry(row, board, address=f"{base}/entries/{row.id}"),
        badge=Markup(badge.drawing(summarize(row, board))),  # noqa: S704  # our own drawing, with its texts escaped
    )
    return markup, settled
