"""Public decision log: which audit events are public and how they read, declared per event kind.

Everything else in an event stays private: accounts, digests of labels. The actor is named by role only. Nothing about a
hidden entry is public.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from maintenance.action_context import PublicEvent
from maintenance.database import queries
from storage.clock import iso
from storage.database import Database, Session
from storage.integrity import audit
from storage.integrity.audit import StoredEvent
from vlrb.common.messages import Message, _, joined, ngettext

LoggedDecision = dict[str, Any]
"""An entry of the public log, as the API shows it: `seq`, `at`, `kind`, `title` (the kind in plain words), `sentence`,
`changes` (what it changed on the board, in sentences), `by` and the facts that its kind shows. `by` is a role:
"maintainer", "owner" (of the entry), or "service" where nobody has asked for it here."""
_POINTED = "board.pointed"
OTHER_EVENTS: Mapping[str, PublicEvent] = {  # events of no single action
    _POINTED: PublicEvent(
        ("from", "to", "reason"), "The board shows label revision {to[label_revision]}: {reason}", title="Labels chosen"
    ),
}
_EDITED = "entry.edited"  # left out unless asked for: owners' words about their entries would drive out all decisions
_KEPT = 32  # answers
_AT_ONCE = 50  # events, at least
_OF_THE_BOARD = ("rescore.applied", "rescore.undone", _POINTED)


def decisions(
    database: Database,
    events: Mapping[str, PublicEvent],
    *,
    before: int | None = None,
    limit: int = 100,
    edits: bool = False,
    benchmark: str = "",
) -> list[LoggedDecision]:
    """Return the newest public decisions first; `before` continues an earlier answer at its last seq. For everybody.

    `events`: audit kind -> how it is shown, of the registered actions. `edits`: with entries that were described anew,
    which is mostly their owners' doing. `benchmark`: only decisions about it, and about the service; "" is all.
    """
    results: list[LoggedDecision] = []
    public = {**OTHER_EVENTS, **events}
    kinds = [kind for kind in public if edits or kind != _EDITED]
    with database.read() as session:
        hidden = queries.out_of_sight(session)
        while len(results) < limit:  # what is not shown makes no answer shorter
            recorded = audit.newest(session, kinds, before=before, limit=max(limit, _AT_ONCE))
            if not recorded:
                break
            about = _about(session, recorded, benchmark=benchmark) if benchmark else recorded
            results += _visible(session, about, hidden=hidden, public=public)
            before = recorded[-1].seq
    return results[:limit]


def _about(session: Session, recorded: Sequence[StoredEvent], *, benchmark: str) -> list[StoredEvent]:
    """Return the events about a benchmark, and those about none. An event of an entry is about its benchmark."""
    entries = queries.benchmarks_of(session, [event.body["entry"] for event in recorded if "entry" in event.body])

    def named(event: StoredEvent) -> str | None:
        name: str | None = event.body.get("benchmark") or entries.get(event.body.get("entry", ""))
        return name

    return [event for event in recorded if named(event) in (None, benchmark)]


def _visible(
    session: Session, recorded: Sequence[StoredEvent], *, hidden: set[str], public: Mapping[str, PublicEvent]
) -> list[LoggedDecision]:
    """Return the events that are shown: without hidden ones, and those that a re-score writes beside its own."""
    visible = [
        event
        for event in recorded
        if event.body.get("entry") not in hidden
        and event.body.get("it") != "is hidden"
        and not (event.kind == _POINTED and event.body.get("from"))
    ]
    owners = queries.owners(session, [event.body["entry"] for event in visible if public[event.kind].by_owners])
    moves = [event for event in visible if event.kind in _OF_THE_BOARD]
    around = {
        event.seq: queries.boards_around(session, event.seq, benchmark=event.body.get("benchmark")) for event in moves
    }
    return [_decision(event, public[event.kind], owners=owners, around=around.get(event.seq)) for event in visible]


def _decision(
    event: StoredEvent, public_event: PublicEvent, *, owners: Mapping[str, str], around: tuple[str | None, ...] | None
) -> LoggedDecision:
    body = event.body
    facts = {name: body.get(name) for name in public_event.fields}
    texts = {name: ", ".join(value) if isinstance(value, list) else value for name, value in facts.items()}
    texts |= {name: Message(body[name], {}) for name in ("now", "reason") if body.get(name)}  # the service's own words
    texts |= _with_rules(body)
    if around is not None:
        facts |= dict(zip(("snapshot_before", "snapshot_after"), around, strict=True))
    by = (
        "service"
        if "by" not in body
        else "owner"
        if public_event.by_owners and _by_owner(body, owners)
        else "maintainer"
    )
    title = Message(public_event.title, {}) if public_event.title else event.kind.replace(".", " ").capitalize()
    about = {"seq": event.seq, "at": iso(event.at), "kind": event.kind, "title": title}
    sentences = {"sentence": Message(public_event.sentence, texts), "changes": _changes(event.kind, facts)}
    return {**about, **sentences, "by": by, **facts}


def _changes(kind: str, facts: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what a change of labels did; of hidden labels the event says less, so this does."""
    sentences: list[str] = (
        [_("Labels: {difference}.", difference=label_difference(facts["labels"]))] if facts.get("labels") else []
    )
    entries, largest = facts.get("entries"), facts.get("largest_change")
    if entries is not None:
        scored = ngettext("{n:,} entry was scored again", "{n:,} entries were scored again", entries)
        if kind == "rescore.undone":
            scored = ngettext(
                "{n:,} entry went back to earlier scores", "{n:,} entries went back to earlier scores", entries
            )
        # With two decimals where they are on record: a single label moves a macro average by a few hundredths.
        points = "" if largest is None else f"{100 * largest:.2f}".removesuffix("0")
        parts = [scored]
        moved = facts.get("moved")  # not told where only the overall may be
        if moved is not None:
            parts.append(_(", {moved:,} moved in rank", moved=moved))
        if points:
            parts.append(_("; the largest change of a macro average is {points} points", points=points))
        sentences.append(joined([*parts, _(".")], ""))
    return tuple(sentences)


