"""A file that can be scored, its readable share, and the consequence: refusal, confirmation, warning, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vlrb.behaviour import Behaviour
from vlrb.common.messages import _
from vlrb.readers.base import VOTES, is_bare_verdict
from vlrb.readers.problems import FileWarning, Problem, Sample
from vlrb.votes import Margins, Votes

REFUSED_BELOW, CONFIRMED_BELOW, WARNED_BELOW = 0.05, 0.5, 0.9
"""Shares of the votes that are for either response."""
UNREADABLE, MOSTLY_UNREADABLE, PARTLY_UNREADABLE = "unreadable", "mostly-unreadable", "partly-unreadable"
EXAMPLES = {
    "official-sentence": "Overall Judgment: Answer 1 is better.",
    "double-brackets": "[[A]]",
    "answer-tag": "<answer>1</answer>",
}
"""By the verdict format of a benchmark: the end of a reply that can be read."""
_VERDICT = _("A reply that can be read ends like this: {reply}")


@dataclass(frozen=True, slots=True)
class Predictions:
    """A file that can be scored."""

    format: str
    revision: str
    votes: Votes
    behaviour: Behaviour
    items: int  # of the file's revision
    warnings: tuple[FileWarning, ...]
    samples: tuple[Sample, ...] = ()
    reply_field: str | None = None  # where the file has its judge's texts; None in a file of votes or scores
    example: str = EXAMPLES["official-sentence"]  # the end of a reply that can be read
    orders: Votes | None = None  # those of a judge that always chose the response shown first; None: no order is known
    margins: Margins | None = None  # of two scores; None of files without, and of several votes


def refusal(upload: Predictions) -> Problem | None:
    """Return the problem of a file in which next to nothing can be read."""
    share, votes = upload.behaviour.parse_rate, upload.items * upload.votes.k
    if share >= REFUSED_BELOW:
        return None
    if upload.reply_field is None:
        message = _(
            "{read:,} of {votes:,} votes are for a response; all others are undecided (null, or equal scores). There "
            "is nothing to score. See that your judge answered and its votes were saved.",
            read=round(share * votes),
            votes=votes,
        )
    else:
        bare = any(is_bare_verdict(sample.reply) for sample in upload.samples)
        message = _(
            "A verdict can be read in {read:,} of {votes:,} replies. Replies are taken from `{reply_field}`: the "
            "samples show whether those are your judge's. {example}",
            read=round(share * votes),
            votes=votes,
            reply_field=upload.reply_field,
            example=VOTES if bare else _(_VERDICT, reply=upload.example),
        )
    return Problem(None, None, field=upload.reply_field, code=UNREADABLE, message=message)


def warning(upload: Predictions) -> FileWarning | None:
    """Return what to say of a file of which a good part cannot be read."""
    share = upload.behaviour.parse_rate
    if share >= WARNED_BELOW:
        return None
    if upload.reply_field is None:
        lost = _(
            "{share:.1%} of the votes are undecided (null, or equal scores). They count as wrong.", share=1 - share
        )
    else:
        lost = _(
            "{lost} Is `{reply_field}` the judge's reply? {example}",
            lost=_("No verdict could be read from {share:.1%} of the replies. They count as wrong.", share=1 - share),
            reply_field=upload.reply_field,
            example=_(_VERDICT, reply=upload.example),
        )
    return FileWarning(MOSTLY_UNREADABLE if share < CONFIRMED_BELOW else PARTLY_UNREADABLE, lost)


def needs_confirmation(report: Mapping[str, Any]) -> bool:
    """Return whether a file that may be submitted is taken only if its sender says that it is meant."""
    return any(notice["code"] == MOSTLY_UNREADABLE for notice in report["warnings"])


def is_unreadable(report: Mapping[str, Any]) -> bool:
    """Return whether a file is refused because next to nothing in it can be read."""
    return any(problem["code"] == UNREADABLE for problem in report["problems"])
