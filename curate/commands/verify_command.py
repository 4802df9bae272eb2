"""`python -m curate verify export|import`: candidates go to annotators, and their answers come back.

The exported directory has a public part for annotators and a `private` one: gold answers and draft labels.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmark.label_quality.annotation import PREFERENCES, VERDICTS
from benchmark.label_quality.annotator_agreement import GOLD_MINIMUM, PersonAnswer, agreement_report
from curate.errors import CurateError, listed
from curate.pairs import PoolPair
from curate.pool import locked, read_pair_file, write_json, write_lines
from curate.runs import pool_table
from curate.sources import read_objects
from curate.verification import (
    ADJUDICATE,
    DROPPED,
    OPEN,
    VERIFIED,
    PairOutcome,
    VerificationRules,
    assign,
    newest,
    outcomes,
    pseudonyms,
    read_answer,
)

ITEMS, SETTINGS, GOLD = "items.jsonl", "verification.json", "private/gold.jsonl"


def add_verify_commands(commands: Any) -> None:
    """Add `verify export` and `verify import`."""
    verify = commands.add_parser("verify", help="candidates to annotators, and their answers back")
    kinds = verify.add_subparsers(dest="verify_command", required=True, metavar="export|import")
    export = kinds.add_parser("export", help="write what annotators need", allow_abbrev=False)
    export.add_argument("candidates", type=Path, metavar="FILE", help="candidates.jsonl of a filter or build")
    export.add_argument("--output", type=Path, required=True, metavar="DIR")
    export.add_argument("--answers", type=int, default=2, metavar="N", help="people who answer each pair (2)")
    export.add_argument("--annotator", action="append", default=[], metavar="NAME", help="who answers (repeatable)")
    export.add_argument("--reviewer", action="append", default=[], metavar="NAME", help="who decides (repeatable)")
    export.add_argument("--gold", type=Path, metavar="FILE", help="lines with `item` and `verdict` known to be right")
    export.set_defaults(run=export_command)
    take = kinds.add_parser("import", help="read answers, decide pairs, measure agreement", allow_abbrev=False)
    take.add_argument("directory", type=Path, metavar="DIR", help="what `verify export` wrote")
    take.add_argument("files", type=Path, nargs="+", metavar="FILE", help="answers as JSON lines")
    take.add_argument("--unanimous", action="store_true", help="every difference goes to the reviewers")
    take.add_argument("--exclude", action="append", default=[], metavar="NAME", help="ignore an annotator (repeatable)")
    take.add_argument("--keep-names", action="store_true", help="individual labels with names, not pseudonyms")
    take.set_defaults(run=import_command)


def export_command(arguments: argparse.Namespace) -> int:
    """Write the input of a verification. Returns the exit code."""
    pairs = keyed(read_pair_file(arguments.candidates))
    if not pairs:
        raise CurateError(f"{arguments.candidates} holds no candidates.")
    if arguments.answers < 1:
        raise CurateError("--answers takes a number from 1.")
    gold = _gold(arguments.gold, pairs) if arguments.gold else {}
    given = assign(list(pairs), arguments.annotator, arguments.answers) if arguments.annotator else {}
    folder: Path = arguments.output
    with locked(folder):
        write_lines(folder / ITEMS, (_item(item, pair) for item, pair in pairs.items()))
        write_json(folder / "manifest.json", pool_table(list(pairs.values())).to_json())
        write_lines(folder / "assignments.jsonl", ({"annotator": name, "items": own} for name, own in given.items()))
        write_json(folder / SETTINGS, {"answers": arguments.answers, "reviewers": arguments.reviewer})
        write_lines(folder / "private" / "candidates.jsonl", read_lines(arguments.candidates))
        write_lines(folder / "private" / "drafts.jsonl", _drafts(pairs))
        write_lines(folder / GOLD, ({"item": item, "verdict": verdict} for item, verdict in gold.items()))
    print(f"{len(pairs):,} pairs, {len(gold):,} of them gold, for {arguments.answers} answers each: {folder}")
    print(f"Labels and drafts are in {folder / 'private'}: keep them from annotators.")
    return 0


def read_lines(path: Path) -> Iterable[dict[str, Any]]:
    """Return the objects of a file."""
    return (line for _, line in read_objects(path))


def keyed(pairs: Sequence[PoolPair]) -> dict[str, PoolPair]:
    """Return the pairs by their keys: fingerprints, with -2 and so on where texts are equal."""
    return {item.key: pair for item, pair in zip(pool_table(pairs).items, pairs, strict=True)}


def _item(item: str, pair: PoolPair) -> dict[str, Any]:
    """Return what an annotator may see: no preference, no draft."""
    return {
        "item": item, "id": pair.id, "query": pair.query, "response": list(pair.responses),
        "image": pair.image,
    }  # fmt: skip


def _drafts(pairs: Mapping[str, PoolPair]) -> list[dict[str, Any]]:
    """Return draft labels; they are shown after an annotator's first answer, never before."""
    return [
        {"item": item, **pair.draft, "preferred": PREFERENCES[pair.draft["preferred"]]}
        for item, pair in pairs.items()
        if pair.draft is not None
    ]


