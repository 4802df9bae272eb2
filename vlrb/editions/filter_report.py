"""The report of a filter as a page, in the language of the terminal, and as CSV, which is English."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vlrb.common.messages import _, joined
from vlrb.editions.report_page import ReportPart, bars, heading, page, paragraph, table

BELOW_CHANCE = _(
    "These judges score below chance on what this filter keeps, by construction: a pair stays because they are wrong "
    "about it. Their scores on the edition say nothing about them, nor do those of their near relatives; read other "
    "scores as a gain over these judges. The edition records them, so that a board can mark their rows."
)
WRONG_LABELS = _(
    "A filter that keeps what judges get wrong also keeps pairs whose label is wrong. The table says which share of "
    "the kept pairs that is, for some shares in the pool, if judges err independently of one another: once with the "
    "runs of one judge always agreeing, once with independent runs. People have to check what stays."
)
_SHARES = {
    "wrong_in_pool": "in_pool",
    "wrong_in_kept_if_runs_agree": "runs_agree",
    "wrong_in_kept_if_runs_independent": "runs_independent",
}
"""Columns of the CSV about wrong labels, with the field of the report that each holds."""


def filter_page(report: Mapping[str, Any]) -> str:
    """Return the report as a self-contained page."""
    return page(_("Ensemble filter"), _parts(report))


def _parts(report: Mapping[str, Any]) -> Iterator[ReportPart]:
    pairs = report["pairs"]
    kept_share = pairs["kept"] / pairs["considered"] if pairs["considered"] else 0.0
    yield paragraph(_("Rule: {rule}.", rule=report["rule_in_words"]))
    yield paragraph(
        _(
            "{kept:,} of {considered:,} pairs stay ({share:.1%}).",
            kept=pairs["kept"],
            considered=pairs["considered"],
            share=kept_share,
        )
    )
    yield paragraph(
        _(
            "Not looked at: {duplicates:,} near duplicates, {without_preference:,} pairs without a preference, "
            "{unjudged:,} pairs that some run did not judge.",
            **{name: pairs[name] for name in ("duplicates", "without_preference", "unjudged")},
        )
    )
    if not report.get("duplicates_current", True):
        yield paragraph(
            _("Near duplicates were not looked for since the last import: run `pool duplicates`."), note=True
        )
    yield paragraph(BELOW_CHANCE, note=True)
    yield from _by_source(report)
    yield from _judges(report)
    yield from _combinations(report)
    yield heading(_("Size by number of runs"))
    yield bars(_("Pairs that stay with the first runs of each judge"), [
        (_("{runs} runs in all", runs=run["runs"]), run["kept"]) for run in report["by_runs"]
    ])  # fmt: skip
    yield from _labels(report)
    yield heading(_("Files"))
    columns = ("judge", "file", "format", "runs", "pairs", "sha256")
    titles = (_("judge"), _("file"), _("format"), _("runs"), _("pairs"), "SHA-256")
    yield table(titles, [[file[name] for name in columns] for file in report["files"]])


def _by_source(report: Mapping[str, Any]) -> Iterator[ReportPart]:
    yield heading(_("By source and category"))
    yield bars(_("Pairs that stay, by source"), [(row["source"], row["kept"]) for row in report["by_source"]])
    for trait, title in (("source", _("source")), ("category", _("category"))):
        rows = [[row[trait], row["considered"], row["kept"], row["share"]] for row in report[f"by_{trait}"]]
        yield table((title, _("considered"), _("stay"), _("share")), rows)


def _judges(report: Mapping[str, Any]) -> Iterator[ReportPart]:
    yield heading(_("By judge"))
    columns = (
        "judge", "runs", "accuracy", "undecided", "removes_alone", "stay_without_it", "removed_by_it_only",
        "accuracy_on_kept",
    )  # fmt: skip
    titles = (
        _("judge"), _("runs"), _("right"), _("undecided"), _("removes alone"), _("stay without it"),
        _("removed by it only"), _("right on what stays"),
    )  # fmt: skip
    yield table(titles, [[judge[name] for name in columns] for judge in report["judges"]])


def _combinations(report: Mapping[str, Any]) -> Iterator[ReportPart]:
    yield heading(_("By combination of judges"))
    yield paragraph(_("Counts in a rule are taken in proportion to the judges and runs that are left."))
    yield bars(
        _("Pairs that stay"),
        [(" + ".join(combination["judges"]), combination["kept"]) for combination in report["combinations"]],
    )
    sources = [row["source"] for row in report["by_source"]]
    removed = (_("removed of {source}", source=source) for source in sources)
    titles = (_("judges"), _("runs"), _("stay"), _("removed"), *removed)
    yield table(titles, [
        [" + ".join(combination["judges"]), combination["runs"], combination["kept"], combination["removed"],
         *(combination["removed_by_source"][source] for source in sources)]
        for combination in report["combinations"]
    ])  # fmt: skip


def _labels(report: Mapping[str, Any]) -> Iterator[ReportPart]:
    yield heading(_("Expected share of wrong labels among what stays"))
    yield paragraph(WRONG_LABELS)
    result = report["wrong_labels"]
    accuracies = joined(f"{name} {value:.1%}" for name, value in result["accuracies"].items())
    yield paragraph(_("Accuracies: {accuracies}.", accuracies=accuracies))
    rows = [[row["in_pool"], row["runs_agree"], row["runs_independent"]] for row in result["rows"]]
    titles = (_("wrong in the pool"), _("wrong among kept, runs agree"), _("wrong among kept, runs independent"))
    yield table(titles, rows)


def filter_csv(report: Mapping[str, Any]) -> str:
    """Return sizes and expected wrong labels as CSV: one line for each table, set of judges, source and share."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    sizes = ("table", "judges", "runs", "source", "considered", "kept", "removed")
    writer.writerow((*sizes, *_SHARES))
    for name in ("combinations", "leave_one_out", "by_runs"):
        for size in report[name]:
            writer.writerows((*row, *[""] * len(_SHARES)) for row in _csv_rows(name, size))
    whole = report["pairs"]["considered"], report["pairs"]["kept"]
    for row in report["wrong_labels"]["rows"]:
        head = ("wrong_labels", _spreadsheet_text(" + ".join(report["wrong_labels"]["accuracies"])), "", "all")
        shares = ("" if row[name] is None else row[name] for name in _SHARES.values())
        writer.writerow((*head, *whole, whole[0] - whole[1], *shares))
    return out.getvalue()


def _csv_rows(name: str, size: Mapping[str, Any]) -> Iterator[Sequence[Any]]:
    judges = _spreadsheet_text(" + ".join(size["judges"]))
    yield (name, judges, size["runs"], "all", size["kept"] + size["removed"], size["kept"], size["removed"])
    for source, stay in size["kept_by_source"].items():
        removed = size["removed_by_source"][source]
        yield (name, judges, size["runs"], source, stay + removed, stay, removed)


def _spreadsheet_text(text: str) -> str:
    return f"'{text}" if text[:1] in "=+-@\t\r" else text  # no formula for a spreadsheet
