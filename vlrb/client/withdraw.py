"""Command `vlrb withdraw`: takes an entry of one's own off the board."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from vlrb.client.connection import answer, ask_service, service_parser
from vlrb.common.command_line import say
from vlrb.common.messages import _

if TYPE_CHECKING:
    import httpx


def run(arguments: list[str]) -> int:
    """Run `vlrb withdraw`; returns the exit code."""
    return ask_service(_withdraw, command_line().parse_args(arguments))


def command_line() -> argparse.ArgumentParser:
    """Return the options of the command."""
    withdraw = service_parser("withdraw", _("take an entry of yours off the board; date and reason stay public"))
    withdraw.add_argument("id")
    withdraw.add_argument("--reason", required=True, metavar="TEXT", help=_("why; everybody can read it"))
    return withdraw


def _withdraw(http: httpx.Client, options: argparse.Namespace) -> int:
    done = answer(http.post(f"/api/v1/entries/{options.id}/withdraw", json={"reason": options.reason}))
    if options.json:
        print(json.dumps({"changed": done["changed"]}))
    else:
        say(done["message"])
    return 0
