"""Asking a worker for a draft revision: a base revision, changed as people said. Labels are changed there alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from maintenance import labels, queries
from maintenance.asking import ask
from maintenance.values import Identity, NotFound, NotPossible

DRAFT = "labels.draft"


def check_base(session: Any, benchmark: str, base: str) -> None:
    """Raises NotFound where there is no such label revision, NotPossible where it is retired."""
    found = next((one for one in queries.revisions(session, benchmark) if one.revision == base), None)
    if found is None:
        raise NotFound(f"There is no label revision {base[:40]!r}.")
    if found.retired_at is not None:  # counts against labels that are public would tell those of the draft
        raise NotPossible("retired", f"Revision {base} is retired: its labels may be public; choose another base.")


def request(
    session: Any,
    who: Identity,
    benchmark: str,
    revision: str,
    base: str,
    reason: str,
    said: Mapping[str, Any],
    *,
    disclosure: str,
    accept_weak_hiding: bool,
) -> tuple[int, bool]:
    """The task that writes draft `revision`: its number, and whether it is new. `said`: where the changes stand.

    `disclosure`: what may be shown of its scores; "" is what may be shown of the base's, which the worker knows.

    Raises NotFound, NotPossible.
    """
    check_base(session, benchmark, base)
    labels.check_new(session, benchmark, revision)
    params: dict[str, Any] = {"base": base, "disclosure": disclosure, **said}
    params |= {"accept_weak_hiding": True} if accept_weak_hiding else {}
    return ask(session, who, DRAFT, revision, params, reason)
