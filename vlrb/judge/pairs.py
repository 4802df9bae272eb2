"""Pairs to judge, without labels, of a file or Hub dataset; and the votes of each, with their order."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from vlrb.benchmarks.items import fingerprint
from vlrb.benchmarks.label_files import LabelsError, read_rows
from vlrb.benchmarks.spec import DEFAULT_BENCHMARK
from vlrb.benchmarks.spec_file import load_spec
from vlrb.common.messages import _
from vlrb.judge import JudgeError
from vlrb.judge.images import ImageSource, find_image

FIELDS = ("id", "query", "response", "image", "image_path")
RANDOM, BOTH, PARITY = ORDERS = ("random", "both", "parity")
WHOLE_PAIR = -1


@dataclass(frozen=True, slots=True)
class PairToJudge:
    """A question with two responses about an image, and its row number in the file, from 0."""

    row: int
    id: str
    query: str
    responses: tuple[str, str]
    image: ImageSource
    fingerprint: str


@dataclass(frozen=True, slots=True)
class PairFile:
    """All pairs of a source."""

    pairs: tuple[PairToJudge, ...]
    repeated: frozenset[str]  # ids that more than one pair has

    @property
    def sha256(self) -> str:
        """Digest of the texts in their order; it says whether a run goes on with the same pairs."""
        lines = "\n".join(f"{pair.id}\t{pair.fingerprint}" for pair in self.pairs)
        return hashlib.sha256(lines.encode()).hexdigest()


def read_pairs(source: str) -> PairFile:
    """Read the pairs of a file, or of a Hub dataset at a commit: `owner/name@commit`, perhaps with a path behind it.

    Raises:
        JudgeError: there is no such source, or a row cannot be used.
    """
    path = Path(source)
    try:
        rows = read_rows(source, FIELDS)
    except LabelsError as error:
        raise JudgeError("Items in {source}: {problem}", source=source, problem=str(error)) from None
    pairs: list[PairToJudge] = []
    for row in rows:
        try:
            pairs.append(_pair(len(pairs), row, folder=path.parent if path.is_file() else None))
        except JudgeError as error:
            message = _("Items, row {number}: {error}", number=len(pairs) + 1, error=str(error))
            raise JudgeError(message) from None
    counts = Counter(pair.id for pair in pairs)
    return PairFile(tuple(pairs), frozenset(name for name, count in counts.items() if count > 1))


def _pair(row: int, fields: Mapping[str, Any], *, folder: Path | None) -> PairToJudge:
    query, responses, name = fields.get("query"), fields.get("response"), fields.get("id")
    if not isinstance(name, str) or not name:
        raise JudgeError("`id` must be a text, not {name!r}", name=name)
    if not isinstance(query, str):
        raise JudgeError("`query` must be a text")
    if not isinstance(responses, list) or [type(text) for text in responses] != [str, str]:
        raise JudgeError("`response` must be a list of two texts")
    pair_fingerprint = fingerprint(query, responses, dropped=load_spec(DEFAULT_BENCHMARK).drop_from_questions)
    image = find_image(fields.get("image"), folder) or find_image(fields.get("image_path"), folder)
    if image is None:
        raise JudgeError("`image` is missing: a path or bytes")
    return PairToJudge(
        row, name, query=query, responses=(responses[0], responses[1]), image=image, fingerprint=pair_fingerprint
    )


class RequestKey(NamedTuple):
    """Which answer: of a pair, a vote, and where responses are scored one by one, a response."""

    row: int
    vote: int
    response: int = WHOLE_PAIR


def is_swapped(pair: PairToJudge, vote: int, *, order: str, seed: int) -> bool:
    """Return whether a vote sees the second response first. It depends on nothing but its arguments."""
    if order == PARITY:  # as lmms-eval and VLMEvalKit do
        return sum(map(len, pair.responses)) % 2 == 1
    if order == BOTH:
        return (vote + pair.row) % 2 == 1
    return hashlib.sha256(f"{seed}:{pair.row}:{pair.fingerprint}:{vote}".encode()).digest()[0] % 2 == 1


def keys(pairs: Sequence[PairToJudge], votes: int, *, pointwise: bool) -> Iterator[RequestKey]:
    """Yield the keys of all answers that complete a run, vote by vote of each pair."""
    for pair in pairs:
        for vote in range(votes):
            if pointwise:
                yield from (RequestKey(pair.row, vote, response=response) for response in (0, 1))
            else:
                yield RequestKey(pair.row, vote)
