"""`vlrb judge run|status|submit`: from a model to predictions, and into the service."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

from vlrb.client.submit import add_upload_options
from vlrb.common.command_line import translated
from vlrb.common.messages import _
from vlrb.judge import report, submit
from vlrb.judge.configuration import APIS, CHAT
from vlrb.judge.images import FORMS, STORED
from vlrb.judge.pairs import ORDERS, RANDOM
from vlrb.judge.prompts import OFFICIAL, OFFICIAL_PARAMETERS, PROMPTS
from vlrb.votes import MAX_VOTES_PER_ITEM


def _run(arguments: argparse.Namespace) -> int:
    from vlrb.judge.run import run_command  # the client library; only this needs it

    return run_command(arguments)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add all commands."""
    commands = parser.add_subparsers(dest="command", required=True, metavar="run|status|submit")
    run = commands.add_parser("run", help=_("ask a model; with a journal in DIR, go on"), allow_abbrev=False)
    _add_question_options(run)
    _add_endpoint_options(run)
    run.set_defaults(run=_run)
    status = commands.add_parser("status", help=_("how far a run is"))
    status.add_argument("directory", type=Path, metavar="DIR")
    status.add_argument("--json", action="store_true", help=_("print JSON only"))
    status.set_defaults(run=report.status_command)
    send = commands.add_parser("submit", help=_("submit the predictions of a run"), allow_abbrev=False)
    send.add_argument("directory", type=Path, metavar="DIR")
    add_upload_options(send)
    send.set_defaults(run=submit.submit_command)


def _add_question_options(parser: argparse.ArgumentParser) -> None:
    """Add what decides what is asked."""
    add = parser.add_argument
    add("--model", help=_("name of the model, as the endpoint knows it"))
    add("--items", required=True, metavar="FILE", help=_("JSON lines, parquet, or a Hub dataset (owner/name@commit)"))
    votes = _number(int, 1, most=MAX_VOTES_PER_ITEM)
    add("--votes", type=votes, metavar="K", help=_("votes for each pair: 1 to 16 (5; of scores 1)"))
    add("--output", required=True, type=Path, metavar="DIR", help=_("directory of the run"))
    add("--order", choices=ORDERS, default=RANDOM, help=_("order of the responses (random)"))
    add("--seed", type=int, help=_("of the order alone; it is not sent (drawn and recorded)"))
    add("--limit", type=_number(int, 1), metavar="N", help=_("only the first N pairs"))
    add("--benchmark", default="vl-rewardbench", metavar="ID", help="vl-rewardbench")
    names, marks = ", ".join(PROMPTS), "{query}, {a0}, {a1}"
    prompt = _("{names} or a text file with {marks} ({default})", names=names, marks=marks, default=OFFICIAL)
    add("--prompt", default=OFFICIAL, metavar="NAME", help=prompt)
    about = _("as stored with their true type, or labelled image/png as in the official run (stored)")
    add("--image-form", choices=FORMS, default=STORED, help=about)
    about = _("The defaults are those of the official run. `none` sends nothing.")
    add = parser.add_argument_group(_("sampling"), about).add_argument
    for name, value in OFFICIAL_PARAMETERS.items():
        kind = _number(type(value), none=True)
        add(f"--{name.replace('_', '-')}", type=kind, default=value, metavar="X", help=f"({value})")
    add("--set", action="append", default=[], metavar="NAME=JSON", dest="extra", help=_("another field of the request"))


def _add_endpoint_options(parser: argparse.ArgumentParser) -> None:
    """Add where and how hard to ask."""
    add, most, seconds = parser.add_argument, _number(int, 1), _number(float, 0.1, most=1e6)
    add("--base-url", metavar="URL", help=_("of an OpenAI-compatible endpoint: http://localhost:8000/v1"))
    add("--api", choices=APIS, default=CHAT, help=_("kind of endpoint (chat)"))
    add("--scorer", metavar="MODULE:FUNCTION", help=_("a Python function instead of an endpoint"))
    about = _("most requests in flight (32)")
    add("--concurrency", type=_number(int, 1, most=10_000), default=32, metavar="N", help=about)
    add("--timeout", type=seconds, default=300.0, metavar="SECONDS", help=_("of one request (300)"))
    add("--attempts", type=most, default=5, metavar="N", help=_("before a vote counts as failed (5)"))
    wait = _number(float, 0, most=3600)
    add("--retry-wait", type=wait, default=0.5, metavar="SECONDS", help=_("before the first retry (0.5)"))
    add("--retry-failed", action="store_true", help=_("ask again for votes that are recorded as failed"))
    add("--retry-empty", action="store_true", help=_("ask again for votes whose answer is empty"))
    add("--json", action="store_true", help=_("print the summary as JSON"))
    add = parser.add_argument_group(_("budget"), _("Over all starts of the run.")).add_argument
    money = _number(float, 0, most=1e9)
    add("--max-requests", type=most, metavar="N", help=_("most requests"))
    add("--max-cost", type=money, metavar="MONEY", help=_("most money, with the prices below"))
    add("--price-prompt", type=money, default=0.0, metavar="DOLLARS", help=_("of a million prompt tokens"))
    add("--price-reply", type=money, default=0.0, metavar="DOLLARS", help=_("of a million reply tokens"))


def _number(kind: type, least: float = -math.inf, *, most: float = math.inf, none: bool = False) -> Any:
    """Return a type of an option: a finite number within limits. `none`: or that word, which is None."""

    def parse(text: str) -> Any:
        if none and text.lower() == "none":
            return None
        value = kind(text)
        if not math.isfinite(value):
            raise ValueError(text)
        if least <= value <= most:
            return value
        wrong = _("give a number from {least:g}", least=least)
        if math.isfinite(most):
            wrong = _("give a number from {least:g} to {most:g}", least=least, most=most)
        raise argparse.ArgumentTypeError(translated(wrong))

    parse.__name__ = kind.__name__
    return parse
