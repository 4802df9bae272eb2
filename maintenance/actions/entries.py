"""Use cases about entries. Each one loads, authorises, decides, and saves with an audit event in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from auth import Identity, Role
from maintenance.action_context import ActionContext
from maintenance.actions import accounts
from maintenance.database import queries
from maintenance.database.queries import Change
from maintenance.registry import ACCOUNT_HELP, EntryParam, ParamInfo, Reason, action
from maintenance.types import ActionResult, Conflict, Entry, NotFound, clean_reason, require_owner_of
from maintenance.view import NOTHING, Row, Table, TableCell, View
from storage import confusables
from storage.clock import minute, read_clock
from storage.database import Session
from storage.integrity import audit, row_commitments
from storage.limits import sliding_window
from storage.metadata import label
from vlrb.common.messages import _

HIDDEN, RESTORED, WITHDRAWN = "entry.hidden", "entry.restored", "entry.withdrawn"
VERIFIED, UNVERIFIED = "entry.verified", "entry.unverified"
FLAGGED, UNFLAGGED = "entry.flagged", "entry.unflagged"
EDITED, TRANSFERRED = "entry.edited", "entry.transferred"
UNCHANGED = _("No change: it is so already.")
NOW = object()
"""The time of the decision."""
_NAMING = {"model", "judge"}  # fields that name the judge

Changes = Annotated[
    Mapping[str, object],
    ParamInfo("Field", whole_body=True, metavar="FIELD=VALUE", help="an empty value clears the field"),
]
FlagNote = Annotated[str, ParamInfo("Note", option="--reason", metavar="NOTE")]
NewOwner = Annotated[str, ParamInfo("New owner", "user name or id", metavar="ACCOUNT", help=ACCOUNT_HELP)]


@action(
    "entries.hide",
    "POST /api/v1/entries/{entry}/hide",
    audit=HIDDEN,
    owner="It was hidden: {reason}",
    button="Hide",
    danger=True,
)
def hide(ctx: ActionContext, entry: EntryParam, reason: Reason) -> ActionResult:
    """Take an entry off every public page, the decision log included. For maintainers."""
    return _set(ctx, entry, kind=HIDDEN, values={"hidden_at": NOW}, said="is hidden", reason=clean_reason(reason))


@action(
    "entries.restore",
    "POST /api/v1/entries/{entry}/restore",
    audit=RESTORED,
    title="Entry restored",
    public="Entry {entry} {now}: {reason}",
    owner="It {now}: {reason}",
    button="Restore",
)
def restore(ctx: ActionContext, entry: EntryParam, *, reason: Reason) -> ActionResult:
    """Undo hiding, else withdrawing: one at a time, and report what remains. For maintainers.

    One at a time: anyone who lets a hidden entry be seen again has not decided against its owner, who withdrew it.
    """
    why = clean_reason(reason)
    with ctx.database.write() as session:
        result = _load(session, entry)
        if result.gone is None:
            return ActionResult(False, UNCHANGED)
        it: str | None
        if result.hidden_at is not None:
            it, after = "is hidden", result._replace(hidden_at=None)
            queries.change(session, entry, hidden_at=None)
        else:
            it, after = result.gone, result._replace(withdrawn_at=None)
            queries.change(session, entry, withdrawn_at=None, withdrawn_reason=None)
        name = _name(result)
        now = _("is back on the board") if after.gone is None else _("was restored, but it is withdrawn")
        message = f"{name} {now}."
        if after.gone is not None:
            message = f"{name} {now}. Restore it once more to take that back, too."
        return _record(session, RESTORED, user=ctx.user, entry=entry, message=message, reason=why, it=it, now=now)


@action(
    "entries.withdraw",
    "POST /api/v1/entries/{entry}/withdraw",
    role=Role.SUBMITTER,
    audit=WITHDRAWN,
    title="Entry withdrawn",
    public="Entry {entry} was withdrawn: {reason}",
    owner="It was withdrawn: {reason}",
    button="Withdraw",
    danger=True,
)
def withdraw(ctx: ActionContext, entry: EntryParam, reason: Reason) -> ActionResult:
    """Take an entry off the board; a public stub with date and reason remains. For its owner and maintainers."""
    why = clean_reason(reason)
    with ctx.database.write() as session:
        result = _load(session, entry, user=ctx.user)
        if result.withdrawn_at is not None:
            return ActionResult(False, UNCHANGED)
        queries.change(session, entry, withdrawn_at=read_clock(session), withdrawn_reason=why)
        return _record(
            session,
            WITHDRAWN,
            user=ctx.user,
            entry=entry,
            message=_("{name} is withdrawn.", name=_name(result)),
            reason=why,
        )


@action(
    "entries.verify",
    "POST /api/v1/entries/{entry}/verify",
    audit=VERIFIED,
    title="Entry verified",
    public="Entry {entry} was verified: {reason}",
    owner="It was verified: {reason}",
    button="Verify",
)
def verify(ctx: ActionContext, entry: EntryParam, reason: Reason) -> ActionResult:
    """Mark an entry as verified; `reason` says how it was. For maintainers."""
    return _set(ctx, entry, kind=VERIFIED, values={"verified_at": NOW}, said="is verified", reason=clean_reason(reason))


@action(
    "entries.unverify",
    "POST /api/v1/entries/{entry}/unverify",
    audit=UNVERIFIED,
    title="Verification taken back",
    public="Entry {entry} is no longer verified: {reason}",
    owner="It is no longer verified: {reason}",
    button="Take verification back",
)
def unverify(ctx: ActionContext, entry: EntryParam, reason: Reason) -> ActionResult:
    """Remove the mark that an entry was verified. For maintainers."""
    values = {"verified_at": None}
    return _set(ctx, entry, kind=UNVERIFIED, values=values, said="is no longer verified", reason=clean_reason(reason))


def _set(
    ctx: ActionContext, entry: str, *, kind: str, values: Mapping[str, Any], said: str, **facts: Any
) -> ActionResult:
    """Decide about an entry, where that changes anything. `values`: what holds then, NOW for the time. `said`: of it.
    `facts`: of the event."""
    with ctx.database.write() as session:
        result = _load(session, entry)
        if all(
            (getattr(result, name) is not None) if value is NOW else getattr(result, name) == value
            for name, value in values.items()
        ):
            return ActionResult(False, UNCHANGED)
        at = read_clock(session)
        queries.change(session, entry, **{name: at if value is NOW else value for name, value in values.items()})
        return _record(session, kind, user=ctx.user, entry=entry, message=f"{_name(result)} {said}.", **facts)


@action(
    "entries.flag",
    "POST /api/v1/entries/{entry}/flag",
    audit=FLAGGED,
    title="Note put on an entry",
    public="Entry {entry} carries a note: {note}",
    owner="It carries a public note: {note}",
    button="Put a public note",
)
def flag(ctx: ActionContext, entry: EntryParam, note: FlagNote) -> ActionResult:
    """Put a public note on an entry. For maintainers."""
    text = clean_reason(note, "note")
    return _set(ctx, entry, kind=FLAGGED, values={"flag": text}, said="carries the note", note=text)


@action(
    "entries.unflag",
    "POST /api/v1/entries/{entry}/unflag",
    audit=UNFLAGGED,
    title="Note taken off an entry",
    public="Entry {entry} carries no note any more: {reason}",
    owner="It carries no public note any more: {reason}",
    button="Take the note off",
)
def unflag(ctx: ActionContext, entry: EntryParam, reason: Reason) -> ActionResult:
    """Take the public note off. For maintainers."""
    return _set(ctx, entry, kind=UNFLAGGED, values={"flag": None}, said="carries no note", reason=clean_reason(reason))


@action(
    "entries.edit",
    "PATCH /api/v1/entries/{entry}",
    role=Role.SUBMITTER,
    audit=EDITED,
    title="Entry described anew",
    public="Entry {entry} is described anew: {fields}",
    owner="Its description was changed: {fields}",
    button="Change a field",
    single=True,
    effect="Change fields of the description at once; an empty value clears one. Earlier values stay in the history.",
)
def edit(ctx: ActionContext, entry: EntryParam, changes: Changes) -> ActionResult:
    """Change metadata fields; null or an empty text clears one. Owners do so 20 times in 24 hours (429).

    The old values stay in the history. Raises RateLimited where its owner has changed descriptions, of this entry or
    others, as often as they may.
    A whole description is checked as for a new submission: ValueError names all that is wrong. Nobody may imitate the
    name of a reported result.
    """
    with ctx.database.write() as session:
        result = _load(session, entry, user=ctx.user)
        old = queries.metadata(session, entry)
        new = ctx.parse({**old, **changes})
        before = {name: value for name, value in old.items() if new.get(name) != value}
        if not before:
            return ActionResult(False, UNCHANGED)
        after: dict[str, Any] = {name: new.get(name) for name in before}
        _refuse_twins(session, result, owner=result.owner, model=str(new["model"]), version=str(new["version"]))
        confusables.lock_names(session)
        kinds = {*before, *(["judge"] if _NAMING & before.keys() else [])}
        confusables.require_own_names(
            session, result.benchmark, owner=result.owner, described=new, kinds=kinds, shipped=ctx.shipped()
        )
        if Role.MAINTAINER not in ctx.user.roles:  # counted under the lock on names: edits may come at once
            edited = queries.edited_at(session, result.benchmark, owner=ctx.user.account)
            sliding_window.check(_("The descriptions of your entries"), edited, now=read_clock(session))
        queries.change(session, entry, **after)
        message = _("Changed: {names}.", names=", ".join(before))
        facts: dict[str, Any] = {"fields": sorted(before), "before": before, "after": after}
        facts["description_commitment"] = row_commitments.description_commitment(session, entry)
        return _record(session, EDITED, user=ctx.user, entry=entry, message=message, **facts)


def shown_history(changes: Sequence[Change]) -> View:
    """Return the changes of an entry's description, a row a field."""
    head = ("At", "By", "Field", "Was", "Became")
    rows = [_changed(change, name) for change in changes for name in change.before]
    return View(tables=[Table("Changes", head, rows, "Nothing was ever changed.")])


