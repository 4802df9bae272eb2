"""Exports of a query's rows: CSV, JSON, Parquet, Markdown, LaTeX. Pure: rows in, bytes out.

CSV, JSON and Parquet hold one and the same table (FIELDS): shares are fractions 0..1, rounded only where labels are not
public, and what is not known is empty. Markdown and LaTeX hold what people read: percent with one decimal, intervals,
first place in bold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from typing import Any, Literal

import orjson

from common.csv_text import csv_table
from leaderboard.ranking.columns import Column, ValueType, by_key, columns_of, usual
from leaderboard.ranking.parameters import BoardQuery, chosen
from leaderboard.ranking.rank_info import RankInfo
from leaderboard.ranking.rows import Board, BoardRow, Bounds
from leaderboard.share import escape
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.rounding import percent, percent_range, tenths
from vlrb.protocols import protocols

Value = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Extract:
    """What is taken along: rows in the order of the view, the board that they are of, and where to find it again."""

    rows: tuple[BoardRow, ...]
    board: Board
    view: BoardQuery
    address: str  # of the same view of the same snapshot

    def standing(self, row: BoardRow) -> RankInfo | None:
        """Return its rank in the order of the view; None for what has no rank."""
        return self.board.standings(self.view.sort).get(row.id) if row.tier == "scored" else None


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file. ``title`` is how people call it, ``content`` what a reader of the documentation should know."""

    suffix: str
    title: str
    media_type: str
    write: Callable[[Extract], bytes]
    content: str
    primary: bool = False  # offered for ticked rows in plain sight; all are in a menu above the table
    compared: bool = False  # offered below a comparison
    compressed: bool = False  # the file itself, so that the reply need not be

    def file_name(self, *parts: str) -> str:
        """Return a name that says what is in the file; plain letters, digits, points and dashes."""
        name = "-".join(part for part in (re.sub(r"[^A-Za-z0-9.]+", "-", part).strip("-.") for part in parts) if part)
        return f"{name}.{self.suffix}"


def file_stem(spec: BenchmarkSpec) -> str:
    """Return the brand as it is in names of files."""
    return re.sub("[^a-z0-9]+", "-", spec.brand.lower()).strip("-")


def extract(board: Board, view: BoardQuery, *, address: str = "") -> Extract:
    """Return all rows of a view, not only those of its page."""
    return Extract(tuple(chosen(board, view)), board, view=view, address=address)


_PUBLISHED = ("decided_rate", "votes_per_item", "parameters_b", "open_weights", "base_model")
_NAMES = ("id", "model", "version", "judge", "judge_name", "organisation", "tier", "judge_type")
_REMARKS = ("source", "url", "note", "about", "remark")
# What holds for every row counted here, so that a file without a heading still says what it is. Reported figures follow
# no rule of ours, hence nothing there.
_RULES = ("protocol", "grouping", "label_revision", "snapshot")


@cache
def fields(spec: BenchmarkSpec) -> Mapping[str, ValueType]:
    """Return the types of the table's columns by name, in the order in which they were published; a column that is
    declared later is before the date."""
    column, scores = by_key(spec), spec.headline_first
    elsewhere = ("rank", *_NAMES, *scores, *_PUBLISHED, "date")
    later = (column.key for column in columns_of(spec) if column.key not in elsewhere)
    bounded = [name + part for name in scores for part in ("", "_low", "_high")]
    lucky = [f"best_of_{name}_{part}" for name in scores for part in ("gain", "low", "high")]
    return {
        **dict.fromkeys(("rank", "rank_best", "rank_worst"), "whole"),
        **dict.fromkeys(_NAMES, "text"),
        **dict.fromkeys(bounded, "number"),
        "best_of_variants": "whole",
        **dict.fromkeys(lucky, "number"),
        **{name: column[name].value_type for name in (*_PUBLISHED, *later, "date")},
        "submitted_at": "moment",
        **dict.fromkeys((*_REMARKS, *_RULES), "text"),
    }


def records(taken: Extract) -> list[dict[str, Value]]:
    """Return the table, row by row."""
    return [_record(taken, row) for row in taken.rows]


