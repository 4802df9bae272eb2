"""LaTeX of the judges' table: booktabs, the definition of each column as a note. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmark.statistics.composite import Composite
from common.rounding import percent
from leaderboard.board.rows import Board
from leaderboard.judges.composite import weighted
from leaderboard.judges.table import (
    JudgeLine,
    JudgeResult,
    OverallFigure,
    definition_of,
    named_parts,
    part_of,
    variant_of,
)
from leaderboard.share import escape

_MARKS = "abcdefghij"
MOST_IN_A_FLOAT = 40  # rows


def judges_latex(
    lines: Sequence[JudgeLine],
    boards: Sequence[Board],
    result: Mapping[str, Composite],
    address: str,
    weights: Mapping[str, float] | None = None,
) -> bytes:
    """Return the table: a float, or over pages where it is longer than one. Reported figures are in italics; one of
    another definition than its column's has the definition beside it."""
    heads = [f"{escape.latex(board.spec.title)}$^{{{mark}}}$" for board, mark in zip(boards, _MARKS, strict=False)]
    notes = [rf"$^{{{mark}}}$ {escape.latex(_definition(board))}" for board, mark in zip(boards, _MARKS, strict=False)]
    if result:
        heads.append("Composite")
        ranks = "" if any(one.best is None for one in result.values()) else ", with the range of its rank"
        notes.append(f"Composite: {_composite_note(boards, weights or {})}; 95\\% interval{ranks}")
    rows = [" & ".join([_name(line), *map(_cell, line.cells), *_composite(line, result)]) + r" \\" for line in lines]
    caption = f"Judges on several benchmarks. {'; '.join(notes)}. Italic: reported by its source, not verified."
    layout = _long if len(rows) > MOST_IN_A_FLOAT else _float
    return "\n".join([f"% {escape.one_line(address)}", *layout(heads, rows, caption), ""]).encode()


def _float(heads: Sequence[str], rows: Sequence[str], caption: str) -> list[str]:
    return [
        r"% Needs \usepackage{booktabs}.",
        r"\begin{table}",
        r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
        rf"\begin{{tabular}}{{l{'r' * len(heads)}}}",
        r"\toprule",
        " & ".join(["Judge", *heads]) + r" \\",
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
        rf"\caption{{{caption}}}",
        r"\label{tab:judges}",
        r"\end{table}",
    ]


def _long(heads: Sequence[str], rows: Sequence[str], caption: str) -> list[str]:
    """Return a table that goes on over pages, with its head on each of them."""
    head = [r"\toprule", " & ".join(["Judge", *heads]) + r" \\", r"\midrule"]
    return [
        r"% Needs \usepackage{booktabs,longtable}; in two columns, set it in \onecolumn.",
        r"{\footnotesize\setlength{\tabcolsep}{3pt}",
        rf"\begin{{longtable}}{{l{'r' * len(heads)}}}",
        rf"\caption{{{caption}}}\label{{tab:judges}}\\",
        *head,
        r"\endfirsthead",
        *head,
        r"\endhead",
        r"\bottomrule",
        r"\endlastfoot",
        *rows,
        r"\end{longtable}}",
    ]


def _composite_note(boards: Sequence[Board], weights: Mapping[str, float]) -> str:
    used = [weights.get(board.benchmark, 1.0) for board in boards]
    parts = escape.latex(named_parts(weighted(boards, weights)))
    part = f"; it counts as a whole benchmark what is a part: {parts}" if parts else ""
    if len({*used}) == 1:
        return f"mean of the scores made here, of judges that have all{part}"
    listed = ", ".join(f"{weight:g}" for weight in used)
    return f"mean of the scores made here with the weights {listed}, of judges that have all with a weight{part}"


def _definition(board: Board) -> str:
    figure = f"{board.spec.title_of(board.headline)} ({definition_of(board, board.headline)})"
    rule = f"rule {board.protocol}, labels {board.label_revision}"
    return ", ".join(filter(None, (figure, rule, part_of(board))))


def _name(line: JudgeLine) -> str:
    return "{}" + escape.latex(line.name)  # a bracket after an end of row would be an argument


def _cell(cell: JudgeResult | None) -> str:
    figure = cell.leading if cell is not None else None
    if cell is None or figure is None:
        return "--"
    value = percent(figure.value)
    if not cell.figures:
        value = rf"\textit{{{value}}}"
    return f"{value} ({escape.latex(beside)})" if (beside := _beside(cell, figure)) else value


def _beside(cell: JudgeResult, figure: OverallFigure) -> str:
    """Return what sets a figure apart from its column: another definition, several votes, why it leads nothing."""
    kind = "" if figure.key == cell.board.headline else figure.label
    row = cell.leading_row
    variant = "" if row is None else row.remark if cell.figures else variant_of(row)
    return ", ".join(filter(None, (kind, variant)))


def _composite(line: JudgeLine, result: Mapping[str, Composite]) -> list[str]:
    if not result:
        return []
    composite = result.get(line.slug)
    if composite is None:
        return ["--"]
    low, high = composite.interval
    ranks = "" if composite.best is None else f", {composite.best}--{composite.worst}"
    return [f"{percent(composite.value)} [{percent(low)}, {percent(high)}]{ranks}"]
