"""Submission policy as JSON, and what its page (policy.html) says of labels. Pure: from the recorded rules.

`SubmissionService.rules()` makes the rules; every submission keeps those that it was taken under.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from storage.models.core import MAX_VOTES
from submissions.visibility_options import MOST_DAYS
from vlrb.common.messages import _, joined
from vlrb.disclosure import measured_sentence
from vlrb.predictions.readability import CONFIRMED_BELOW, REFUSED_BELOW

_QUOTA = ("per_24_hours", "per_365_days", "counted_for", "exempt_organisations")
READABLE = {"refused_below": REFUSED_BELOW, "confirmed_below": CONFIRMED_BELOW}
_DISCLOSED = {
    "public": _(
        "Everything: overall figures and categories, counts, sources, error tags, K curve, paired tests, and on which "
        "pairs only one of two judges is right"
    ),
    "hidden:categories": _(
        "The overall with its interval, to half a point, which also orders the board; the categories, rounded; nothing "
        "else that depends on a label"
    ),
    "hidden": _(
        "The overall with its interval, to half a point, which also orders the board; no other overall figure, no "
        "category, nor anything else that depends on a label"
    ),
}
RECORDED = (
    _(
        "the file as it was sent, its SHA-256, format, size and name; what it was read as (votes), "
        "and the check report without its sample replies"
    ),
    _("what you said about the judge, and every later change of it"),
    _("your account’s number here; name, organisations and the account’s age as the sign-in states them"),
    _("time, attempt number and these rules, in a signed receipt and in an audit chain whose hashes are public"),
)
NOT_KEPT = _(
    "Files that are only checked, and addresses: failed sign-ins are counted by a keyed digest, for 15 minutes."
)


def policy_json(rules: Mapping[str, Any]) -> dict[str, Any]:
    """`GET /api/v1/policy`."""
    return {
        "scored_submissions": {name: rules[name] for name in _QUOTA},
        "given_back": _("when the service fails to score a submission, and when a maintainer rejects it"),
        "dry_runs": _("free and unlimited, without an account; they touch no label"),
        "coverage": _("every pair of one known revision once, with the same number of votes"),
        "votes_per_item": [1, MAX_VOTES],
        "readable_votes": READABLE,
        "attempts": _(
            "numbered for each account and label revision; every scored one is a public row, a stub "
            "where it was withdrawn, or counted as not yet published"
        ),
        "anonymity_days_at_most": MOST_DAYS,
        "recorded": list(RECORDED),
        **{name: value for name, value in rules.items() if name not in _QUOTA},
    }


def disclosures(rules: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return each label revision with its level, and what that shows and gives away."""
    levels = sorted(rules.get("disclosure", {}).items())
    return [(name, level, _shown(rules.get("measured", {}).get(name), level)) for name, level in levels]


def _shown(measured: Mapping[str, Any] | None, level: str) -> str:
    """Return what a level shows, and what that gives away."""
    told = [_("{text}.", text=_DISCLOSED[level])]
    if measured and "steps" in measured:
        steps = joined(f"{name} {step:g}" for name, step in measured["steps"].items())
        told.append(_("Categories are rounded to points: {steps}.", steps=steps))
    return joined([*told, *([measured_sentence(measured)] if measured else [])], " ")
