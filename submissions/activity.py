"""Activity list of an account's entries, read from the audit chain.

Of each event only what its owner may know: what, when and why, and whether they did it themselves; who else, never.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from auth import Identity, Role, require
from receipts import queries
from receipts.queries import ReceiptRow, Scored
from storage.clock import iso
from storage.database import Database
from storage.integrity import audit
from storage.integrity.audit import StoredEvent
from storage.labels import label_levels
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import Message, _, joined
from vlrb.common.rounding import percent
from vlrb.disclosure import PUBLIC, shown_scores
from vlrb.scoring import Tally

MOST_ENTRIES = 500
RESCORED = ("rescore.applied", "rescore.undone")

# What the owner reads of events that no action writes; the event's own fields in braces.
_SENTENCES: Mapping[str, str] = {
    "submission.accepted": _("The file was accepted."),
    "job.failed": _("Scoring failed with labels {label_revision}. That is a fault of the service."),
    "entry.published": _("It was published."),
    "entry.revealed": _("It is shown with your name."),
    "entry.anonymous": _("The day was changed until which it is shown without your name."),
}


@dataclass(frozen=True, slots=True)
class ActivityRules:
    """What the list may tell. `sentences`: audit kind -> what the owner reads, of the maintainers' actions."""

    spec: BenchmarkSpec
    sentences: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ActivityItem:
    """Something that happened to an entry."""

    seq: int  # of the audit event
    at: str
    kind: str
    entry: str
    model: str
    version: str
    sentence: str
    own: bool = False  # whether the owner did it

    @property
    def title(self) -> str:
        """Name of the entry."""
        return " ".join(filter(None, (self.model, self.version)))

    def to_json(self) -> dict[str, Any]:
        """Return it as the API shows it."""
        names = ("seq", "at", "kind", "entry", "model", "version", "sentence")
        return {**{name: getattr(self, name) for name in names}, "url": f"/entries/{self.entry}"}


def list_activity(
    database: Database,
    user: Identity,
    *,
    rules: ActivityRules,
    before: int | None = None,
    limit: int = 50,
) -> list[ActivityItem]:
    """Return the events of a user's entries, newest first; `before` the seq of an event.

    More than `limit` where a re-score concerns several entries: an event is shown in full. Nothing where everybody has
    one account and nobody maintains: then nobody can show that an entry is theirs.

    Raises:
        Unauthenticated, Forbidden: nobody is signed in, or with a token for something else.
    """
    require(user, Role.SUBMITTER)
    if user.auth_method == "local" and Role.MAINTAINER not in user.roles:
        return []
    return activity_of(database, user.account, rules=rules, before=before, limit=limit)


def activity_of(
    database: Database, account: str, *, rules: ActivityRules, before: int | None = None, limit: int = 50
) -> list[ActivityItem]:
    """Return the same for an account whose owner asked for it earlier. Authorises nobody."""
    with database.read() as session:
        mine = queries.receipts_of_account(session, rules.spec.id, owner=account, most=MOST_ENTRIES)
        if not mine:
            return []
        names = [entry.id for entry in mine]
        sentences = {**_SENTENCES, **rules.sentences}
        about = audit.newest(session, (audit.SCORED, *sentences), subjects=names, before=before, limit=limit)
        moves = audit.newest(session, RESCORED, subjects=[audit.board(rules.spec.id)], before=before, limit=limit)
        levels = label_levels.levels(session, rules.spec.id)
        visible = _Scores(queries.scores(session, names), levels, spec=rules.spec)
        subjects = {audit.labels(revision, rules.spec.id) for revision in visible.revisions}
        chunks = audit.newest(session, [audit.SCORES_RECORDED], subjects=subjects, before=before)
    concerned = [chunk for chunk in chunks if any(visible.in_chunk(name, chunk) for name in names)]
    events = sorted([*about, *concerned, *moves], key=lambda event: event.seq, reverse=True)[:limit]
    return [
        line for event in events for line in _lines(event, mine, visible=visible, account=account, sentences=sentences)
    ]


