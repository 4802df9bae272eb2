"""What the Gradio page for submitting asks for, answered by the same use cases and in the same shapes as REST."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from identity import Identity, Refused
from identity.problems import problem_body
from storage.tables import UnfitText
from submissions import api, wishes
from submissions.intake import Intake
from submissions.sandbox import ReadingFailed
from submissions.spool import Arrived, TooLarge
from submissions.tracking import Status

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PageService:
    """`uploads`: where Gradio puts files, which are removed as soon as nobody submits them any more; `limit`: bytes."""

    intake: Intake
    track: Callable[[str, Identity], Status | None]
    result: Callable[[str], Json | None]  # scorecard of an entry, once it is on the board
    uploads: Path
    limit: int

    def check(self, path: Path) -> Json:
        """The report of a dry run, or a problem."""
        try:
            report = self.intake.check(self._arrived(path))
        except (_Gone, TooLarge, ReadingFailed) as error:
            return _unread(error)
        if not report["ok"]:
            self._done_with(path)
        return report

    def submit(self, path: Path, said: Mapping[str, object], who: Identity) -> Json:
        """The acknowledgement, or a problem with `code`."""
        try:
            metadata, shown = wishes.parse(said)
            confirmed = wishes.confirmed(said)
            accepted = self.intake.submit(self._arrived(path), metadata, who, shown, accept_unreadable=confirmed)
        except api.NOT_TAKEN as refused:
            return api.refusal(refused)
        except Refused as refused:
            return problem_body(refused.status, refused.code, refused.detail)
        except (_Gone, TooLarge, ReadingFailed) as error:
            return _unread(error)
        except UnfitText as unfit:
            return problem_body(422, "bad-text", str(unfit))
        self._done_with(path)
        return api.acknowledgement(accepted)

    def status(self, submission: str, who: Identity) -> Json | None:
        """Where a submission is; None where there is none that this person may see."""
        try:
            found = self.track(submission, who)
        except UnfitText:
            return None
        return found.to_json() if found else None

    def allowance(self, who: Identity) -> Json:
        """Attempts so far and when the next may come, or a problem with `code`."""
        try:
            return api.allowance(who, self.intake.allowance(who))
        except Refused as refused:
            return problem_body(refused.status, refused.code, refused.detail)

    def paused(self) -> str | None:
        """What maintainers say while nobody may submit."""
        return self.intake.paused()

    def _arrived(self, path: Path) -> Arrived:
        try:
            return Arrived.on_disk(path, path.name, self.limit)
        except FileNotFoundError:
            raise _Gone from None

    def _done_with(self, path: Path) -> None:
        if path.is_relative_to(self.uploads):
            path.unlink(missing_ok=True)


class _Gone(Exception):
    """The file is not there any more."""


def _unread(error: _Gone | TooLarge | ReadingFailed) -> Json:
    if isinstance(error, TooLarge):
        return problem_body(413, "too-large", str(error))
    if isinstance(error, ReadingFailed):
        return api.fault(error)
    detail = "The file is deleted: it was refused or submitted before, or uploaded an hour ago. Choose it again."
    return problem_body(410, "file-gone", detail)
