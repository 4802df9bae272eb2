"""Atom feed of the board: new entries and public decisions, newest first. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from leaderboard.ranking.rows import Board, BoardRow
from leaderboard.share.escape import xml
from leaderboard.share.summary import summarize
from vlrb.common.text import join_sentences
from vlrb.protocols import protocols

NEWEST = 50
PublicDecision = Mapping[str, Any]
Log = Callable[[int | None, int, bool], Sequence[PublicDecision]]
"""(before, limit, edits) -> the newest public decisions first, as the API shows them; ``before`` a seq, ``edits``: with
entries that were described anew."""
_ATOM = "http://www.w3.org/2005/Atom"
_NEVER = "1970-01-01T00:00:00Z"  # the moment of a board on which nothing has happened


def nothing(before: int | None, limit: int, edits: bool) -> Sequence[PublicDecision]:
    """Return the log of a site without one."""
    return ()


def feed(board: Board, base: str, *, changes: Sequence[PublicDecision] = ()) -> bytes:
    """Return the Atom feed. ``base``: public address without final slash; ``changes``: public decisions."""
    root = ET.Element("feed", {"xmlns": _ATOM, "xml:lang": "en"})
    demo = " (demo)" if board.spec.synthetic else ""
    _add(root, "title", text=f"{board.spec.brand} leaderboard{demo}")
    _add(root, "subtitle", text="Judges of vision-language responses, as they are scored.")
    _add(root, "id", text=f"{base}/feed.xml")
    ET.SubElement(root, "link", {"rel": "self", "type": "application/atom+xml", "href": f"{base}/feed.xml"})
    ET.SubElement(root, "link", {"rel": "alternate", "type": "text/html", "href": f"{base}/"})
    scored = sorted((row for row in board.rows if row.tier == "scored"), key=lambda row: row.submitted_at, reverse=True)
    latest = [board.as_of, *(row.submitted_at for row in scored[:1]), *(change["at"] for change in changes[:1])]
    _add(root, "updated", text=max(latest) or _NEVER)
    _add(ET.SubElement(root, "author"), "name", text=f"{board.spec.brand} leaderboard")
    dated: list[tuple[str, BoardRow | Mapping[str, Any]]] = [(row.submitted_at, row) for row in scored[:NEWEST]]
    dated += [(change["at"], change) for change in changes]
    dated.sort(key=lambda pair: pair[0], reverse=True)
    for _, entry in dated[:NEWEST]:
        if isinstance(entry, BoardRow):
            _entry(root, entry, board=board, base=base)
        else:
            _change(root, entry, base=base)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}'.encode()


def _entry(root: ET.Element, row: BoardRow, *, board: Board, base: str) -> None:
    """Add an entry to the feed: its score, which later entries do not change, and not its rank."""
    summary = summarize(row, board)
    title = f"{summary.name}: {summary.score}" + (f" ({row.remark})" if row.remark else "")
    item = _item(root, title, address=f"{base}/entries/{row.id}", at=row.submitted_at)
    if row.organisation:
        _add(ET.SubElement(item, "author"), "name", text=row.organisation)
    interval = f", 95% interval {summary.interval}" if summary.interval else ""
    remark = f" No rank: {row.remark}." if row.remark else ""
    rule = f"(rule {protocols(board.spec)[board.protocol].title}, labels {board.label_revision})"
    scored = f"{summary.name} was scored: {summary.what} accuracy {summary.value or 'unknown'}{interval}"
    _add(item, "summary", text=f"{scored} {rule}.{remark}")


def _change(root: ET.Element, decision: Mapping[str, Any], *, base: str) -> None:
    item = _item(root, decision["title"], address=f"{base}/decisions/{decision['seq']}", at=decision["at"])
    _add(item, "summary", text=join_sentences(decision["sentence"], *decision["changes"]))


def _item(root: ET.Element, title: str, *, address: str, at: str) -> ET.Element:
    """Add an entry with its title, its address and its moment."""
    item = ET.SubElement(root, "entry")
    _add(item, "title", text=title)
    _add(item, "id", text=address)
    ET.SubElement(item, "link", {"rel": "alternate", "type": "text/html", "href": address})
    _add(item, "published", text=at)
    _add(item, "updated", text=at)
    return item


def _add(parent: ET.Element, name: str, *, text: str) -> None:
    """Text only: an Atom text construct without a type is plain text, and no reader may take it for markup."""
    ET.SubElement(parent, name).text = xml(text)
