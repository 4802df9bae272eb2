"""Numbers of the cases that wait for a maintainer."""

from __future__ import annotations

from typing import NamedTuple

from maintenance.action_context import ActionContext
from maintenance.database import queries
from maintenance.types import require_maintainer


class OpenCases(NamedTuple):
    """What waits for a maintainer, in numbers."""

    failures: int = 0  # jobs and tasks
    approvals: int = 0
    disputes: int = 0
    projects: int = 0  # that people still answer

    @property
    def waiting(self) -> int:
        """Return the number of decisions that somebody waits for; projects wait for nobody."""
        return self.failures + self.approvals + self.disputes


def open_cases(ctx: ActionContext) -> OpenCases:
    """Return what is open. For maintainers."""
    require_maintainer(ctx.user)
    with ctx.database.read() as session:
        return OpenCases(**queries.open_counts(session, ctx.benchmark))
