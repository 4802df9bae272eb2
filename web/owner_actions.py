"""Actions of an owner on a submission: the use cases of maintenance and receipts, as the account pages call them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import submissions.pages
from auth import Identity
from maintenance.action_context import ActionContext
from maintenance.actions import entries
from maintenance.types import Conflict
from receipts.service import ReceiptService, ShownScore
from storage.integrity.integrity_alarms import RecordChanged
from vlrb.benchmarks.spec import BenchmarkSpec


def owner_actions(
    context: ActionContext, receipts: ReceiptService, *, spec: BenchmarkSpec
) -> submissions.pages.OwnerActions:
    """Return what owners do about their submissions, as the pages of an account need it."""

    def edit(user: Identity, entry: str, fields: Mapping[str, object]) -> object:
        return possible(lambda: entries.edit(context.acting_as(user), entry, changes=fields))

    def withdraw(user: Identity, entry: str, reason: str) -> object:
        return possible(lambda: entries.withdraw(context.acting_as(user), entry, reason=reason))

    def possible(act: Callable[[], object]) -> object:
        try:
            return act()
        except Conflict as impossible:
            raise submissions.pages.OwnerConflict(str(impossible)) from None

    def scores(user: Identity, entry: str) -> Sequence[ShownScore]:
        try:
            return receipts.shown_scores(entry, user)
        except RecordChanged:  # on record and in the log; the page goes without scores
            return []

    return submissions.pages.OwnerActions(
        metadata=lambda user, entry: entries.look(context.acting_as(user), entry)[1],
        edit=edit,
        withdraw=withdraw,
        scores=scores,
        measures=spec.headline_first,
    )
