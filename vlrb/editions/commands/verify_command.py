"""`vlrb edition verify export|import`: candidates go to the service's queue of annotation, and its labels come back."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vlrb.benchmarks.spec import DEFAULT_BENCHMARK, SpecError
from vlrb.benchmarks.spec_file import definitions_folder, load_spec
from vlrb.common.command_line import say
from vlrb.common.messages import _, joined, ngettext
from vlrb.editions.errors import CurateError
from vlrb.editions.pools.pool import PAIRS, locked, write_lines
from vlrb.editions.pools.sources import read_objects
from vlrb.editions.verification import CandidateLines, read_candidates, read_labels, record_labels
from vlrb.label_quality.annotation import VERDICTS
from vlrb.label_quality.annotator_agreement import GOLD_MINIMUM

CANDIDATES, QUEUE = "candidates.jsonl", "queue/to_annotate.jsonl"
_SHOWN = ("id", "query", "response", "image")


def add_verify_commands(commands: Any) -> None:
    """Add `verify export` and `verify import`."""
    verify = commands.add_parser("verify", help=_("candidates to the queue of annotation, and its labels back"))
    kinds = verify.add_subparsers(dest="verify_command", required=True, metavar="export|import")
    export = kinds.add_parser("export", help=_("write the file that the queue takes"), allow_abbrev=False)
    export.add_argument("candidates", type=Path, metavar="FILE", help=_("candidates.jsonl of a filter or build"))
    export.add_argument("--output", type=Path, required=True, metavar="DIR")
    export.add_argument(
        "--gold", type=Path, metavar="FILE", help=_("lines with `item` and `verdict` known to be right")
    )
    export.set_defaults(run=export_command)
    take = kinds.add_parser("import", help=_("read the queue's labels, measure agreement"), allow_abbrev=False)
    take.add_argument("directory", type=Path, metavar="DIR", help=_("what `verify export` wrote"))
    take.add_argument("labels", type=Path, metavar="FILE", help=_("labels.jsonl of the service"))
    take.add_argument(
        "--benchmark",
        default=DEFAULT_BENCHMARK,
        metavar="ID",
        help=_("whose definition has the errors that answers name ({benchmark})", benchmark=DEFAULT_BENCHMARK),
    )
    take.set_defaults(run=import_command)


def export_command(arguments: argparse.Namespace) -> int:
    """Write the queue's file of pairs, with its images. Returns the exit code."""
    pairs = read_candidates(arguments.candidates)
    if not pairs:
        raise CurateError(_("{candidates} holds no candidates.", candidates=arguments.candidates))
    gold = _gold(arguments.gold, pairs) if arguments.gold else {}
    folder: Path = arguments.output
    queue = folder / QUEUE
    with locked(folder):
        write_lines(folder / CANDIDATES, pairs.values())
        write_lines(queue, (_to_annotate(item, pair, label=gold.get(item)) for item, pair in pairs.items()))
        images = sorted({pair["image"] for pair in pairs.values() if pair["image"]})
        missing = _copy_images(_images_of(arguments.candidates), queue.parent, images=images)
    say(_("{pairs:,} pairs, {gold:,} of them gold: {queue}", pairs=len(pairs), gold=len(gold), queue=queue))
    if missing:
        words = ngettext(
            "{n:,} image was not found, so it was not copied: {first}.",
            "{n:,} images were not found, so they were not copied: {first} and others.",
            len(missing),
            first=missing[0],
        )
        say(words)
    return 0


def _to_annotate(item: str, pair: Mapping[str, Any], *, label: str | None) -> dict[str, Any]:
    """Return the queue's line of a pair: nothing of its preference, but a gold label."""
    return {"item": item, **{name: pair[name] for name in _SHOWN}, "label": label}


def _images_of(candidates: Path) -> Path:
    """Return the folder in which image paths begin: that of the file, or the pool around a filtered folder."""
    folder = candidates.resolve().parent
    return folder.parent if not (folder / PAIRS).is_file() and (folder.parent / PAIRS).is_file() else folder


def _copy_images(source: Path, target: Path, *, images: Sequence[str]) -> list[str]:
    """Copy the images beside the file of pairs; return those that are not there."""
    missing = []
    for name in images:
        path, copy = (source / name).resolve(), target / name
        if not (path.is_relative_to(source) and path.is_file()):
            missing.append(name)
        elif not copy.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
    return missing


def _gold(path: Path, pairs: CandidateLines) -> dict[str, str]:
    gold = {}
    for number, line in read_objects(path):
        item, verdict = line.get("item"), line.get("verdict")
        if not isinstance(item, str) or item not in pairs or verdict not in VERDICTS:
            raise CurateError(
                _(
                    "{path}, line {number}: give `item`, a candidate, and `verdict` ({names}).",
                    path=path,
                    number=number,
                    names=", ".join(VERDICTS),
                )
            )
        gold[item] = str(verdict)
    return gold


def import_command(arguments: argparse.Namespace) -> int:
    """Read the queue's labels. Returns the exit code."""
    folder: Path = arguments.directory
    if not (folder / CANDIDATES).is_file():
        raise CurateError(_("{folder} holds no verification. `vlrb edition verify export` starts one.", folder=folder))
    candidates, tag_of = read_candidates(folder / CANDIDATES), _tag_of(arguments)
    labels = read_labels(arguments.labels, candidates, known_errors=tuple(tag_of))
    with locked(folder):
        report = record_labels(folder, candidates, labels=labels, tag_of=tag_of)
    say(_summary(report, folder))
    return 0


def _tag_of(arguments: argparse.Namespace) -> Mapping[str, str]:
    """Return error -> error tag of the benchmark that the command names. Raises CurateError where there is none."""
    try:
        return load_spec(arguments.benchmark, definitions_folder(arguments.variables)).tag_of
    except SpecError as error:
        raise CurateError(str(error)) from None


def _summary(report: Mapping[str, Any], folder: Path) -> str:
    def shown(value: float | None) -> str:
        return _("undefined") if value is None else f"{value:.3f}"

    states: str = joined(f"{number:,} {state}" for state, number in sorted(report["pairs"].items()))
    alpha, kappa = shown(report["alpha"]), shown(report["mean_kappa"])
    lines: list[str] = [states, _("alpha {alpha}, mean kappa {kappa}", alpha=alpha, kappa=kappa)]
    lines += [
        _annotator(name, annotator, kappa=shown(annotator["mean_kappa"]))
        for name, annotator in report["annotators"].items()
    ]
    return joined([*lines, _("Verified, dropped and open pairs: {folder}", folder=folder)], "\n")


def _annotator(name: str, annotator: Mapping[str, Any], *, kappa: str) -> str:
    parts: list[str] = [
        ngettext("{n:,} answer", "{n:,} answers", annotator["answers"]),
        _("kappa {kappa}", kappa=kappa),
    ]
    parts += [_("{share:.0%} of gold right", share=annotator["gold_right"])] if annotator["gold"] else []
    seconds, picked = annotator["median_seconds"], annotator["picked_shown_first"]
    parts += [_("{seconds:.0f} s a pair", seconds=seconds)] if seconds is not None else []
    parts += (
        [_("picked the response shown first {picked:.0%} of the time", picked=picked)] if picked is not None else []
    )
    low = _(" (below {least:.0%})", least=GOLD_MINIMUM) if annotator["below_gold_minimum"] else ""
    return _("{name}: {text}", name=name, text=joined(parts) + low)
