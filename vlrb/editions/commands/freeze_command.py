"""`vlrb edition freeze`: verified pairs become the next edition."""

from __future__ import annotations

import argparse
import re
from dataclasses import fields
from datetime import date
from pathlib import Path
from typing import Any

from vlrb.benchmarks.spec_file import known_benchmarks
from vlrb.editions.errors import CurateError
from vlrb.editions.folder.edition import EditionPlan, EditionWriter
from vlrb.editions.pools.pool import read_json, read_pair_file
from vlrb.editions.pools.sources import read_objects

_ID = re.compile(r"[a-z0-9][a-z0-9-]{1,39}")
_AGREEMENT = ("answers", "alpha", "mean_kappa", "tags", "annotators", "pairs")
_FILTER = ("rule", "pairs", "judges")


def add_freeze_command(commands: Any) -> None:
    """Add `freeze`."""
    parser = commands.add_parser("freeze", help="freeze verified pairs as an edition", allow_abbrev=False)
    parser.add_argument("id", metavar="ID", help="of the benchmark: small letters, digits, dashes")
    parser.add_argument("--verified", type=Path, required=True, metavar="DIR", help="of `verify import`")
    parser.add_argument("--pool", type=Path, required=True, metavar="DIR", help="where the images lie")
    parser.add_argument("--filter", type=Path, metavar="FILE", help="filter.json of the filter")
    parser.add_argument("--title", required=True, help="for pages")
    parser.add_argument("--citation", default="", metavar="TEXT", help="BibTeX")
    parser.add_argument("--hidden", type=float, default=0.5, metavar="SHARE", help="of pairs with hidden labels (0.5)")
    parser.add_argument("--retire", default="", metavar="DATE", help="when the labels are to be published: 2027-12-31")
    parser.add_argument("--partial", action="store_true", help="although some pairs are not decided")
    parser.add_argument("--output", type=Path, default=Path("editions"), metavar="DIR", help="public (editions/)")
    parser.add_argument("--private", type=Path, default=Path("private"), metavar="DIR", help="labels (private/)")
    parser.set_defaults(run=freeze_command)


def freeze_command(arguments: argparse.Namespace) -> int:
    """Write an edition. Returns the exit code."""
    _check(arguments)
    plan = EditionPlan(**{field.name: getattr(arguments, field.name) for field in fields(EditionPlan)})
    report = read_json(arguments.filter, *_FILTER) if arguments.filter else None
    left = sum(1 for _line in read_objects(plan.verified / "open.jsonl"))
    if left and not arguments.partial:
        raise CurateError(
            f"Not decided yet: {left:,} ({plan.verified / 'open.jsonl'}). Decide them, or give --partial."
        )
    pairs = read_pair_file(plan.verified / "verified.jsonl")
    if not pairs or any(pair.get("preferred") is None for pair in pairs):
        raise CurateError(f"{plan.verified} holds no verified pairs, or one without `preferred`: import labels again.")
    agreement = read_json(plan.verified / "agreement.json", *_AGREEMENT)
    card = EditionWriter(plan, pairs, agreement=agreement, report=report).write()
    print(f"{card['pairs']:,} pairs: {card['public']:,} with public labels, {card['hidden']:,} with hidden ones.")
    print(f"Public: {plan.output / plan.id}. Labels: {plan.private / plan.id}; keep them private.")
    return 0


def _check(arguments: argparse.Namespace) -> None:
    if not _ID.fullmatch(arguments.id):
        raise CurateError(f"The id {arguments.id!r}: give 2 to 40 small letters, digits and dashes, no dash first.")
    if arguments.id in known_benchmarks():
        raise CurateError(f"There is a benchmark {arguments.id}. Old editions stay: choose another id.")
    if not 0 <= arguments.hidden <= 1:
        raise CurateError(f"--hidden {arguments.hidden}: give a share from 0 to 1.")
    try:
        date.fromisoformat(arguments.retire or "2027-12-31")
    except ValueError:
        raise CurateError(f"--retire {arguments.retire}: give a date such as 2027-12-31.") from None
