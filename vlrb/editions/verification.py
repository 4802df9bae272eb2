"""Labels of candidates as the service's queue of annotation gave them: which pairs stay, and how far people agree.

A and B are a pair's responses in the pool's order, which is that of every page of the service.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from vlrb.common.json_files import MAYBE_NUMBER, MAYBE_TEXT, JsonFileFault, Shape, check_shape
from vlrb.common.messages import _, ngettext
from vlrb.editions.errors import CurateError, listed
from vlrb.editions.pools.pool import read_pair_file, write_json, write_lines
from vlrb.editions.pools.sources import read_objects
from vlrb.editions.runs import pool_table
from vlrb.label_quality.annotation import GOLD, OPEN, PAIR_STATES, PREFERENCES, VERDICTS
from vlrb.label_quality.annotator_agreement import PersonAnswer, agreement_report

_ANSWER: Shape = {
    "annotator": str, "verdict": str, "errors": [str], "note?": str, "seconds?": MAYBE_NUMBER, "shown_first?": str,
    "left_out?": bool,
}  # fmt: skip
_LINE: Shape = {"item": str, "state": str, "label": MAYBE_TEXT, "tags": [str], "answers": [_ANSWER]}
CandidateLines = Mapping[str, Mapping[str, Any]]
"""Key -> line of candidates.jsonl."""


@dataclass(frozen=True, slots=True)
class QueuedPair:
    """A pair of the queue. ``label``: a verdict, or None where it is contested or open. ``answers``: that count."""

    state: str
    label: str | None = None
    tags: Sequence[str] = ()
    answers: Sequence[PersonAnswer] = ()

    @property
    def file(self) -> str:
        """Return the file for the pair: people prefer A or B, the pair is unusable, or nothing is settled."""
        if self.label is None:
            return "open.jsonl"
        return "verified.jsonl" if self.label in PREFERENCES else "dropped.jsonl"


def read_candidates(path: Path) -> dict[str, dict[str, Any]]:
    """Return the lines of a file of candidates by their keys: fingerprints, with -2 and so on where texts are equal.

    Raises:
        CurateError: a line is no pair.
    """
    keys = (item.key for item in pool_table(read_pair_file(path)).items)
    return dict(zip(keys, (line for _number, line in read_objects(path)), strict=True))


def read_labels(path: Path, candidates: CandidateLines, *, known_errors: Collection[str]) -> dict[str, QueuedPair]:
    """Return key -> pair of the service's labels.jsonl. ``known_errors``: those that annotators choose from.

    Raises:
        CurateError: lines cannot be used; the message names them.
    """
    labels: dict[str, QueuedPair] = {}
    problems = []
    for number, line in read_objects(path):
        try:
            check_shape(line, _LINE)
            _check(line, candidates, known_errors=known_errors)
            if line["item"] in labels:
                raise CurateError(_("{item} has two lines; keep one", item=line["item"]))
            labels[line["item"]] = _labelled(line)
        except (CurateError, JsonFileFault) as error:
            problems.append(f"{path}, line {number}: {error}")
    if problems:
        raise CurateError(
            ngettext(
                "{n:,} line cannot be used; nothing was imported.\n{listed}",
                "{n:,} lines cannot be used; nothing was imported.\n{listed}",
                len(problems),
                listed=listed(problems),
            )
        )
    return labels


def _check(line: Mapping[str, Any], candidates: CandidateLines, *, known_errors: Collection[str]) -> None:
    item, state, label = line["item"], line["state"], line["label"]
    if item not in candidates:
        raise CurateError(_("`item` {value!r} is not a candidate; take it from candidates.jsonl", value=item[:80]))
    if state not in PAIR_STATES:
        raise CurateError(_("`state` is {state!r}; known are {names}", state=state[:80], names=", ".join(PAIR_STATES)))
    for verdict in [answer["verdict"] for answer in line["answers"]] + ([] if label is None else [label]):
        if verdict not in VERDICTS:
            raise CurateError(
                _("`verdict` is {verdict!r}; known are {names}", verdict=verdict[:80], names=", ".join(VERDICTS))
            )
    if not {error for answer in line["answers"] for error in answer["errors"]} <= set(known_errors):
        raise CurateError(_("`errors` must be a list of {names}", names=", ".join(known_errors)))


def _labelled(line: Mapping[str, Any]) -> QueuedPair:
    answers = [
        PersonAnswer(
            line["item"],
            answer["annotator"],
            verdict=answer["verdict"],
            errors=tuple(answer["errors"]),
            note=answer.get("note", ""),
            seconds=answer.get("seconds"),
            shown_first=answer.get("shown_first", ""),
        )
        for answer in line["answers"]
        if not answer.get("left_out")
    ]
    return QueuedPair(line["state"], line["label"], line["tags"], answers)


def record_labels(
    folder: Path, candidates: CandidateLines, *, labels: Mapping[str, QueuedPair], tag_of: Mapping[str, str]
) -> dict[str, Any]:
    """Write what follows from the labels into the folder. Returns the report on agreement.

    ``tag_of``: error that annotators choose from -> error tag. Candidates without a label are open.
    """
    known = {item: labels.get(item, QueuedPair(OPEN)) for item in candidates}
    answers = [answer for pair in known.values() for answer in pair.answers]
    gold = {item: pair.label for item, pair in known.items() if pair.state == GOLD and pair.label is not None}
    report = agreement_report(answers, gold, tag_of=tag_of)
    report |= {"pairs": dict(Counter(pair.state for pair in known.values()))}
    report |= {"labels_of_the_pool": _kept_labels(candidates, known)}
    for name in ("verified.jsonl", "dropped.jsonl", "open.jsonl"):
        held = {item: pair for item, pair in known.items() if pair.file == name}
        write_lines(folder / name, (_recorded(candidates[item], pair) for item, pair in held.items()))
    names = _pseudonyms(answers)
    individual = ({**asdict(answer), "annotator": names[answer.annotator]} for answer in answers)
    write_lines(folder / "individual.jsonl", individual)
    write_json(folder / "agreement.json", report)
    return report


def _recorded(candidate: Mapping[str, Any], pair: QueuedPair) -> dict[str, Any]:
    more: dict[str, Any] = {"verification": {"answers": len(pair.answers), "state": pair.state}}
    if pair.label in PREFERENCES:
        more |= {"preferred": PREFERENCES.index(pair.label), "tags": list(pair.tags)}
    elif pair.label is not None:
        more |= {"reason": pair.label}
    return {**candidate, **more}


def _pseudonyms(answers: Iterable[PersonAnswer]) -> dict[str, str]:
    """Return annotator -> "annotator-1" and so on, in the order of a digest that tells nothing."""
    people = sorted({answer.annotator for answer in answers}, key=lambda name: sha256(name.encode()).hexdigest())
    return {name: f"annotator-{number}" for number, name in enumerate(people, 1)}


def _kept_labels(candidates: CandidateLines, labels: Mapping[str, QueuedPair]) -> dict[str, Any]:
    """Return on how many pairs that people decided the pool had a preference, and which share of these stood."""
    kept = [
        candidates[item]["preferred"] == PREFERENCES.index(pair.label)
        for item, pair in labels.items()
        if pair.label in PREFERENCES and candidates[item].get("preferred") is not None
    ]
    return {"pairs": len(kept), "kept": sum(kept) / len(kept) if kept else None}
