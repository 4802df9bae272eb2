"""Parsing of a submission's metadata as people state it; storage/metadata.py declares the fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from pydantic import ValidationError

from storage.metadata import FIELDS, JUDGE_TYPES, SubmissionMetadata
from storage.metadata_fields import FieldRefused, absent, yes_no
from submissions.refusals import FieldProblem, SubmissionRefused
from vlrb.common.messages import _
from vlrb.common.text import join_sentences

__all__ = ["FIELDS", "JUDGE_TYPES", "FieldProblem", "Metadata", "MetadataRejected", "parse_columns", "yes_or_no"]


class MetadataRejected(SubmissionRefused):
    """Fields of the form cannot be taken."""

    code = "metadata-rejected"

    def __init__(self, problems: tuple[FieldProblem, ...]) -> None:
        message = join_sentences(*(problem.message for problem in problems))
        super().__init__(message, problems=[problem.to_json() for problem in problems])
        self.problems = problems


class Metadata(SubmissionMetadata):
    """A judge's description, from what somebody stated."""

    @classmethod
    def parse(cls, raw: Mapping[str, object]) -> Self:
        """Check every field; empty strings and None are absent, unknown names are refused.

        Raises:
            MetadataRejected: with every problem, each naming its field.
        """
        problems = [FieldProblem(name, "unknown-field", message=_unknown(name)) for name in raw if name not in FIELDS]
        stated = {name: raw[name] for name in FIELDS if not absent(raw.get(name))}
        try:
            result = cls.model_validate(stated)
        except ValidationError as invalid:
            refused = ((str(error["loc"][0]), error.get("ctx", {}).get("error")) for error in invalid.errors())
            problems += [_problem(name, why) for name, why in refused]
        if problems:
            raise MetadataRejected(tuple(problems))
        return result


def _problem(field: str, refused: FieldRefused | None) -> FieldProblem:
    if refused is None:
        return FieldProblem(field, "required", message=_("{field}: enter a model name.", field=field))
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


def parse_columns(raw: Mapping[str, object]) -> dict[str, object]:
    """Return a submission's metadata as a maintainer or its owner edits it, checked as when it was submitted."""
    return Metadata.parse(raw).columns()