def _record(taken: Extract, row: BoardRow) -> dict[str, Value]:
    """Return one row of the table. Texts that are not known are None, as numbers are."""
    board, at, best = taken.board, taken.standing(row), row.best_of
    record: dict[str, Value] = dict.fromkeys(fields(board.spec))
    columns = (column.key for column in columns_of(board.spec) if column.key != "rank")
    record |= {name: row.value(name) or None for name in (*_NAMES, "submitted_at", *_REMARKS)}
    record |= {name: None if (value := row.value(name)) == "" else value for name in columns}
    record |= _bounds("", row.interval)
    if at is not None:
        record |= {"rank": at.rank, "rank_best": at.best, "rank_worst": at.worst}
    if best is not None:
        record |= {"best_of_variants": best.variants, **_bounds("best_of_", best.interval)}
        record |= {f"best_of_{name}_gain": gain for name, gain in best.gain.items()}
    rules = ("snapshot_id",) if row.tier == "reported" else ("protocol", "grouping", "label_revision", "snapshot_id")
    return record | {name.removesuffix("_id"): getattr(board, name) for name in rules}


def _bounds(before: str, intervals: Mapping[str, Bounds]) -> dict[str, float]:
    lows = {f"{before}{name}_low": low for name, (low, _) in intervals.items()}
    return lows | {f"{before}{name}_high": high for name, (_, high) in intervals.items()}


def as_csv(taken: Extract) -> bytes:
    """RFC 4180, UTF-8. No cell can be a formula."""
    return csv_table(list(fields(taken.board.spec)), (list(record.values()) for record in records(taken)))


def as_json(taken: Extract) -> bytes:
    """Return an object with what the rows are, and the rows."""
    board = taken.board
    content: Mapping[str, Any] = {
        **board.identity,
        "sizes": dict(board.sizes),
        "address": taken.address,
        "columns": list(fields(board.spec)),
        "entries": records(taken),
    }
    return orjson.dumps(content)


def as_parquet(taken: Extract) -> bytes:
    """Typed columns; what the rows are is in the file's key-value metadata."""
    import pandas as pd  # a third of a second, which the start of the web process should not wait for
    import pyarrow as pa

    types = {
        "text": pa.string(),
        "whole": pa.int32(),
        "number": pa.float64(),
        "flag": pa.bool_(),
        "day": pa.date32(),
        "moment": pa.timestamp("ms", tz="UTC"),
    }
    kinds = fields(taken.board.spec)
    about = {name: str(getattr(taken.board, name)) for name in ("benchmark", "snapshot_id", "as_of", *_RULES[:3])}
    schema = pa.schema([(name, types[kind]) for name, kind in kinds.items()], {**about, "address": taken.address})
    rows = [{name: _typed(value, kinds[name]) for name, value in record.items()} for record in records(taken)]
    frame = pd.DataFrame(rows, columns=list(kinds), dtype=object)
    return bytes(frame.to_parquet(None, index=False, schema=schema, compression="zstd"))


def _typed(value: Value, kind: ValueType) -> object:
    """Days and moments are text on the board; one that is no date is not known here."""
    if not isinstance(value, str) or kind == "text":
        return value
    try:
        return date.fromisoformat(value) if kind == "day" else datetime.fromisoformat(value)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class _Cell:
    """What is in one place of a table that people read. ``text`` may be anybody's, the rest is ours."""

    text: str
    spread: str = ""  # an interval in percent, or a range of ranks
    best: bool = False
    mark: Literal["", "reported", "baseline"] = ""
    remark: str = ""  # the letter of what has to be known about the row


def _cells(taken: Extract, columns: Sequence[Column]) -> list[list[_Cell]]:
    tier, letters = _best_tier(taken.rows), _letters(taken.rows)
    rivals = [row for row in taken.rows if row.tier == tier and row.leads and not row.inconsistent]
    bold = {name: _best(taken.board, rivals, name=name) for name in taken.board.spec.headline_first}
    return [[_cell(taken, row, column=column, bold=bold, letters=letters) for column in columns] for row in taken.rows]


def _letters(rows: Sequence[BoardRow]) -> dict[str, str]:
    """Return the warnings that stand at rows -> a, b, ..., z, 27, ...: what is quoted takes them along."""
    notes = dict.fromkeys(row.note for row in rows if row.note)
    return {note: chr(ord("a") + at) if at < 26 else str(at + 1) for at, note in enumerate(notes)}


