"""`vlrb edition verify export|import`: candidates go to the service's queue of annotation, and its labels come back."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vlrb.benchmarks.spec import DEFAULT_BENCHMARK, SpecError
from vlrb.benchmarks.spec_file import definitions_folder, load_spec
from vlrb.editions.errors import CurateError
from vlrb.editions.pools.pool import PAIRS, write_lines
from vlrb.editions.verification import read_candidates, read_labels, record_labels
from vlrb.label_quality.annotation import GOLD_MINIMUM

CANDIDATES, QUEUE = "candidates.jsonl", "queue/to_annotate.jsonl"
_SHOWN = ("id", "query", "response", "image")


def add_verify_commands(commands: Any) -> None:
    """Add `verify export` and `verify import`."""
    verify = commands.add_parser("verify", help="candidates to the queue of annotation, and its labels back")
    kinds = verify.add_subparsers(dest="verify_command", required=True, metavar="export|import")
    export = kinds.add_parser("export", help="write the file that the queue takes", allow_abbrev=False)
    export.add_argument("candidates", type=Path, metavar="FILE", help="candidates.jsonl of a filter or build")
    export.add_argument("--output", type=Path, required=True, metavar="DIR")
    export.set_defaults(run=export_command)
    take = kinds.add_parser("import", help="read the queue's labels, measure agreement", allow_abbrev=False)
    take.add_argument("directory", type=Path, metavar="DIR", help="what `verify export` wrote")
    take.add_argument("labels", type=Path, metavar="FILE", help="labels.jsonl of the service")
    errors = f"whose definition has the errors that answers name ({DEFAULT_BENCHMARK})"
    take.add_argument("--benchmark", default=DEFAULT_BENCHMARK, metavar="ID", help=errors)
    take.set_defaults(run=import_command)


def export_command(arguments: argparse.Namespace) -> int:
    """Write the queue's file of pairs, with its images. Returns the exit code."""
    pairs = read_candidates(arguments.candidates)
    if not pairs:
        raise CurateError(f"{arguments.candidates} holds no candidates.")
    folder: Path = arguments.output
    queue = folder / QUEUE
    write_lines(folder / CANDIDATES, pairs.values())
    lines = ({"item": item, **{name: pair[name] for name in _SHOWN}} for item, pair in pairs.items())
    write_lines(queue, ({**line, "label": None} for line in lines))  # no preference
    missing = [*_copy_images(arguments.candidates, queue.parent, names={pair["image"] for pair in pairs.values()})]
    print(f"{len(pairs):,} pairs: {queue}. Give those whose verdict you know a `label`: they test annotators.")
    if missing:
        print(f"Images that were not found, so not copied: {len(missing):,}, such as {missing[0]}.")
    return 0


def _copy_images(candidates: Path, target: Path, *, names: set[str]) -> Iterator[str]:
    """Copy the images beside the file of pairs; yield those that are not there.

    Their paths begin in the folder of the candidates, or in the pool around a filtered folder.
    """
    folder = candidates.resolve().parent
    source = folder.parent if not (folder / PAIRS).is_file() and (folder.parent / PAIRS).is_file() else folder
    for name in sorted(names - {""}):
        path, copy = (source / name).resolve(), target / name
        if not (path.is_relative_to(source) and path.is_file()):
            yield name
        elif not copy.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)


def import_command(arguments: argparse.Namespace) -> int:
    """Read the queue's labels. Returns the exit code."""
    folder: Path = arguments.directory
    if not (folder / CANDIDATES).is_file():
        raise CurateError(f"{folder} holds no verification. `vlrb edition verify export` starts one.")
    try:
        tag_of = load_spec(arguments.benchmark, definitions_folder(arguments.variables)).tag_of
    except SpecError as error:
        raise CurateError(str(error)) from None
    candidates = read_candidates(folder / CANDIDATES)
    labels = read_labels(arguments.labels, candidates, known_errors=tuple(tag_of))
    report = record_labels(folder, candidates, labels=labels, tag_of=tag_of)
    print(*_summary(report), f"Verified, dropped and open pairs: {folder}", sep="\n")
    return 0


def _summary(report: Mapping[str, Any]) -> Iterator[str]:
    def shown(value: float | None) -> str:
        return "undefined" if value is None else f"{value:.3f}"

    yield ", ".join(f"{number:,} {state}" for state, number in sorted(report["pairs"].items()))
    yield f"alpha {shown(report['alpha'])}, mean kappa {shown(report['mean_kappa'])}"
    for name, person in report["annotators"].items():
        parts = [f"{name}: {person['answers']:,} answers", f"kappa {shown(person['mean_kappa'])}"]
        parts += [f"{person['gold_right']:.0%} of gold right"] if person["gold"] else []
        parts += [f"{person['median_seconds']:.0f} s a pair"] if person["median_seconds"] is not None else []
        if person["picked_shown_first"] is not None:
            parts.append(f"picked the response shown first {person['picked_shown_first']:.0%} of the time")
        low = f" (below {GOLD_MINIMUM:.0%})" if person["below_gold_minimum"] else ""
        yield ", ".join(parts) + low
