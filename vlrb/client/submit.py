"""Command `vlrb submit`: uploads a prediction file and saves its receipt."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from vlrb.client.connection import add_fields, add_server, answer, asks_service, stated_fields
from vlrb.client.jws import event_of
from vlrb.client.status import add_waiting, report, report_line
from vlrb.common.command_line import say
from vlrb.common.messages import _
from vlrb.readers.problems import votes_phrase


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("file", type=Path)
    add_upload_options(parser)


def add_upload_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be said of a file that is uploaded."""
    add_server(parser)
    add_fields(parser, required=("model",))
    add = parser.add_argument
    add("--anonymous-until", metavar="DAY", help=_("name no owner, organisation, link before: 2027-01-31"))
    add("--benchmark", metavar="ID", help=_("id of the benchmark (the server's first)"))
    add("--unpublished", action="store_true", help=_("keep the entry off the board until you publish it"))
    about = _("submit although most votes cannot be read (they count as wrong)")
    add("--accept-unreadable", action="store_true", help=about)
    add_waiting(parser)


@asks_service
def run(http: httpx.Client, options: argparse.Namespace) -> int:
    """Upload a file, and tell what became of it. Returns the exit code."""
    fields = stated_fields(options)
    fields |= {"anonymous_until": options.anonymous_until} if options.anonymous_until else {}
    fields |= {"published": "false"} if options.unpublished else {}
    fields |= {"accept_unreadable": "true"} if options.accept_unreadable else {}
    benchmark = {"benchmark": options.benchmark} if options.benchmark else {}
    with options.file.open("rb") as file:
        files = {"file": (options.file.name, file, "application/octet-stream")}
        taken = answer(http.post("/api/v1/submissions", params=benchmark, data=fields, files=files))
    if not options.json:
        say(_accepted(taken), flush=True)
        path = Path(f"receipt-{Path(taken['id']).name}.jws")
        path.write_text(f"{taken['receipt']}\n")
        print(report_line(_("Receipt"), _("written to {path}", path=path)))
    if options.wait or not options.json:
        more = {"receipt": taken["receipt"], "duplicate": taken.get("duplicate")}
        return report(http, taken["id"], options=options, more=more)
    print(json.dumps(taken))
    return 0


def _accepted(taken: Mapping[str, Any]) -> str:
    event = event_of(taken["receipt"])
    facts = {"id": taken["id"], "pairs": event["items"], "votes": votes_phrase(event["votes_per_item"])}
    if taken.get("duplicate"):
        return _("Already submitted as {id}  ({pairs:,} pairs, {votes}); nothing changed.", **facts)
    return report_line(_("Accepted"), _("{id}  ({pairs:,} pairs, {votes})", **facts))
