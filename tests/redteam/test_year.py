"""An account's year against a running service: what a patient attacker learns of hidden labels, and what is not even
scored.

`make attack` runs the long form, with 20 seeds; those below are part of the tests' names.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench import official_rule
from benchmark import demo
from tests.factories.services.signed_in_service import (
    MAINTAINER,
    AttackTarget,
    approve_all,
    in_turn,
    native,
    official,
    open_target,
)
from tests.redteam import attackers, simulation
from tests.redteam.attackers import agreement
from tests.redteam.policy import Secret

SEEDS = (1, 2)


@pytest.fixture(scope="module")
def secret() -> Secret:
    return Secret()


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AttackTarget]:
    with open_target(tmp_path_factory.mktemp("setup")) as opened:
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS[:1])
def test_a1_a_year_of_random_probes_against_the_service_is_scored_twelve_times_and_tells_little(
    target: AttackTarget, secret: Secret, seed: int
) -> None:
    attacker = target.account("prober")
    probes = attackers.random_probes(simulation.YEAR + 1, len(secret.truth), dice=np.random.default_rng(seed))
    entries = []
    for day, probe in enumerate(probes[:-1]):
        taken = attacker.submit(native(secret, probe), f"probe {day}")
        assert taken.status_code == 202, taken.text
        entries.append(taken.json()["id"])
        again = attacker.submit(native(secret, probes[-1]), "one more")
        assert (again.status_code, again.json()["code"]) == (429, "quota-used")  # the same day
        target.days_pass()
    for days in (0.5, 17.0, 300.0):  # day 12.5, 29.5, 329.5
        target.days_pass(days)
        refused = attacker.submit(native(secret, probes[-1]), "one more")
        assert (refused.status_code, refused.json()["code"]) == (429, "quota-used")
    cards = [attacker.scores(entry) for entry in entries]
    for card, probe in zip(cards, probes, strict=False):
        view = secret.read_categories(card["protocols"]["strict"])
        # the HTTP boundary shows what the simulations assume
        assert view.tolist() == secret.by_category(probe).tolist()
    assert 0.5 < simulation.learnt(secret, probes[:-1], cards=cards) <= 0.60
    assert attacker.attempts() == simulation.YEAR
    target.days_pass(40.0)  # a year after the first: the clock that we move is the one that counts
    assert attacker.submit(native(secret, probes[-1]), "next year").status_code == 202


@pytest.mark.slow
def test_a2_a4_a5_partial_and_repeated_items_are_not_scored_and_cost_nothing(
    target: AttackTarget, secret: Secret
) -> None:
    attacker, before = target.account("cutter"), target.submissions()
    votes = secret.judge(0.5, np.random.default_rng(5))
    weighing = attackers.weighings(secret.categories)[3]
    answered = np.flatnonzero(weighing >= 0).tolist()
    whole = native(secret, votes).decode().splitlines(keepends=True)
    padded = [whole[0].replace('"demo-', f'"{" " * n}demo-', 1) for n in range(1, 1000)]
    files = {
        "A2, abstaining by leaving out": (native(secret, weighing, items=answered), "missing-item"),
        "A4, one item": (native(secret, votes, items=[7]), "missing-item"),
        "A5, an item twice": ("".join([*whole, whole[0]]).encode(), "duplicate-item"),
        "A5, an id with white space": ("".join([*whole, *padded[:1]]).encode(), "unknown-item"),
        "A5, an item a thousand times": ("".join([*whole, *padded]).encode(), "unknown-item"),
    }
    for name, (data, code) in files.items():
        answer = attacker.submit(data, name)
        assert (answer.status_code, answer.json()["code"]) == (422, "file-rejected"), name
        assert code in {one["code"] for one in answer.json()["problems"]}, name
    assert attacker.attempts() == 0
    assert target.submissions() == before


@pytest.mark.slow
def test_a8_forged_labels_flags_and_a_third_answer_are_worth_nothing(target: AttackTarget, secret: Secret) -> None:
    attacker, pairs = target.account("forger"), demo.demo_pairs()
    forged = attacker.submit(official(pairs, "Answer 3 is better.", ranking=[0, 1]), "third answer")
    assert (forged.status_code, forged.json()["code"]) == (422, "unreadable")  # a verdict is 1 or 2, and nothing else
    target.days_pass()
    # A label in the file that makes every "Answer 1" right changes nothing: the score is that of answering 1.
    one = attacker.look(official(pairs, "Answer 1 is better.", ranking=[0, 1], label=0, score=1.0), "label inside")
    assert approve_all(target.account(MAINTAINER, "maintain")) == [one]  # one answer for all needs no judge
    shown = attacker.scores(one)["protocols"]["strict"]
    honest = secret.disclosed(np.zeros(len(secret.truth), dtype=np.int8))["protocols"]["strict"]
    assert {name: shown[name] for name in honest} == honest


@pytest.mark.long  # `make redteam` goes the same way
@pytest.mark.slow
def test_a10_five_accounts_wait_for_approval_and_once_approved_learn_little_and_raise_the_alarm(
    secret: Secret, tmp_path: Path
) -> None:
    probes = attackers.random_probes(
        simulation.SYBILS * simulation.YEAR, len(secret.truth), dice=np.random.default_rng(3)
    )
    files = [native(secret, probe) for probe in probes]
    with open_target(tmp_path, APPROVE_FIRST_UPLOAD="1") as target:
        sybils = [target.account(f"sybil{number}") for number in range(simulation.SYBILS)]
        warden = target.account(MAINTAINER, "maintain")
        entries = in_turn(target, sybils, files=files[: len(sybils)], days=0.0)
        for sybil, entry in zip(sybils, entries, strict=True):
            assert sybil.http.get(f"/api/v1/submissions/{entry}").json()["state"] == "awaiting-approval"
            assert sybil.submit(files[-1], "before anybody has looked").status_code != 202
        assert target.scores_before_approval() == 0
        for entry in entries:
            path = f"/api/v1/maintenance/approvals/{entry}/approve"
            assert warden.http.post(path, json={"reason": "known labs"}).status_code == 200
        entries += in_turn(
            target, sybils, files=files, days=27.0, first=len(entries)
        )  # patient: never sixty in thirty days
        cards = [warden.scores(entry) for entry in entries]
        found = warden.http.get("/api/v1/maintenance/suspicions").json()
    assert 0.55 < simulation.learnt(secret, probes, cards=cards) <= 0.70
    assert found["unapproved_accounts"]["scored"] == 0
    assert (found["alarm"], found["probing_accounts"]) == (True, {"scored": 60, "accounts": 5})


# The service's own scoring and disclosure, without HTTP: the same views, as the first test has shown -----------------


@pytest.mark.parametrize("seed", SEEDS)
def test_within_a_year_no_attack_learns_more_than_sixty_percent(secret: Secret, seed: int) -> None:
    assert simulation.probing(secret, seed) <= 0.60  # A1
    assert simulation.probing_overall(secret, seed) <= 0.58  # A1, one number
    assert simulation.weighing(secret, seed) <= 0.60  # A2, abstaining in so many words
    assert simulation.answering(secret, seed) <= 0.60  # A3
    for flips in (1, 3, 10, 25):
        assert simulation.climbing(secret, seed, flips=flips) <= 0.60  # A6
    assert simulation.lucky(secret, seed) <= 0.60  # A7


def test_an_honest_judge_gains_less_than_a_point_by_a_year_of_probing(secret: Secret) -> None:
    assert np.mean([simulation.gain(secret, seed) for seed in range(6)]) <= 0.010


def test_a10_five_accounts_together_learn_at_most_seventy_percent(secret: Secret) -> None:
    assert simulation.sybils(secret, SEEDS[0]) <= 0.70


# Positive controls: the attackers work ------------------------------------------------------------------------------


@pytest.mark.long  # `make redteam` goes the same way
@pytest.mark.slow
def test_control_at_a_service_without_quota_and_secrecy_every_label_is_found_in_64_submissions(
    secret: Secret, tmp_path: Path
) -> None:
    """Two of the 128 weighings a file: the first of three votes has a score of its own where labels are public."""
    groups = secret.grouped("rl-in-general")
    vectors = attackers.weighings(groups)
    with open_target(tmp_path, QUOTA_PER_DAY="0", QUOTA_PER_YEAR="0", HIDDEN_LABELS="") as target:
        weigher = target.account("weigher")
        pairs = zip(vectors[::2], vectors[1::2], strict=True)
        files = [native(secret, attackers.two_in_one(first, second)) for first, second in pairs]
        entries = [weigher.look(data, f"weighing {number}") for number, data in enumerate(files)]
        approve_all(target.account(MAINTAINER, "maintain"))  # some weigh with votes for one place
        cards = [weigher.scores(entry)["groupings"]["rl-in-general"] for entry in entries]
    views = [secret.read_categories(card[rule], groups) for card in cards for rule in ("vlmevalkit", "strict")]
    belief = attackers.weighed(vectors, views, groups=groups, start=np.zeros(len(secret.truth), dtype=np.int8))
    assert (len(entries), agreement(belief, secret.truth)) == (64, 1.0)


def test_control_without_a_quota_the_weighing_design_finds_every_label_in_256_submissions(secret: Secret) -> None:
    assert simulation.weighing_undefended(secret) == (256, 1.0)
    assert simulation.answering_undefended(secret) == (512, 1.0)


@pytest.mark.parametrize("seed", SEEDS)
def test_control_fifteen_exact_cells_give_most_labels_away_in_sixty_submissions(secret: Secret, seed: int) -> None:
    assert simulation.probing_fifteen_cells(secret, seed) >= 0.80


def test_control_a_climber_who_may_try_on_gets_there(secret: Secret) -> None:
    dice = np.random.default_rng(1)
    start = secret.judge(0.5, dice)
    top = attackers.climb(
        lambda votes: secret.undefended(votes, secret.everything), start, tries=1000, flips=1, dice=dice
    )
    assert agreement(top, secret.truth) - agreement(start, secret.truth) > 0.10


def test_control_without_a_quota_the_majority_of_the_lucky_knows_two_thirds(secret: Secret) -> None:
    probes = attackers.random_probes(500, len(secret.truth), dice=np.random.default_rng(1))
    views = [secret.undefended(probe, secret.categories) for probe in probes]
    assert agreement(attackers.lucky_majority(probes, views, groups=secret.categories), secret.truth) > 0.66


def test_control_the_official_rule_pays_for_one_item_for_repetition_and_for_labels_in_the_file() -> None:
    """What A4, A5 and A8 send, by the rule that believes the file (tests/official_rule.py)."""
    known, other = ({**pair, "id": f"wildvision-battle-{n}"} for n, pair in enumerate(demo.demo_pairs()[:2]))

    def share(data: bytes) -> tuple[float, int]:
        counted = official_rule.official_counts(data.splitlines())["general"]
        return counted["agree"] / (counted["agree"] + counted["reject"]), counted.total()

    def says(pair: dict[str, Any], right: bool) -> bytes:
        preferred = pair["human_ranking"].index(0)
        verdict = f"Answer {(preferred if right else 1 - preferred) + 1} is better."
        return official([pair], verdict, ranking=pair["human_ranking"])

    assert share(says(known, True)) == (1.0, 1)  # A4, and items left out: what is not there is not counted
    padded = [{**known, "id": known["id"] + " " * n} for n in range(1, 1000)]
    many = b"".join([says(other, False), *(says(one, True) for one in [known, *padded])])
    assert share(many) == (1000 / 1001, 1001)  # A5
    forged = official([known, other], "Answer 1 is better.", ranking=[0, 1])
    assert share(forged) == (1.0, 2)  # A8
    unsure = b"".join([says(known, True), official([other], "I cannot decide.", ranking=other["human_ranking"])])
    assert official_rule.official_counts(unsure.splitlines())["general"]["agree"] == 1
    assert share(unsure)[0] == 1.0  # A2: who abstains loses nothing
