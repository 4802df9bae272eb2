"""Command `vlrb check`: a dry run of a prediction file, without labels."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from vlrb.benchmarks.items import load_table
from vlrb.benchmarks.spec import DEFAULT_BENCHMARK, BenchmarkSpec
from vlrb.benchmarks.spec_file import definitions_folder, load_spec
from vlrb.commands.text_output import benchmark_title, sample_lines
from vlrb.common.command_line import complain, translated
from vlrb.common.messages import _, joined
from vlrb.common.text import printable
from vlrb.predictions.parse import UploadRejected, build_report, parse_predictions
from vlrb.predictions.readability import needs_confirmation
from vlrb.readers import format_name
from vlrb.readers.problems import votes_phrase

OK, REJECTED, USAGE = 0, 1, 2
_PLACES = {"line": _("line {line}"), "id": _("id {id}"), "field": _("field {field}")}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add = parser.add_argument
    add("file", type=Path, metavar="FILE", help=_("prediction file in any known format"))
    add("--json", action="store_true", help=_("print JSON only"))
    add("--items", type=Path, metavar="PATH", help=_("manifest of pairs, where the benchmark comes without one"))
    add("--benchmark", default=DEFAULT_BENCHMARK, metavar="ID", help=_("id of the benchmark (vl-rewardbench)"))


def run(options: argparse.Namespace) -> int:
    """Read a file as the service would, and print what it found. Returns the exit code."""
    try:
        data = options.file.read_bytes()
        definitions = definitions_folder(os.environ)
        spec = load_spec(options.benchmark, definitions)
        if options.items is None and not spec.has_items:
            complain(_without_items(spec))
            return USAGE
        table = load_table(options.items, None if options.items else spec, definitions=definitions)
    except ValueError as error:
        complain(_("cannot read: {error}", error=error))
        return USAGE
    try:
        report = build_report(parse_predictions(data, table), table.benchmark)
    except UploadRejected as rejection:
        report = build_report(rejection, table.benchmark)
    print(json.dumps(report) if options.json else readable(report))
    return OK if report["ok"] else REJECTED


def _without_items(spec: BenchmarkSpec) -> str:
    """Return how to make the manifest of a benchmark whose definition has none."""
    edition = spec.editions[0].key if spec.editions else "v1"
    return _(
        "{title} comes without an item manifest. Make one from the benchmark’s own file, then check with it:\n"
        "  python -m maintenance manifest {benchmark} {edition}=FILE --output items.json\n"
        "  vlrb check ... --items items.json\n"
        "A part of the pairs needs a name of its own instead of {edition}.",
        title=spec.title,
        benchmark=spec.id,
        edition=edition,
    )


def readable(report: dict[str, Any]) -> str:
    """Return a check report in words; control characters of the file are shown as escapes."""
    lines: list[str] = [
        _(
            "{verdict} Format: {format}. Benchmark: {benchmark}.",
            verdict=_verdict(report),
            format=format_name(report["format"]) if report["format"] else _("not known"),
            benchmark=_(benchmark_title(report["benchmark"], definitions_folder(os.environ))),
        )
    ]
    if report.get("parse_rate") is not None:
        votes = votes_phrase(report["votes_per_item"])
        lines += [
            _("  revision            {revision}", revision=report["revision"]),
            _("  pairs               {pairs:,}, with {votes}", pairs=report["items"], votes=votes),
            _("  readable votes      {rate:.1%}", rate=report["parse_rate"]),
            _("  picked first answer {share}", share=_first_shown(report)),
        ]
    for warning in report["warnings"]:
        ids = ", ".join(warning["ids"][:10]) + (", ..." if len(warning["ids"]) > 10 else "")
        text = _("  warning {code}: {message}", code=warning["code"], message=warning["message"])
        lines.append(translated(text) + (f" [{ids}]" if ids else ""))
    lines += [_problem(problem) for problem in report["problems"]]
    if report["problem_count"] > len(report["problems"]):
        lines.append(_("  and {n:,} more problems", n=report["problem_count"] - len(report["problems"])))
    lines += sample_lines(report)
    return "\n".join(printable(translated(line)) for line in lines)


def _problem(problem: dict[str, Any]) -> str:
    place = joined(_(text, **{name: problem[name]}) for name, text in _PLACES.items() if problem[name] is not None)
    code, message = problem["code"], problem["message"]
    if not place:
        return _("  problem {code}: {message}", code=code, message=message)
    return _("  problem {code}: {place}: {message}", code=code, place=place, message=message)


def _verdict(report: dict[str, Any]) -> str:
    if not report["ok"]:
        return _("REJECTED.")
    confirm, ready = _("OK, but confirm it with --accept-unreadable."), _("OK: ready to submit.")
    return confirm if needs_confirmation(report) else ready


def _first_shown(report: dict[str, Any]) -> str:
    rate = report["first_shown_rate"]
    if rate is None:
        return _("the file does not state it")
    if report.get("one_order"):
        return _("{share:.1%} of the time (says nothing: the order is nearly always the same)", share=rate)
    return _("{share:.1%} of the time (50% is unbiased)", share=rate)
