"""HTML pages: the submission policy, and the owner's page of a submission; sections of the account page. They need no
script."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from anyio import to_thread
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from auth import AuthError, Identity, Role
from auth.middleware import identity_of
from auth.pages import PRIVATE
from auth.render import AccountPages
from common.refused import Refused
from maintenance.action_context import ActionContext
from maintenance.actions import entries
from receipts.service import ReceiptService
from storage.clock import iso, minute
from storage.database import Database
from storage.integrity.integrity_alarms import RecordChanged
from storage.limits.sliding_window import CHANGES_A_DAY
from storage.metadata import FIELDS
from storage.models.core import MAX_VOTES
from submissions import policy_text, visibility_options
from submissions import status as submissions_status
from submissions.activity import ActivityRules, list_activity
from submissions.service import Allowance, SubmissionService
from submissions.status import Status
from vlrb.common.messages import _
from vlrb.common.rounding import percent

POLICY_URL = "/policy"
STATES = {
    "awaiting-approval": _("waits for a maintainer"),
    "queued": _("waits to be scored"),
    "scoring": _("is being scored"),
    "scored": _("is scored"),
    "failed": _("could not be scored"),
    "withdrawn": _("is not on the board"),
}
_SIGN_IN = "/auth/sign-in"
_NOT_YOURS = _("None of your submissions has this address.")
_BACK = ((_("Your account"), "/account"), (_("The board"), "/"))
_UNCONFIRMED = _("Nothing was withdrawn: tick the box to confirm.")

Fields = Mapping[str, str]


def build(
    context: ActionContext,
    intake: SubmissionService,
    *,
    pages: AccountPages,
    receipts: ReceiptService,
    measures: Sequence[str],
) -> APIRouter:
    """Return the routes. `measures`: names of scores, in their order."""
    router = APIRouter(include_in_schema=False)
    actions = _SubmissionPage(context, pages, receipts, measures)

    @router.get(POLICY_URL)
    def policy(request: Request) -> Response:
        """Return the rules in words, and the time of the user's next submission."""
        user = identity_of(request)
        rules = intake.rules()
        context = {
            "current": POLICY_URL,
            "rules": rules,
            "disclosures": policy_text.disclosures(rules),
            "readable": policy_text.READABLE,
            "most_votes": MAX_VOTES,
            "most_days": visibility_options.MOST_DAYS,
            "most_changes": CHANGES_A_DAY,
            "recorded": policy_text.RECORDED,
            "not_kept": policy_text.NOT_KEPT,
            "paused": intake.paused(),
            "next_submission": next_submission_text(intake.allowance(user))
            if user.auth_method in ("session", "token")
            else "",
        }
        return HTMLResponse(pages.render("policy.html", **context), headers=PRIVATE)

    @router.get("/account/submissions/{submission}")
    def look(submission: str, request: Request) -> Response:
        """One's own submission: where it is, and what can be done about it."""
        return actions.page(identity_of(request), submission)

    @router.post("/account/submissions/{submission}/{what}")
    async def act(submission: str, what: str, *, request: Request) -> Response:
        """Run the action and show the page again."""
        async with request.form(max_files=0, max_fields=len(FIELDS) + 8) as form:
            fields = {name: value for name, value in form.multi_items() if isinstance(value, str)}
        user = identity_of(request)
        return await to_thread.run_sync(partial(actions.act, user, submission, what=what, fields=fields))

    return router


def submission_sections(
    database: Database, boards: Sequence[ActivityRules], *, intake: SubmissionService, user: Identity
) -> dict[str, Any]:
    """Return what identity_account.html shows of an account's submissions to all boards, the newest first.

    `intake`: of the benchmark whose page it is, for the next possible submission.
    """
    own = [
        one for board in boards for one in submissions_status.list_own(database, board.spec.id, account=user.account)
    ]
    result = {
        "submissions": sorted(own, key=lambda status: status.created_at, reverse=True),
        "has_pages": visibility_options.is_owner(user, user.account),
    }
    try:
        happened = [one for board in boards for one in list_activity(database, user, rules=board, limit=20)]
        result["activity"] = sorted(happened, key=lambda item: item.at, reverse=True)
        if user.auth_method != "local":
            result["next_submission"] = next_submission_text(intake.allowance(user))
    except AuthError:  # somebody who may look, but do nothing
        pass
    return result


def next_submission_text(allowance: Allowance) -> str:
    """Return the time of the next possible submission, in a sentence."""
    if allowance.paused:
        return _("Submissions are paused at the moment.")
    if allowance.awaiting:
        return _("Your first submission waits for a maintainer; the next one is possible after that.")
    if allowance.next_at is not None:
        return _("Your next submission is possible from {next_at}.", next_at=minute(allowance.next_at))
    return (
        _(
            "You may submit now. It will be attempt {number} at labels {label_revision}.",
            number=allowance.attempts + 1,
            label_revision=allowance.label_revision,
        )
        if allowance.label_revision
        else _("You may submit now.")
    )


