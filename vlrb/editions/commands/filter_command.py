"""`vlrb edition filter`: keeps the pairs that an ensemble of judges gets wrong, and reports on every judge."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vlrb.editions.commands.pool_command import read_duplicates
from vlrb.editions.errors import CurateError, follow
from vlrb.editions.filtering import EnsembleFilter
from vlrb.editions.markdown_report import ReportPart, markdown
from vlrb.editions.pools.pool import read_pool, write_json, write_lines, write_text
from vlrb.editions.runs import WRONG_IN_ALL, pool_table, read_judge_file

CANDIDATES, REPORT = "candidates.jsonl", "filter.json"
BELOW_CHANCE = (
    "These judges score below chance on what this filter keeps, by construction: a pair stays because they are wrong "
    "about it. Their scores on the edition say nothing about them, nor do those of their near relatives; read other "
    "scores as a gain over these judges. The edition records them, so that a board can mark their rows."
)
WRONG_LABELS = (
    "A filter that keeps what judges get wrong also keeps pairs whose label is wrong. The table says which share of "
    "the kept pairs that is, for some shares in the pool, if judges err independently of one another: once with the "
    "runs of one judge always agreeing, once with independent runs. People have to check what stays."
)


def add_filter_command(commands: Any) -> None:
    """Add `filter`."""
    parser = commands.add_parser("filter", help="keep what several judges get wrong", allow_abbrev=False)
    parser.add_argument("directory", type=Path, metavar="DIR", help="the pool")
    parser.add_argument(
        "--runs", nargs="+", required=True, metavar="[JUDGE=]FILE", help="predictions, or directories of `judge run`"
    )
    about = f"an expression of wrong and judges_wrong, which are shares ({WRONG_IN_ALL})"
    parser.add_argument("--rule", default=WRONG_IN_ALL, metavar="RULE", help=about)
    parser.add_argument("--output", type=Path, metavar="DIR", help="where the candidates go (DIR/filtered)")
    parser.set_defaults(run=filter_command)


def filter_command(arguments: argparse.Namespace) -> int:
    """Filter a pool. Returns the exit code."""
    pool: Path = arguments.directory
    pairs = read_pool(pool)
    table = pool_table(pairs)
    files = [read_judge_file(name, table) for name in follow(arguments.runs, "Reading runs")]
    duplicates, compared = read_duplicates(pool)
    ensemble = EnsembleFilter(arguments.rule, pairs, files=files, duplicates=duplicates)
    if not len(ensemble.kept):
        reasons = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in ensemble.left_out.items())
        raise CurateError(f"No pair can be filtered: {reasons}.")
    report = ensemble.report()
    report["duplicates_current"] = compared == len(pairs)
    folder = arguments.output or pool / "filtered"
    write_lines(folder / CANDIDATES, ensemble.kept_lines())
    write_json(folder / REPORT, report)
    write_text(folder / "filter.md", markdown("Ensemble filter", _parts(report)))
    print(*_summary(report), f"Candidates and report: {folder}", sep="\n")
    return 0


def _summary(report: Mapping[str, Any]) -> Iterator[str]:
    pairs = report["pairs"]
    yield f"{pairs['kept']:,} of {pairs['considered']:,} pairs stay: {report['rule']}."
    for one in report["judges"]:
        yield f"{one['judge']}: right on {one['accuracy']:.1%}; without it {one['stay_without_it']:,} stay"
    if not report["duplicates_current"]:
        yield "Near duplicates were not looked for: `vlrb edition pool duplicates` does it."


def _parts(report: Mapping[str, Any]) -> Iterator[ReportPart]:
    import pandas as pd

    yield from _summary(report)
    yield BELOW_CHANCE
    yield pd.DataFrame([report["pairs"]])
    yield "## By source and category"
    yield pd.DataFrame(report["by_source"])
    yield pd.DataFrame(report["by_category"])
    yield "## By judge"
    yield pd.DataFrame(report["judges"])
    yield "## By combination of judges, and by number of runs"
    yield "The shares in the rule are then those of the judges and runs that are left."
    rows: dict[tuple[Any, ...], dict[str, int]] = {}
    for size in report["sizes"]:
        rows.setdefault((size["table"], size["judges"], size["runs"]), {})[size["source"]] = size["kept"]
    yield pd.DataFrame([{"table": key[0], "judges": key[1], "runs": key[2]} | stay for key, stay in rows.items()])
    yield "## Expected share of wrong labels among what stays"
    yield WRONG_LABELS
    yield pd.DataFrame(report["wrong_labels"])
    yield "## Files"
    yield pd.DataFrame(report["files"])