def label_difference(result: Mapping[str, Any]) -> str:
    """Return the counts of changed labels in words."""
    if "flipped" not in result:
        return _("not compared")
    added, dropped = result["added"], result["dropped"]
    tags = result["tags_changed"]
    about_tags = (
        _("only one of the two has error tags") if tags is None else _("{tags} with other error tags", tags=tags)
    )
    return _(
        "{flipped} flipped, {added} added, {dropped} dropped, {about_tags}",
        flipped=result["flipped"],
        added=added,
        dropped=dropped,
        about_tags=about_tags,
    )


def _by_owner(body: Mapping[str, Any], owners: Mapping[str, str]) -> bool:
    """Return whether somebody decided as the entry's owner: where only maintainers may, an owner is there as one of
    them.

    Without sign-in everybody has one account, and nobody owns anything (values.require_owner_of).
    """
    return body.get("via") != "local" and body["by"] == owners.get(body["entry"])


def _with_rules(body: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """`from` and `to` of a change of the board that is one of the scorer version, in words."""
    before, after = body.get("from"), body.get("to")
    if not isinstance(before, dict) or not isinstance(after, dict):
        return {}
    if before.get("scorer_version") == after.get("scorer_version"):
        return {}
    return {
        name: {"label_revision": f"{rules['label_revision']} (scorer version {rules['scorer_version']})"}
        for name, rules in (("from", before), ("to", after))
    }


class PublicLog:
    """The decisions for pages that are asked for often: read again only when the chain has grown. For everybody.

    `benchmark`: as of `decisions`.
    """

    def __init__(self, database: Database, events: Mapping[str, PublicEvent], *, benchmark: str = "") -> None:
        self._database, self._events, self._benchmark = database, events, benchmark
        self._kept = lru_cache(maxsize=_KEPT)(self._read)

    def __call__(self, before: int | None = None, limit: int = 100, edits: bool = False) -> Sequence[LoggedDecision]:
        """Do as ``decisions``."""
        with self._database.read() as session:
            through = audit.head(session).seq
        return self._kept((through, before, limit, edits))

    def _read(self, asked: tuple[int, int | None, int, bool]) -> Sequence[LoggedDecision]:
        """Return the decisions; of a chain that ends with another event they are read anew."""
        _through, before, limit, edits = asked
        span: dict[str, Any] = {"before": before, "limit": limit, "edits": edits}
        return decisions(self._database, self._events, benchmark=self._benchmark, **span)
