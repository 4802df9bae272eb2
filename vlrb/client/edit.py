"""Command `vlrb edit`: what an entry of one's own says, whether it is published, and until when it names nobody."""

from __future__ import annotations

import argparse
import json

import httpx

from vlrb.client.connection import add_fields, add_server, answer, asks_service, stated_fields
from vlrb.common.command_line import complain, say
from vlrb.common.messages import _


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_server(parser)
    parser.add_argument("id")
    parser.add_argument("--publish", action="store_true", help=_("put it on the board, for good"))
    add = parser.add_mutually_exclusive_group().add_argument
    add("--anonymous-until", metavar="DAY", help=_("name no owner, organisation, link before: 2027-01-31"))
    add("--not-anonymous", action="store_true", help=_("show your name now"))
    add_fields(parser)


@asks_service
def run(http: httpx.Client, options: argparse.Namespace) -> int:
    """Change an entry by one request for each kind of change. Returns the exit code."""
    submission, fields = f"/api/v1/submissions/{options.id}", stated_fields(options)
    requests: list[tuple[str, str, object]] = []
    if fields:
        requests.append(("PATCH", f"/api/v1/entries/{options.id}", fields))
    if options.anonymous_until or options.not_anonymous:
        requests.append(("PUT", f"{submission}/anonymity", {"until": options.anonymous_until}))
    if options.publish:
        requests.append(("POST", f"{submission}/publish", None))
    if not requests:
        complain(_('Say what changes: --publish, --anonymous-until DAY or a field, as in --notes "...".'))
        return 2
    changed = [answer(http.request(method, path, json=body))["changed"] for method, path, body in requests]
    if options.json:
        print(json.dumps({"changed": any(changed)}))
    elif any(changed):
        say(_("Entry {id} is changed; its page shows it in a moment.", id=options.id))
    else:
        say(_("No change: it is so already."))
    return 0