def _changed(change: Change, name: str) -> Row:
    texts = field_text(change.before[name]), field_text(change.after[name])
    return Row((minute(change.at), TableCell(change.editor, account=True), label(name), *texts))


def field_text(value: object) -> str:
    """Return a value of a description."""
    if value is None or value == "":
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value}".removesuffix(".0") if isinstance(value, float) else f"{value}"


@action("entries.history", "GET /api/v1/entries/{entry}/history", role=Role.SUBMITTER, view=shown_history)
def history(ctx: ActionContext, entry: EntryParam) -> list[Change]:
    """Show the changes of an entry's metadata, the newest first. For the entry's owner and maintainers."""
    with ctx.database.read() as session:
        _load(session, entry, user=ctx.user, lock=False)
        return queries.edits(session, entry)


def look(ctx: ActionContext, entry: str) -> tuple[Entry, dict[str, Any]]:
    """Return an entry with all that holds for it, and its metadata. For the entry's owner and maintainers."""
    with ctx.database.read() as session:
        return _load(session, entry, user=ctx.user, lock=False), queries.metadata(session, entry)


@action(
    "entries.transfer",
    "POST /api/v1/entries/{entry}/transfer",
    audit=TRANSFERRED,
    owner="It was given to another account: {reason}",
    button="Transfer",
    danger=True,
)
def transfer(ctx: ActionContext, entry: EntryParam, to: NewOwner, reason: Reason) -> ActionResult:
    """Give an entry to another account (id or user name). For maintainers: nobody else can say that it is wanted."""
    why = clean_reason(reason)
    with ctx.database.write() as session:
        result, owner = _load(session, entry), accounts.find(session, to)
        if result.owner == owner.id:
            return ActionResult(False, UNCHANGED)
        _refuse_twins(session, result, owner=owner.id, model=result.model, version=result.version)
        queries.change(session, entry, owner=owner.id)
        facts = {"from": result.owner, "to": owner.id, "reason": why}
        message = f"{_name(result)} belongs to {owner.words}."
        return _record(session, TRANSFERRED, user=ctx.user, entry=entry, message=message, **facts)


def _load(session: Session, entry: str, *, user: Identity | None = None, lock: bool = True) -> Entry:
    """Return the entry, locked; where `user` is given, only for its owner and maintainers. Raises NotFound,
    Forbidden."""
    result = queries.entry(session, entry, lock=lock)
    if user is not None:
        require_owner_of(user, result.owner if result else "")
    if result is None:
        raise NotFound(_("There is no entry {entry!r}.", entry=entry[:40]))
    return result


def _refuse_twins(session: Session, entry: Entry, *, owner: str, model: str, version: str) -> None:
    other = queries.taken(session, entry, owner=owner, model=model, version=version)
    if other is not None:
        raise Conflict("name-taken", _("The owner has entry {other} with the same name or content.", other=other))


def _name(entry: Entry) -> str:
    return f"{entry.model} {entry.version}".strip() + f" ({entry.id})"


def _record(session: Session, kind: str, *, user: Identity, entry: str, message: str, **facts: Any) -> ActionResult:
    """Return the result, with its event appended: last in the transaction, since its lock is everybody's."""
    seq = audit.append(session, kind, data={"entry": entry, "by": user.account, "via": user.auth_method, **facts})
    return ActionResult(True, message, seq=seq)
