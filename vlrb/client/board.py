"""Command `vlrb board`: the board of a service as a table."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vlrb.client.connection import accepted, answer, ask_service, service_parser
from vlrb.commands.text_output import score_title
from vlrb.common.command_line import columns, translated
from vlrb.common.messages import _
from vlrb.common.rounding import percent
from vlrb.common.text import printable

if TYPE_CHECKING:
    import httpx


def run(arguments: list[str]) -> int:
    """Run `vlrb board`; returns the exit code."""
    return ask_service(_show, command_line().parse_args(arguments))


def command_line() -> argparse.ArgumentParser:
    """Return the options of the command."""
    board = service_parser("board", _("print the board of a server"))
    board.add_argument("--benchmark", metavar="ID", help=_("id of the benchmark (the server's first)"))
    board.add_argument("--protocol", metavar="KEY", help=_("rule that counts the votes (strict)"))
    form = board.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help=_("print CSV, with every figure as a fraction"))
    form.add_argument("--latex", action="store_true", help=_("print a LaTeX table (booktabs)"))
    return board


def _show(http: httpx.Client, options: argparse.Namespace) -> int:
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
    rows += [[_rank(entry), _name(entry), *map(_percent, map(entry.get, scores))] for entry in board["entries"]]
    widths = [max(map(columns, cells)) for cells in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(_padded, row, widths)).rstrip() for row in rows)


def _rank(entry: Mapping[str, Any]) -> str:
    possible = entry["rank_range"]
    return f"{entry['rank'] or '-'}" + (f" ({possible[0]}-{possible[1]})" if possible else "")


def _name(entry: Mapping[str, Any]) -> str:
    return printable(" ".join(filter(None, (entry["model"], entry["version"]))))


def _percent(score: float | None) -> str:
    return "-" if score is None else percent(score)


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - columns(cell))
