"""Label sets that are weakly hidden, as found by workers, for maintainers and the policy page."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from storage.labels import label_imports
from storage.models.moderation import WeakHiding
from vlrb.common.messages import _


class WeaklyHidden(NamedTuple):
    """A set that is not public, the public one that nearly says the same, and how many submissions tell the rest."""

    revision: str
    against: str
    submissions: int
    accepted: bool

    @property
    def sentence(self) -> str:
        """Return what anybody may know: never how many labels differ."""
        return _(
            "The labels {revision} are not public, but agree with the public labels {against} on more "
            "than 90 % of the pairs: about {submissions:,} scored submissions, or fewer, are enough to "
            "know the rest.",
            revision=self.revision,
            against=self.against,
            submissions=self.submissions,
        )


def known(session: Session, benchmark: str, *, drafts: bool = True) -> list[WeaklyHidden]:
    """Return what is known, by revision; without ``drafts`` nothing of sets that nobody may know of."""
    columns = (WeakHiding.revision, WeakHiding.against, WeakHiding.submissions, WeakHiding.accepted)
    rows = session.execute(
        select(*columns).where(WeakHiding.benchmark == benchmark).order_by(WeakHiding.revision, WeakHiding.against)
    )
    secret = set() if drafts else label_imports.drafts(session, benchmark)
    return [weak for row in rows if not {(weak := WeaklyHidden(*row)).revision, weak.against} & secret]


def record(
    session: Session, benchmark: str, *, weak_sets: Collection[WeaklyHidden], looked_at: Collection[str]
) -> None:
    """Replace what is known between the revisions that were looked at."""
    session.execute(
        delete(WeakHiding).where(
            WeakHiding.benchmark == benchmark,
            WeakHiding.revision.in_(looked_at),
            WeakHiding.against.in_(looked_at),
        ),
        execution_options={"synchronize_session": False},
    )
    for weak in weak_sets:
        session.execute(insert(WeakHiding).values(benchmark=benchmark, **weak._asdict()))


def accept(session: Session, benchmark: str, *, weak_sets: Collection[WeaklyHidden]) -> None:
    """Record that these are meant to be weakly hidden."""
    for weak in weak_sets:
        record(session, benchmark, weak_sets=[weak._replace(accepted=True)], looked_at=weak[:2])


def forget(session: Session, benchmark: str, *, revision: str) -> None:
    """Remove what is known of a revision that is no more."""
    session.execute(
        delete(WeakHiding).where(
            WeakHiding.benchmark == benchmark, (WeakHiding.revision == revision) | (WeakHiding.against == revision)
        ),
        execution_options={"synchronize_session": False},
    )
