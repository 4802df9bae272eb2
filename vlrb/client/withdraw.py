"""Command `vlrb withdraw`: takes an entry of one's own off the board."""

from __future__ import annotations

import argparse
import json

import httpx

from vlrb.client.connection import add_server, answer, asks_service
from vlrb.common.command_line import say
from vlrb.common.messages import _


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_server(parser)
    parser.add_argument("id")
    parser.add_argument("--reason", required=True, metavar="TEXT", help=_("why; everybody can read it"))


@asks_service
def run(http: httpx.Client, options: argparse.Namespace) -> int:
    """Withdraw an entry. Returns the exit code."""
    done = answer(http.post(f"/api/v1/entries/{options.id}/withdraw", json={"reason": options.reason}))
    if options.json:
        print(json.dumps({"changed": done["changed"]}))
    else:
        say(done["message"])
    return 0
