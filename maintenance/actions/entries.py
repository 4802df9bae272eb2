"""Use cases about entries. Each one loads, authorises, decides, and saves with an audit event in one transaction."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from benchmark.judges import judge_name
from maintenance import queries
from maintenance.actions import account_search
from maintenance.queries import Change
from maintenance.types import (
    ActionResult,
    Conflict,
    Entry,
    Identity,
    NotFound,
    Role,
    clean_reason,
    require_maintainer,
    require_owner_of,
)
from storage import audit, confusables, sliding_window, stored_rows, visibility
from storage.database import Database

HIDDEN, RESTORED, WITHDRAWN = "entry.hidden", "entry.restored", "entry.withdrawn"
VERIFIED, UNVERIFIED = "entry.verified", "entry.unverified"
FLAGGED, UNFLAGGED = "entry.flagged", "entry.unflagged"
EDITED, TRANSFERRED, MERGED = "entry.edited", "entry.transferred", "entry.merged"
UNCHANGED = "It is so already."
_NAMING = {"model", "judge"}  # fields that name the judge

ParseMetadata = Callable[[Mapping[str, object]], Mapping[str, object]]


def hide(database: Database, user: Identity, entry_id: str, reason: str) -> ActionResult:
    """Take an entry out of sight everywhere. For maintainers."""
    require_maintainer(user)
    why = clean_reason(reason)
    with database.write() as session:
        found = _load(session, entry_id)
        if found.hidden_at is not None:
            return ActionResult(False, UNCHANGED)
        queries.decide(session, entry_id, hidden_at=queries.now(session))
        return _record(session, HIDDEN, user, entry_id, f"{_name(found)} is hidden.", reason=why)


def restore(database: Database, user: Identity, entry_id: str, reason: str) -> ActionResult:
    """Take back what keeps an entry off the board: hiding, else merging, else withdrawing. For maintainers.

    One at a time: anyone who lets a hidden entry be seen again has not decided against its owner, who withdrew it.
    """
    require_maintainer(user)
    why = clean_reason(reason)
    with database.write() as session:
        found = _load(session, entry_id)
        if found.gone is None:
            return ActionResult(False, UNCHANGED)
        it: str | None
        if found.hidden_at is not None:
            it, after = "is hidden", found._replace(hidden_at=None)
            queries.decide(session, entry_id, hidden_at=None)
        elif found.merged_into is not None:
            it, after = found.gone, found._replace(merged_into=None)
            queries.decide(session, entry_id, merged_into=None, merged_at=None)
        else:
            it, after = found.gone, found._replace(withdrawn_at=None)
            queries.decide(session, entry_id, withdrawn_at=None, withdrawn_reason=None)
        now = "is back on the board" if after.gone is None else f"was restored, but it {after.gone}"
        again = "" if after.gone is None else " Restore it once more to take that back, too."
        message = f"{_name(found)} {now}.{again}"
        return _record(session, RESTORED, user, entry_id, message, reason=why, it=it, now=now)


def withdraw(database: Database, user: Identity, entry_id: str, reason: str) -> ActionResult:
    """Take an entry off the board; a public stub with date and reason remains. For its owner and maintainers."""
    why = clean_reason(reason)
    with database.write() as session:
        found = _load(session, entry_id, user)
        if found.withdrawn_at is not None:
            return ActionResult(False, UNCHANGED)
        queries.decide(session, entry_id, withdrawn_at=queries.now(session), withdrawn_reason=why)
        return _record(session, WITHDRAWN, user, entry_id, f"{_name(found)} is withdrawn.", reason=why)


def verify(database: Database, user: Identity, entry_id: str, reason: str) -> ActionResult:
    """Mark an entry as verified; `reason` says how it was. For maintainers."""
    return _mark(database, user, entry_id, reason, wanted=True)


def unverify(database: Database, user: Identity, entry_id: str, reason: str) -> ActionResult:
    """Take the mark back. For maintainers."""
    return _mark(database, user, entry_id, reason, wanted=False)


def _mark(database: Database, user: Identity, entry_id: str, reason: str, *, wanted: bool) -> ActionResult:
    require_maintainer(user)
    why = clean_reason(reason)
    with database.write() as session:
        found = _load(session, entry_id)
        if (found.verified_at is not None) is wanted:
            return ActionResult(False, UNCHANGED)
        queries.decide(session, entry_id, verified_at=queries.now(session) if wanted else None)
        message = f"{_name(found)} is {'verified' if wanted else 'no longer verified'}."
        return _record(session, VERIFIED if wanted else UNVERIFIED, user, entry_id, message, reason=why)


def flag(database: Database, user: Identity, entry_id: str, note: str) -> ActionResult:
    """Put a public note on an entry. For maintainers."""
    require_maintainer(user)
    text = clean_reason(note, "note")
    with database.write() as session:
        found = _load(session, entry_id)
        if found.flag == text:
            return ActionResult(False, UNCHANGED)
        queries.decide(session, entry_id, flag=text)
        return _record(session, FLAGGED, user, entry_id, f"{_name(found)} carries the note.", note=text)


def unflag(database: Database, user: Identity, entry_id: str, reason: str) -> ActionResult:
    """Take the public note off. For maintainers."""
    require_maintainer(user)
    why = clean_reason(reason)
    with database.write() as session:
        found = _load(session, entry_id)
        if found.flag is None:
            return ActionResult(False, UNCHANGED)
        queries.decide(session, entry_id, flag=None)
        return _record(session, UNFLAGGED, user, entry_id, f"{_name(found)} carries no note.", reason=why)


def edit(
    database: Database,
    user: Identity,
    entry_id: str,
    changes: Mapping[str, object],
    parse: ParseMetadata,
    shipped: Iterable[Mapping[str, Any]] = (),
) -> ActionResult:
    """Change metadata fields; the old values stay in the history. For maintainers and, some times a day, its owner.

    Raises pace.TooOften where its owner has changed descriptions, of this entry or others, as often as they may.
    `parse` checks a whole description, as for a new submission, and raises ValueError with all that is wrong.
    `shipped`: the reported results that come with the project, whose names nobody may imitate.
    """
    with database.write() as session:
        found = _load(session, entry_id, user)
        old = queries.metadata(session, entry_id)
        new = parse({**old, **changes})
        before = {name: value for name, value in old.items() if new.get(name) != value}
        if not before:
            return ActionResult(False, UNCHANGED)
        after: dict[str, Any] = {name: new.get(name) for name in before}
        _refuse_twins(session, found, found.owner, str(new["model"]), str(new["version"]))
        judge = judge_name(str(new["model"]), str(new.get("judge") or ""))
        named = {**after, "judge": judge} if _NAMING & after.keys() else after
        _refuse_imitation(session, found, named, shipped)
        if Role.MAINTAINER not in user.roles:  # counted under the lock on names: an account may change several at once
            edited = queries.edited_at(session, found.benchmark, user.account)
            sliding_window.check("The descriptions of your entries", edited, queries.now(session))
        queries.change(session, entry_id, after)
        queries.keep_edit(session, entry_id, user.account, before, after)
        digest = hashlib.sha256(audit.canonical_json({"before": before, "after": after}).encode()).hexdigest()
        message = f"Changed: {', '.join(before)}."
        facts = {"description_commitment": stored_rows.description_commitment(session, entry_id)}
        return _record(session, EDITED, user, entry_id, message, fields=sorted(before), sha256=digest, **facts)


def history(database: Database, user: Identity, entry_id: str) -> list[Change]:
    """Return the changes of an entry's metadata, the newest first. For the entry's owner and maintainers."""
    with database.read() as session:
        _load(session, entry_id, user, lock=False)
        return queries.edits(session, entry_id)


def look(database: Database, user: Identity, entry_id: str) -> tuple[Entry, dict[str, Any]]:
    """Return an entry with all that holds for it, and its metadata. For the entry's owner and maintainers."""
    with database.read() as session:
        return _load(session, entry_id, user, lock=False), queries.metadata(session, entry_id)


