"""Snapshot of all public facts, versioned; the pages derive their rows from it.

A snapshot is JSON, addressed by the SHA-256 of its bytes, stored as a difference to an earlier one, never changed. The
board's pointer moves to it in the transaction that stores it.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from common import deltas
from storage.boards import snapshots
from storage.clock import iso, read_clock
from storage.database import Database
from storage.integrity import audit
from storage.labels import label_sets
from storage.labels.label_sets import ActiveBoard
from storage.models.core import BoardState, Snapshot
from vlrb import baselines
from workers.board_view import PairwiseRevision, needs_snapshot, read_board
from workers.jobs import pairwise_statistics
from workers.scorer import Scorer

PUBLISHED = "snapshot.published"
_COMPRESSION = 6  # of what has changed; a whole snapshot takes a tenth of a second
_NONCE_BYTES = 16

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _SnapshotContent:
    """Content of a snapshot, and the last audit event that it includes."""

    json: bytes  # without the closing brace: when it was made comes last, so one pass gives both digests
    through: int
    with_relations: bool

    def end(self, created_at: float) -> bytes:
        """Return the rest of the snapshot's JSON.

        The id is public and the facts are more than is public where labels are hidden: the nonce keeps anybody from
        trying out which facts have this id.
        """
        facts = {"created_at": iso(created_at), "audit_seq": self.through, "nonce": secrets.token_hex(_NONCE_BYTES)}
        return b"," + orjson.dumps(facts)[1:]


def publish_if_changed(database: Database, scorer: Scorer, *, anew: bool = False) -> str | None:
    """Store a snapshot where the board has changed since the last one; returns its id, or None.

    `anew`: makes one though nothing has happened, and stores it where it says something else than the current one. For
    a worker that starts: the current one may be of another release, which wrote other facts or wrote them otherwise.
    Relations that are not computed yet are left out; they come with a later snapshot (relations_job).
    """
    started = time.perf_counter()
    with database.read() as session:
        pointer = label_sets.current(session, scorer.benchmark)
        if pointer is None:
            return None
        if not (anew or _changed(session, pointer)):
            return None
        if pointer.label_revision not in scorer.labels:
            log.error("snapshot.labels_missing", extra={"data": {"label_revision": pointer.label_revision}})
            return None
        content = _content(session, scorer, pointer=pointer)
    return _publish(database, pointer, content=content, started=started)


def _changed(session: Session, pointer: ActiveBoard) -> bool:
    """Return whether the board has no snapshot yet, or something has happened that the current one may not show."""
    if pointer.snapshot_id is None:
        return True
    shown_seq = select(BoardState.shown_seq).where(BoardState.benchmark == pointer.benchmark)
    return needs_snapshot(session, session.execute(shown_seq).scalar_one())


def _content(session: Session, scorer: Scorer, *, pointer: ActiveBoard) -> _SnapshotContent:
    board = read_board(session, pointer)
    relations = pairwise_statistics.summaries(session, pointer.benchmark, wanted=board.inputs)
    facts = {
        "benchmark": pointer.benchmark,
        "label_revision": pointer.label_revision,
        "scorer_version": pointer.scorer_version,
        "rules": pointer.rules,
        "label_revisions": [revision.name for revision in board.revisions],
        "sizes": scorer.sizes(pointer.label_revision),
        "baselines": _baselines(
            scorer, board.revisions, relations=relations, same_rules=scorer.version == pointer.scorer_version
        ),
        "relations": relations,
        "entries": [orjson.Fragment(entry.json) for entry in board.shown],
        **board.rest,
    }
    return _SnapshotContent(orjson.dumps(facts)[:-1], board.through, with_relations=bool(relations))


def _baselines(
    scorer: Scorer, revisions: Sequence[PairwiseRevision], *, relations: Mapping[str, dict[str, Any]], same_rules: bool
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
            counted = {name: tally.to_json() for name, tally in fixed.items()}
            public = {
                one.name: scorer.labels[one.name] for one in revisions if one.public and one.name in scorer.labels
            }
            earlier = baselines.earlier_labels_tally(scorer.labels[revision.name], scorer.table, known=public)
            counted |= {baselines.EARLIER: earlier.to_json()} if earlier is not None else {}
        for name, tally in {**counted, baselines.MAJORITY: majority}.items():
            if tally is not None:
                tallies[name][revision.name] = tally
    return [
        {"id": baseline.id, "name": baseline.name, "expected": baseline.expected, "tallies": tallies[baseline.id]}
        for baseline in baselines.BASELINES
    ]


def _publish(database: Database, before: ActiveBoard, *, content: _SnapshotContent, started: float) -> str | None:
    """None where there is nothing new to say, or another worker has published meanwhile.

    `started`: when its making began, by time.perf_counter.
    """
    digest = hashlib.sha256(content.json)
    content_sha256 = digest.hexdigest()
    with database.read() as session:
        known = session.scalars(select(Snapshot.content_sha256).where(Snapshot.id == before.snapshot_id)).first()
        now = read_clock(session)
    if known == content_sha256:
        _nothing_new(database, before, through=content.through)
        return None
    end = content.end(now)
    digest.update(end)
    name = digest.hexdigest()
    stored = _stored(database, before.benchmark, text=content.json + end, with_relations=content.with_relations)
    row = {"id": name, "benchmark": before.benchmark, "through_seq": content.through, "created_at": now, **stored}
    with database.write() as session:
        if not _still(session, before):
            return None
        session.execute(insert(Snapshot).values(**row, content_sha256=content_sha256))
        board = update(BoardState).where(BoardState.benchmark == before.benchmark)
        session.execute(board.values(snapshot_id=name, shown_seq=content.through))
        build_ms = round(1000 * (time.perf_counter() - started))  # until the lock that everybody shares is asked for
        facts = {"snapshot": name, "through": content.through}
        audit.append(session, PUBLISHED, data=facts | {"benchmark": before.benchmark})
    log.info(PUBLISHED, extra={"data": {"snapshot": name, "bytes": len(stored["body"]), "build_ms": build_ms}})
    return name


def _stored(database: Database, benchmark: str, *, text: bytes, with_relations: bool) -> dict[str, Any]:
    """Return the body of a snapshot, and its place in its series."""
    with database.read() as session:
        place = snapshots.next_place(session, benchmark, with_relations=with_relations)
        base = None if place.base is None else snapshots.fragments(session, place.base)
    delta = text if base is None else deltas.encode(base, deltas.split_fragments(text))
    return {"body": zlib.compress(delta, _COMPRESSION), **place._asdict()}


def _nothing_new(database: Database, before: ActiveBoard, *, through: int) -> None:
    """Record that the current snapshot shows these events too."""
    with database.write() as session:
        if _still(session, before):
            behind = (BoardState.benchmark == before.benchmark, BoardState.shown_seq < through)
            session.execute(update(BoardState).where(*behind).values(shown_seq=through))


def _still(session: Session, before: ActiveBoard) -> bool:
    """Return whether the board is as we read it; from here on nobody else publishes until this transaction ends."""
    label_sets.lock_board(session, before.benchmark)
    return label_sets.current(session, before.benchmark) == before
