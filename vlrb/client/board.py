"""Command `vlrb board`: the board of a service as a table."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any

import httpx

from vlrb.client.connection import accepted, add_server, answer, asks_service
from vlrb.commands.text_output import score_title
from vlrb.common.command_line import columns, translated
from vlrb.common.messages import _
from vlrb.common.rounding import percent
from vlrb.common.text import printable


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_server(parser)
    parser.add_argument("--benchmark", metavar="ID", help=_("id of the benchmark (the server's first)"))
    parser.add_argument("--protocol", metavar="KEY", help=_("rule that counts the votes (strict)"))
    add = parser.add_mutually_exclusive_group().add_argument
    add("--csv", action="store_true", help=_("print CSV, with every figure as a fraction"))
    add("--latex", action="store_true", help=_("print a LaTeX table (booktabs)"))


@asks_service
def run(http: httpx.Client, options: argparse.Namespace) -> int:
    """Print a board. Returns the exit code."""
    query = {name: value for name in ("benchmark", "protocol") if (value := getattr(options, name))}
    if options.csv or options.latex:
        exported = accepted(http.get(f"/export/board.{'csv' if options.csv else 'tex'}", params=query))
        print(exported.text.rstrip("\n"))
        return 0
    board = answer(http.get("/api/v1/leaderboard", params=query))
    print(json.dumps(board) if options.json else board_text(board))
    return 0


def board_text(board: Mapping[str, Any]) -> str:
    """Return a board in columns of equal width: rank with its range, judge, scores in percent."""
    scores = list(dict.fromkeys([board["headline"]["key"], *board["sizes"]]))
    titles = [translated(_(score_title(board["benchmark"], name))) for name in scores]
    rows = [[translated(_("Rank")), translated(_("Model")), *titles]]
    rows += [
        [_rank(entry), _name(entry), *(percent(entry.get(name)) or "-" for name in scores)]
        for entry in board["entries"]
    ]
    widths = [max(map(columns, cells)) for cells in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(_padded, row, widths)).rstrip() for row in rows)


def _rank(entry: Mapping[str, Any]) -> str:
    possible = entry["rank_range"]
    return f"{entry['rank'] or '-'}" + (f" ({possible[0]}-{possible[1]})" if possible else "")


def _name(entry: Mapping[str, Any]) -> str:
    return printable(" ".join(filter(None, (entry["model"], entry["version"]))))


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - columns(cell))
