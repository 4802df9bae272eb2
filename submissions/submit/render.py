"""HTML of the submit page: check report, refusal, status of a submission. Everything in it is escaped by Jinja."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from storage.clock import minute
from storage.metadata import FIELDS
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import Message, _
from vlrb.common.rounding import percent
from vlrb.common.template_translations import translate_templates
from vlrb.common.translations import ENGLISH, Translations, translations
from vlrb.predictions.readability import needs_confirmation
from vlrb.readers import format_name
from vlrb.readers.problems import votes_phrase

CheckReport = Mapping[str, Any]
_ENGLISH = translations(ENGLISH)
REFUSED_HEADING = _("Not submitted")
PAGE = "/app/submit"
INTRODUCTION_ID = "introduction"  # of the component in the page
_SHOWN_PROBLEMS = 100
_TITLES = {"line": _("Line"), "id": _("Pair"), "field": _("Field"), "message": _("Problem")}
_STATES = {
    "awaiting-approval": _("Waiting for a maintainer"),
    "queued": _("Waiting to be scored"),
    "scoring": _("Being scored"),
    "scored": _("Scored"),
    "failed": _("Scoring failed"),
    "withdrawn": _("Withdrawn"),
}
_LABELS = {
    **{name: field.title for name, field in FIELDS.items()},
    "anonymous_until": _("Anonymous until"),
    "published": _("On the board"),
}
_CODE = re.compile("`([^`<>&'\"]{1,60})`")


@cache
def _parts(of: Translations) -> Any:
    """Return the macros of submit_parts.html in a language."""
    jinja = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    translate_templates(jinja, of)
    jinja.filters["code_parts"] = lambda text: _CODE.split(of.text(text))
    jinja.filters["minute"] = minute
    jinja.globals["states"] = _STATES
    return jinja.get_template("submit_parts.html").module


def part(macro: str, *values: object, of: Translations = _ENGLISH) -> str:
    """Return what a macro of submit_parts.html makes of values."""
    return str(getattr(_parts(of), macro)(*values))


def submit_page(spec: BenchmarkSpec, prefix: str) -> str:
    """Return the address of the page for a benchmark, whose public pages are below a prefix."""
    return f"{PAGE}?benchmark={spec.id}" if prefix else PAGE


def introduction_html(spec: BenchmarkSpec, limit_mb: float, *, prefix: str = "", of: Translations = _ENGLISH) -> str:
    """Return what the page is for, and what it takes. `prefix`: of the benchmark's public pages."""
    target = _("the demo benchmark") if spec.synthetic else spec.title
    return part("introduction", target, f"{limit_mb:g}", prefix, of=of)


def report_html(report: CheckReport, of: Translations = _ENGLISH) -> str:
    """Return a check report for people."""
    problems = report.get("problems") or []
    whole = len(problems) == 1 and problems[0].get("line") is None and problems[0].get("id") is None  # of no line
    listed = (
        "" if not problems or whole else _problem_table(problems, report.get("problem_count", len(problems)), of=of)
    )
    parts = (
        _headline(report, problems[0]["message"] if whole else None, of=of),
        part("facts", _facts(report), of=of) if report.get("format") else "",
        *(part("warning", one["message"], one.get("ids") or (), of=of) for one in report.get("warnings", ())),
        listed,
        part("samples", report["samples"], of=of) if report.get("samples") else "",
    )
    return "".join(parts)


def _headline(report: CheckReport, whole: str | None, *, of: Translations = _ENGLISH) -> str:
    if report["ok"]:
        count, votes = report["items"], report["votes_per_item"]
        sentence = _("{count:,} pairs, {votes}.", count=count, votes=votes_phrase(votes))
        return part("accepted", sentence, needs_confirmation(report), len(report.get("warnings", ())), of=of)
    count = report.get("problem_count", len(report["problems"]))
    return part("rejected", whole, count, of=of)


def _facts(report: CheckReport) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = [(_("Format"), format_name(str(report["format"])))]
    if report.get("revision"):
        rows.append(
            (_("Pairs"), _("All {count:,} (revision {revision})", count=report["items"], revision=report["revision"]))
        )
    if report.get("votes_per_item"):
        rows.append((_("Votes per pair"), str(report["votes_per_item"])))
    if report.get("parse_rate") is not None:
        rows.append((_("Readable votes"), f"{percent(report['parse_rate'])}%"))
    if report.get("first_shown_rate") is not None:
        share = 100 * report["first_shown_rate"]
        unbiased = _("{share:.1f}% (50% is unbiased)", share=share)
        one_order = _("{share:.1f}% (says nothing: the order is nearly always the same)", share=share)
        says = one_order if report.get("one_order") else unbiased
        rows.append((_("Picked the first answer"), says))
    return rows


def _problem_table(problems: Sequence[Mapping[str, Any]], count: int, *, of: Translations = _ENGLISH) -> str:
    anywhere = any(problem.get(name) is not None for problem in problems for name in ("line", "id", "field"))
    columns = _TITLES if anywhere else {"message": _TITLES["message"]}  # a problem of the whole file has no line
    listed = problems[:_SHOWN_PROBLEMS]
    return part("problem_table", columns, listed, count - len(listed), of=of)


def refusal_html(
    refused: Mapping[str, Any], *, heading: str = REFUSED_HEADING, page: str = PAGE, of: Translations = _ENGLISH
) -> str:
    """Return why a submission was not taken. `page`: where a sign-in leads back to."""
    problems = refused.get("problems") or []
    table = ""
    messages = [(problem.get("field") or "", _labelled(problem["message"])) for problem in problems]
    if any(problem.get("line") or problem.get("id") for problem in problems):
        table, messages = _problem_table(problems, refused.get("problem_count", len(problems)), of=of), []
    return part("refusal", heading, messages, refused, bool(problems), page, of=of) + table


def _labelled(message: str) -> str:
    """Return a message about a field with the name on its label instead of its key."""
    if not isinstance(message, Message) or message.values.get("field") not in _LABELS:
        return message
    return Message(message.msgid, {**message.values, "field": _(_LABELS[message.values["field"]])})


def status_html(
    status: Mapping[str, Any] | None,
    card: Mapping[str, Any] | None,
    *,
    names: Sequence[str],
    place: str = "",
    of: Translations = _ENGLISH,
) -> str:
    """Return where a submission is; its result once there is one. `names`: of the scores, in their order. `place`:
    markup about its place on the board, once it is there."""
    if status is None:
        return ""
    name = " ".join(filter(None, (str(status["model"] or _("A judge")), str(status["version"] or ""))))
    scores = _scores(card, names) if card else []
    return part("status", status, name, scores, is_held_back(status), Markup(place), of=of)  # noqa: S704 (rendered)


def is_held_back(status: Mapping[str, Any]) -> bool:
    """Return whether an entry is scored, and its owner publishes it later."""
    return status["state"] == "scored" and not status.get("published", True)


def _scores(card: Mapping[str, Any], names: Sequence[str]) -> list[tuple[str, str]]:
    """Return (name of a score, percent) under the protocol that orders the board."""
    values = next(iter(card["protocols"].values()))
    return [(name, percent(values[name])) for name in names if values.get(name) is not None]
