"""`vlrb.editions verify export|import`: candidates go to annotators, and their answers come back.

The exported directory has a public part for annotators, a `private` one with gold answers and draft labels, and
`queue`: the file of pairs, with its images, that the service's queue of annotation takes.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from vlrb.benchmarks.spec import DEFAULT_BENCHMARK, SpecError
from vlrb.benchmarks.spec_file import definitions_folder, load_spec
from vlrb.common.command_line import say
from vlrb.common.json_files import JsonFileFault, Shape, check_shape
from vlrb.common.messages import _, joined, ngettext
from vlrb.editions.errors import CurateError, listed
from vlrb.editions.pools.pairs import PoolPair, draft_places
from vlrb.editions.pools.pool import PAIRS, locked, read_json, read_pair_file, write_json, write_lines
from vlrb.editions.pools.sources import read_objects
from vlrb.editions.runs import pool_table
from vlrb.editions.verification import (
    ADJUDICATOR,
    VerificationPeople,
    VerificationRules,
    answer_lines,
    assign,
    newest,
    read_answer,
)
from vlrb.editions.verification_record import keyed, read_candidates, read_lines, record_verification
from vlrb.label_quality.annotation import PREFERENCES, VERDICTS
from vlrb.label_quality.annotator_agreement import GOLD_MINIMUM, PersonAnswer

ITEMS, SETTINGS, GOLD = "items.jsonl", "verification.json", "private/gold.jsonl"
ASSIGNMENTS, QUEUE = "assignments.jsonl", "queue/to_annotate.jsonl"
_ASSIGNMENT: Shape = {"annotator": str, "items": [str]}


def add_verify_commands(commands: Any) -> None:
    """Add `verify export` and `verify import`."""
    verify = commands.add_parser("verify", help=_("candidates to annotators, and their answers back"))
    kinds = verify.add_subparsers(dest="verify_command", required=True, metavar="export|import")
    export = kinds.add_parser("export", help=_("write what annotators need"), allow_abbrev=False)
    export.add_argument("candidates", type=Path, metavar="FILE", help=_("candidates.jsonl of a filter or build"))
    export.add_argument("--output", type=Path, required=True, metavar="DIR")
    export.add_argument("--answers", type=int, default=2, metavar="N", help=_("people who answer each pair (2)"))
    export.add_argument("--annotator", action="append", default=[], metavar="NAME", help=_("who answers (repeatable)"))
    export.add_argument("--reviewer", action="append", default=[], metavar="NAME", help=_("who decides (repeatable)"))
    export.add_argument(
        "--gold", type=Path, metavar="FILE", help=_("lines with `item` and `verdict` known to be right")
    )
    export.set_defaults(run=export_command)
    take = kinds.add_parser("import", help=_("read answers, decide pairs, measure agreement"), allow_abbrev=False)
    take.add_argument("directory", type=Path, metavar="DIR", help=_("what `verify export` wrote"))
    take.add_argument(
        "files", type=Path, nargs="+", metavar="FILE", help=_("answers as JSON lines, or labels.jsonl of the service")
    )
    take.add_argument("--unanimous", action="store_true", help=_("every difference goes to the reviewers"))
    take.add_argument(
        "--exclude", action="append", default=[], metavar="NAME", help=_("ignore an annotator (repeatable)")
    )
    take.add_argument("--keep-names", action="store_true", help=_("individual labels with names, not pseudonyms"))
    take.add_argument(
        "--benchmark",
        default=DEFAULT_BENCHMARK,
        metavar="ID",
        help=_("whose definition has the errors that answers name ({benchmark})", benchmark=DEFAULT_BENCHMARK),
    )
    take.set_defaults(run=import_command)


def export_command(arguments: argparse.Namespace) -> int:
    """Write the input of a verification. Returns the exit code."""
    pairs = keyed(read_pair_file(arguments.candidates))
    if not pairs:
        raise CurateError(_("{candidates} holds no candidates.", candidates=arguments.candidates))
    if arguments.answers < 1:
        raise CurateError(_("--answers takes a number from 1."))
    _check_people([*arguments.annotator, *arguments.reviewer])
    gold = _gold(arguments.gold, pairs) if arguments.gold else {}
    given = assign(list(pairs), arguments.annotator, count=arguments.answers) if arguments.annotator else {}
    folder: Path = arguments.output
    with locked(folder):
        write_lines(folder / ITEMS, (_item(item, pair) for item, pair in pairs.items()))
        write_json(folder / "manifest.json", pool_table(list(pairs.values())).to_json())
        write_lines(folder / ASSIGNMENTS, _assignments(given))
        write_json(
            folder / SETTINGS,
            {"answers": arguments.answers, "annotators": arguments.annotator, "reviewers": arguments.reviewer},
        )
        write_lines(folder / "private" / "candidates.jsonl", read_lines(arguments.candidates))
        write_lines(folder / "private" / "drafts.jsonl", _drafts(pairs))
        write_lines(folder / GOLD, ({"item": item, "verdict": verdict} for item, verdict in gold.items()))
        write_lines(folder / QUEUE, ({**_item(item, pair), "label": gold.get(item)} for item, pair in pairs.items()))
        missing = _copy_images(_images_of(arguments.candidates), (folder / QUEUE).parent, pairs=list(pairs.values()))
    say(
        _(
            "{pairs:,} pairs, {gold:,} of them gold, for {answers} answers each: {folder}",
            pairs=len(pairs),
            gold=len(gold),
            answers=arguments.answers,
            folder=folder,
        )
    )
    say(
        _("Labels are in {path} and {queue}: keep them from annotators.", path=folder / "private", queue=folder / QUEUE)
    )
    if missing:
        words = ngettext(
            "{n:,} image was not found, so it was not copied: {first}.",
            "{n:,} images were not found, so they were not copied: {first} and others.",
            len(missing),
            first=missing[0],
        )
        say(words)
    return 0


def _images_of(candidates: Path) -> Path:
    """Return the folder in which image paths begin: that of the file, or the pool around a filtered folder."""
    folder = candidates.resolve().parent
    return folder.parent if not (folder / PAIRS).is_file() and (folder.parent / PAIRS).is_file() else folder


def _copy_images(source: Path, target: Path, *, pairs: Sequence[PoolPair]) -> list[str]:
    """Copy the images beside the file of pairs; return those that are not there."""
    missing = []
    for name in sorted({pair.image for pair in pairs if pair.image}):
        path, copy = (source / name).resolve(), target / name
        if not (path.is_relative_to(source) and path.is_file()):
            missing.append(name)
        elif not copy.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
    return missing


def _check_people(names: Sequence[str]) -> None:
    twice = next((name for name in names if names.count(name) > 1 or not name.strip()), None)
    if twice is not None:
        raise CurateError(
            _("{name!r}: name everybody once, as --annotator or as --reviewer; both would count twice.", name=twice)
        )


def _assignments(given: Mapping[str, Mapping[str, str]]) -> Iterator[dict[str, Any]]:
    """Yield who answers which pairs; `shown_first` has a or b for each of `items`."""
    for name, own in given.items():
        yield {"annotator": name, "items": list(own), "shown_first": list(own.values())}


def _item(item: str, pair: PoolPair) -> dict[str, Any]:
    """Return what an annotator may see: no preference, no draft."""
    return {
        "item": item, "id": pair.id, "query": pair.query, "response": list(pair.responses),
        "image": pair.image,
    }  # fmt: skip


def _drafts(pairs: Mapping[str, PoolPair]) -> list[dict[str, Any]]:
    """Return draft labels; they are shown after an annotator's first answer, never before."""
    return [
        {"item": item, **pair.draft, **{name: PREFERENCES[place] for name, place in draft_places(pair.draft).items()}}
        for item, pair in pairs.items()
        if pair.draft is not None
    ]


