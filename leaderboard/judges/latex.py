"""LaTeX of the judges' table: booktabs, with definitions and sources as notes. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leaderboard.board.rows import Board
from leaderboard.judges.composite import JudgeComposite, weighted
from leaderboard.judges.table import (
    JudgeLine,
    JudgeResult,
    definition_of,
    named_parts,
    part_of,
    variant_of,
)
from leaderboard.share import escape
from leaderboard.share.latex_table import latex_table
from vlrb.common.rounding import percent

_CAPTION = r"\caption{Judges on several benchmarks: percent agreement with people.}\label{tab:judges}"
_LONG_NAME = 20  # signs

CitedSource = tuple[str, str]
"""What reported a figure: its name, its address."""


@dataclass(frozen=True, slots=True)
class _Marks:
    """What stands at figures and is explained under the table."""

    columns: tuple[str, ...]
    remarks: Mapping[str, str]  # letters of what sets figures apart from their column, by that in words
    sources: Mapping[CitedSource, str]  # numbers


def judges_latex(
    lines: Sequence[JudgeLine],
    boards: Sequence[Board],
    *,
    result: Mapping[str, JudgeComposite],
    address: str,
    weights: Mapping[str, float] | None = None,
) -> bytes:
    """Return the table, and its notes below it: a float, or over pages where it is longer than one.

    Reported figures are in italics with the number of their source; a figure of another definition than its column's,
    or of several votes, has the letter of a note.
    """
    marks = _marks(lines, boards)
    heads = [_head(board.spec.title, mark) for board, mark in zip(boards, marks.columns, strict=True)]
    notes = _notes(marks, boards)
    result = {line.slug: result[line.slug] for line in lines if line.slug in result}
    if result:
        heads.append("Composite")
        ranks = "" if any(judge.composite.best is None for judge in result.values()) else ", with the range of its rank"
        notes.append(f"Composite: {_composite_note(boards, weights or {})}; 95\\% interval{ranks}.")
    rows = [
        " & ".join([_name(line.name), *(_cell(cell, marks) for cell in line.cells), *_composite(line, result)]) + r" \\"
        for line in lines
    ]
    head = " & ".join(["Judge", *heads])
    return latex_table(
        [head], rows, align="l" + "r" * len(heads), caption=_CAPTION, comment=address, below=_below(notes)
    )


def _marks(lines: Sequence[JudgeLine], boards: Sequence[Board]) -> _Marks:
    """Return the marks of a table, in the order in which its rows need them; each definition and source once."""
    cells = [cell for line in lines for cell in line.cells if cell is not None and cell.leading is not None]
    remarks = dict.fromkeys(remark for cell in cells for remark in _remarks(cell))
    sources = dict.fromkeys(filter(None, map(_source, cells)))
    return _Marks(
        tuple(_letter(place) for place in range(len(boards))),
        {words: _letter(place) for place, words in enumerate(remarks, start=len(boards))},
        sources={source: str(place) for place, source in enumerate(sources, start=1)},
    )


def _letter(place: int) -> str:
    """Return a, b, ..., z, aa, ab, ..."""
    more, sign = divmod(place, 26)
    return (_letter(more - 1) if more else "") + chr(ord("a") + sign)


def _raised(*marks: str) -> str:
    return f"$^{{{','.join(marks)}}}$" if marks else ""


def _head(title: str, mark: str) -> str:
    """Return the head of a column, in two lines where its title has several words: a page is not wide."""
    first, sign, last = re.fullmatch(r"(?:(.*)([ -]))?(.*)", title).groups("")  # type: ignore[union-attr]
    text = escape.latex(last) + _raised(mark)
    return rf"\shortstack[r]{{{escape.latex((first + sign).strip())}\\{text}}}" if first else text


def _notes(marks: _Marks, boards: Sequence[Board]) -> list[str]:
    """Return what stands under a table, a sentence each."""
    notes = [
        f"{_raised(mark)}{escape.latex(_column(board))}." for board, mark in zip(boards, marks.columns, strict=True)
    ]
    notes += [f"{_raised(mark)}{escape.latex(words)}." for words, mark in marks.remarks.items()]
    notes.append("Micro: all pairs alike. Mean of $n$: of $n$ categories.")
    if marks.sources:
        notes.append(
            "Italic: reported by the source of its number, under that source's rule and on its pairs, not verified."
        )
        notes += [f"{_raised(number)}{_cited(source)}." for source, number in marks.sources.items()]
    return notes


def _below(notes: Sequence[str]) -> list[str]:
    return [r"\par\medskip", r"{\scriptsize\raggedright\noindent", *notes, r"\par}"]


def _composite_note(boards: Sequence[Board], weights: Mapping[str, float]) -> str:
    used = [weights.get(board.benchmark, 1.0) for board in boards]
    parts = escape.latex(named_parts(weighted(boards, weights)))
    part = (
        f"; it counts these as whole benchmarks, although only a part of their pairs is here: {parts}" if parts else ""
    )
    if len({*used}) == 1:
        return f"mean of the scores made here, of judges that have all{part}"
    listed = ", ".join(f"{weight:g}" for weight in used)
    return f"mean of the scores made here with the weights {listed}, of judges that have all with a weight{part}"


def _column(board: Board) -> str:
    """Return the definition of a column: its overall, and how that is counted here."""
    overall = f"{board.spec.title_of(board.headline)} ({definition_of(board, board.headline)})"
    counted = f"scored here by the rule {board.protocol} with labels {board.label_revision}"
    part = part_of(board)
    return f"{overall}; {counted}" + (f", on {part}" if part else "")


def _remarks(cell: JudgeResult) -> list[str]:
    """Return what sets a leading figure apart: another definition than its column's, votes, why it leads nothing."""
    figure, spec = cell.leading, cell.board.spec
    row = cell.leading_row
    variant = variant_of(row) if row is not None else ""
    if figure is None or figure.key == cell.board.headline:
        return [variant] if variant else []
    words = figure.kind if figure.label == figure.kind else f"{figure.title} ({figure.kind})"
    return [f"{spec.title}: {words}", *([variant] if variant else [])]


