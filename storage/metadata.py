"""Metadata of a submission, each field declared once.

Forms, the command line, the REST interface, columns of the database, snapshots, pages, the board, exports and
documentation follow from here. A new field needs its lines below, at the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from storage.metadata_fields import (
    BoardColumn,
    Choice,
    Line,
    Link,
    MetadataField,
    Number,
    Whole,
    YesNo,
)
from vlrb.common.messages import _
from vlrb.judges import TYPES

JUDGE_TYPES = tuple(TYPES)
DETAILS, COST = _("Model details (optional)"), _("What the run cost")
_MOST_TOKENS = 10**15

FIELDS: Mapping[str, MetadataField] = {
    "model": Line("Model", required=True, help="name of the judge", example="Qwen2-VL-7B-Instruct", entry_title=""),
    "version": Line(
        "Version",
        unstated="",
        limit=60,
        help="tells several files of one model apart",
        example="2026-11, prompt B, ...",
        entry_title="",
    ),
    "organisation": Line("Organisation", help="who made the judge", identifying=True),
    "judge_type": Choice(
        "Type", label="Type of judge", help="how it comes to a preference", options=JUDGE_TYPES, entry_title=""
    ),
    "base_model": Line("Base model", help="the model that was trained or asked", group=DETAILS),
    "parameters_b": Number(
        "Parameters",
        label="Parameters, in billions",
        help="billions of parameters",
        example="7",
        group=DETAILS,
        low=1e-6,
        high=1e6,
        unit=_("{number} billion"),
    ),
    "open_weights": YesNo(
        "Open weights",
        entry_title="Weights",
        help="whether everybody can have the weights",
        group=DETAILS,
        words=("open weights", "closed weights"),
    ),
    "link": Link("Link", help="where to read more", example="https://", group=DETAILS, identifying=True, wide=True),
    "paper": Link("Paper", help="its paper", example="https://arxiv.org/abs/...", group=DETAILS, identifying=True),
    "code": Link("Code", help="its code", example="https://github.com/...", group=DETAILS, identifying=True),
    "hub_id": Line(
        "Hub id",
        limit=200,
        hub_id=True,
        entry_title="On the Hub",
        help="repository on the Hugging Face Hub",
        example="owner/name",
        group=DETAILS,
        identifying=True,
    ),
    "temperature": Number("Temperature", help="of sampling", example="0.7", group=DETAILS, low=0, high=100),
    "prompt": Line("Prompt", help="what the judge was asked", limit=20_000, group=DETAILS, lines=3, wide=True),
    "notes": Line("Notes", help="whatever else a reader should know", limit=4_000, group=DETAILS, lines=2, wide=True),
    "judge": Line(
        "Judge",
        label="Judge, if the model's name says more",
        help="name of the judge that this is a version of, if the model's name says more or less than that",
        example="Qwen2-VL-7B",
        group=DETAILS,
        identifying=True,
        entry_title="",
    ),
    "tokens_in": Whole(
        "Tokens in",
        help="tokens of all prompts of the run, images included",
        example="4200000",
        group=COST,
        high=_MOST_TOKENS,
        column=BoardColumn("Tokens in", "a run", term="tokens_in"),
    ),
    "tokens_out": Whole(
        "Tokens out",
        help="tokens of all replies of the run, reasoning included",
        example="900000",
        group=COST,
        high=_MOST_TOKENS,
        column=BoardColumn("Tokens out", "a run", term="tokens_out"),
    ),
    "price_usd": Number(
        "Price",
        large=True,
        label="Price, in US dollars",
        help="what the whole run cost, in US dollars",
        example="12.50",
        group=COST,
        high=1e9,
        unit=_("{number} US dollars"),
        column=BoardColumn("Price", "US $ a run", term="price"),
    ),
    "wall_seconds": Number(
        "Time",
        large=True,
        label="Time, in seconds",
        help="seconds that the run took, without pauses",
        example="5400",
        group=COST,
        high=1e9,
        unit=_("{number} seconds"),
        column=BoardColumn("Time", "s a run", term="seconds"),
    ),
    "hardware": Line(
        "Hardware",
        help="what it ran on",
        example="8 x H100",
        group=COST,
        column=BoardColumn("Hardware", "", term="hardware"),
    ),
}
"""Name -> field, in the order of forms, commands and commitments."""
NAMES = tuple(FIELDS)
IDENTIFYING = tuple(name for name, field in FIELDS.items() if field.identifying)
"""Fields that tell whose an entry is."""
COLUMNS: Mapping[str, MetadataField] = {name: field for name, field in FIELDS.items() if field.column is not None}
"""Fields with a column of their own on the board."""


def label(name: str) -> str:
    """Return a field's name as forms show it; of other names the words."""
    field = FIELDS.get(name)
    return field.form_label if field is not None else name.replace("_", " ").capitalize()


def facts(entry: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what an entry states, for its page: titles and texts, long ones last."""
    stated = [
        (field.lines, field.title if field.entry_title is None else field.entry_title, field.text(entry[name]))
        for name, field in FIELDS.items()
        if field.entry_title != "" and entry.get(name) not in (None, "")
    ]
    return [(title, text) for lines, title, text in sorted(stated, key=lambda fact: fact[0] > 1)]