def _cell(
    taken: Extract, row: BoardRow, *, column: Column, bold: Mapping[str, frozenset[str]], letters: Mapping[str, str]
) -> _Cell:
    key = column.key
    if key == "rank":
        return _rank(taken.standing(row))
    if key == "model":
        mark: Literal["", "reported", "baseline"] = "" if row.tier == "scored" else row.tier
        return _Cell(f"{row.model} {row.version}".strip(), mark=mark, remark=letters.get(row.note, ""))
    value = row.value(key)
    if value is None or value == "":
        return _Cell("")
    if column.kind in ("interval", "share"):
        bounds = row.interval.get(key)
        spread = percent_range(bounds)
        return _Cell(percent(value), spread, best=row.id in bold.get(key, ()))
    return _Cell(column.text(value))


def _rank(standing: RankInfo | None) -> _Cell:
    if standing is None:
        return _Cell("")
    return _Cell(str(standing.rank), standing.range)


def _best_tier(rows: Sequence[BoardRow]) -> str:
    """Return whose best is bold: of those counted here, or else of those reported."""
    return "scored" if any(row.tier == "scored" for row in rows) else "reported"


def _best(board: Board, rivals: Sequence[BoardRow], *, name: str) -> frozenset[str]:
    """Return who is first by a score: of judges that were tested those that share first place on the board, of others
    those with the highest value."""
    if any(row.tier == "scored" for row in rivals) and board.ranges.get(name):
        standings = board.standings(name)
        return frozenset(row.id for row in rivals if (at := standings.get(row.id)) and at.shares_first)
    known = [(tenths(value), row.id) for row in rivals if (value := row.value(name)) is not None]
    highest = max((value for value, _ in known), default=0)
    return frozenset(row_id for value, row_id in known if value == highest)


def _sentences(taken: Extract) -> list[str]:
    """Return what a reader has to know, in a few words."""
    board, tiers = taken.board, {row.tier for row in taken.rows}
    categories = board.spec.grouping_text(board.grouping).title
    lines = [
        f"Rule {protocols(board.spec)[board.protocol].title}, categories {categories}, labels {board.label_revision}."
    ]
    lines.append("Percent agreement with people, 95% intervals.")
    if any(at.range for row in taken.rows if (at := taken.standing(row))):
        lines.append("With a rank, the ranks that paired tests leave open.")
    if board.ranges and "scored" in tiers:
        lines.append("Bold: shares first place on the board, by paired tests.")
    else:
        lines.append("Bold: the best counted here." if {"scored", "reported"} <= tiers else "Bold: the best.")
    if "reported" in tiers:
        lines.append("† As reported by its authors, not counted here; no rank.")
    if letters := _letters(taken.rows):
        lines.append("; ".join(f"{letter}: {note}" for note, letter in letters.items()) + ".")
    if "baseline" in tiers:
        lines.append("In italics: what needs no judge.")
    if board.spec.synthetic:
        lines.append("Synthetic pairs and simulated judges.")
    return lines


def as_markdown(taken: Extract) -> bytes:
    """Return a table as GitHub and the Hub draw it, with the columns of the view; names are text."""
    columns, sizes = taken.view.shown(taken.board), taken.board.sizes
    heads = [
        f"{column.title} (n {sizes[column.key]:,})" if sizes.get(column.key) else column.title for column in columns
    ]
    lines = [f"| {' | '.join(heads)} |", f"|{'|'.join('---:' if _right(column) else ':---' for column in columns)}|"]
    lines += [f"| {' | '.join(map(_markdown_cell, row))} |" for row in _cells(taken, columns)]
    snapshot = f"Snapshot `{taken.board.snapshot_id or 'none'}`: <{taken.address}>"
    lines += ["", " ".join([*map(escape.markdown, _sentences(taken)), snapshot]), ""]
    return "\n".join(lines).encode()


def _right(column: Column) -> bool:
    return column.right or column.kind == "interval"


def _markdown_cell(cell: _Cell) -> str:
    if not cell.text:
        return "–"
    text = escape.markdown(cell.text)
    text = f"**{text}**" if cell.best else f"*{text}*" if cell.mark == "baseline" else text
    spread = f" ({cell.spread})" if cell.spread else ""
    marks = ("†" if cell.mark == "reported" else "") + cell.remark
    return text + spread + (f" {marks}" if marks else "")


