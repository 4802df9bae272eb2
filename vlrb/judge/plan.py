"""The requests of a run: K votes of each pair, each with its order of the responses."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vlrb.judge.pairs import PairToJudge

RANDOM, BOTH, PARITY = "random", "both", "parity"
ORDERS = (RANDOM, BOTH, PARITY)
WHOLE_PAIR = -1


class RequestKey(NamedTuple):
    """Which answer: of a pair, a vote, and where responses are scored one by one, a response."""

    row: int
    vote: int
    response: int = WHOLE_PAIR


def is_swapped(pair: PairToJudge, vote: int, *, order: str, seed: int) -> bool:
    """Return whether a vote sees the second response first. It depends on nothing but its arguments."""
    if order == PARITY:
        return pair.swapped_by_parity
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
