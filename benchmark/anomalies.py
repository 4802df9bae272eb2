"""Anomaly rules for votes and scores. Pure; each compares a number with a limit, none is a proof.

Honest work shows every one of them now and then: temperature 0 gives identical texts, two fine-tunes of one model agree
on nearly everything, a breakthrough is far above what was known. So nothing follows from a pattern by itself.

Of the limits, FROM applies where it is reached; ABOVE where it is exceeded, BELOW where it is not reached.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmark.votes import UNDECIDED, Matrix

ABOVE_BEST = 0.10  # overall accuracy above the best that is known
EQUAL_BELOW = 0.01  # between the best and the worst category of a judge...
EQUAL_FROM = 0.60  # ...whose overall is so good; near chance, categories are alike anyway
IDENTICAL_FROM = 0.5  # of the items with texts: all K texts are the same
EMPTY_FROM = 0.05  # of the texts
DUPLICATE_BELOW = 0.10  # of the items: majority verdicts differ
CHANCE_WITHIN = 0.05  # of a half: as many decided items right as random answers; 3.5 times their spread of 1,250
PROBES_FROM = 6  # of one account: half of what it has in a year
PROBING_FROM = 24  # of all such accounts together
EQUAL_TO_LABELS_FROM = 0.95  # of the pairs decided: as a public label says, or all the other way round
BLOCKS_FROM = 6.0  # standard deviations fewer runs than chance gives; of real judges' files none is beyond 1.4
LEAST_DECIDED = 30  # pairs, for either to mean anything
_BITS = 64
_FIRST = 0.35  # of the words are compared first: judges that are no copies differ on three items of ten, or more
_DIGITS = 9

Planes = npt.NDArray[np.uint64]
Evidence = dict[str, Any]


def is_far_above_best(overall: float | None, best_known: float | None) -> Evidence | None:
    """Return an overall accuracy far above the best known one; None where it is not, or where nothing is known."""
    if overall is None or best_known is None:
        return None
    if round(overall - best_known, _DIGITS) <= ABOVE_BEST:  # 0.8 is not above 0.7 + 0.1, whatever floats say
        return None
    return {"overall": round(overall, 3), "best_known": round(best_known, 3)}


def near_equal(pooled: float | None, categories: Mapping[str, float | None]) -> Evidence | None:
    """Return category accuracies that are all but equal, though categories are unequally hard."""
    known = [value for value in categories.values() if value is not None]
    if pooled is None or pooled < EQUAL_FROM or len(known) < max(len(categories), 2):
        return None
    if round(max(known) - min(known), _DIGITS) >= EQUAL_BELOW:
        return None
    return {name: round(value, 3) for name, value in zip(categories, known, strict=True)}


def identical_texts(texts: Mapping[str, Any] | None, k: int) -> Evidence | None:
    """K texts of an item that are one text K times: more votes than there were answers."""
    rate = (texts or {}).get("identical_rate")
    if rate is None or rate < IDENTICAL_FROM:
        return None
    return {"items_with_identical_texts": round(rate, 3), "votes_per_item": k}


def empty_texts(texts: Mapping[str, Any] | None) -> Evidence | None:
    """Return votes whose text is empty."""
    rate = (texts or {}).get("empty_rate")
    return None if rate is None or rate < EMPTY_FROM else {"empty_texts": round(rate, 3)}


def is_chance_level(agree: int, reject: int) -> bool:
    """Return whether of the items that were decided about half are right, as those of a random probe are. Abstaining
    does not hide it. A weak judge looks like that now and then; an account that does so again and again is one to
    look at."""
    decided = agree + reject
    return decided > 0 and abs(agree / decided - 0.5) <= CHANCE_WITHIN + 10**-_DIGITS


def is_probe(agree: int, reject: int, *, abstaining: float, limit: float | None) -> bool:
    """Return whether a file may be made to weigh labels: as right as chance where it decides, or deciding seldom.

    ``abstaining``: the share of the file that counts for neither response; ``limit``: from which share on that is a
    probe, None where no label is hidden. A file that leaves out pairs and is right elsewhere is nowhere near chance.
    """
    seldom = limit is not None and round(abstaining - limit, _DIGITS) >= 0
    return seldom or is_chance_level(agree, reject)


def is_probing(by_account: Mapping[str, int]) -> tuple[int, int]:
    """(submissions, accounts) of the accounts with PROBES_FROM submissions that are probes, or more."""
    many = [count for count in by_account.values() if count >= PROBES_FROM]
    return sum(many), len(many)


def pack_bits(verdicts: Matrix) -> Planes:
    """(entries, items) of 0, 1 or neither -> (entries, 2, words): a bit where the verdict is 0, a bit where it is 1."""
    entries, items = verdicts.shape
    padded = np.zeros((entries, 2, -(-items // _BITS) * _BITS), dtype=np.bool_)
    padded[:, 0, :items], padded[:, 1, :items] = verdicts == 0, verdicts == 1
    return np.packbits(padded, axis=-1).view(np.uint64)


def differing(planes: Planes, others: Planes) -> npt.NDArray[np.int64]:
    """Count the items on which each of ``others`` (entries, 2, words) has another verdict than ``one`` (2, words).

    0 against 1 sets both bits, 0 or 1 against neither sets one of them: an item differs where either bit does.
    """
    different = others[:, 0] ^ planes[0]
    different |= others[:, 1] ^ planes[1]
    return np.asarray(np.bitwise_count(different).sum(axis=-1), dtype=np.int64)


def unpacked(packed: Planes, items: int) -> Matrix:
    """Return the majority verdicts (items,) behind ``planes`` of one entry: 0, 1, or UNDECIDED for neither."""
    bits = np.unpackbits(packed.view(np.uint8), axis=-1)[:, :items]
    return np.where(bits[1] == 1, 1, np.where(bits[0] == 1, 0, UNDECIDED)).astype(np.int8)


def like_public_labels(verdicts: Matrix, labels: Matrix, *, groups: npt.NDArray[np.integer[Any]]) -> Evidence | None:
    """Return how a file resembles a public label vector or its complement, where it does so as no judge would.

    ``verdicts``, ``labels``: (items,) 0, 1 or less than 0 for none; ``groups``: (items,) whose parts are unequally hard
    (sources). Two patterns: nearly all that is decided equals the labels, or their complement, whatever is left out; or
    it equals them in some stretches of the items and their complement in others. Labels inverted at places
    that look random cannot be distinguished from a judge's errors.
    """
    decided = (verdicts >= 0) & (labels >= 0)
    count = int(decided.sum())
    if count < LEAST_DECIDED:
        return None
    equal = verdicts == labels
    share = float(equal[decided].mean())
    fewer = -runs_z([equal[decided & (groups == group)] for group in np.unique(groups)])
    if max(share, 1 - share) < EQUAL_TO_LABELS_FROM and fewer < BLOCKS_FROM:
        return None
    return {"pairs_decided": count, "equal": round(share, 3), "runs_below_chance_sd": round(fewer, 1)}


def runs_z(sequences: Sequence[npt.NDArray[np.bool_]]) -> float:
    """Return by how many standard deviations the runs in some sequences of two values differ from chance, all together.

    The runs test of Wald & Wolfowitz 1940 ("On a test whether two samples are from the same population", Annals of
    Mathematical Statistics 11): given n1 and n2 of the two values in random order, n = n1 + n2, the number of runs has
    mean m = 2 n1 n2 / n + 1 and variance (m - 1)(m - 2) / (n - 1). Sequences are independent, so both add up. 0 where
    there is nothing to test.
    """
    surplus, variance = 0.0, 0.0
    for values in sequences:
        n, first = len(values), int(values.sum())
        if first in (0, n) or n < 3:
            continue
        mean = 2 * first * (n - first) / n + 1
        surplus += 1 + int((values[1:] != values[:-1]).sum()) - mean
        variance += (mean - 1) * (mean - 2) / (n - 1)
    return surplus / math.sqrt(variance) if variance > 0 else 0.0


def nearest_duplicate(planes: Planes, others: Planes, *, items: int) -> tuple[int, int, int] | None:
    """(index, items that differ, how many are that near) of the nearest near-duplicate; None where there is none.

    Among equals the first counts. Most entries differ on too many of the first items already; only the others are
    compared on all of them.
    """
    limit, first = DUPLICATE_BELOW * items, max(round(_FIRST * planes.shape[-1]), 1)
    near = np.flatnonzero(differing(planes[:, :first], others[:, :, :first]) < limit)
    counts = differing(planes, others[near])
    duplicates = int((counts < limit).sum())
    if not duplicates:
        return None
    index = int(counts.argmin())
    return int(near[index]), int(counts[index]), duplicates
