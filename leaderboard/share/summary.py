"""One-line summary of an entry for badges, feeds and pictures, and previews of pages for search engines. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leaderboard.ranking.rows import Board, BoardRow
from leaderboard.site.cache import BoardVersion
from vlrb.common.messages import Message, _
from vlrb.common.rounding import percent, percent_range, tenths
from vlrb.numbers.reported import stated_overall
from vlrb.protocols import protocols


@dataclass(frozen=True, slots=True)
class SocialPreview:
    """A page as search engines and others announce it, in plain text: the template escapes it.

    ``base`` "" leaves out what needs a whole address: the picture.
    """

    title: str
    description: str
    path: str
    base: str


@dataclass(frozen=True, slots=True)
class EntrySummary:
    """Plain text; the writer of a page, a picture or a feed escapes it there."""

    name: str
    value: str  # "73.3", or "" where there is none
    interval: str  # "70.4–76.0"
    plus_minus: str  # half of the interval's width: "2.8"
    place: str  # "rank 3 of 12", "rank 1–4 of 12", "reported", or ""
    what: str  # the key of the score: that which orders the board, or which a source states
    called: str  # how people call it
    accuracy: str  # how sentences call its value
    brand: str  # of the benchmark

    @property
    def score(self) -> str:
        """ "macro 73.3 ± 2.8"."""
        if not self.value:
            return "not scored"
        message = f"{self.called} {self.value}"
        return f"{message} ± {self.plus_minus}" if self.plus_minus else message

    @property
    def short(self) -> str:
        """For a badge: the rank without its denominator."""
        return " · ".join(filter(None, (self.score, self.place.partition(" of ")[0])))


def summarize(row: BoardRow, board: Board) -> EntrySummary:
    """Return what there is to say of a row."""
    what = board.headline if row.tier == "scored" else stated_overall(row.scores, board.spec) or board.spec.headline
    bounds = row.interval.get(what)
    half = f"{(tenths(bounds[1]) - tenths(bounds[0]) + 1) // 2 / 10:.1f}" if bounds else ""
    return EntrySummary(
        name=row.name,
        value=percent(row.value(what)),
        interval=percent_range(bounds),
        plus_minus=half,
        place=_place(row, board),
        what=what,
        called=board.spec.name_of(what),
        accuracy=board.spec.accuracy_text(what),
        brand=board.spec.brand,
    )


def _place(row: BoardRow, board: Board) -> str:
    if row.tier != "scored":
        return row.tier
    standing = board.standings().get(row.id)
    if standing is None:
        return f"no rank: {row.remark}" if row.remark else ""
    return _("rank {rank} of {scored}", rank=standing.range or str(standing.rank), scored=board.scored)


def description(row: BoardRow, board: Board) -> str:
    """Return a sentence or two about an entry, for search engines and link previews."""
    summary, on = summarize(row, board), board.spec.brand
    user = f"{summary.name} ({row.organisation})" if row.organisation else summary.name
    if not summary.value:
        return _("{user} on {benchmark}.", user=user, benchmark=on)
    values = {
        "user": user,
        "benchmark": on,
        "accuracy": Message(summary.accuracy, {}),
        "value": summary.value,
        "interval": _(" (95% interval {interval})", interval=summary.interval) if summary.interval else "",
    }
    if row.tier == "reported":
        source = row.source
        return _(
            "{user} on {benchmark}: {accuracy} {value}%{interval}, as reported in {source}.", **values, source=source
        )
    return _(
        "{user} on {benchmark}: {accuracy} {value}%{interval}{place}. Rule {rule}, labels {labels}.",
        **values,
        place=_(", {place}", place=summary.place) if summary.place else "",
        rule=protocols(board.spec)[board.protocol].title,
        labels=board.label_revision,
    )


def board_of(board_version: BoardVersion, entry: Mapping[str, Any], *, revision: str = "") -> Board:
    """Return the board under a label revision that the entry was scored with: the one asked for, the current one, or
    any."""
    scored = entry["tallies"]
    wanted = revision or board_version.snapshot["label_revision"]
    return board_version.board(revision=wanted if wanted in scored or not scored else next(iter(scored)))


def row_of(board_version: BoardVersion, entry_id: str, *, revision: str = "") -> tuple[BoardRow, Board] | None:
    """Return the row of an entry, scored or reported, and the board it is on: the current one if it is there.

    None where there is no such entry, or it has no score under the labels that were asked for.
    """
    entry = board_version.entry(entry_id)
    if entry is not None and revision and revision not in entry["tallies"]:
        return None
    board = board_version.board() if entry is None else board_of(board_version, entry, revision=revision)
    row = board.find(entry_id)
    return (row, board) if row is not None and row.tier != "baseline" else None


def preview(row: BoardRow, board: Board, *, base: str) -> SocialPreview:
    """Return the page of an entry, as others announce it."""
    title = f"{summarize(row, board).name} · {board.spec.brand}"
    return SocialPreview(title, description(row, board), path=f"/entries/{row.id}", base=base)


def preview_board(board: Board, base: str) -> SocialPreview:
    """Return the front page, as others announce it."""
    demo = " (demo)" if board.spec.synthetic else ""
    message = _(
        "Which AI judges of answers about images agree with people? Scores with intervals, from uploaded predictions."
    )
    return SocialPreview(f"{board.spec.brand} leaderboard{demo}", message, path="/", base=base)