def as_latex(taken: Extract) -> bytes:
    """Return a booktabs table that fits a column of article: intervals in small print under their values. Other
    scripts than Latin need XeLaTeX or LuaLaTeX with a font that has them."""
    import pandas as pd

    board, view = taken.board, taken.view
    # As many columns as fit the width of a page; who has chosen columns gets those.
    printed = ("rank", "model", *board.spec.headline_first, "votes_per_item")
    few = [column for key in printed for column in board.columns if column.key == key]
    columns = few if view.columns == usual(board.spec) else view.shown(board)
    sizes = [f"{{\\tiny $n={board.sizes[column.key]}$}}" if board.sizes.get(column.key) else "" for column in columns]
    shorts = {category.key: category.short or category.title for category in board.spec.categories}
    heads = [shorts.get(column.key, column.title) for column in columns]
    lines = [line for row in _cells(taken, columns) for line in _latex_lines(row)]
    long = len(lines) > _MOST_IN_A_FLOAT
    text = pd.DataFrame(lines, columns=pd.MultiIndex.from_arrays([heads, sizes])).to_latex(
        index=False,
        escape=False,
        multicolumn=False,
        longtable=long,
        column_format=f"@{{}}{''.join('r' if _right(column) else 'l' for column in columns)}@{{}}",
        caption=escape.latex(" ".join([f"{board.spec.brand} leaderboard.", *_sentences(taken)])).replace("†", _DAGGER),
        label=f"tab:{file_stem(board.spec)}",
    )
    about = f"Snapshot {board.snapshot_id or 'none'} of {board.as_of[:10]}: {taken.address}"
    return f"% {escape.one_line(about)}\n{_finished(text, long=long)}".encode()


_DAGGER = r"$^{\dagger}$"
_LOOK = r"\footnotesize\setlength{\tabcolsep}{3pt}"
_MOST_IN_A_FLOAT = 40  # lines; a longer table goes on over pages, with its head on each of them
_LATIN = 0x250  # the first sign that pdfLaTeX's usual fonts lack
_CAPTION_AGAIN = r"\\caption\[\].*\n"  # which pandas repeats on each page
_BELOW = "\0"  # before a line that belongs to the one above it


def _finished(text: str, *, long: bool) -> str:
    """Return a table of pandas in small print, intervals close to their values, with what it needs in a comment."""
    text = text.replace(f" \\\\\n{_BELOW}", " \\\\[-3pt]\n")
    if long:
        needs = r"\usepackage{booktabs,longtable}; in two columns, set it in \onecolumn."
        text = f"{{{_LOOK}\n{re.sub(_CAPTION_AGAIN, '', text)}}}\n"
    else:
        needs = r"\usepackage{booktabs}."
        text = text.replace("\n", f"\n\\centering{_LOOK}\n", 1)
    others = any(ord(sign) >= _LATIN for sign in text)
    fonts = "% Some names need XeLaTeX or LuaLaTeX and a font that has their script.\n" if others else ""
    return f"{fonts}% Needs {needs}\n{text}"


def _latex_lines(cells: Sequence[_Cell]) -> Iterator[list[str]]:
    """Yield the values, and under them the intervals. A line begins with a rank, a dash or an interval, never with
    anybody's text: what follows an end of row may be an argument."""
    yield [_latex_cell(cell) for cell in cells]
    if any(cell.spread for cell in cells):
        below = [rf"{{\tiny {escape.latex(cell.spread)}}}" if cell.spread else "" for cell in cells]
        yield [_BELOW + below[0], *below[1:]]


def _latex_cell(cell: _Cell) -> str:
    if not cell.text:
        return "--"
    text = escape.latex(cell.text)
    text = rf"\textbf{{{text}}}" if cell.best else rf"\emph{{{text}}}" if cell.mark == "baseline" else text
    marks = (r"\dagger " if cell.mark == "reported" else "") + cell.remark
    return text + (f"$^{{{marks.strip()}}}$" if marks else "")


FORMATS: dict[str, Format] = {
    export.suffix: export
    for export in (
        Format(
            "csv",
            "CSV",
            "text/csv; charset=utf-8",
            as_csv,
            "every figure as a fraction; no cell is a formula",
            primary=True,
            compared=True,
        ),
        Format(
            "tex",
            "LaTeX",
            "application/x-tex; charset=utf-8",
            as_latex,
            "a booktabs table: percent with intervals, first place in bold",
            primary=True,
            compared=True,
        ),
        Format(
            "md",
            "Markdown",
            "text/markdown; charset=utf-8",
            as_markdown,
            "the same table as GitHub and the Hub draw it",
            compared=True,
        ),
        Format("json", "JSON", "application/json", as_json, "the rows of the CSV, with snapshot and rules"),
        Format(
            "parquet",
            "Parquet",
            "application/vnd.apache.parquet",
            as_parquet,
            "typed columns; snapshot and rules in the metadata",
            compressed=True,
        ),
    )
}
