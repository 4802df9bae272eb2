"""Record of a verification: decided pairs, what is left to decide, individual answers and agreement, as files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from vlrb.editions.pools.pairs import PoolPair
from vlrb.editions.pools.pool import read_pair_file, write_json, write_lines
from vlrb.editions.pools.sources import read_objects
from vlrb.editions.runs import pool_table
from vlrb.editions.verification import (
    ADJUDICATE,
    DROPPED,
    OPEN,
    VERIFIED,
    PairOutcome,
    VerificationRules,
    outcomes,
    pseudonyms,
)
from vlrb.label_quality.annotator_agreement import PersonAnswer, agreement_report


@dataclass(frozen=True, slots=True)
class CandidatePairs:
    """Candidates by their keys, and what the filter counted about them by their ids."""

    pairs: Mapping[str, PoolPair]
    votes: Mapping[str, Any]


def read_candidates(path: Path) -> CandidatePairs:
    """Return the candidates of a file. Raises CurateError."""
    pairs = keyed(read_pair_file(path))
    return CandidatePairs(pairs, {line["id"]: line.get("votes") for line in read_lines(path)})


def read_lines(path: Path) -> Iterable[dict[str, Any]]:
    """Return the objects of a file."""
    return (line for _, line in read_objects(path))


def keyed(pairs: Sequence[PoolPair]) -> dict[str, PoolPair]:
    """Return the pairs by their keys: fingerprints, with -2 and so on where texts are equal."""
    return {item.key: pair for item, pair in zip(pool_table(pairs).items, pairs, strict=True)}


def record_verification(
    folder: Path,
    known: CandidatePairs,
    *,
    answers: Sequence[PersonAnswer],
    rules: VerificationRules,
    gold: Mapping[str, str],
    keep_names: bool = False,
) -> dict[str, Any]:
    """Decide the pairs and write everything into the folder. Returns the report on agreement."""
    result = outcomes(known.pairs, answers, rules=rules)
    # reviewers see what annotators said, so they are no part of the agreement
    blind = [answer for answer in answers if answer.annotator not in rules.reviewers]
    report = agreement_report(blind, gold, tag_of=rules.tag_of)
    states = dict(Counter(outcome.state for outcome in result.values()))
    report |= {"pairs": states, "draft": _draft_agreement(known.pairs, result)}
    _write(folder, known, result=result)
    names = {} if keep_names else pseudonyms(answers)
    write_lines(folder / "individual.jsonl", (_individual(answer, names) for answer in answers))
    write_json(folder / "agreement.json", report)
    return report


def _write(folder: Path, known: CandidatePairs, *, result: Mapping[str, PairOutcome]) -> None:
    lines: dict[str, list[dict[str, Any]]] = {VERIFIED: [], DROPPED: [], ADJUDICATE: [], OPEN: []}
    for item, outcome in result.items():
        more: dict[str, Any] = (
            {"preferred": outcome.preferred, "tags": list(outcome.tags)} if outcome.state == VERIFIED else {}
        )
        more |= {"reason": outcome.reason} if outcome.state == DROPPED else {}
        given = known.votes.get(known.pairs[item].id)
        more |= {"votes": given} if given else {}
        verified = {"answers": outcome.answers, "by_reviewer": outcome.by_reviewer}
        lines[outcome.state].append({**known.pairs[item].to_json(), **more, "verification": verified})
    for state, held in lines.items():
        write_lines(folder / f"{state}.jsonl", held)


def _individual(person_answer: PersonAnswer, names: Mapping[str, str]) -> dict[str, Any]:
    return {**asdict(person_answer), "annotator": names.get(person_answer.annotator, person_answer.annotator)}


def _draft_agreement(pairs: Mapping[str, PoolPair], result: Mapping[str, PairOutcome]) -> dict[str, Any]:
    decided = [(pairs[item], outcome) for item, outcome in result.items() if outcome.state == VERIFIED]
    drafted = [outcome.preferred == pair.draft["preferred"] for pair, outcome in decided if pair.draft is not None]
    stated = [outcome.preferred == pair.preferred for pair, outcome in decided if pair.preferred is not None]
    return {
        "drafts": len(drafted),
        "draft_kept": sum(drafted) / len(drafted) if drafted else None,
        "labels": len(stated),
        "label_kept": sum(stated) / len(stated) if stated else None,
    }
