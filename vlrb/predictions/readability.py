"""Readable share of a file, and its consequence: a refusal, a confirmation, a warning, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vlrb.common.messages import _
from vlrb.readers.base import VOTES
from vlrb.readers.problems import FileWarning, Problem

REFUSED_BELOW, CONFIRMED_BELOW, WARNED_BELOW = 0.05, 0.5, 0.9
"""Shares of the votes that are for either response."""
UNREADABLE, MOSTLY_UNREADABLE, PARTLY_UNREADABLE = "unreadable", "mostly-unreadable", "partly-unreadable"
EXAMPLES = {
    "official-sentence": "Overall Judgment: Answer 1 is better.",
    "double-brackets": "[[A]]",
    "answer-tag": "<answer>1</answer>",
}
"""By the verdict format of a benchmark: the end of a reply that can be read."""
_USUAL = EXAMPLES["official-sentence"]
_VERDICT = _("A reply that can be read ends like this: {reply}")


def refusal(
    share: float, votes: int, *, reply_field: str | None, example: str = _USUAL, bare: bool = False
) -> Problem | None:
    """Return the problem of a file in which next to nothing can be read. ``reply_field``: where the file has its
    judge's texts; None in a file of votes or scores. ``example``: the end of a reply that can be read. ``bare``:
    whether the replies are verdicts without that end."""
    if share >= REFUSED_BELOW:
        return None
    read = round(share * votes)
    if reply_field is None:
        message = _(
            "{read:,} of {votes:,} votes are for a response; all others are undecided (null, or equal scores). There "
            "is nothing to score. See that your judge answered and its votes were saved.",
            read=read,
            votes=votes,
        )
    else:
        message = _(
            "A verdict can be read in {read:,} of {votes:,} replies. Replies are taken from `{reply_field}`: the "
            "samples show whether those are your judge's. {example}",
            read=read,
            votes=votes,
            reply_field=reply_field,
            example=VOTES if bare else _(_VERDICT, reply=example),
        )
    return Problem(None, None, field=reply_field, code=UNREADABLE, message=message)


def warning(share: float, reply_field: str | None, *, example: str = _USUAL) -> FileWarning | None:
    """Return what to say of a file of which a good part cannot be read."""
    if share >= WARNED_BELOW:
        return None
    if reply_field is None:
        lost = _(
            "{share:.1%} of the votes are undecided (null, or equal scores). They count as wrong.", share=1 - share
        )
    else:
        lost = _(
            "{lost} Is `{reply_field}` the judge's reply? {example}",
            lost=_("No verdict could be read from {share:.1%} of the replies. They count as wrong.", share=1 - share),
            reply_field=reply_field,
            example=_(_VERDICT, reply=example),
        )
    return FileWarning(MOSTLY_UNREADABLE if share < CONFIRMED_BELOW else PARTLY_UNREADABLE, lost)


def needs_confirmation(report: Mapping[str, Any]) -> bool:
    """Return whether a file that may be submitted is taken only if its sender says that it is meant."""
    return any(notice["code"] == MOSTLY_UNREADABLE for notice in report["warnings"])


def is_unreadable(report: Mapping[str, Any]) -> bool:
    """Return whether a file is refused because next to nothing in it can be read."""
    return any(problem["code"] == UNREADABLE for problem in report["problems"])
