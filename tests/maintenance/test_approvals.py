"""First submissions are approved or rejected once, with a reason."""

from __future__ import annotations

import pytest

from maintenance.actions import approvals
from maintenance.types import Conflict, NotFound
from storage import visibility
from storage.database import Database
from tests.databases import submitted, with_labels
from tests.factories.accounts import MAINTAINER
from tests.factories.actions import by
from tests.factories.refusals import refuses


def test_what_waits_is_listed_and_decided_with_a_reason(database: Database) -> None:
    with_labels(database)
    ids = submitted(database, 2, owner="anew00000000")
    with database.write() as session:
        for name in ids:
            visibility.request_approval(session, name, shown=visibility.PLAIN, approval=True)
    ctx = by(database, MAINTAINER)
    assert sorted(one.submission for one in approvals.waiting(ctx)) == sorted(ids)
    with refuses(Conflict, "reason-needed"):
        approvals.approve(ctx, ids[0], " ")
    assert approvals.approve(ctx, ids[0], "known").changed
    assert not approvals.approve(ctx, ids[0], "known").changed
    assert approvals.reject(ctx, ids[1], "constant").changed
    assert approvals.waiting(ctx) == []
    with refuses(Conflict, "already-approved"):
        approvals.reject(ctx, ids[0], "late")
    with pytest.raises(NotFound):
        approvals.reject(ctx, "e00000000000", "unknown")
    with database.read() as session:
        assert [visibility.approvals(session, [name])[name][0] for name in ids] == ["approved", "rejected"]