def _source(cell: JudgeResult) -> CitedSource | None:
    """Return the source of a reported figure; None of one that was scored here."""
    row = cell.leading_row
    return None if row is None or row.tier == "scored" else (row.source, row.url)


def _cited(source: CitedSource) -> str:
    """Return a source as text; the number of an arXiv paper needs no address."""
    name, url = source
    if not url or name.startswith("arXiv:"):
        return escape.latex(name)
    address = escape.latex(url.partition("://")[2] or url).replace("/", r"/\allowbreak{}")
    return f"{escape.latex(name)}, {address}"


def _name(name: str) -> str:
    """Return the first cell of a row; one that began with a bracket would be an argument of the end of the row above.

    Long names go on over lines.
    """
    text = "{}" + escape.latex(name)
    return text if len(name) <= _LONG_NAME else rf"\parbox[t]{{0.23\linewidth}}{{\raggedright\strut {text}\strut}}"


def _cell(cell: JudgeResult | None, marks: _Marks) -> str:
    figure = cell.leading if cell is not None else None
    if cell is None or figure is None:
        return "--"
    letters, source = [marks.remarks[remark] for remark in _remarks(cell)], _source(cell)
    if source is None:
        return percent(figure.value) + _raised(*letters)
    return rf"\textit{{{percent(figure.value)}}}" + _raised(*letters, marks.sources[source])


def _composite(line: JudgeLine, result: Mapping[str, JudgeComposite]) -> list[str]:
    if not result:
        return []
    if line.slug not in result:
        return ["--"]
    composite = result[line.slug].composite
    low, high = composite.interval
    ranks = "" if composite.best is None else f", {composite.best}--{composite.worst}"
    return [rf"{percent(composite.value)} {{\scriptsize [{percent(low)}, {percent(high)}]{ranks}}}"]
