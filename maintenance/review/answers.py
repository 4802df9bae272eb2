"""Answering in a project of verification: what an annotator sees, and keeping every answer as it is given.

Annotators are blind: no label is here to be shown, the responses come in an order that tells nothing, and the models
that wrote them are shown on demand, behind an answer that then stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from benchmark.annotation import ERRORS, PREFERENCES, UNUSABLE, seen_order
from benchmark.items import ItemTable
from identity import Identity, NotAllowed, Role, require
from maintenance.review.pairs import Shelf
from maintenance.review.projects import known
from maintenance.values import Done, NotFound, NotPossible
from storage import audit, verification
from storage.database import Database
from storage.review_tables import NOTE_LIMIT
from storage.verification import Given, Verified

ANSWERED, MODELS_SEEN = "verification.answered", "verification.models-seen"
SEEN = ("first", "second")
"""The preferences as an annotator gives them; the other verdicts are those of benchmark.annotation."""


@dataclass(frozen=True, slots=True)
class Said:
    """An answer as an annotator gives it: one of SEEN or UNUSABLE, ERRORS of the worse response, a note."""

    verdict: str
    errors: tuple[str, ...] = ()
    note: str = ""


class Sheet(NamedTuple):
    """A project as an annotator sees it. `answered`: places, from 1."""

    id: int
    name: str
    items: int
    answered: list[int]
    closed: bool


class ShownPair(NamedTuple):
    """A pair as an annotator sees it. `question`, `responses` None: the installation has no texts."""

    place: int
    items: int
    question: str | None
    responses: tuple[str, str] | None
    image: str | None  # address
    said: Said | None
    models: tuple[str, str] | None  # only once they were asked for
    has_models: bool


def sheets(database: Database, who: Identity, benchmark: str) -> list[Sheet]:
    """The projects in which somebody may answer, the newest first. For everybody who may submit. Raises Refused."""
    _require_annotator(who)
    mine = None if Role.MAINTAINER in who.roles else who.account
    with database.read() as session:
        found = verification.projects(session, benchmark, mine)
        return [_sheet(session, one, who.account) for one in found]


def sheet(database: Database, who: Identity, benchmark: str, project: int) -> Sheet:
    """One of them. Raises Refused, NotFound."""
    _require_annotator(who)
    with database.read() as session:
        return _sheet(session, _open_to(session, who, benchmark, project), who.account)


def show(database: Database, who: Identity, shelf: Shelf, project: int, place: int) -> ShownPair:
    """A pair and one's own answer. Raises Refused, NotFound."""
    _require_annotator(who)
    with database.read() as session:
        found = _open_to(session, who, shelf.table.benchmark, project)
        key = _item(session, project, place)
        given = verification.answer(session, project, who.account, key)
    index = _index(shelf.table, key)
    texts = shelf.texts[index] if shelf.texts else None
    seen = seen_order(who.account, key)
    revealed = given is not None and given.models_seen_at is not None
    models = texts.models if texts else None
    return ShownPair(
        place,
        found.items,
        texts.query if texts else None,
        _in_order(texts.responses, seen) if texts else None,
        f"/explore/{key}/image" if texts and shelf.image(texts.image) else None,
        _as_seen(given, seen) if given else None,
        _in_order(models, seen) if models and revealed else None,
        models is not None,
    )


def answer(database: Database, who: Identity, table: ItemTable, project: int, place: int, said: Said) -> Done:
    """Keep an answer, over an earlier one. The same again changes nothing. Raises Refused, NotFound, NotPossible."""
    _require_annotator(who)
    _check(said)
    with database.write() as session:
        found = _open_to(session, who, table.benchmark, project, lock=True)
        if found.closed_at is not None:
            raise NotPossible("closed", f"{found.name} is closed: answers do not change any more.")
        key = _item(session, project, place)
        seen = seen_order(who.account, key)
        before = verification.answer(session, project, who.account, key)
        if before is not None and _as_seen(before, seen) == said:
            return Done(False, "It is saved already.")
        verdict = PREFERENCES[seen[SEEN.index(said.verdict)]] if said.verdict in SEEN else said.verdict
        if before is not None and before.models_seen_at is not None and before.verdict != verdict:
            raise NotPossible("models-seen", "You have seen which models wrote these; your preference stays.")
        verification.add_annotators(session, project, [who.account])
        values = {"verdict": verdict, "errors": list(said.errors), "note": said.note}
        verification.keep(session, project, who.account, key, **values)
        # What was said is in the digest that closing puts on record, all answers together.
        seq = audit.append(session, ANSWERED, {"project": project, "place": place, "by": who.account, "via": who.via})
    return Done(True, "Saved." if before is None else "Saved, over your earlier answer.", seq)


