"""Digest of a service for its maintainers: alarms, decisions that wait, and what came since the last one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from maintenance.database import digest_queries, queries
from maintenance.database.digest_queries import News
from operation.alarms import ServiceAlarm
from storage.database import Session
from vlrb.common.messages import Message, _

_PAGE = "/app/maintain?tab={}"
_MOST_NAMES = 10


class DigestFinding(NamedTuple):
    """A line of a digest: the benchmark (or what else) it is about, what there is, and where to look."""

    title: str
    text: str
    path: str


@dataclass(frozen=True, slots=True)
class Digest:
    """Findings of a service. `benchmarks`: id -> title of those that are served; `alarms`: those of the process."""

    benchmarks: Mapping[str, str]
    alarms: Callable[[Session], Sequence[ServiceAlarm]]

    def findings(self, session: Session, after: int, through: int) -> list[DigestFinding]:
        """Return what there is to say; `after` and `through`: audit events between which news are new."""
        alarms = [
            DigestFinding(_("Alarm"), alarm.sentence, path=_PAGE.format("health")) for alarm in self.alarms(session)
        ]
        return alarms + [
            DigestFinding(title, text, path=path)
            for benchmark, title in self.benchmarks.items()
            for text, path in _of_benchmark(session, benchmark, after=after, through=through)
        ]


def _of_benchmark(session: Session, benchmark: str, *, after: int, through: int) -> Iterator[tuple[Message, str]]:
    yield from _waiting(queries.open_counts(session, benchmark))
    yield from _new(digest_queries.news(session, benchmark, after=after, through=through))


def _waiting(counts: Mapping[str, int]) -> Iterator[tuple[Message, str]]:
    """Yield what waits for a decision; projects wait for annotators, and are left out."""
    sentences = {
        "approvals": _("Submissions that wait for approval: {count}.", count=counts["approvals"]),
        "failures": _("Failed jobs and tasks: {count}.", count=counts["failures"]),
        "disputes": _("Open disputes: {count}.", count=counts["disputes"]),
    }
    tabs = {"failures": "health"}
    for name, sentence in sentences.items():
        if counts[name]:
            yield sentence, _PAGE.format(tabs.get(name, name))


def _new(news: News) -> Iterator[tuple[Message, str]]:
    names = ", ".join(news.submissions[:_MOST_NAMES]) + (", …" if len(news.submissions) > _MOST_NAMES else "")
    if news.submissions:
        count = len(news.submissions)
        yield _("New submissions: {count} ({names}).", count=count, names=names), _PAGE.format("entries")
    if news.disputes:
        yield _("New disputes: {count}.", count=news.disputes), _PAGE.format("disputes")
    if news.notes:
        yield _("Entries with a new public note: {count}.", count=news.notes), _PAGE.format("entries")
