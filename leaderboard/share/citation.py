"""BibTeX of the benchmark, of the board at one moment, and of one entry. Pure."""

from __future__ import annotations

import re
from datetime import date

from leaderboard.ranking.rows import Board, BoardRow
from leaderboard.share.escape import latex, one_line
from leaderboard.share.summary import summarize
from vlrb.benchmarks.spec import capital
from vlrb.protocols import protocols

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def of_board(board: Board, address: str) -> str:
    """Return the board as it stood in one snapshot; ``address`` is permanent."""
    day = _day(board.as_of)
    number = f"{board.scored} {'entry' if board.scored == 1 else 'entries'}"
    rule = protocols(board.spec)[board.protocol].title
    note = f"{number} scored there, rule {rule}, labels {board.label_revision or 'none'}"
    demo = "Demo of the " if board.spec.synthetic else ""
    return _misc(
        f"{_key(board)}-board-{board.snapshot_id[:12] or 'empty'}",
        title=f"{latex(demo)}{{{board.spec.brand}}} Leaderboard{f', Snapshot of {day.isoformat()}' if day else ''}",
        author=f"{{{board.spec.brand} Leaderboard}}",
        day=day,
        note=latex(f"Snapshot {board.snapshot_id or 'none'}, {note}"),
        url=address,
    )


def of_entry(row: BoardRow, board: Board, *, address: str) -> str:
    """Return one entry. Its address never changes; what its numbers were, the snapshot in the note says."""
    summary = summarize(row, board)
    spread = f" ({summary.interval})" if summary.interval else ""
    figures = f"{capital(summary.accuracy)} {summary.value or 'unknown'}{spread}"
    if row.tier == "scored":
        rule = protocols(board.spec)[board.protocol].title
        figures += f", rule {rule}, labels {board.label_revision}, snapshot {board.snapshot_id}"
        figures += f", no rank: {row.remark}" if row.remark else ""
    else:
        figures += f", as reported in {row.source}" + (f", {row.remark}" if row.remark else "")
    return _misc(
        f"{_key(board)}-{re.sub('[^A-Za-z0-9]+', '-', row.id)}",
        title=f"{{{latex(summary.name)}}} on the {{{board.spec.brand}}} Leaderboard",
        author=f"{{{latex(row.organisation)}}}" if row.organisation else f"{{{board.spec.brand} Leaderboard}}",
        day=_day(row.date),
        note=latex(figures),
        url=address,
    )


def _misc(key: str, *, title: str, author: str, day: date | None, note: str, url: str) -> str:
    when = [f"year = {{{day.year}}}", f"month = {_MONTHS[day.month - 1]}"] if day else []
    fields = [f"title = {{{title}}}", f"author = {{{author}}}", *when, f"note = {{{note}}}", f"url = {{{_url(url)}}}"]
    return f"@misc{{{key},\n  " + ",\n  ".join(fields) + "\n}\n"


def _key(board: Board) -> str:
    return re.sub("[^a-z0-9]+", "", board.spec.brand.lower())


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def _url(address: str) -> str:
    """Ours, and percent-encoded already; braces would end the field."""
    return one_line(address).replace("{", "%7B").replace("}", "%7D")
