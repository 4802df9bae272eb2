"""Columns of the board, declared once for templates, sorting, search, the API and the script."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["rank", "judge", "interval", "share", "number", "text", "date"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: ``key`` is the name in URLs, JSON and CSS classes; ``subtitle`` may be empty."""

    key: str
    title: str
    subtitle: str
    kind: Kind
    descending: bool  # the direction of the first click
    description: str
    usual: bool = True  # stands on the board without being asked for

    @property
    def right(self) -> bool:
        """Numbers without a drawing beside them stand at the right edge."""
        return self.kind in ("rank", "share", "number")


COLUMNS: tuple[Column, ...] = (
    Column("rank", "Rank", "", "rank", False, "Position among entries scored here; equal counts share it."),
    Column("model", "Judge", "", "judge", False, "The judge, and under it who says so."),
    Column("macro", "Macro", "mean of three", "interval", True, "Mean of the three category accuracies."),
    Column("overall", "Overall", "n", "share", True, "Share of all pairs judged as people did."),
    Column("general", "General", "n", "interval", True, "Accuracy on general instructions."),
    Column("hallucination", "Hallucination", "n", "interval", True, "Accuracy on visual hallucinations."),
    Column("reasoning", "Reasoning", "n", "interval", True, "Accuracy on knowledge and mathematical reasoning."),
    Column("votes_per_item", "K", "votes", "number", True, "Votes per pair."),
    Column("decided_rate", "Decided", "%", "share", True, "Share of pairs with a majority for either response."),
    Column("judge_type", "Type", "", "text", False, "How the judge arrives at a preference."),
    Column("date", "Date", "", "date", True, "Submitted here, or published."),
    Column("parameters_b", "Size", "billion", "number", True, "Parameters of the model.", False),
    Column("open_weights", "Weights", "", "text", False, "Whether everybody can have the weights.", False),
    Column("base_model", "Base", "", "text", False, "The model that was trained or asked.", False),
    Column("organisation", "From", "", "text", False, "The organisation.", False),
)
ALWAYS = ("rank", "model")
"""No table without these."""
USUAL = tuple(column.key for column in COLUMNS if column.usual)
BY_KEY = {column.key: column for column in COLUMNS}
DEFAULT_SORT = "macro"
VALUES = ("macro", "overall", "general", "hallucination", "reasoning")
"""The accuracies of a row, in the order of the columns."""
DRAWN = tuple(column.key for column in COLUMNS if column.kind == "interval")
"""The accuracies drawn with their intervals."""
