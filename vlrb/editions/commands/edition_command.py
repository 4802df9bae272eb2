"""`vlrb edition freeze`: verified pairs become the next edition."""

from __future__ import annotations

import argparse
import re
from datetime import date
from pathlib import Path
from typing import Any

from vlrb.benchmarks.spec_file import known_benchmarks
from vlrb.common.command_line import say
from vlrb.common.messages import _
from vlrb.editions.errors import CurateError
from vlrb.editions.folder.edition import EditionPlan
from vlrb.editions.folder.freezing import FILTER_REPORT, EditionFolders, freeze
from vlrb.editions.pools.pairs import check_name
from vlrb.editions.pools.pool import locked, read_json

_ID = re.compile(r"[a-z0-9][a-z0-9-]{1,39}")


def add_edition_command(commands: Any) -> None:
    """Add `freeze`."""
    parser = commands.add_parser("freeze", help=_("freeze verified pairs as an edition"), allow_abbrev=False)
    parser.add_argument("id", metavar="ID", help=_("of the benchmark: small letters, digits, dashes"))
    parser.add_argument("--verified", type=Path, required=True, metavar="DIR", help=_("of `verify import`"))
    parser.add_argument("--pool", type=Path, required=True, metavar="DIR", help=_("where the images lie"))
    parser.add_argument("--filter", type=Path, metavar="FILE", help=_("filter.json of the filter"))
    parser.add_argument("--title", required=True, help=_("for pages"))
    parser.add_argument("--version", default="v1", metavar="NAME", help=_("of the edition (v1)"))
    parser.add_argument("--citation", default="", metavar="TEXT", help="BibTeX")
    parser.add_argument(
        "--hidden", type=float, default=0.5, metavar="SHARE", help=_("of pairs with hidden labels (0.5)")
    )
    parser.add_argument("--seed", type=int, default=0, help=_("of the split and the order (0)"))
    parser.add_argument(
        "--retire", default="", metavar="DATE", help=_("when the labels are to be published: 2027-12-31")
    )
    parser.add_argument("--partial", action="store_true", help=_("although some pairs are not decided"))
    parser.add_argument("--output", type=Path, default=Path("editions"), metavar="DIR", help=_("public (editions/)"))
    parser.add_argument("--private", type=Path, default=Path("private"), metavar="DIR", help=_("labels (private/)"))
    parser.set_defaults(run=edition_command)


def edition_command(arguments: argparse.Namespace) -> int:
    """Write an edition. Returns the exit code."""
    plan = _plan(arguments)
    folders = EditionFolders(arguments.verified, arguments.pool, public=arguments.output, private=arguments.private)
    report = read_json(arguments.filter, FILTER_REPORT) if arguments.filter else None
    with locked(arguments.output), locked(arguments.private):
        card = freeze(plan, folders, report=report, partial=arguments.partial)
    say(
        _(
            "{pairs:,} pairs: {public:,} with public labels, {hidden:,} with hidden ones.",
            pairs=card["pairs"],
            public=card["public"],
            hidden=card["hidden"],
        )
    )
    say(
        _(
            "Public: {public}. Labels: {private}; keep them private.",
            public=arguments.output / plan.id,
            private=arguments.private / plan.id,
        )
    )
    return 0


def _plan(arguments: argparse.Namespace) -> EditionPlan:
    if not _ID.fullmatch(arguments.id):
        raise CurateError(
            _(
                "The id {id!r} must consist of small letters, digits and dashes: 2 to 40, no dash first.",
                id=arguments.id,
            )
        )
    if arguments.id in known_benchmarks():
        raise CurateError(_("There is a benchmark {id}. Old editions stay: choose another id.", id=arguments.id))
    if not 0 <= arguments.hidden <= 1:
        raise CurateError(_("--hidden {hidden}: give a share from 0 to 1.", hidden=arguments.hidden))
    if arguments.retire:
        try:
            date.fromisoformat(arguments.retire)
        except ValueError:
            raise CurateError(
                _("--retire {retire}: give a date such as 2027-12-31.", retire=arguments.retire)
            ) from None
    return EditionPlan(
        arguments.id,
        check_name(arguments.version, "--version"),
        title=arguments.title,
        citation=arguments.citation,
        hidden_share=arguments.hidden,
        seed=arguments.seed,
        retire=arguments.retire,
    )
