"""Pages of plain HTML: the rules of this installation, and what an owner does about a submission. They need no script.

``app.py`` wires what other packages do (edit, withdraw); whether somebody may is decided there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from anyio import to_thread
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from identity import Identity, Role
from identity.middleware import identity_of
from identity.pages import Pages
from identity.service import Identities
from identity.web import PRIVATE, check_csrf, csrf_token
from storage.clock import iso, minute
from storage.database import Database
from storage.pace import CHANGES_A_DAY, TooOften
from storage.visibility import Shown
from submissions import rules, tracking, wishes
from submissions.intake import Allowance, Intake
from submissions.metadata import FIELDS, JUDGE_TYPES, MetadataRejected
from submissions.tracking import Status

TEMPLATES = Path(__file__).with_name("templates")
POLICY_URL = "/policy"
LONG = ("prompt", "notes")
FIELD_WORDS = {
    "model": "Model",
    "version": "Version",
    "organisation": "Organisation",
    "judge_type": "Type of judge",
    "base_model": "Base model",
    "parameters_b": "Parameters, in billions",
    "open_weights": "Open weights",
    "link": "Link",
    "paper": "Paper",
    "code": "Code",
    "hub_id": "Hub id",
    "temperature": "Temperature",
    "prompt": "Prompt",
    "notes": "Notes",
    "judge": "Judge",
}
CHOICES: Mapping[str, Sequence[tuple[str, str]]] = {
    "judge_type": [("", "not stated"), *((name, name.replace("-", ", ")) for name in JUDGE_TYPES)],
    "open_weights": [("", "not stated"), ("true", "yes"), ("false", "no")],
}
STATES = {
    "awaiting-approval": "waits for a maintainer",
    "queued": "waits to be scored",
    "scoring": "is being scored",
    "scored": "is scored",
    "failed": "could not be scored",
    "withdrawn": "is not on the board",
}
_SCORES = ("macro", "overall", "general", "hallucination", "reasoning")
_SIGN_IN = "/auth/sign-in"
_NOT_YOURS = ("There is no such submission", "Among your submissions there is none with this address.")
_UNCONFIRMED = "Nothing was withdrawn: tick the box to say that you mean it."

Fields = Mapping[str, str]


class Impossible(ValueError):
    """What an owner asked for cannot be done; the message says why."""


@dataclass(frozen=True, slots=True)
class Owner:
    """What the owner of a submission can do about it that other packages do.

    `edit` and `withdraw` (a reason) raise Impossible or MetadataRejected; `metadata` is the description as it stands;
    `scores` are those of the score receipts, in the order in which they were made.
    """

    metadata: Callable[[Identity, str], Mapping[str, Any]]
    edit: Callable[[Identity, str, Fields], object]
    withdraw: Callable[[Identity, str, str], object]
    scores: Callable[[Identity, str], Sequence[Mapping[str, Any]]]


def build(database: Database, intake: Intake, identities: Identities, pages: Pages, owner: Owner) -> APIRouter:
    """The routes."""
    router = APIRouter(include_in_schema=False)
    desk = _Desk(database, intake.benchmark, identities, pages, owner)

    @router.get(POLICY_URL)
    def policy(request: Request) -> Response:
        """The rules in words, and when the person who is signed in may submit next."""
        who = identity_of(request)
        context = {
            "current": POLICY_URL,
            "rules": rules.described(intake.rules()),
            "recorded": rules.RECORDED,
            "not_kept": rules.NOT_KEPT,
            "paused": intake.paused(),
            "next_one": next_one(who, intake.allowance(who)) if who.via in ("session", "token") else "",
        }
        return HTMLResponse(pages.render("policy.html", context), headers=PRIVATE)

    @router.get("/account/submissions/{submission}")
    def look(submission: str, request: Request) -> Response:
        """One's own submission: where it is, and what can be done about it."""
        return desk.page(identity_of(request), submission)

    @router.post("/account/submissions/{submission}/{what}")
    async def act(submission: str, what: str, request: Request) -> Response:
        """Does it, and shows the page again."""
        async with request.form(max_files=0, max_fields=len(FIELDS) + 8) as form:
            fields = {name: value for name, value in form.multi_items() if isinstance(value, str)}
        who = identity_of(request)
        return await to_thread.run_sync(partial(desk.act, who, submission, what, fields))

    return router


def next_one(who: Identity, found: Allowance) -> str:
    """When somebody may submit again, in a sentence."""
    if found.paused:
        return "Submissions are paused at the moment."
    if found.awaiting:
        return "Your first submission waits for a maintainer; the next one is possible after that."
    if found.next_at is not None:
        return f"Your next submission is possible from {minute(found.next_at)}."
    number = f"{'It will be' if found.attempts else 'That is'} attempt {found.attempts + 1} at labels"
    return f"You may submit now. {number} {found.label_revision}." if found.label_revision else "You may submit now."


