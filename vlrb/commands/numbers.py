"""Command `vlrb numbers`: counts that fit published percentages."""

from __future__ import annotations

import argparse
import json
import os

from vlrb.benchmarks.spec import DEFAULT_BENCHMARK, BenchmarkSpec
from vlrb.benchmarks.spec_file import definitions_folder, known_benchmarks, load_spec
from vlrb.common.command_line import CommandParser, complain, lines
from vlrb.common.messages import _
from vlrb.numbers import report
from vlrb.numbers.definition_check import figure_names
from vlrb.numbers.figures import BadFigures

FITS, DOES_NOT, USAGE = 0, 1, 2
_PROGRAM = "vlrb numbers"


def run(arguments: list[str]) -> int:
    """Run `vlrb numbers`: print what arithmetic says about the figures. Returns the exit code."""
    spec = _spec(arguments)
    options = command_line(spec).parse_args(arguments)
    given = {name: getattr(options, name.replace("-", "_")) for name in figure_names(spec)}
    try:
        found = report.answer(given, spec)
    except BadFigures as wrong:
        complain(_("--{field}: {problem}", field=wrong.field, problem=str(wrong)) if wrong.field else wrong)
        return USAGE
    except ValueError as unknown:  # the sizes of the benchmark
        complain(unknown)
        return USAGE
    print(json.dumps(found) if options.json else lines([found["headline"], *found["sentences"]]))
    return FITS if found["verdict"] == "fits" else DOES_NOT


def command_line(spec: BenchmarkSpec | None = None) -> argparse.ArgumentParser:
    """Return the options of the command: the figures of a benchmark (the default one if left out)."""
    command = CommandParser(
        prog=_PROGRAM, description=_("do published percentages add up, and under which categories"), epilog=_EPILOG
    )
    command.add_argument(
        "--benchmark", default=DEFAULT_BENCHMARK, help=_("id of the benchmark (default: VL-RewardBench)")
    )
    for name in figure_names(spec or load_spec(DEFAULT_BENCHMARK)):
        command.add_argument(f"--{name}", default="", metavar="PERCENT", help=_("as printed: 71.9 is not 71.90"))
    command.add_argument("--json", action="store_true", help=_("print the answer as JSON"))
    return command


_EPILOG = _("Exit code: 0 the figures fit all pairs of some grouping, 1 they do not, 2 they cannot be read.")


def _spec(arguments: list[str]) -> BenchmarkSpec:
    """Return the benchmark of a command line: which figures it takes depends on that."""
    definitions = definitions_folder(os.environ)
    first = CommandParser(prog=_PROGRAM, add_help=False, allow_abbrev=False)
    first.add_argument("--benchmark", default=DEFAULT_BENCHMARK, choices=known_benchmarks(definitions))
    return load_spec(first.parse_known_args(arguments)[0].benchmark, definitions)
