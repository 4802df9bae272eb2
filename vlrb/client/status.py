"""Command `vlrb status`: state, position and result of a submission."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping
from typing import Any

import httpx

from vlrb.client.connection import add_server, answer, asks_service
from vlrb.commands.text_output import score_title
from vlrb.common.command_line import columns, complain, say, translated
from vlrb.common.messages import _
from vlrb.common.rounding import percent

_STATES: Mapping[str, str] = {
    "awaiting-approval": _("waiting for approval"),
    "queued": _("queued"),
    "scoring": _("scoring"),
    "scored": _("scored"),
    "failed": _("failed"),
    "withdrawn": _("withdrawn"),
}
_SETTLED = ("scored", "failed", "withdrawn", "awaiting-approval")  # an approval may take days
_RANGES_WITHIN = 20.0  # seconds after the score; hidden labels may have none
_BETWEEN = 0.3  # seconds, of two questions


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_server(parser)
    parser.add_argument("id")
    add_waiting(parser)


@asks_service
def run(http: httpx.Client, options: argparse.Namespace) -> int:
    """Print the state of a submission. Returns the exit code."""
    return report(http, options.id, options=options)


def add_waiting(parser: argparse.ArgumentParser) -> None:
    """Add whether and how long to wait for a score."""
    parser.add_argument("--wait", action="store_true", help=_("until the entry is scored"))
    parser.add_argument("--timeout", type=float, default=300.0, metavar="SECONDS", help=_("how long to wait (300)"))


def report(
    http: httpx.Client, submission: str, *, options: argparse.Namespace, more: Mapping[str, Any] | None = None
) -> int:
    """Print the state of a submission, and its result once it is scored. `more`: for the JSON. Returns the exit
    code."""
    deadline = time.monotonic() + (options.timeout if options.wait else 0)
    state = _settled(http, submission, options=options, deadline=deadline)
    published = state["state"] == "scored" and state["entry_url"]
    card = _scorecard(http, submission, until=deadline) if published else None
    if options.json:
        print(json.dumps({**(more or {}), **state, "scorecard": card}))
    elif state["state"] == "scored":
        entry = f"{str(http.base_url).rstrip('/')}{state['entry_url']}" if published else None
        until = min(deadline, time.monotonic() + _RANGES_WITHIN)
        row = _row(http, submission, benchmark=card["benchmark"], until=until) if card else None
        print(result_text(card, row, entry=entry))
    if options.wait and state["state"] not in _SETTLED:
        timeout = options.timeout
        complain(_("Not scored after {timeout:g} seconds; ask again: vlrb status {id}", timeout=timeout, id=submission))
        return 1
    return 1 if state["state"] == "failed" else 0


def _settled(http: httpx.Client, submission: str, *, options: argparse.Namespace, deadline: float) -> dict[str, Any]:
    """Return the state; of who waits, the one that stays. Each is printed on the way."""
    message = ""
    while True:
        state = answer(http.get(f"/api/v1/submissions/{submission}"))
        if not options.json and state["state"] != "scored" and (line := _sentence(state)) != message:
            message = line
            say(message, flush=True)
        if state["state"] in _SETTLED or time.monotonic() > deadline:
            return state
        time.sleep(_BETWEEN)


def _sentence(state: Mapping[str, Any]) -> str:
    if state["state"] == "queued" and state["position"]:
        position, seconds = state["position"], state["eta_seconds"]
        if not seconds:
            return _("queued, number {position} in line", position=position)
        return _("queued, number {position} in line, about {seconds:.0f} s", position=position, seconds=seconds)
    name = _STATES.get(state["state"], str(state["state"]))
    return f"{translated(name)}: {state['reason']}" if state["reason"] else name


def _scorecard(http: httpx.Client, submission: str, *, until: float) -> dict[str, Any] | None:
    """Return the entry's scorecard; it follows the score by up to a second or two, so a waiting caller asks again."""
    while (reply := http.get(f"/api/v1/entries/{submission}")).status_code != 200:
        if time.monotonic() > until:
            return None
        time.sleep(_BETWEEN)
    card: dict[str, Any] = reply.json()
    return card


def _row(http: httpx.Client, submission: str, *, benchmark: str, until: float) -> dict[str, Any] | None:
    """Return the entry's row of its benchmark's board, with `of`: how many have a rank; None where it is not there.

    Its range of ranks follows the score by some seconds: until then it is asked for again.
    """
    while True:
        reply = http.get("/api/v1/leaderboard", params={"benchmark": benchmark})
        board = reply.json() if reply.status_code == 200 else {"entries": [], "sizes": {}}
        row = next((row for row in board["entries"] if row["id"] == submission), None)
        complete = row is not None and (row["rank"] is None or row["rank_range"] is not None)
        if complete or time.monotonic() > until:
            break
        time.sleep(_BETWEEN)
    ranked = sum(row["rank"] is not None for row in board["entries"])
    return row and {**row, "of": ranked, "headline": board.get("headline"), "sizes": board["sizes"]}


def result_text(card: Mapping[str, Any] | None, row: Mapping[str, Any] | None, *, entry: str | None) -> str:
    """Return what a scored submission comes to, for people."""
    lines = [
        report_line(_("Scored"), _("It is not published.") if entry is None else _("Its page follows in a moment."))
    ]
    if card is not None:
        strict = card["protocols"]["strict"]
        counted = list((row or {}).get("sizes") or ())  # means, which are no counts of pairs, come first
        ranked = ((row or {}).get("headline") or {}).get("key")
        names = [name for name in strict if isinstance(strict[name], float)]
        head, *rest = sorted(names, key=lambda name: (name != ranked, counted.index(name) if name in counted else -1))
        titles = {name: translated(_(score_title(card["benchmark"], name))) for name in names}
        lines = [report_line(_("Scored"), f"{titles[head]} {_with_interval(strict, head)}{_rank(row)}")]
        if rest:
            lines.append(report_line("", "   ".join(f"{titles[name]} {percent(strict[name])}" for name in rest)))
    return "\n".join([*lines, *([report_line(_("Entry"), entry)] if entry else [])])


def report_line(title: str, text: str) -> str:
    """Return a line of a report as the terminal shows it."""
    title = translated(title)
    return title + " " * max(10 - columns(title), 1) + translated(text)


def _with_interval(strict: Mapping[str, Any], name: str) -> str:
    bounds = (strict.get("interval") or {}).get(name)
    return percent(strict[name]) + (f" ({percent(bounds[0])}-{percent(bounds[1])})" if bounds else "")


def _rank(row: Mapping[str, Any] | None) -> str:
    """Return the rank with its range, or why one of them is missing."""
    if row is None:
        return ""
    if row["rank"] is None:
        best = row["version_of"]
        why = translated(_("no rank: entry {id} is the ranked version of this judge", id=best))
        return f"   {why}" if best else ""
    text, possible = _("rank {rank} of {ranked}", rank=row["rank"], ranked=row["of"]), row["rank_range"]
    if possible:
        return f"   {translated(text)} ({possible[0]}-{possible[1]})"
    return f"   {translated(_('{rank}; its range is not computed yet, or the labels are hidden', rank=text))}"
