"""Use cases behind the Gradio page for submitting, in the same shapes as REST."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from auth import AuthError, Identity
from auth.problem_details import problem_body, refused_body
from common.refused import Refused
from storage.files.spool import UploadedFile
from storage.models.core import UnfitText
from submissions import api, visibility_options
from submissions.service import SubmissionService
from submissions.status import Status
from submissions.submit.render import submit_page
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _


@dataclass(frozen=True, slots=True)
class PlaceOnBoard:
    """Markup that says where an entry stands. ``settled``: nothing more follows, such as tests against neighbours."""

    html: str = ""
    settled: bool = True


@dataclass(frozen=True, slots=True)
class GradioSubmissions:
    """`uploads`: where Gradio puts files, which are removed as soon as nobody submits them any more; `limit`: bytes."""

    intake: SubmissionService
    track: Callable[[str, Identity], Status | None]
    result: Callable[[str], dict[str, Any] | None]  # scorecard of an entry, once it is on the board
    uploads: Path
    limit: int
    spec: BenchmarkSpec
    prefix: str = ""  # of the benchmark's public pages
    place: Callable[[str, str], PlaceOnBoard] = lambda entry_id, base: PlaceOnBoard()  # base: the service's address

    @property
    def page(self) -> str:
        """The address of the page."""
        return submit_page(self.spec, self.prefix)

    def check(self, path: Path) -> dict[str, Any]:
        """Return the report of a dry run, or a problem."""
        try:
            report = self.intake.check(self._arrived(path))
        except Refused as refused:
            return refused_body(refused)
        if not report["ok"]:
            self._done_with(path)
        return report

    def submit(self, path: Path, form: Mapping[str, object], *, user: Identity) -> dict[str, Any]:
        """Return the acknowledgement, or a problem with `code`."""
        try:
            metadata, chosen_visibility = visibility_options.parse_form(form)
            confirmed = visibility_options.confirmed(form)
            accepted = self.intake.submit(
                self._arrived(path), metadata, user, chosen_visibility, accept_unreadable=confirmed
            )
        except Refused as refused:
            return refused_body(refused)
        except AuthError as refused:
            return problem_body(refused.status, refused.code, detail=refused.detail)
        self._done_with(path)
        return api.submission_response(accepted)

    def status(self, submission: str, user: Identity) -> dict[str, Any] | None:
        """Return where a submission is; None where there is none that this person may see."""
        try:
            result = self.track(submission, user)
        except UnfitText:
            return None
        return result.to_json() if result else None

    def allowance(self, user: Identity) -> dict[str, Any]:
        """Return the attempts so far and the time of the next, or a problem with `code`."""
        try:
            return api.allowance(user, self.intake.allowance(user))
        except AuthError as refused:
            return problem_body(refused.status, refused.code, detail=refused.detail)

    def _arrived(self, path: Path) -> UploadedFile:
        try:
            return UploadedFile.on_disk(path, path.name, limit=self.limit)
        except FileNotFoundError:
            raise _FileGone from None

    def _done_with(self, path: Path) -> None:
        if path.is_relative_to(self.uploads):
            path.unlink(missing_ok=True)


class _FileGone(Refused):
    """The file is not there any more."""

    status, code = 410, "file-gone"

    def __init__(self) -> None:
        super().__init__(
            _("The file is deleted: it was refused or submitted before, or uploaded an hour ago. Choose it again.")
        )
