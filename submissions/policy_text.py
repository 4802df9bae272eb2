"""Submission policy as JSON and as text. Pure: from the recorded rules.

`Intake.rules()` makes the rules; every submission keeps those that it was taken under.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from storage.limits.sliding_window import CHANGES_A_DAY
from storage.models.core import MAX_VOTES
from submissions.visibility_options import MOST_DAYS
from vlrb.common.messages import _, joined
from vlrb.disclosure import measured_sentence
from vlrb.file_remarks import SAME_SHARE
from vlrb.predictions.readability import CONFIRMED_BELOW, REFUSED_BELOW

_QUOTA = ("per_24_hours", "per_365_days", "counted_for", "exempt_organisations")
_DISCLOSED = {
    "public": _("Everything: overall figures and categories, counts, sources, error tags, K curve, paired tests"),
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


class PolicyRule(NamedTuple):
    """One rule on the policy page. `words`: "" where the value says it all; `setting`: what a maintainer changes it
    with, "" where it is fixed."""

    anchor: str
    title: str
    value: str
    words: str
    setting: str = ""


def policy_json(rules: Mapping[str, Any]) -> dict[str, Any]:
    """`GET /api/v1/policy`."""
    return {
        "scored_submissions": {name: rules[name] for name in _QUOTA},
        "given_back": _("when the service fails to score a submission, and when a maintainer rejects it"),
        "dry_runs": _("free and unlimited, without an account; they touch no label"),
        "coverage": _("every pair of one known revision once, with the same number of votes"),
        "votes_per_item": [1, MAX_VOTES],
        "readable_votes": {"refused_below": REFUSED_BELOW, "confirmed_below": CONFIRMED_BELOW},
        "attempts": _(
            "numbered for each account and label revision; every scored one is a public row, a stub "
            "where it was withdrawn, or counted as not yet published"
        ),
        "anonymity_days_at_most": MOST_DAYS,
        "recorded": list(RECORDED),
        **{name: value for name, value in rules.items() if name not in _QUOTA},
    }


def policy_rules(rules: Mapping[str, Any]) -> list[PolicyRule]:
    """Return every rule in plain words, in the order in which a submitter meets them."""
    return [
        _sign_in(rules),
        *_accounts(rules),
        *_quotas(rules),
        *_files(rules),
        *_visibility_rules(rules),
    ]


def _sign_in(rules: Mapping[str, Any]) -> PolicyRule:
    mode, issuer = rules.get("mode"), rules.get("sign_in")
    value, words = {
        "openid": (
            _("with {issuer}", issuer=issuer),
            _("Submitting needs an account there, with the browser or an API token. Reading and checking need none."),
        ),
        "open": (
            _("not needed"),
            _("Everybody who can reach this service may submit, under one name; nobody maintains it."),
        ),
    }.get(str(mode), (_("not needed"), _("Everyone who uses this machine submits, under one name.")))
    return PolicyRule("sign-in", _("Sign-in"), value=value, words=words, setting="IDENTITY, OIDC_ISSUER")


def _accounts(rules: Mapping[str, Any]) -> list[PolicyRule]:
    days, approved = rules["account_age_days"], rules["first_upload_approved"]
    return [
        PolicyRule(
            "age",
            _("Age of the account"),
            value=_("{days} days", days=days) if days else _("any"),
            words=_(
                "As the identity provider reports it; where it does not (Hugging Face does not), from the first "
                "sign-in here."
            )
            if days
            else "",
            setting="ACCOUNT_AGE_DAYS",
        ),
        PolicyRule(
            "approval",
            _("First submission"),
            value=_("waits for a maintainer") if approved else _("scored at once"),
            words=_(
                "A maintainer approves it before it is scored; the next one is possible after that. If it is rejected, "
                "you get the attempt back and the reason."
            )
            if approved
            else _("No maintainer has to look at it first."),
            setting="APPROVE_FIRST_UPLOAD",
        ),
    ]


def _quotas(rules: Mapping[str, Any]) -> list[PolicyRule]:
    day, year = rules["per_24_hours"], rules["per_365_days"]
    exempt = rules["exempt_organisations"]
    team = _("Counted for your account and for each of your organisations.")
    if exempt:
        team = _(
            "Counted for your account and for each of your organisations, but not for {exempt}.",
            exempt=", ".join(exempt),
        )
    rate = rules.get("requests_per_minute")
    return [
        PolicyRule(
            "day",
            _("Scored submissions in 24 hours"),
            value=str(day) if day else _("any number"),
            words=_(
                "{team} The window slides. Rejected files and the same bytes again cost nothing; you get back what the "
                "service fails to score.",
                team=team,
            )
            if day
            else "",
            setting="QUOTA_PER_DAY, QUOTA_EXEMPT_ORGS",
        ),
        PolicyRule(
            "year",
            _("Scored submissions in 365 days"),
            value=str(year) if year else _("any number"),
            words=_(
                "Every score reveals a little about the labels. Submissions are scored under each label revision, new "
                "ones included. So all of them count, and new labels do not reset the limit."
            )
            if year
            else "",
            setting="QUOTA_PER_YEAR",
        ),
        PolicyRule(
            "attempts",
            _("Attempt number"),
            value=_("on every row"),
            words=_(
                "“attempt 2 of 3”: the second of three submissions of its account under the labels of that time. "
                "Withdrawn and unpublished ones count. An anonymous row shows its own number only; the other rows "
                "count up to the last named one. The best of many is better by luck alone."
            ),
        ),
        PolicyRule(
            "checks",
            _("Dry runs"),
            value=_("free, any number"),
            words=_("They touch no label and need no account; the file is not kept."),
        ),
        PolicyRule(
            "flood",
            _("Requests in a minute"),
            value=str(rate) if rate else _("any number"),
            words=_(
                "Uploads, checks, sign-ins and other changes, each from one address and of one account, against floods."
            )
            if rate
            else "",
            setting="REQUESTS_PER_MINUTE",
        ),
    ]


def _files(rules: Mapping[str, Any]) -> list[PolicyRule]:
    limit = rules.get("upload_limit_bytes")
    return [
        PolicyRule(
            "coverage",
            _("Coverage"),
            value=_("complete"),
            words=_(
                "Every pair of one known revision once, each with the same number of votes, 1 to "
                "{max_votes}. Otherwise the file is refused before any label is touched, with all its "
                "problems.",
                max_votes=MAX_VOTES,
            ),
        ),
        PolicyRule(
            "readable",
            _("Readable votes"),
            value=_("at least {refused_below:.0%}", refused_below=REFUSED_BELOW),
            words=_(
                "A vote is readable if it is for one of the two responses. Below {refused_below:.0%} a file "
                "is refused, which costs nothing; below {confirmed_below:.0%} you have to confirm that it is "
                "meant. Others count as wrong.",
                refused_below=REFUSED_BELOW,
                confirmed_below=CONFIRMED_BELOW,
            ),
        ),
        PolicyRule(
            "baseline-votes",
            _("Votes that need no judge"),
            value=_("from {share:.0%} alike wait for a maintainer", share=SAME_SHARE),
            words=_(
                "Votes that match a baseline (always the response stored first, always the longer one) on the pairs "
                "that both decide, or that are all the same. The entry has a remark and no rank, unless a "
                "maintainer has verified it."
            ),
        ),
        PolicyRule(
            "size",
            _("Size of a file"),
            value=f"{limit / 2**20:g} MB" if limit else _("any"),
            words=_(
                "JSON lines, JSON, a table as text, parquet or the xlsx of VLMEvalKit; text may be packed with gzip."
            ),
            setting="UPLOAD_LIMIT_MB",
        ),
        PolicyRule(
            "names",
            _("Names"),
            value=_("must be unambiguous"),
            words=_(
                "Names have no invisible characters. We refuse a model or organisation that looks like another one but "
                "is spelled differently. The same spelling is fine."
            ),
        ),
    ]


def _shown(measured: Mapping[str, Any] | None, level: str) -> str:
    """Return what a level shows, and what that gives away."""
    told = [_("{text}.", text=_DISCLOSED[level])]
    if measured and "steps" in measured:
        steps = joined(f"{name} {step:g}" for name, step in measured["steps"].items())
        told.append(_("Categories are rounded to points: {steps}.", steps=steps))
    return joined([*told, *([measured_sentence(measured)] if measured else [])], " ")


def _visibility_rules(rules: Mapping[str, Any]) -> list[PolicyRule]:
    disclosure = [
        PolicyRule(
            f"labels-{revision}",
            _("Shown of labels {revision}", revision=revision),
            value=how,
            words=_shown(rules.get("measured", {}).get(revision), how),
            setting=_HIDING,
        )
        for revision, how in sorted(rules.get("disclosure", {}).items())
    ]
    return [
        *disclosure,
        PolicyRule(
            "anonymous",
            _("Anonymous until a date"),
            value=_("at most {most_days} days", most_days=MOST_DAYS),
            words=_(
                "You choose this when you submit. Your account, organisation, links and Hub id stay hidden until then; "
                "model name, prompt and notes appear as you typed them. The row shows its attempt number, but not the "
                "total, and your named rows stay as they are. If you then submit under your name, that number skips "
                "this one, and others may guess. The time ends by itself, or earlier on your account page. You can "
                "move the day {changes_a_day} times in 24 hours.",
                changes_a_day=CHANGES_A_DAY,
            ),
        ),
        PolicyRule(
            "edits",
            _("Changes of descriptions"),
            value=_("{changes_a_day} in 24 hours", changes_a_day=CHANGES_A_DAY),
            words=_("By the owner, counted over all their entries. Maintainers can read earlier values."),
        ),
        PolicyRule(
            "published",
            _("Published later"),
            value=_("when its owner says so"),
            words=_(
                "You choose this when you submit. The entry is scored and counts, in your quota, in your "
                "attempt numbers and in public: the board says how many scored entries are not published. "
                "Publishing is for good."
            ),
        ),
    ]


_HIDING = "HIDDEN_LABELS, labels import"