class _Scores:
    """The headline to 0.1 point, or the pooled score where no more is shown. Drafts are not among them.

    `levels`: disclosure levels of the label revisions that are not public.
    """

    def __init__(
        self,
        stored: Sequence[Scored],
        levels: Mapping[str, str],
        *,
        spec: BenchmarkSpec,
    ) -> None:
        self._spec = spec
        self._levels = levels
        self._stored = {(score.submission_id, score.label_revision, score.scorer_version): score for score in stored}
        self.revisions = {score.label_revision for score in stored}
        self.shown = cache(self._shown)

    def known(self, entry: str, revision: str, *, version: str) -> bool:
        """Return whether the entry has such a score."""
        return (entry, revision, version) in self._stored

    def in_chunk(self, entry: str, chunk: StoredEvent) -> bool:
        """Return whether a score of the entry was recorded with this chunk of a re-score."""
        rules = _rules(chunk.body)
        result = self._stored.get((entry, rules["revision"], rules["version"]))
        if result is None or chunk.body.get("recorded_at") != result.created_at:
            return False
        return result.commitment in chunk.body.get("commitments", ())

    def _shown(self, entry: str, revision: str, *, version: str) -> str:
        """Return "macro 73.3", in percent, to be translated; "" where there is none."""
        result = self._stored.get((entry, revision, version))
        if result is None:
            return ""
        level = self._levels.get(revision, PUBLIC)
        name = self._spec.headline if level == PUBLIC else self._spec.pooled
        value = shown_scores(Tally.from_json(json.loads(result.tally), self._spec), level)[name]
        return "" if value is None else joined((_(name), percent(value)), " ")


def _lines(
    event: StoredEvent, mine: Sequence[ReceiptRow], *, visible: _Scores, account: str, sentences: Mapping[str, str]
) -> list[ActivityItem]:
    if event.kind in RESCORED:
        return [line for entry in mine if (line := _rescored(event, entry, visible=visible)) is not None]
    if event.kind == audit.SCORES_RECORDED:
        return [
            _line(event, entry, sentence=_scored(event, entry, visible=visible))
            for entry in mine
            if visible.in_chunk(entry.id, event)
        ]
    by_name = {entry.id: entry for entry in mine}
    name = event.body.get("entry") or event.body.get("submission")
    if name not in by_name:
        return []
    if event.kind == audit.SCORED:  # under a draft, nobody may know
        known = visible.known(name, **_rules(event.body))
        return [_line(event, by_name[name], sentence=_scored(event, by_name[name], visible=visible))] if known else []
    values = {key: ", ".join(value) if isinstance(value, list) else value for key, value in event.body.items()}
    values |= {name: Message(values[name], {}) for name in ("now", "reason") if values.get(name)}  # the service's own
    sentence = Message(sentences[event.kind], values)
    own = event.body.get("by") == account
    line = _line(event, by_name[name], sentence=_("{sentence} (by you)", sentence=sentence) if own else sentence)
    return [replace(line, own=own)]


def _scored(event: StoredEvent, receipt: ReceiptRow, *, visible: _Scores) -> str:
    revision = event.body["label_revision"]
    score = visible.shown(receipt.id, **_rules(event.body))
    if not score:
        return _("Scored with labels {revision}.", revision=revision)
    return _("Scored with labels {revision}: {score}.", revision=revision, score=score)


def _rescored(event: StoredEvent, receipt: ReceiptRow, *, visible: _Scores) -> ActivityItem | None:
    """None for an entry that came later or has no score on both sides."""
    before, after = event.body["from"], event.body["to"]
    sides = [visible.shown(receipt.id, **_rules(side)) for side in (before, after)]
    if receipt.created_at > event.at or not all(visible.known(receipt.id, **_rules(side)) for side in (before, after)):
        return None
    sentence = _(
        "The board changed from label revision {before} to {after}: {score}, now {now}.",
        before=before["label_revision"],
        after=after["label_revision"],
        score=sides[0] or _("not shown"),
        now=sides[1] or _("not shown"),
    )
    reason = event.body.get("reason")
    return _line(event, receipt, sentence=joined([sentence, reason], " ") if reason else sentence)


def _rules(facts: Mapping[str, Any]) -> dict[str, str]:
    return {"revision": facts.get("label_revision", ""), "version": facts.get("scorer_version", "")}


def _line(event: StoredEvent, receipt: ReceiptRow, *, sentence: str) -> ActivityItem:
    return ActivityItem(
        event.seq,
        iso(event.at),
        kind=event.kind,
        entry=receipt.id,
        model=receipt.model,
        version=receipt.version,
        sentence=sentence,
    )
