"""`vlrb edition filter`: keeps the pairs that an ensemble of judges gets wrong, and reports on every judge."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vlrb.common import atomic_files
from vlrb.common.command_line import say
from vlrb.common.messages import _
from vlrb.editions.commands.duplicates_command import duplicates_are_current, read_duplicates
from vlrb.editions.errors import CurateError
from vlrb.editions.filter_report import filter_csv, filter_page
from vlrb.editions.filtering import EnsembleFilter, select
from vlrb.editions.label_quality import SHARES
from vlrb.editions.pools.pool import locked, read_pool, write_json, write_lines
from vlrb.editions.progress import follow
from vlrb.editions.rules import check_counts, needs_order, read_rule
from vlrb.editions.runs import pool_table, read_judge_file, runs_per_pair

CANDIDATES, REPORT = "candidates.jsonl", "filter.json"


def add_filter_command(commands: Any) -> None:
    """Add `filter`."""
    parser = commands.add_parser("filter", help=_("keep what several judges get wrong"), allow_abbrev=False)
    parser.add_argument("directory", type=Path, metavar="DIR", help=_("the pool"))
    parser.add_argument(
        "--runs", nargs="+", required=True, metavar="[JUDGE=]FILE", help=_("predictions, or directories of `judge run`")
    )
    parser.add_argument(
        "--rule", default="all-wrong", help=_("all-wrong, at-least:M, judges:M, unstable[:M], or a file")
    )
    parser.add_argument("--undecided-is-wrong", action="store_true", help=_("an unreadable verdict counts as wrong"))
    parser.add_argument("--keep-duplicates", action="store_true", help=_("look at near duplicates, too"))
    parser.add_argument(
        "--label-error", type=float, action="append", metavar="SHARE", help=_("wrong labels in the pool")
    )
    parser.add_argument(
        "--accuracy", action="append", default=[], metavar="JUDGE=SHARE", help=_("of a judge, if known")
    )
    parser.add_argument("--output", type=Path, metavar="DIR", help=_("where the candidates go (DIR/filtered)"))
    parser.set_defaults(run=filter_command)


def filter_command(arguments: argparse.Namespace) -> int:
    """Filter a pool. Returns the exit code."""
    rule = read_rule(arguments.rule, undecided_is_wrong=arguments.undecided_is_wrong)
    priors = tuple(_label_error(value) for value in arguments.label_error or SHARES)
    pool: Path = arguments.directory
    pairs = read_pool(pool)
    table = pool_table(pairs)
    names: Sequence[str] = arguments.runs
    files = [read_judge_file(name, table) for name in follow(names, _("Reading runs"), total=len(names))]
    check_counts(rule, runs=sum(map(runs_per_pair, files)), judges=len({file.judge for file in files}))
    duplicates = [] if arguments.keep_duplicates else read_duplicates(pool)
    selection = select(pairs, files, duplicates=duplicates)
    if not selection.considered:
        raise CurateError(
            _(
                "No pair can be filtered: {unjudged:,} lack verdicts of some run, {without_preference:,} have no "
                "preference, {duplicates:,} are near duplicates. Complete the runs.",
                unjudged=selection.unjudged,
                without_preference=selection.without_preference,
                duplicates=selection.duplicates,
            )
        )
    ensemble_filter = EnsembleFilter(rule, pairs, files=files, selection=selection)
    if needs_order(rule) and (ensemble_filter.verdicts.shown < 0).all():
        raise CurateError(
            _("No run records which response was shown first, so no judge can be unstable. Give runs of `judge run`.")
        )
    report = ensemble_filter.report(priors, _accuracies(arguments.accuracy, [file.judge for file in files]))
    report["duplicates_current"] = arguments.keep_duplicates or duplicates_are_current(pool, len(pairs))
    folder = arguments.output or pool / "filtered"
    with locked(folder):
        write_lines(folder / CANDIDATES, ensemble_filter.kept_lines())
        write_json(folder / REPORT, report)
        atomic_files.write(folder / "filter.csv", filter_csv(report).encode(), mode=atomic_files.PUBLIC)
        atomic_files.write(folder / "filter.html", filter_page(report).encode(), mode=atomic_files.PUBLIC)
    say(_summary(report, folder))
    return 0


def _summary(report: dict[str, Any], folder: Path) -> str:
    pairs = report["pairs"]
    lines: list[str] = [
        _(
            "{kept:,} of {considered:,} pairs stay: {rule}.",
            kept=pairs["kept"],
            considered=pairs["considered"],
            rule=report["rule_in_words"],
        )
    ]
    lines += [
        _(
            "{judge}: right on {share:.1%}; without it {number:,} stay",
            judge=judge["judge"],
            share=judge["accuracy"],
            number=judge["stay_without_it"],
        )
        for judge in report["judges"]
    ]
    if pairs["unjudged"]:
        lines.append(_("{number:,} pairs were not judged in every run and were left out.", number=pairs["unjudged"]))
    if not report["duplicates_current"]:
        lines.append(_("Near duplicates were not looked for: `vlrb edition pool duplicates` does it."))
    return "\n".join([*lines, _("Candidates and report: {folder}", folder=folder)])


def _share(value: float, option: str) -> float:
    if not 0 <= value <= 1:
        raise CurateError(_("{option} {value}: give a share from 0 to 1, such as 0.05.", option=option, value=value))
    return value


def _label_error(value: float) -> float:
    if _share(value, "--label-error") >= 0.5:
        raise CurateError(_("--label-error {value}: give less than 0.5; such labels tell nothing.", value=value))
    return value


def _accuracies(given: Sequence[str], judges: Sequence[str]) -> dict[str, float]:
    result = {}
    for text in given:
        name, _equals, value = text.rpartition("=")
        try:
            result[name] = _share(float(value), "--accuracy")
        except ValueError:
            raise CurateError(_("--accuracy {text}: give JUDGE=SHARE, such as Qwen2-VL-7B=0.62.", text=text)) from None
        if name not in judges:
            raise CurateError(
                _(
                    "--accuracy {text}: no run is of {name!r}; judges are {names}.",
                    text=text,
                    name=name,
                    names=", ".join(dict.fromkeys(judges)),
                )
            )
    return result