def _gold(path: Path, pairs: Mapping[str, PoolPair]) -> dict[str, str]:
    gold = {}
    for number, line in read_objects(path):
        item, verdict = line.get("item"), line.get("verdict")
        if item not in pairs or verdict not in VERDICTS:
            raise CurateError(
                f"{path}, line {number}: give `item`, a candidate, and `verdict` ({', '.join(VERDICTS)})."
            )
        gold[str(item)] = str(verdict)
    return gold


def import_command(arguments: argparse.Namespace) -> int:
    """Read answers back. Returns the exit code."""
    folder: Path = arguments.directory
    candidates = folder / "private" / "candidates.jsonl"
    settings = read_settings(folder)
    pairs = keyed(read_pair_file(candidates))
    votes = {line["id"]: line.get("votes") for line in read_lines(candidates)}
    answers = [one for one in _answers(arguments.files, pairs) if one.annotator not in arguments.exclude]
    rules = VerificationRules(settings["answers"], frozenset(settings["reviewers"]), arguments.unanimous)
    gold = {line["item"]: line["verdict"] for line in read_lines(folder / GOLD)}
    found = outcomes(pairs, answers, rules)
    # reviewers see what annotators said, so they are no part of the agreement
    report = agreement_report([one for one in answers if one.annotator not in rules.reviewers], gold)
    report |= {"pairs": dict(Counter(one.state for one in found.values())), "draft": _draft_agreement(pairs, found)}
    with locked(folder):
        _write(folder, pairs, votes, found)
        names = {} if arguments.keep_names else pseudonyms(answers)
        write_lines(folder / "individual.jsonl", (_individual(one, names) for one in answers))
        write_json(folder / "agreement.json", report)
    print(_summary(report, folder))
    return 0


def read_settings(folder: Path) -> dict[str, Any]:
    """Return the settings of a verification. Raises CurateError where there are none."""
    path = folder / SETTINGS
    if not path.is_file():
        raise CurateError(f"{folder} holds no verification. `python -m curate verify export` starts one.")
    settings: dict[str, Any] = json.loads(path.read_bytes())
    return settings


def _answers(files: Sequence[Path], pairs: Mapping[str, PoolPair]) -> list[PersonAnswer]:
    answers, problems = [], []
    for path in files:
        for number, line in read_objects(path):
            try:
                answers.append(read_answer(line, pairs))
            except CurateError as error:
                problems.append(f"{path}, line {number}: {error}")
    if problems:
        raise CurateError(f"{len(problems):,} answers cannot be used; nothing was imported.\n{listed(problems)}")
    return newest(answers)


def _write(
    folder: Path, pairs: Mapping[str, PoolPair], votes: Mapping[str, Any], found: Mapping[str, PairOutcome]
) -> None:
    lines: dict[str, list[dict[str, Any]]] = {VERIFIED: [], DROPPED: [], ADJUDICATE: [], OPEN: []}
    for item, one in found.items():
        more: dict[str, Any] = {"preferred": one.preferred, "tags": list(one.tags)} if one.state == VERIFIED else {}
        more |= {"reason": one.reason} if one.state == DROPPED else {}
        given = votes.get(pairs[item].id)
        more |= {"votes": given} if given else {}
        verified = {"answers": one.answers, "by_reviewer": one.by_reviewer}
        lines[one.state].append({**pairs[item].to_json(), **more, "verification": verified})
    for state, held in lines.items():
        write_lines(folder / f"{state}.jsonl", held)


def _individual(one: PersonAnswer, names: Mapping[str, str]) -> dict[str, Any]:
    return {**asdict(one), "annotator": names.get(one.annotator, one.annotator)}


def _draft_agreement(pairs: Mapping[str, PoolPair], found: Mapping[str, PairOutcome]) -> dict[str, Any]:
    decided = [(pairs[item], one) for item, one in found.items() if one.state == VERIFIED]
    drafted = [one.preferred == pair.draft["preferred"] for pair, one in decided if pair.draft is not None]
    stated = [one.preferred == pair.preferred for pair, one in decided if pair.preferred is not None]
    return {
        "drafts": len(drafted),
        "draft_kept": sum(drafted) / len(drafted) if drafted else None,
        "labels": len(stated),
        "label_kept": sum(stated) / len(stated) if stated else None,
    }


def _summary(report: Mapping[str, Any], folder: Path) -> str:
    def shown(value: float | None) -> str:
        return "undefined" if value is None else f"{value:.3f}"

    states = ", ".join(f"{number:,} {state}" for state, number in sorted(report["pairs"].items()))
    lines = [states, f"alpha {shown(report['alpha'])}, mean kappa {shown(report['mean_kappa'])}"]
    for name, one in report["annotators"].items():
        text = f"{name}: {one['answers']:,} answers, kappa {shown(one['mean_kappa'])}"
        text += f", {one['gold_right']:.0%} of gold right" if one["gold"] else ""
        text += f", {one['median_seconds']:.0f} s a pair" if one["median_seconds"] is not None else ""
        lines.append(text + (f" (below {GOLD_MINIMUM:.0%}: see --exclude)" if one["below_gold_minimum"] else ""))
    return "\n".join([*lines, f"Decided pairs and what is left for reviewers: {folder}"])