def transfer(database: Database, user: Identity, entry_id: str, to: str, reason: str) -> ActionResult:
    """Give an entry to another account (id or user name). For maintainers: nobody else can say that it is wanted."""
    require_maintainer(user)
    why = clean_reason(reason)
    with database.write() as session:
        found, owner = _load(session, entry_id), account_search.find(session, to, local=True)
        if found.owner == owner.id:
            return ActionResult(False, UNCHANGED)
        _refuse_twins(session, found, owner.id, found.model, found.version)
        queries.change(session, entry_id, {"owner": owner.id})
        facts = {"from": found.owner, "to": owner.id, "reason": why}
        message = f"{_name(found)} belongs to {owner.words}."
        return _record(session, TRANSFERRED, user, entry_id, message, **facts)


def merge(database: Database, user: Identity, duplicate: str, into: str, reason: str) -> ActionResult:
    """Replace a duplicate by the entry it repeats; its address leads there from now on. For maintainers."""
    require_maintainer(user)
    why = clean_reason(reason)
    with database.write() as session:
        first, second = sorted((duplicate, into))  # two merges of the same pair wait for one another, not crosswise
        both = {name: _load(session, name) for name in (first, second)}
        extra, kept = both[duplicate], both[into]
        if extra.merged_into == into:
            return ActionResult(False, UNCHANGED)
        if duplicate == into or extra.benchmark != kept.benchmark:
            raise Conflict("not-duplicates", "Only two different entries of the same benchmark can be merged.")
        if kept.gone is not None:
            raise Conflict("not-on-the-board", f"{into} {kept.gone}; merge into an entry that is on the board.")
        for name in both:
            if visibility.of(session, name).anonymous_until is not None:
                detail = f"{name} does not tell its owner, and the other one may. Merge them when it does."
                raise Conflict("unnamed", detail)
        if into in queries.out_of_sight(session):
            raise Conflict("not-on-the-board", f"{into} is not published; merge into an entry that is on the board.")
        for name in (*queries.merged_into(session, duplicate), duplicate):
            queries.decide(session, name, merged_into=into, merged_at=queries.now(session))
        same = queries.same_votes(session, duplicate, into)
        differ = "" if same else " Their votes differ: restore it if it is no duplicate."
        message = f"{_name(extra)} is merged into {_name(kept)}.{differ}"
        return _record(session, MERGED, user, duplicate, message, into=into, reason=why, same_votes=same)


