"""Command `vlrb submit`: uploads a prediction file and saves its receipt."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vlrb.client.connection import add_fields, answer, ask_service, service_parser, stated_fields
from vlrb.client.status import add_waiting, report, report_line
from vlrb.common.command_line import complain, say
from vlrb.common.messages import _
from vlrb.readers.problems import votes_phrase

if TYPE_CHECKING:
    import httpx


def run(arguments: list[str]) -> int:
    """Run `vlrb submit`; returns the exit code."""
    options = command_line().parse_args(arguments)
    if not options.file.is_file():
        complain(_("There is no file {file}.", file=options.file))
        return 2
    return ask_service(_submit, options)


def command_line() -> argparse.ArgumentParser:
    """Return the options of the command."""
    submit = service_parser("submit", _("upload predictions to a server"))
    submit.add_argument("file", type=Path)
    add_fields(submit, required=("model",))
    submit.add_argument(
        "--anonymous-until", metavar="DAY", help=_("name no owner, organisation, link before: 2027-01-31")
    )
    submit.add_argument("--benchmark", metavar="ID", help=_("id of the benchmark (the server's first)"))
    submit.add_argument(
        "--unpublished", action="store_true", help=_("keep the entry off the board until you publish it")
    )
    submit.add_argument(
        "--accept-unreadable",
        action="store_true",
        help=_("submit although most votes cannot be read (they count as wrong)"),
    )
    add_waiting(submit)
    return submit


def _submit(http: httpx.Client, options: argparse.Namespace) -> int:
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
    from vlrb.client.jws import event_of  # the signature library, for which no other command need wait

    event = event_of(taken["receipt"])
    facts = {"id": taken["id"], "pairs": event["items"], "votes": votes_phrase(event["votes_per_item"])}
    if taken.get("duplicate"):
        return _("Already submitted as {id}  ({pairs:,} pairs, {votes}); nothing changed.", **facts)
    return report_line(_("Accepted"), _("{id}  ({pairs:,} pairs, {votes})", **facts))
