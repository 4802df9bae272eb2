"""LaTeX of a table: booktabs, as a float or over pages, with notes below. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.share import escape

MOST_IN_A_FLOAT = 40  # lines
_LATIN = 0x250  # the first sign that pdfLaTeX's usual fonts lack


def latex_table(
    head: Sequence[str], rows: Sequence[str], *, align: str, caption: str, comment: str, below: Sequence[str] = ()
) -> bytes:
    """Return a file. All but the comment is LaTeX already; ``align``: a letter for each column.

    A table longer than a float goes on over pages, with its head on each of them.
    """
    head = [r"\toprule", *(line + r" \\" for line in head), r"\midrule"]
    look, columns = r"\footnotesize\setlength{\tabcolsep}{3pt}", f"{{@{{}}{align}@{{}}}}"
    opening = [
        r"% Needs \usepackage{booktabs}.",
        r"\begin{table}",
        rf"\centering{look}",
        rf"{caption}\smallskip",
        rf"\begin{{tabular}}{columns}",
        *head,
    ]
    closing = [r"\bottomrule", r"\end{tabular}", *below, r"\end{table}"]
    if len(rows) > MOST_IN_A_FLOAT:
        opening = [
            r"% Needs \usepackage{booktabs,longtable}; in two columns, set it in \onecolumn.",
            f"{{{look}",
            rf"\begin{{longtable}}{columns}",
            rf"{caption}\\",
            *[*head, r"\endfirsthead", *head, r"\endhead", r"\bottomrule", r"\endlastfoot"],
        ]
        closing = [r"\end{longtable}", *below, "}"]
    table = [*opening, *rows, *closing, ""]
    others = any(ord(sign) >= _LATIN for line in table for sign in line)
    fonts = ["% Some names need XeLaTeX or LuaLaTeX and a font that has their script."] if others else []
    return "\n".join([f"% {escape.one_line(comment)}", *fonts, *table]).encode()
