"""Command `vlrb numbers`: counts that fit published percentages."""

from __future__ import annotations

import argparse
import json
import os
from functools import partial

from vlrb.benchmarks.spec import DEFAULT_BENCHMARK
from vlrb.benchmarks.spec_file import definitions_folder, known_benchmarks, load_spec
from vlrb.common.command_line import complain, lines
from vlrb.common.messages import _
from vlrb.numbers import report
from vlrb.numbers.definition_check import figure_names

FITS, DOES_NOT, USAGE = 0, 1, 2


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command, among them the figures of all benchmarks."""
    definitions = definitions_folder(os.environ)
    known = known_benchmarks(definitions)
    about = _("id of the benchmark (vl-rewardbench)")
    parser.epilog = _("Exit code: 0 the figures fit all pairs of some grouping, 1 they do not, 2 they cannot be read.")
    parser.add_argument("--benchmark", default=DEFAULT_BENCHMARK, metavar="ID", choices=known, help=about)
    specs = (load_spec(name, definitions) for name in (DEFAULT_BENCHMARK, *known))
    add = partial(parser.add_argument, dest="figures", action="append", default=[], metavar="PERCENT")
    for name in dict.fromkeys(name for spec in specs for name in figure_names(spec)):
        add(f"--{name}", type=partial(_named, name), help=_("as printed: 71.9 is not 71.90"))
    parser.add_argument("--json", action="store_true", help=_("print JSON only"))


def run(options: argparse.Namespace) -> int:
    """Print what arithmetic says about the figures. Returns the exit code."""
    given, spec = dict(options.figures), load_spec(options.benchmark, definitions_folder(os.environ))
    try:
        report.refuse_unknown(given, spec)
        found = report.answer(given, spec)
    except ValueError as wrong:  # a figure, or nothing is known of the benchmark's sizes
        field = getattr(wrong, "field", "")
        complain(_("--{field}: {problem}", field=field, problem=str(wrong)) if field else wrong)
        return USAGE
    print(json.dumps(found) if options.json else lines([found["headline"], *found["sentences"]]))
    return FITS if found["verdict"] == "fits" else DOES_NOT


def _named(name: str, figure: str) -> tuple[str, str]:
    return name, figure
