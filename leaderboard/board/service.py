"""The page at /: the board of a view, or the part of it that differs from view to view."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal
from urllib.parse import quote

from markupsafe import Markup

from leaderboard.board.cards import cards
from leaderboard.ranking.columns import ALWAYS, Column
from leaderboard.ranking.differences import edition_gaps
from leaderboard.ranking.opening import BestSet, finding, untested
from leaderboard.ranking.parameters import PAGE, BoardQuery, SelectedRows, count_unstated, select
from leaderboard.ranking.position import axis_style
from leaderboard.ranking.rank_info import RankInfo, band_classes, order_of
from leaderboard.ranking.rows import Board, BoardRow
from leaderboard.ranking.scoring_rules import scoring_context
from leaderboard.share.exports import FORMATS
from leaderboard.share.summary import preview_board
from leaderboard.site.cache import BoardVersion
from leaderboard.site.render import environment, past_board_context, permanent, render
from vlrb.common.messages import Message, _, joined, ngettext
from vlrb.common.rounding import percent

NEWS = timedelta(days=30)  # for how long the board tells that its labels are others than before


Part = Literal["", "board", "order"]
"""What of the page is asked for: all, what differs from view to view, or between orders of the same rows."""


def board_page(board_version: BoardVersion, view: BoardQuery, *, best_set: BestSet = untested, part: Part = "") -> str:
    """Return the page at /, or a part of it. ``best_set``: tests who is first of the judges that a search or filter
    leaves."""
    values = _board_context(board_version, view, best_set=best_set)
    template = "parts/board_parts.html" if part else "board.html"
    return render(board_version.context, template, current="/", part=part, **values)


def board_orders(board_version: BoardVersion) -> dict[str, str]:
    """Return the parts of all views that one click orders the board's front page by, by their addresses."""
    front = BoardQuery(board_version.spec).on(board_version.board())
    columns = front.shown(board_version.board())
    views = (front, *(front.with_sort(column.key) for column in columns))
    prefix = board_version.context.prefix
    return {prefix + view.url(): board_page(board_version, view, part="order") for view in dict.fromkeys(views)}


def _board_context(board_version: BoardVersion, view: BoardQuery, *, best_set: BestSet = untested) -> dict[str, Any]:
    board = board_version.board(view.protocol, view.grouping, revision=view.revision)
    view = view.on(board)
    selection = select(board, view)
    ranked_by = view.ranked_by(board)
    standings = board.standings(view.sort)
    return {
        "columns": board.columns,
        "shown": _in_order(view.shown(board), ranked_by),
        "view": view,
        "selection": selection,
        "counted": count_text(selection),
        "standings": standings,
        "marks": _marks(view, selection, standings=standings),
        "ranked_by": ranked_by,
        "unstated": count_unstated(board, view),
        **scoring_context(board, board_version.snapshot["label_revision"]),
        "export_formats": FORMATS,
        "gaps": edition_gaps(board.sizes.get(board.spec.pooled, 0)),
        "references": reference_text(selection.baselines, ranked_by),
        "ranges": bool(board.ranges.get(order_of(view.sort, board.spec))),
        "judges": any(row.tier != "baseline" for row in board.rows),
        **past_board_context(board_version, view.as_of, now=view.url(as_of="", page=1)),
        "picked": [row for row in map(board.find, view.compare) if row is not None],
        "turned": _turned(board_version, view, board=board),
        "permalink": view.url(as_of=permanent(board), embed=False),
        "social": preview_board(board, board_version.public_base),
        "subtitles": {key: f"n {n:,}" for key, n in board.sizes.items() if n},
        "demo": board.spec.synthetic,
        "delayed": board_version.delayed_since if not view.as_of else None,
        "paused": board_version.paused if not view.as_of else None,
        "findings": finding(board, view, best_set=best_set, whole=True)
        if view.is_narrowed
        else board.kept(("findings", view.sort, view.tier), lambda: finding(board, view, whole=True)),
        "filtered": any(row.filter_judge for row in board.rows),
        "cards": board_version.drawn(
            ("cards", board.protocol, board.grouping, view.revision, view.as_of, view.embed), lambda: cards(board, view)
        ),
        "here": view.url(),
        "doubted": _doubted(board),
        "line": _drawn_rows(board_version, board, view=view),
    }


def _in_order(columns: Sequence[Column], first: str) -> tuple[Column, ...]:
    """Return columns with a score before all others."""
    return tuple(sorted(columns, key=lambda column: (column.key not in ALWAYS, column.key != first)))


def _doubted(board: Board) -> tuple[int, int] | None:
    """Return how many published figures arithmetic speaks against, and of how many; None where it has nothing to
    say."""
    reported = [row for row in board.rows if row.tier == "reported"]
    doubted = sum(row.inconsistent for row in reported)
    return (doubted, len(reported)) if doubted else None


def _drawn_rows(board_version: BoardVersion, board: Board, *, view: BoardQuery) -> Callable[..., Markup]:
    """Return a function that draws a row of a view, each row once for all views that show the same of it."""
    by, query = view.ranked_by(board), f"?as_of={quote(view.as_of)}" if view.as_of else ""
    columns = _in_order(view.shown(board), by)
    drawing: Any = environment(board_version.context).get_template("parts/row.html").module
    rules = (board.protocol, board.grouping, board.label_revision, by, tuple(column.key for column in columns), query)
    dotted = tuple(key for key in board.spec.category_keys if key in board.values and key in view.columns)

    def line(row: BoardRow, others: Sequence[BoardRow] = (), **how: Any) -> Markup:
        key = (*rules, row.id, tuple(other.id for other in others), *how.items())
        markup: Markup = board_version.drawn(
            key,
            lambda: drawing.line(
                board, row, columns, by, axis=axis_style(row, by, dotted), query=query, others=others, **how
            ),
        )
        return markup

    return line


def _marks(view: BoardQuery, selection: SelectedRows, *, standings: Mapping[str, RankInfo]) -> Mapping[str, str]:
    """Return the classes that draw bands over the rows: only where the rows stand in the order of their ranks."""
    if view.sort not in (*view.spec.score_names, "rank"):
        return {}
    return band_classes([row.id for row in selection.of("scored")], standings)


def reference_text(baselines: Sequence[BoardRow], ranked_by: str) -> Message:
    """Return the baselines in one line, with what orders the ranks."""
    known = [(row.model, value) for row in baselines if (value := row.value(ranked_by)) is not None]
    return joined([joined((model, percent(value)), " ") for model, value in known], " · ")


def _turned(board_version: BoardVersion, view: BoardQuery, *, board: Board) -> Mapping[str, Any] | None:
    """Return the decision to show these labels instead of others, where that is not long ago and the reader asks for
    today."""
    turn: Mapping[str, Any] | None = board_version.snapshot.get("turned")
    if turn is None or view.as_of or turn["to"] != board.label_revision:
        return None
    created, decided = (datetime.fromisoformat(text) for text in (board_version.snapshot["created_at"], turn["at"]))
    return turn if created - decided < NEWS else None


def count_text(selection: SelectedRows) -> str:
    """Return how much was found, as it is under the table."""
    first = (selection.page - 1) * PAGE
    judges = ngettext("{n:,} judge", "{n:,} judges", selection.total)
    parts: list[str] = [judges]
    if selection.total > PAGE:
        span = f"{first + 1:,}–{first + len(selection.rows):,}"
        parts = [_("{span} of {judges}", span=span, judges=judges)]
    if baselines := len(selection.baselines):
        parts.append(ngettext("{n:,} baseline", "{n:,} baselines", baselines))
    return joined(parts)