def _gold(path: Path, pairs: Mapping[str, PoolPair]) -> dict[str, str]:
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
    """Read answers back. Returns the exit code."""
    folder: Path = arguments.directory
    candidates = folder / "private" / "candidates.jsonl"
    settings = read_settings(folder)
    known = read_candidates(candidates)
    people = VerificationPeople(
        settings.get("annotators", []), settings["reviewers"], assigned=read_assignments(folder)
    )
    tag_of = _tag_of(arguments)
    reader = partial(read_answer, known=known.pairs, known_errors=tuple(tag_of))
    answers = _answers(arguments.files, reader, people=people, excluded=arguments.exclude)
    adjudicators = {answer.annotator for answer in answers if answer.annotator.startswith(ADJUDICATOR)}
    rules = VerificationRules(
        settings["answers"],
        frozenset(adjudicators.union(settings["reviewers"])),
        tag_of=tag_of,
        unanimous=arguments.unanimous,
    )
    gold = _gold(folder / GOLD, known.pairs)
    with locked(folder):
        report = record_verification(
            folder, known, answers=answers, rules=rules, gold=gold, keep_names=arguments.keep_names
        )
    say(_summary(report, folder))
    return 0


def _tag_of(arguments: argparse.Namespace) -> Mapping[str, str]:
    """Return error -> error tag of the benchmark that the command names. Raises CurateError where there is none."""
    try:
        return load_spec(arguments.benchmark, definitions_folder(arguments.variables)).tag_of
    except SpecError as error:
        raise CurateError(str(error)) from None


def read_settings(folder: Path) -> dict[str, Any]:
    """Return the settings of a verification. Raises CurateError where there are none."""
    path = folder / SETTINGS
    if not path.is_file():
        raise CurateError(_("{folder} holds no verification. `vlrb edition verify export` starts one.", folder=folder))
    return read_json(path, {"answers": int, "reviewers": [str], "annotators?": [str]})


def read_assignments(folder: Path) -> dict[str, frozenset[str]]:
    """Return annotator -> items; nothing where the export named no annotators. Raises CurateError."""
    path = folder / ASSIGNMENTS
    if not path.is_file():
        return {}
    try:
        lines = list(read_lines(path))
        for line in lines:
            check_shape(line, _ASSIGNMENT)
    except JsonFileFault as fault:
        raise CurateError(f"{path}: {fault}") from None
    return {line["annotator"]: frozenset(line["items"]) for line in lines}


def _answers(
    files: Sequence[Path],
    read: Callable[[Mapping[str, Any]], PersonAnswer],
    *,
    people: VerificationPeople,
    excluded: Sequence[str],
) -> list[PersonAnswer]:
    answers, problems = [], []
    for path in files:
        for number, line in read_objects(path):
            try:
                given = [read(answer) for answer in answer_lines(line)]
                counted = [answer for answer in given if answer.annotator not in excluded]
                for answer in counted:
                    people.check(answer)
                answers += counted
            except CurateError as error:
                problems.append(f"{path}, line {number}: {error}")
    if problems:
        raise CurateError(
            ngettext(
                "{n:,} answer cannot be used; nothing was imported.\n{listed}",
                "{n:,} answers cannot be used; nothing was imported.\n{listed}",
                len(problems),
                listed=listed(problems),
            )
        )
    return newest(answers)


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
    return joined([*lines, _("Decided pairs and what is left for reviewers: {folder}", folder=folder)], "\n")


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
    low = _(" (below {least:.0%}: see --exclude)", least=GOLD_MINIMUM) if annotator["below_gold_minimum"] else ""
    return _("{name}: {text}", name=name, text=joined(parts) + low)
