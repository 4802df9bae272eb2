"""Attacks on the service's own scoring and disclosure, each with a budget of submissions. Seeds are arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tests.redteam import attackers
from tests.redteam.attackers import Groups, ShownCounts, Vector, agreement
from tests.redteam.policy import Secret

YEAR = 12  # scored submissions of an account
SYBILS = 5


def probing(secret: Secret, seed: int, *, count: int = YEAR) -> float:
    """Return a1: random probes and least squares on three rounded categories."""
    return _probing(secret, seed, count=count, look=secret.by_category, groups=secret.categories)


def probing_overall(secret: Secret, seed: int) -> float:
    """Return a1 where one rounded number is all there is."""
    return _probing(secret, seed, count=YEAR, look=secret.overall_only, groups=secret.everything)


def probing_fifteen_cells(secret: Secret, seed: int, *, count: int = 60) -> float:
    """Return a1 with the defences off: exact counts of fifteen cells, five years' worth of submissions."""
    return _probing(
        secret, seed, count=count, look=lambda votes: secret.undefended(votes, secret.fifteen), groups=secret.fifteen
    )


def sybils(secret: Secret, seed: int) -> float:
    """Return a10: five accounts pool what they see."""
    return probing(secret, seed, count=SYBILS * YEAR)


def weighing(secret: Secret, seed: int) -> float:
    """Return a2 within a year's budget, abstaining in so many words (null votes), which is scored: abstentions are
    wrong."""
    start = np.random.default_rng(seed).integers(0, 2, len(secret.truth)).astype(np.int8)
    vectors = attackers.weighings(secret.categories, most=YEAR)
    views = [secret.by_category(vector) for vector in vectors]
    return agreement(attackers.weighed(vectors, views, groups=secret.categories, start=start), secret.truth)


def weighing_undefended(secret: Secret) -> tuple[int, float]:
    """Return a2 without a quota: (submissions, agreement)."""
    vectors = attackers.weighings(secret.everything)
    views = [secret.undefended(vector, secret.everything) for vector in vectors]
    start = np.zeros(len(secret.truth), dtype=np.int8)
    return len(vectors), agreement(
        attackers.weighed(vectors, views, groups=secret.everything, start=start), secret.truth
    )


def answering_undefended(secret: Secret) -> tuple[int, float]:
    """Return a3, the same without abstaining: (submissions, agreement)."""
    vectors = attackers.weighings(secret.everything)
    full = attackers.without_abstaining(vectors)
    views = [secret.undefended(vector, secret.everything) for vector in full]
    joined = attackers.rejoined(views, vectors, groups=secret.everything)
    start = np.zeros(len(secret.truth), dtype=np.int8)
    return len(full), agreement(attackers.weighed(vectors, joined, groups=secret.everything, start=start), secret.truth)


def answering(secret: Secret, seed: int) -> float:
    """Return a3 within a year's budget."""
    start = np.random.default_rng(seed).integers(0, 2, len(secret.truth)).astype(np.int8)
    vectors = attackers.weighings(secret.categories, most=YEAR // 2)
    views = [secret.by_category(vector) for vector in attackers.without_abstaining(vectors)]
    joined = attackers.rejoined(views, vectors, groups=secret.categories)
    return agreement(attackers.weighed(vectors, joined, groups=secret.categories, start=start), secret.truth)


def climbing(secret: Secret, seed: int, *, flips: int) -> float:
    """Return a6 from random answers: agreement after a year."""
    dice = np.random.default_rng(seed)
    start = dice.integers(0, 2, len(secret.truth)).astype(np.int8)
    return agreement(attackers.climb(secret.by_category, start, tries=YEAR, flips=flips, dice=dice), secret.truth)


def lucky(secret: Secret, seed: int) -> float:
    """Return a7: the majority of the lucky, after a year."""
    probes = attackers.random_probes(YEAR, len(secret.truth), dice=np.random.default_rng(seed))
    views = [secret.by_category(probe) for probe in probes]
    return agreement(attackers.lucky_majority(probes, views, groups=secret.categories), secret.truth)


def gain(secret: Secret, seed: int, *, accuracy: float = 0.67) -> float:
    """Return what an honest judge of this accuracy gains by a year of probing, as a fraction of the labels."""
    dice = np.random.default_rng(seed)
    judge = secret.judge(accuracy, dice)
    probes = attackers.random_probes(YEAR, len(secret.truth), dice=dice)
    views = [secret.by_category(probe) for probe in probes]
    prior = (2 * accuracy - 1) * (2.0 * judge - 1.0)
    better = attackers.least_squares(probes, views, groups=secret.categories, prior=prior)
    return agreement(better, secret.truth) - agreement(judge, secret.truth)


def learnt(secret: Secret, probes: Sequence[Vector], *, cards: Sequence[Mapping[str, Any]]) -> float:
    """Return a1, A10: what public scorecards of probes tell."""
    views = [secret.read_categories(card["protocols"]["strict"]) for card in cards]
    belief = attackers.least_squares(probes, views, groups=secret.categories, prior=np.zeros(len(secret.truth)))
    return agreement(belief, secret.truth)


def _probing(secret: Secret, seed: int, *, count: int, look: Callable[[Vector], ShownCounts], groups: Groups) -> float:
    probes = attackers.random_probes(count, len(secret.truth), dice=np.random.default_rng(seed))
    views = [look(probe) for probe in probes]
    nothing = np.zeros(len(secret.truth))
    return agreement(attackers.least_squares(probes, views, groups=groups, prior=nothing), secret.truth)
