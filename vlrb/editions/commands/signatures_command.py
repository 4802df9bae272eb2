"""`vlrb edition signatures`: what near duplicates of an edition are found by, made from its items."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from vlrb.common.command_line import say
from vlrb.common.messages import _
from vlrb.editions.commands.duplicates_command import item_source, own_definitions
from vlrb.editions.pools.compared_editions import edition_items
from vlrb.editions.pools.edition_signatures import SIGNATURES, write_signatures


def add_signatures_command(commands: Any) -> None:
    """Add `signatures`."""
    parser = commands.add_parser("signatures", help=_("of an edition, for near duplicates"), allow_abbrev=False)
    parser.add_argument("id", metavar="ID", help=_("of the benchmark: small letters, digits, dashes"))
    parser.add_argument(
        "items", nargs="+", metavar="ITEMS", help=_("JSON lines, parquet or a Hub dataset as owner/name@COMMIT")
    )
    parser.add_argument("--revision", metavar="COMMIT", help=_("commit, where a name of a Hub dataset has none"))
    parser.add_argument("--split", metavar="SPLIT", help=_("split of the Hub dataset (test, or the only one)"))
    parser.add_argument("--output", type=Path, default=Path(SIGNATURES), metavar="FILE", help=SIGNATURES)
    parser.set_defaults(run=signatures_command)


def signatures_command(arguments: argparse.Namespace) -> int:
    """Write the signatures of an edition. Returns the exit code."""
    sources = [item_source(name, arguments) for name in arguments.items]
    pairs = edition_items(arguments.id, sources, folders=own_definitions(arguments))
    number = write_signatures(arguments.output, arguments.id, pairs=pairs)
    say(_("{number:,} signatures in {path}.", number=number, path=arguments.output))
    return 0