def shown_words(shown: Shown) -> str:
    """How an entry is not like others, in a few words."""
    until = "" if shown.anonymous_until is None else f"unnamed until {iso(shown.anonymous_until)[:10]}"
    return ", ".join(filter(None, ("" if shown.published else "not published", until)))


@dataclass(frozen=True, slots=True)
class _Desk:
    database: Database
    benchmark: str
    identities: Identities
    pages: Pages
    owner: Owner

    def page(
        self, who: Identity, submission: str, *, error: str = "", typed: Fields | None = None, status: int = 200
    ) -> Response:
        """The page of a submission; `typed`: what stood in a form that was refused."""
        if not who.signed_in:
            return RedirectResponse(f"{_SIGN_IN}?next=/account/submissions/{submission[:12]}", 303, PRIVATE)
        found = tracking.own(self.database, self.benchmark, submission, who)
        if found is None:
            return self._not_theirs()
        metadata = {name: _text(value) for name, value in self.owner.metadata(who, found.id).items()}
        fields = ((name, FIELD_WORDS[name]) for name in FIELDS)
        context = {
            "current": "/account",
            "one": found,
            "title": " ".join(filter(None, (found.model, found.version))),
            "state": STATES[found.state],
            "until": "" if found.shown.anonymous_until is None else iso(found.shown.anonymous_until)[:10],
            "fields": [(name, words, (typed or metadata).get(name, ""), CHOICES.get(name)) for name, words in fields],
            "long": LONG,
            "scores": _shown_scores(self.owner.scores(who, found.id)),
            "measures": _SCORES,
            "csrf": csrf_token(self.identities, who) if who.via == "session" else "",
            "error": error,
            "most_days": wishes.MOST_DAYS,
            "most_changes": None if Role.MAINTAINER in who.roles else CHANGES_A_DAY,
        }
        return HTMLResponse(self.pages.render("submission.html", context), status, PRIVATE)

    def act(self, who: Identity, submission: str, what: str, fields: Fields) -> Response:
        """One form of the page. Raises Refused where the form is not from this session."""
        actions: Mapping[str, Callable[[Identity, Status, Fields], object]] = {
            "edit": lambda who, one, given: self.owner.edit(who, one.id, {name: given[name] for name in FIELDS}),
            "publish": lambda who, one, given: wishes.publish(self.database, self.benchmark, who, one.id),
            "anonymity": self._anonymity,
            "reveal": lambda who, one, given: self._name(who, one.id, None),
            "withdraw": self._withdraw,
        }
        if who.via == "session":
            check_csrf(self.identities, who, fields.get("csrf", ""))
        found = tracking.own(self.database, self.benchmark, submission, who)
        if found is None or what not in actions:
            return self._not_theirs()
        try:
            actions[what](who, found, dict.fromkeys(FIELDS, "") | dict(fields))
        except (Impossible, MetadataRejected, TooOften) as refused:
            typed = fields if what == "edit" else None
            status = refused.status if isinstance(refused, TooOften) else 422
            return self.page(who, found.id, error=str(refused), typed=typed, status=status)
        return RedirectResponse(f"/account/submissions/{found.id}", 303, PRIVATE)

    def _anonymity(self, who: Identity, one: Status, fields: Fields) -> object:
        until = wishes.day(fields.get("until"))
        if until is None:
            raise Impossible("Choose a day, or show your name now.")
        return self._name(who, one.id, until)

    def _name(self, who: Identity, submission: str, until: float | None) -> object:
        return wishes.stay_anonymous(self.database, self.benchmark, who, submission, until)

    def _withdraw(self, who: Identity, one: Status, fields: Fields) -> object:
        if fields.get("confirm") != "yes":
            raise Impossible(_UNCONFIRMED)
        return self.owner.withdraw(who, one.id, fields.get("reason", ""))

    def _not_theirs(self) -> Response:
        page = self.pages.message(*_NOT_YOURS, (("Your account", "/account"), ("The board", "/")))
        return HTMLResponse(page, 404, PRIVATE)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value or "")


def _shown_scores(receipts: Sequence[Mapping[str, Any]]) -> list[tuple[str, dict[str, str]]]:
    """(label revision, name -> percent), the newest first."""
    return [
        (
            one["label_revision"],
            {name: f"{100 * one['scores'][name]:.1f}" for name in _SCORES if one["scores"].get(name) is not None},
        )
        for one in reversed(receipts)
    ]