def show_models(database: Database, who: Identity, shelf: Shelf, project: int, place: int) -> ShownPair:
    """Tell which models wrote the responses; from then on the preference stays.

    Raises Refused, NotFound, NotPossible.
    """
    _require_annotator(who)
    with database.write() as session:
        _open_to(session, who, shelf.table.benchmark, project, lock=True)
        key = _item(session, project, place)
        texts = shelf.texts[_index(shelf.table, key)] if shelf.texts else None
        if texts is None or texts.models is None:
            raise NotPossible("no-models", "Here nobody knows which models wrote these.")
        if verification.answer(session, project, who.account, key) is None:
            raise NotPossible("no-answer", "Answer first: who wrote a response can tell which is better.")
        if verification.note_models_seen(session, project, who.account, key):
            facts = {"project": project, "place": place, "by": who.account, "via": who.via}
            audit.append(session, MODELS_SEEN, facts)
    return show(database, who, shelf, project, place)


def _require_annotator(who: Identity) -> None:
    require(who, Role.SUBMITTER)
    if who.via == "local" and Role.MAINTAINER not in who.roles:  # everybody has that account
        raise NotAllowed("Without sign-in annotators cannot be told apart.", who, Role.MAINTAINER)


def _open_to(session: Any, who: Identity, benchmark: str, project: int, *, lock: bool = False) -> Verified:
    """The project, if it is open to somebody; to others it does not exist."""
    found = known(session, benchmark, project, lock=lock)
    if Role.MAINTAINER not in who.roles and who.account not in verification.annotators(session, project):
        raise NotFound(f"There is no project {project}.")
    return found


def _sheet(session: Any, project: Verified, account: str) -> Sheet:
    answered = verification.answered(session, project.id, account)
    return Sheet(project.id, project.name, project.items, answered, project.closed_at is not None)


def _item(session: Any, project: int, place: int) -> str:
    key = verification.item_at(session, project, place)
    if key is None:
        raise NotFound(f"Project {project} has no pair {place}.")
    return key


def _index(table: ItemTable, key: str) -> int:
    found = next((index for index, item in enumerate(table.items) if item.key == key), None)
    if found is None:
        raise NotFound("This pair is not in the benchmark any more.")
    return found


def _check(said: Said) -> None:
    if said.verdict not in (*SEEN, *UNUSABLE):
        raise NotPossible("bad-answer", f"An answer is one of {', '.join((*SEEN, *UNUSABLE))}.")
    if len(set(said.errors)) != len(said.errors) or set(said.errors) - set(ERRORS):
        raise NotPossible("bad-error", f"Errors are some of {', '.join(ERRORS)}, each once.")
    if said.errors and said.verdict not in SEEN:
        raise NotPossible("bad-error", "Errors are those of the worse response: say which response is better, or none.")
    if len(said.note) > NOTE_LIMIT:
        raise NotPossible("note-too-long", f"A note has at most {NOTE_LIMIT} characters.")
    if not all(character.isprintable() for character in said.note):
        raise NotPossible("bad-note", "A note is one line of text.")


def _as_seen(given: Given, seen: Sequence[int]) -> Said:
    verdict = given.verdict
    if verdict in PREFERENCES:
        verdict = SEEN[list(seen).index(PREFERENCES.index(verdict))]
    return Said(verdict, tuple(given.errors), given.note)


def _in_order(pair: tuple[str, str], seen: Sequence[int]) -> tuple[str, str]:
    return pair[seen[0]], pair[seen[1]]
