"""Metadata of a submission, each field declared once.

Forms, the command line, the REST interface, columns of the database, snapshots, pages, the board, exports and
documentation follow from here. A new field needs its lines below, at the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict

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


class SubmissionMetadata(BaseModel):
    """A judge's description. All but `model` may be absent; an absent version is the empty one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: Annotated[
        str, Line("Model", required=True, help="name of the judge", example="Qwen2-VL-7B-Instruct", entry_title="")
    ]
    version: Annotated[
        str,
        Line(
            "Version",
            limit=60,
            help="tells several files of one model apart",
            example="2026-11, prompt B, ...",
            entry_title="",
        ),
    ] = ""
    organisation: Annotated[str | None, Line("Organisation", help="who made the judge", identifying=True)] = None
    judge_type: Annotated[
        str | None,
        Choice("Type", label="Type of judge", help="how it comes to a preference", options=JUDGE_TYPES, entry_title=""),
    ] = None
    base_model: Annotated[str | None, Line("Base model", help="the model that was trained or asked", group=DETAILS)] = (
        None
    )
    parameters_b: Annotated[
        float | None,
        Number(
            "Parameters",
            label="Parameters, in billions",
            help="billions of parameters",
            example="7",
            group=DETAILS,
            low=1e-6,
            high=1e6,
            unit=_("{number} billion"),
        ),
    ] = None
    open_weights: Annotated[
        bool | None,
        YesNo(
            "Open weights",
            entry_title="Weights",
            help="whether everybody can have the weights",
            group=DETAILS,
            words=("open weights", "closed weights"),
        ),
    ] = None
    link: Annotated[
        str | None,
        Link("Link", help="where to read more", example="https://", group=DETAILS, identifying=True, wide=True),
    ] = None
    paper: Annotated[
        str | None,
        Link("Paper", help="its paper", example="https://arxiv.org/abs/...", group=DETAILS, identifying=True),
    ] = None
    code: Annotated[
        str | None, Link("Code", help="its code", example="https://github.com/...", group=DETAILS, identifying=True)
    ] = None
    hub_id: Annotated[
        str | None,
        Line(
            "Hub id",
            limit=200,
            hub_id=True,
            entry_title="On the Hub",
            help="repository on the Hugging Face Hub",
            example="owner/name",
            group=DETAILS,
            identifying=True,
        ),
    ] = None
    temperature: Annotated[
        float | None,
        Number("Temperature", help="of sampling", example="0.7", group=DETAILS, low=0, high=100),
    ] = None
    prompt: Annotated[
        str | None,
        Line("Prompt", help="what the judge was asked", limit=20_000, group=DETAILS, lines=3, wide=True),
    ] = None
    notes: Annotated[
        str | None,
        Line(
            "Notes",
            help="whatever else a reader should know",
            limit=4_000,
            group=DETAILS,
            lines=2,
            wide=True,
        ),
    ] = None
    judge: Annotated[
        str | None,
        Line(
            "Judge",
            label="Judge, if the model's name says more",
            help="name of the judge that this is a version of, if the model's name says more or less than that",
            example="Qwen2-VL-7B",
            group=DETAILS,
            identifying=True,
            entry_title="",
        ),
    ] = None
    tokens_in: Annotated[
        int | None,
        Whole(
            "Tokens in",
            help="tokens of all prompts of the run, images included",
            example="4200000",
            group=COST,
            high=_MOST_TOKENS,
            column=BoardColumn("Tokens in", "a run", term="tokens_in"),
        ),
    ] = None
    tokens_out: Annotated[
        int | None,
        Whole(
            "Tokens out",
            help="tokens of all replies of the run, reasoning included",
            example="900000",
            group=COST,
            high=_MOST_TOKENS,
            column=BoardColumn("Tokens out", "a run", term="tokens_out"),
        ),
    ] = None
    price_usd: Annotated[
        float | None,
        Number(
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
    ] = None
    wall_seconds: Annotated[
        float | None,
        Number(
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
    ] = None
    hardware: Annotated[
        str | None,
        Line(
            "Hardware",
            help="what it ran on",
            example="8 x H100",
            group=COST,
            column=BoardColumn("Hardware", "", term="hardware"),
        ),
    ] = None

    def columns(self) -> dict[str, Any]:
        """Field name -> value, for a row."""
        return {name: getattr(self, name) for name in FIELDS}


def _declared() -> dict[str, MetadataField]:
    result = {}
    for name, info in SubmissionMetadata.model_fields.items():
        (result[name],) = (annotation for annotation in info.metadata if isinstance(annotation, MetadataField))
    return result


FIELDS: Mapping[str, MetadataField] = _declared()
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
