"""News of an account's entries: what the audit chain says of them, and the ranks before and after a re-score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from storage.boards import snapshots
from storage.database import Database
from storage.integrity import audit
from submissions.activity import RESCORED, ActivityItem, ActivityRules, activity_of
from vlrb.common.messages import Message, _, joined

MOST_LINES = 30


class Seen(Protocol):
    """What an address has seen of an account's news, and what it wants of them."""

    @property
    def account(self) -> str: ...
    @property
    def events(self) -> Sequence[str]: ...
    @property
    def seen_seq(self) -> int: ...


@dataclass(frozen=True, slots=True)
class NewsItem:
    """News of an entry. `group`: which of EVENTS; `ranks`: before and after a re-score, where both are on the board."""

    activity: ActivityItem
    group: str
    benchmark: str
    ranks: tuple[int, int] | None = None

    @property
    def sentence(self) -> str:
        """What happened, with the move in ranks."""
        if self.ranks is None:
            return self.activity.sentence
        before, after = self.ranks
        moved = _("Its rank moved from {before} to {after}.", before=before, after=after)
        same = _("Its rank is still {rank}.", rank=after)
        return _with(self.activity.sentence, moved if before != after else same)


def latest_seq(database: Database) -> int:
    """Return the last audit event that may be told now: a re-score waits for the board that shows it."""
    with database.read() as session:
        return snapshots.shown_through(session, RESCORED)


def news_of(database: Database, rules: Sequence[ActivityRules], *, seen: Seen, through: int) -> list[NewsItem]:
    """Return the news that an address wants and has not seen, the oldest first."""
    items = [item for each in rules for item in _of_benchmark(database, each, seen=seen, through=through)]
    return sorted(items, key=lambda item: item.activity.seq)


def _of_benchmark(database: Database, rules: ActivityRules, *, seen: Seen, through: int) -> Iterator[NewsItem]:
    for item in activity_of(database, seen.account, rules=rules, limit=2 * MOST_LINES):
        group = group_of(item, rules)
        if seen.seen_seq < item.seq <= through and group in seen.events:
            yield NewsItem(item, group, benchmark=rules.spec.id, ranks=_ranks(database, item, rules=rules))


def group_of(item: ActivityItem, rules: ActivityRules) -> str:
    """Return which of EVENTS something is; "" where its owner did it, or asked for it."""
    if item.own:
        return ""
    known = {audit.SCORED: "scored", "job.failed": "failed", **dict.fromkeys(RESCORED, "rescored")}
    return known.get(item.kind, "moderated" if item.kind in rules.sentences else "")


def _ranks(database: Database, item: ActivityItem, *, rules: ActivityRules) -> tuple[int, int] | None:
    """Return an entry's ranks on the boards around a re-score, where both show its score."""
    if rules.ranks is None or item.scores is None or not all(item.scores):
        return None
    with database.read() as session:
        around = snapshots.around(session, rules.spec.id, seq=item.seq)
    if around is None:
        return None
    sides: list[Mapping[str, int]] = [rules.ranks(around.before), rules.ranks(around.after)]
    before, after = (side.get(item.entry) for side in sides)
    return None if before is None or after is None else (before, after)


def _with(sentence: str, more: Message) -> Message:
    return joined([sentence, more], " ")
