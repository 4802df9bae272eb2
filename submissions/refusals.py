"""Reasons why a submission is not taken from somebody who may make one, each with its answer over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from common.refused import FieldProblem, Refused
from vlrb.common.messages import _
from vlrb.predictions import readability

_NOT_PREDICTIONS = frozenset({"unsupported-container", "xlsx-not-vlmevalkit"})


class UnknownSubmission(Refused):
    """There is no such submission that this person may know of."""

    status, code = 404, "unknown-submission"

    def __init__(self) -> None:
        super().__init__(_("There is no submission with this id."))


class FileRejected(Refused):
    """The file cannot be taken; `report` is the check report that says why."""

    def __init__(self, report: Mapping[str, Any]) -> None:
        unreadable = readability.is_unreadable(report)
        message = report["problems"][0]["message"] if unreadable else _("The file has problems.")
        names = ("problems", "format", "warnings", "problem_count", "samples")
        facts = {name: report[name] for name in names if name in report}
        super().__init__(_("{message} Nothing was submitted.", message=message), **facts)
        self.report = report
        self.status = 415 if not_predictions(report) else 422
        self.code = readability.UNREADABLE if unreadable else "file-rejected"


class NotConfirmed(Refused):
    """Most votes of a file cannot be read, and its sender did not say that this is meant."""

    code = readability.MOSTLY_UNREADABLE

    def __init__(self, report: Mapping[str, Any]) -> None:
        message = _(
            "Only {report:.1%} of the votes can be read; all others would count as wrong. Look at the "
            "sample replies. If the file is right, confirm it: tick the box on the page, "
            "--accept-unreadable on the command line, or the field accept_unreadable=true.",
            report=report["parse_rate"],
        )
        facts = {name: report[name] for name in ("format", "parse_rate", "warnings", "samples")}
        super().__init__(message, problems=[FieldProblem(None, self.code, message=message).to_json()], **facts)


class DuplicateName(Refused):
    """This owner has another file under the same model and version."""

    status, code = 409, "name-taken"

    def __init__(self, model: str, version: str, *, existing: str) -> None:
        named = _("{model}, version {version}", model=model, version=version) if version else model
        message = _(
            "You have already submitted “{named}” with another file (entry {existing}). Give this one another "
            "version, for instance a date.",
            named=named,
            existing=existing,
        )
        problem = FieldProblem("version", self.code, message=message)
        super().__init__(message, problems=[problem.to_json()], existing=existing)


class ApprovalPending(Refused):
    """The account's first submission waits for a maintainer; `existing` is its id."""

    status, code = 409, "awaiting-approval"

    def __init__(self, existing: str) -> None:
        message = _(
            "Your first submission ({existing}) waits for a maintainer. The next one is possible after "
            "that; checking files is free at any time.",
            existing=existing,
        )
        super().__init__(message, existing=existing)
        self.existing = existing


class SubmissionsPaused(Refused):
    """Nothing is taken at the moment; the message is the maintainers'."""

    status, code = 503, "submissions-paused"


class NotReplicated(Refused):
    """The submission is stored here, and the replica did not confirm it in time."""

    status, code = 503, "not-replicated"

    def __init__(self) -> None:
        message = _(
            "The submission is stored here, and the replica did not confirm it in time. Nothing is wrong with your "
            "file: send it again in a minute, and you get the receipt of the same submission."
        )
        super().__init__(message, retry_after=60)


def not_predictions(report: Mapping[str, Any]) -> bool:
    """Return whether a file is of a kind that this service does not read: compressed, an archive, another workbook."""
    return any(entry["code"] in _NOT_PREDICTIONS for entry in report["problems"])