def _load(session: Any, entry_id: str, user: Identity | None = None, *, lock: bool = True) -> Entry:
    """Return the entry, locked; where `who` is given, only for its owner and maintainers. Raises NotFound,
    Forbidden."""
    found = queries.entry(session, entry_id, lock=lock)
    if user is not None:
        require_owner_of(user, found.owner if found else "")
    if found is None:
        raise NotFound(f"There is no entry {entry_id[:40]!r}.")
    return found


def _refuse_twins(session: Any, found: Entry, owner: str, model: str, version: str) -> None:
    other = queries.taken(session, found, owner, model, version)
    if other is not None:
        raise Conflict("name-taken", f"The owner has entry {other} with the same name or content. Merge them first.")


def _refuse_imitation(
    session: Any, found: Entry, changes: Mapping[str, Any], shipped: Iterable[Mapping[str, Any]]
) -> None:
    confusables.lock_names(session)
    for field in confusables.FIELDS:
        name = changes.get(field)
        if name and (other := confusables.find_confusable(session, found.benchmark, found.owner, field, name, shipped)):
            raise Conflict("too-similar", f"{field}: {name} is too similar to {other}, which is somebody else's.")


def _name(entry: Entry) -> str:
    return f"{entry.model} {entry.version}".strip() + f" ({entry.id})"


def _record(session: Any, kind: str, user: Identity, entry_id: str, message: str, **facts: Any) -> ActionResult:
    """Return the event comes last in the transaction: its lock is the one that everybody shares."""
    seq = audit.append(session, kind, {"entry": entry_id, "by": user.account, "via": user.auth_method, **facts})
    return ActionResult(True, message, seq)