@dataclass(frozen=True, slots=True)
class _SubmissionPage:
    context: ActionContext
    pages: AccountPages
    receipts: ReceiptService
    measures: Sequence[str]

    def page(
        self, user: Identity, submission: str, *, error: str = "", typed: Fields | None = None, status: int = 200
    ) -> Response:
        """Return the page of a submission; `typed`: the values of a form that was refused."""
        if not user.signed_in:
            return RedirectResponse(f"{_SIGN_IN}?next=/account/submissions/{submission[:12]}", 303, PRIVATE)
        own = self._own(user, submission)
        if own is None:
            return self._require_owner()
        stored = entries.look(self.context.acting_as(user), own.id)[1]
        values = typed or {name: field.typed(stored.get(name)) for name, field in FIELDS.items()}
        context = {
            "current": "/account",
            "submission": own,
            "title": " ".join(filter(None, (own.model, own.version))),
            "state": STATES[own.state],
            "until": "" if own.shown.anonymous_until is None else iso(own.shown.anonymous_until)[:10],
            "fields": [(name, field, values.get(name, "")) for name, field in FIELDS.items()],
            "scores": self._scores(user, own.id),
            "measures": self.measures,
            "error": error,
            "most_days": visibility_options.MOST_DAYS,
            "most_changes": None if Role.MAINTAINER in user.roles else CHANGES_A_DAY,
        }
        return HTMLResponse(self.pages.render("submission.html", **context), status, PRIVATE)

    def act(self, user: Identity, submission: str, *, what: str, fields: Fields) -> Response:
        """Do what one form of the page asks."""
        actions: Mapping[str, Callable[[Identity, Status, Fields], object]] = {
            "edit": self._edit,
            "publish": self._publish,
            "anonymity": self._anonymity,
            "reveal": lambda user, submission, given: self._name(user, submission.id, until=None),
            "withdraw": self._withdraw,
        }
        own = self._own(user, submission)
        if own is None or what not in actions:
            return self._require_owner()
        try:
            actions[what](user, own, dict.fromkeys(FIELDS, "") | dict(fields))
        except Refused as refused:
            typed = fields if what == "edit" else None
            return self.page(user, own.id, error=str(refused), typed=typed, status=refused.status)
        return RedirectResponse(f"/account/submissions/{own.id}", 303, PRIVATE)

    def _own(self, user: Identity, submission: str) -> Status | None:
        ctx = self.context
        return submissions_status.get_own(ctx.database, ctx.benchmark, submission=submission, user=user)

    def _edit(self, user: Identity, status: Status, fields: Fields) -> object:
        return entries.edit(self.context.acting_as(user), status.id, changes={name: fields[name] for name in FIELDS})

    def _publish(self, user: Identity, status: Status, fields: Fields) -> object:
        ctx = self.context
        return visibility_options.publish(ctx.database, ctx.benchmark, user=user, submission=status.id)

    def _anonymity(self, user: Identity, status: Status, fields: Fields) -> object:
        until = visibility_options.parse_day(fields.get("until"))
        if until is None:
            raise Refused(_("Choose a day, or show your name now."))
        return self._name(user, status.id, until=until)

    def _name(self, user: Identity, submission: str, *, until: float | None) -> object:
        ctx = self.context
        return visibility_options.set_anonymous_until(
            ctx.database, ctx.benchmark, user=user, submission=submission, until=until
        )

    def _withdraw(self, user: Identity, status: Status, fields: Fields) -> object:
        if fields.get("confirm") != "yes":
            raise Refused(_UNCONFIRMED)
        return entries.withdraw(self.context.acting_as(user), status.id, reason=fields.get("reason", ""))

    def _scores(self, user: Identity, submission: str) -> list[tuple[str, dict[str, str]]]:
        """Return (label revision, name -> percent), the newest first."""
        try:
            shown = list(self.receipts.shown_scores(submission, user))
        except RecordChanged:  # on record and in the log; the page goes without scores
            return []
        return [(revision, _percents(scores, self.measures)) for revision, scores in reversed(shown)]

    def _require_owner(self) -> Response:
        page = self.pages.message(_("There is no such submission"), _NOT_YOURS, links=_BACK)
        return HTMLResponse(page, 404, PRIVATE)


def _percents(scores: Mapping[str, float | None], names: Sequence[str]) -> dict[str, str]:
    return {name: percent(value) for name in names if (value := scores.get(name)) is not None}
