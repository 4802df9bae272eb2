"""`vlrb edition verify export|import`: candidates go to the service's queue of annotation, its labels come back: which
pairs stay, and how far people agree.

A and B are a pair's responses in the pool's order, which is that of every page of the service.
"""

from __future__ import annotations

import argparse
import os
import shutil
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field

from vlrb.benchmarks.spec import DEFAULT_BENCHMARK
from vlrb.benchmarks.spec_file import definitions_folder, load_spec
from vlrb.common.command_line import CommandError
from vlrb.common.json_files import write_json
from vlrb.editions.agreement import agreement_report
from vlrb.editions.pool import PAIRS, PoolPair, read_pair_file, write_lines
from vlrb.editions.runs import pool_table
from vlrb.editions.sources import read_lines
from vlrb.label_quality.annotation import GOLD, GOLD_MINIMUM, OPEN, PAIR_STATES, PREFERENCES, VERDICTS

_VERDICT = Annotated[str, Field(pattern=f"^({'|'.join(VERDICTS)})$")]
_OPEN: Mapping[str, Any] = {"state": OPEN, "label": None, "tags": [], "answers": []}


class QueueAnswer(BaseModel, strict=True):
    """An annotator's answer, as the service's queue gives it."""

    annotator: str
    verdict: _VERDICT
    errors: list[str]
    note: str = ""
    seconds: float | None = None
    shown_first: str = ""
    left_out: bool = Field(False, exclude=True)


class QueueLabel(BaseModel, strict=True):
    """A pair's line of the queue's labels.jsonl."""

    item: str
    state: Annotated[str, Field(pattern=f"^({'|'.join(PAIR_STATES)})$")]
    label: _VERDICT | None
    tags: list[str]
    answers: list[QueueAnswer]


CandidateLines = Mapping[str, PoolPair]
"""Key -> line of candidates.jsonl."""


def read_candidates(path: Path) -> dict[str, dict[str, Any]]:
    """Return the lines of a file of candidates by their keys. Raises CommandError where a line is no pair."""
    pairs = read_pair_file(path)
    return dict(zip((item.key for item in pool_table(pairs).items), pairs, strict=True))


def read_labels(path: Path, candidates: CandidateLines, *, known_errors: Collection[str]) -> dict[str, dict[str, Any]]:
    """Return key -> line of the service's labels.jsonl, without answers of people who were left out.

    ``known_errors``: those that annotators choose from.

    Raises:
        CommandError: a line cannot be used.
    """
    labels: dict[str, dict[str, Any]] = {}
    for place, label in read_lines(path, QueueLabel):
        if label.item not in candidates:
            raise CommandError(f"{place}: `item` {label.item[:80]!r} is no candidate; take it from candidates.jsonl.")
        if not {error for answer in label.answers for error in answer.errors} <= set(known_errors):
            raise CommandError(f"{place}: `errors` must be a list of {', '.join(known_errors)}.")
        if label.item in labels:
            raise CommandError(f"{place}: {label.item} has two lines; keep one.")
        label.answers = [answer for answer in label.answers if not answer.left_out]
        labels[label.item] = label.model_dump()
    return labels


def record_labels(
    folder: Path, candidates: CandidateLines, *, labels: Mapping[str, Mapping[str, Any]], tag_of: Mapping[str, str]
) -> dict[str, Any]:
    """Write what follows from the labels into the folder. Returns the report on agreement.

    ``tag_of``: error that annotators choose from -> error tag. Candidates without a label are open.
    """
    known = {item: labels.get(item, _OPEN) for item in candidates}
    answers = [{"item": item, **answer} for item, pair in known.items() for answer in pair["answers"]]
    gold = {item: pair["label"] for item, pair in known.items() if pair["state"] == GOLD and pair["label"] is not None}
    report = agreement_report(answers, gold, tag_of=tag_of)
    report["pairs"] = dict(Counter(pair["state"] for pair in known.values()))
    report["labels_of_the_pool"] = _kept_labels(candidates, known)
    files: dict[str, list[dict[str, Any]]] = {"verified.jsonl": [], "dropped.jsonl": [], "open.jsonl": []}
    for item, pair in known.items():
        label, counts = pair["label"], {"answers": len(pair["answers"]), "state": pair["state"]}
        line = {**candidates[item], "verification": counts}
        if label in PREFERENCES:
            decided = {"preferred": PREFERENCES.index(label), "tags": list(pair["tags"])}
            files["verified.jsonl"].append(line | decided)
        elif label is not None:
            files["dropped.jsonl"].append(line | {"reason": label})
        else:
            files["open.jsonl"].append(line)
    for name, lines in files.items():
        write_lines(folder / name, lines)
    people = sorted(report["annotators"], key=lambda name: sha256(name.encode()).hexdigest())  # its order tells nothing
    names = {name: f"annotator-{number}" for number, name in enumerate(people, 1)}
    write_lines(
        folder / "individual.jsonl", ({**answer, "annotator": names[answer["annotator"]]} for answer in answers)
    )
    write_json(folder / "agreement.json", report)
    return report


def _kept_labels(candidates: CandidateLines, labels: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return on how many pairs that people decided the pool had a preference, and which share of these stood."""
    kept = [
        candidates[item]["preferred"] == PREFERENCES.index(pair["label"])
        for item, pair in labels.items()
        if pair["label"] in PREFERENCES and candidates[item].get("preferred") is not None
    ]
    return {"pairs": len(kept), "kept": sum(kept) / len(kept) if kept else None}


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
        raise CommandError(f"{arguments.candidates} holds no candidates.")
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
        raise CommandError(f"{folder} holds no verification. `vlrb edition verify export` starts one.")
    tag_of = load_spec(arguments.benchmark, definitions_folder(os.environ)).tag_of
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
