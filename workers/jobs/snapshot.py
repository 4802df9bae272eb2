"""Snapshot of all public facts, versioned; the pages derive their rows from it.

A snapshot is JSON, addressed by the SHA-256 of its bytes, stored as a difference to an earlier one, never changed. The
board's pointer moves to it in the transaction that stores it.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import orjson
from sqlalchemy import Row, insert, select, update
from sqlalchemy.orm import Session

from benchmark import baselines
from common import deltas
from storage import reported_results
from storage.boards import series, snapshots
from storage.clock import database_now, iso
from storage.database import Database
from storage.integrity import audit
from storage.labels import label_sets
from storage.labels.label_sets import ActiveBoard
from storage.metadata import NAMES
from storage.models.core import BoardState, Score, Snapshot, Submission
from storage.models.quota import Attempt
from workers.jobs import pairwise_statistics
from workers.jobs.pairwise_statistics import PairwiseRevision
from workers.moderation_state import ModerationState, load_moderation
from workers.scorer import Scorer
from workers.snapshot_triggers import changes_entries, needs_snapshot

PUBLISHED = "snapshot.published"
_COMPRESSION = 6  # of what has changed; a whole snapshot takes a tenth of a second
_NONCE_BYTES = 16
_KEPT = 3  # contents in memory

_FACTS = (
    Submission.id,
    *(getattr(Submission, name) for name in NAMES),
    Submission.created_at,
    Submission.format,
    Submission.revision,
    Submission.votes_per_item,
    Submission.parse_rate,
    Submission.first_shown_rate,
    Submission.self_consistency,
)

_NAMES = tuple(column.key for column in _FACTS)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Content:
    """Content of a snapshot, and the last audit event that it includes."""

    json: bytes  # without the closing brace: when it was made comes last, so one pass gives both digests
    through: int
    relation_ids: Sequence[str]

    def end(self, created_at: float) -> bytes:
        """Return the rest of the snapshot's JSON.

        The id is public and the facts are more than is public where labels are hidden: the nonce keeps anybody from
        trying out which facts have this id.
        """
        facts = {"created_at": iso(created_at), "audit_seq": self.through, "nonce": secrets.token_hex(_NONCE_BYTES)}
        return b"," + orjson.dumps(facts)[1:]


def publish_if_changed(
    database: Database, scorer: Scorer, *, anew: bool = False, memory: SnapshotMemory | None = None
) -> str | None:
    """Store a snapshot where the board has changed since the last one; returns its id, or None.

    `anew`: makes one though nothing has happened, and stores it where it says something else than the current one. For
    a worker that starts: the current one may be of another release, which wrote other facts or wrote them otherwise.
    `memory`: what this worker keeps between two snapshots.
    Relations that are not computed yet are left out; they come with a later snapshot (relations_job).
    """
    known = SnapshotMemory() if memory is None else memory
    with database.read() as session:
        pointer = label_sets.current(session, scorer.benchmark)
        if pointer is None:
            return None
        if not (anew or _changed(session, pointer)):
            return None
        if pointer.label_revision not in scorer.labels:
            log.error("snapshot.labels_missing", extra={"data": {"label_revision": pointer.label_revision}})
            return None
        with scorer.trace("snapshot.content"):
            content = _content(session, scorer, pointer, known)
    with scorer.trace("snapshot.publish"):
        return _publish(database, pointer, content, known)


def _changed(session: Session, pointer: ActiveBoard) -> bool:
    """Return whether the board has no snapshot yet, or something has happened that the current one may not show."""
    if pointer.snapshot_id is None:
        return True
    shown = select(BoardState.shown_seq).where(BoardState.benchmark == pointer.benchmark)
    return needs_snapshot(session, session.execute(shown).scalar_one())


@dataclass(frozen=True, slots=True)
class _BoardFacts:
    """All of a snapshot but its relations. ``judged``: label revision -> digest of what its relations follow from."""

    board: tuple[str, str, str]
    through: int
    revisions: Sequence[PairwiseRevision]
    judged: Mapping[str, str]
    entries: orjson.Fragment
    rest: Mapping[str, Any]


@dataclass(slots=True)
class SnapshotMemory:
    """What a worker keeps between two snapshots: the facts of the last, and contents that the next may differ from.

    A worker that starts has none of it, and makes the same.
    """

    facts: _BoardFacts | None = None
    fragments: Mapping[str, list[bytes]] = field(default_factory=dict)

    def keep(self, snapshot_id: str, fragments: list[bytes]) -> None:
        """Keep the content of a snapshot, and of the two before it: one with relations, and one without."""
        kept = {**self.fragments, snapshot_id: fragments}
        self.fragments = {name: kept[name] for name in list(kept)[-_KEPT:]}


def _content(session: Session, scorer: Scorer, pointer: ActiveBoard, memory: SnapshotMemory) -> _Content:
    through = audit.head(session).seq
    facts = memory.facts
    board = (pointer.benchmark, pointer.label_revision, pointer.scorer_version)
    if facts is None or facts.board != board or changes_entries(session, facts.through):
        memory.facts = facts = _facts(session, scorer, pointer, through)
    relations = pairwise_statistics.summaries(session, pointer.benchmark, facts.judged)
    content = {
        "benchmark": pointer.benchmark,
        "label_revision": pointer.label_revision,
        "scorer_version": pointer.scorer_version,
        "label_revisions": [revision.name for revision in facts.revisions],
        "sizes": scorer.sizes(pointer.label_revision),
        "baselines": _baselines(scorer, facts.revisions, relations, scorer.version == pointer.scorer_version),
        "relations": relations,
        "entries": facts.entries,
        **facts.rest,
    }
    return _Content(orjson.dumps(content)[:-1], through, [relation["id"] for relation in relations.values()])


def _facts(session: Session, scorer: Scorer, pointer: ActiveBoard, through: int) -> _BoardFacts:
    revisions = pairwise_statistics.revisions(session, scorer, pointer.benchmark)
    tallies = _tallies(session, pointer, [revision.name for revision in revisions])
    kept_back = pairwise_statistics.kept_back(session, pointer, revisions, scorer.table.spec)
    decided = load_moderation(session, pointer.benchmark)
    wanted = select(*_FACTS, Submission.owner).where(Submission.benchmark == pointer.benchmark)
    rows = session.execute(wanted.order_by(Submission.created_at, Submission.id))
    scored = [row for row in rows if pointer.label_revision in tallies.get(row.id, ())]
    shown = [row for row in scored if row.id not in decided.off]
    attempts = _attempts(session, scored, decided)
    for name, under in kept_back.items():
        tallies[name] = {revision: one for revision, one in tallies.get(name, {}).items() if revision not in under}
    others = [row for row in scored if row.id in decided.off and row.id not in decided.anonymous]
    judges = pairwise_statistics.judges_of(shown, others, decided.anonymous)
    identities = pairwise_statistics.identities(judges, {row.id for row in shown})
    entries = [
        decided.public(_entry(row, tallies[row.id]) | attempts.get(row.id, {}))
        | decided.of(row.id)
        | _kept_back(kept_back.get(row.id))
        for row in shown
    ]
    rest = {
        "stubs": [*decided.stubs, *reported_results.gone(session, pointer.benchmark)],
        "reported": reported_results.shown(session, pointer.benchmark),
        "unpublished": sum(row.id in decided.unpublished for row in scored),
    }
    return _BoardFacts(
        board=(pointer.benchmark, pointer.label_revision, pointer.scorer_version),
        through=through,
        revisions=revisions,
        judged=_judged(revisions, pointer.scorer_version, identities, tallies),
        entries=orjson.Fragment(orjson.dumps(entries)),
        rest=rest,
    )


def _judged(
    revisions: Sequence[PairwiseRevision],
    scorer_version: str,
    identities: Mapping[str, str],
    tallies: Mapping[str, Mapping[str, Any]],
) -> dict[str, str]:
    """label revision -> digest of what relations of exactly these entries follow from."""
    wanted = {}
    for revision in revisions:
        under = [identity for name, identity in identities.items() if revision.name in tallies[name]]
        wanted[revision.name] = pairwise_statistics.inputs(revision, scorer_version, under)
    return wanted


def _baselines(
    scorer: Scorer, revisions: Sequence[PairwiseRevision], relations: Mapping[str, dict[str, Any]], same_rules: bool
) -> list[dict[str, Any]]:
    """Return the permanent rows, with what is stored about them taken out of the relations.

    Of labels that are not public only what needs no label. This process may lack a label set that others have (a
    command knows those it needs), or count by other rules than the board; then what they stored has to do.
    """
    tallies: dict[str, dict[str, Any]] = {baseline.id: {} for baseline in baselines.BASELINES}
    for revision in revisions:
        summary = relations.get(revision.name, {})
        counted, majority = summary.pop("fixed", {}), summary.pop("majority", None)
        if same_rules and revision.public and revision.name in scorer.labels:
            fixed = baselines.constant_judge_tallies(scorer.labels[revision.name], scorer.table)
            counted = {name: one.to_json() for name, one in fixed.items()}
        for name, tally in {**counted, baselines.MAJORITY: majority}.items():
            if tally is not None:
                tallies[name][revision.name] = tally
    return [{**asdict(baseline), "tallies": tallies[baseline.id]} for baseline in baselines.BASELINES]


def _tallies(session: Session, pointer: ActiveBoard, revisions: Sequence[str]) -> dict[str, dict[str, orjson.Fragment]]:
    """Submission -> label revision -> tally, still as the stored text: it is passed on, not understood."""
    result: dict[str, dict[str, orjson.Fragment]] = {}
    rows = session.execute(
        select(Score.submission_id, Score.label_revision, Score.tally)
        .where(
            Score.benchmark == pointer.benchmark,
            Score.scorer_version == pointer.scorer_version,
            Score.label_revision.in_(revisions),
        )
        .order_by(Score.label_revision)
    )
    for submission_id, revision, text in rows:
        result.setdefault(submission_id, {})[revision] = orjson.Fragment(text)
    return result


def _attempts(
    session: Session, scored: Sequence[Row[*tuple[Any, ...]]], decided: ModerationState
) -> dict[str, dict[str, Any]]:
    """Return which attempt of its account each entry is at the labels of that time, of how many: the best of many is
    better by chance alone.

    The numbers of the receipts. Attempts that are unpublished or were taken off the board since count too. "Of how
    many" is the number of the last one that is named: a total that grew when an anonymous entry came would tell whose.
    """
    owners = {row.id: row.owner for row in scored}
    rows = session.execute(select(Attempt.submission_id, Attempt.label_revision, Attempt.number))
    made = {name: (revision, number) for name, revision, number in rows if name in owners}
    latest: dict[tuple[str, str], int] = {}
    for name, (revision, number) in made.items():
        if name not in decided.anonymous:
            whose = (owners[name], revision)
            latest[whose] = max(number, latest.get(whose, 0))
    return {
        name: {"attempt": number, "attempts": latest.get((owners[name], revision)), "attempt_revision": revision}
        for name, (revision, number) in made.items()
    }


def _entry(row: Row[*tuple[Any, ...]], tallies: dict[str, orjson.Fragment]) -> dict[str, Any]:
    # Without the owner: it distinguishes judges and is private.
    facts: dict[str, Any] = dict(zip(_NAMES, row, strict=False))
    facts["submitted_at"] = iso(facts.pop("created_at"))
    facts["tallies"] = tallies
    return facts


def _kept_back(revisions: frozenset[str] | None) -> dict[str, Any]:
    """Return the scores of an entry that the Ladder withholds (benchmark/ladder.py)."""
    return {"withheld": sorted(revisions)} if revisions else {}


def _publish(database: Database, before: ActiveBoard, content: _Content, memory: SnapshotMemory) -> str | None:
    """None where there is nothing new to say, or another worker has published meanwhile."""
    digest = hashlib.sha256(content.json)
    content_sha256 = digest.hexdigest()
    with database.read() as session:
        known = session.scalars(select(Snapshot.content_sha256).where(Snapshot.id == before.snapshot_id)).first()
        now = session.execute(select(database_now())).scalar_one()
    if known == content_sha256:
        _nothing_new(database, before, content.through)
        return None
    end = content.end(now)
    digest.update(end)
    name, fragments = digest.hexdigest(), deltas.split_fragments(content.json + end)
    stored = _stored(database, before.benchmark, content, fragments, memory)
    row = {"id": name, "benchmark": before.benchmark, "through_seq": content.through, "created_at": now, **stored}
    with database.write() as session:
        if not _still(session, before):
            return None
        session.execute(insert(Snapshot).values(**row, content_sha256=content_sha256))
        board = update(BoardState).where(BoardState.benchmark == before.benchmark)
        session.execute(board.values(snapshot_id=name, shown_seq=content.through))
        facts = {"snapshot": name, "through": content.through}
        audit.append(session, PUBLISHED, facts | audit.scope(session, before.benchmark))
    memory.keep(name, fragments)
    log.info(PUBLISHED, extra={"data": {"snapshot": name, "bytes": len(stored["body"])}})
    return name


def _stored(
    database: Database, benchmark: str, content: _Content, fragments: list[bytes], memory: SnapshotMemory
) -> dict[str, Any]:
    """Return the body of a snapshot, and its place in its series."""
    name = snapshots.series_of(benchmark, with_relations=bool(content.relation_ids))
    with database.read() as session:
        place = series.next_place(session, Snapshot, name)
        base = memory.fragments.get(place.base or "")
        if base is None and place.base is not None:
            base = snapshots.fragments(session, place.base)
    delta = b"".join(fragments) if base is None else deltas.encode(base, fragments)
    body = zlib.compress(delta, _COMPRESSION)
    return {"body": body, "relation_ids": list(content.relation_ids), **place.columns()}


def _nothing_new(database: Database, before: ActiveBoard, through: int) -> None:
    """Remembers that the current snapshot shows these events too."""
    with database.write() as session:
        if _still(session, before):
            behind = (BoardState.benchmark == before.benchmark, BoardState.shown_seq < through)
            session.execute(update(BoardState).where(*behind).values(shown_seq=through))


def _still(session: Session, before: ActiveBoard) -> bool:
    """Return whether the board is as we read it; from here on nobody else publishes until this transaction ends."""
    label_sets.lock_board(session, before.benchmark)
    return label_sets.current(session, before.benchmark) == before
