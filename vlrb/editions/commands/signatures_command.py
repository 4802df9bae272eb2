"""`vlrb edition signatures`: what near duplicates of an edition are found by, made from its items."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from vlrb.editions.commands.pool_command import own_definitions
from vlrb.editions.pools.compared_editions import edition_items
from vlrb.editions.pools.near_duplicates import SIGNATURES, write_signatures
from vlrb.editions.pools.sources import open_source


def add_signatures_command(commands: Any) -> None:
    """Add `signatures`."""
    parser = commands.add_parser("signatures", help="of an edition, for near duplicates", allow_abbrev=False)
    parser.add_argument("id", metavar="ID", help="of the benchmark: small letters, digits, dashes")
    parser.add_argument("items", nargs="+", metavar="ITEMS", help="JSON lines, parquet or a Hub dataset")
    parser.add_argument("--output", type=Path, default=Path(SIGNATURES), metavar="FILE", help=SIGNATURES)
    parser.set_defaults(run=signatures_command)


def signatures_command(arguments: argparse.Namespace) -> int:
    """Write the signatures of an edition. Returns the exit code."""
    sources = [open_source(name, usual="test") for name in arguments.items]
    pairs = edition_items(arguments.id, sources, own=own_definitions(arguments))
    number = write_signatures(arguments.output, arguments.id, pairs=pairs)
    print(f"{number:,} signatures in {arguments.output}.")
    return 0
