"""Parsing of a submission's metadata as people state it; storage/metadata.py declares the fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from common.refused import FieldProblem, Refused
from storage.metadata import FIELDS
from storage.metadata_fields import FieldRefused, absent, yes_no
from vlrb.common.messages import _
from vlrb.common.text import join_sentences

Metadata = dict[str, Any]
"""Field -> value of a judge's description, all of storage.metadata.FIELDS."""


class MetadataRejected(Refused):
    """Fields of the form cannot be taken."""

    code = "metadata-rejected"

    def __init__(self, problems: tuple[FieldProblem, ...]) -> None:
        message = join_sentences(*(problem.message for problem in problems))
        super().__init__(message, problems=[problem.to_json() for problem in problems])
        self.problems = problems


def parse_metadata(raw: Mapping[str, object]) -> Metadata:
    """Check every field that somebody stated; empty strings and None are absent, unknown names are refused.

    Raises:
        MetadataRejected: with every problem, each naming its field.
    """
    problems = [FieldProblem(name, "unknown-field", message=_unknown(name)) for name in raw if name not in FIELDS]
    result: Metadata = {}
    for name, field in FIELDS.items():
        stated = not absent(raw.get(name))
        try:
            result[name] = field.read(raw[name]) if stated else field.unstated
        except FieldRefused as refused:
            problems.append(_problem(name, refused))
        if field.required and not stated:
            problems.append(FieldProblem(name, "required", message=_("{field}: enter a model name.", field=name)))
    if problems:
        raise MetadataRejected(tuple(problems))
    return result


def _problem(field: str, refused: FieldRefused) -> FieldProblem:
    return FieldProblem(field, refused.code, message=_("{field}: {problem}", field=field, problem=str(refused)))


def _unknown(name: str) -> str:
    if name == "benchmark":
        return _("'benchmark' is a part of the address, not a field: send the file to ?benchmark=ID or below /b/ID/.")
    return _(
        "{name!r} is not a field of a submission; the fields are {fields}.", name=name[:40], fields=", ".join(FIELDS)
    )


def yes_or_no(field: str, value: object, *, default: bool) -> bool:
    """Return whether a field of a form says yes; the default where it says nothing.

    Raises:
        MetadataRejected: it is neither.
    """
    try:
        return default if absent(value) else yes_no(value)
    except FieldRefused as refused:
        raise MetadataRejected((_problem(field, refused),)) from None
