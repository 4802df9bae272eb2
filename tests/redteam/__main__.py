"""`make attack`: every attack on hidden labels, with more seeds than the test suite has time for, as a table.

The first part is arithmetic on the service's own scoring and disclosure. The second goes over HTTP to real services: an
account's 365 days, five accounts together, and, with the quota switched off, the attack that finds all.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from tests.factories.services.signed_in_service import MAINTAINER, approve_all, in_turn, native, open_target
from tests.redteam import attackers, simulation
from tests.redteam.attackers import agreement
from tests.redteam.policy import Secret
from tests.redteam.priors import Defence, Level, ProbeShape, run_judge, run_sparse

LEVELS: tuple[Level, ...] = ("categories", "overall")
SHAPES: tuple[ProbeShape, ...] = ("null", "complement")


@dataclass(frozen=True, slots=True)
class ReportLine:
    """A row of the table. Shares of labels known; chance is a half."""

    attack: str
    submissions: str
    found: Sequence[float]
    limit: str
    held: bool

    def __str__(self) -> str:
        mean, most = 100 * float(np.mean(self.found)), 100 * max(self.found)
        words = "ok" if self.held else "FAILED"
        return f"{self.attack:<58} {self.submissions:>11} {mean:7.2f} {most:7.2f}  {self.limit:<12} {words}"


def arithmetic(secret: Secret, seeds: Sequence[int]) -> list[ReportLine]:
    """Return the attacks within a year's budget, then the controls."""

    def at_most(attack: str, limit: float, *, run: Callable[[int], float], budget: int = simulation.YEAR) -> ReportLine:
        found = [run(seed) for seed in seeds]
        return ReportLine(attack, str(budget), found=found, limit=f"<= {100 * limit:g}", held=max(found) <= limit)

    lines = [
        at_most("A1  random probes, three categories", 0.60, run=lambda seed: simulation.probing(secret, seed)),
        at_most("A1  random probes, overall only", 0.58, run=lambda seed: simulation.probing_overall(secret, seed)),
        at_most(
            "A2  weighing design, abstaining (null votes)", 0.60, run=lambda seed: simulation.weighing(secret, seed)
        ),
        at_most("A3  weighing design, answering everything", 0.60, run=lambda seed: simulation.answering(secret, seed)),
        *(
            at_most(
                f"A6  climbing, {flips} flips a step",
                0.60,
                run=lambda seed, n=flips: simulation.climbing(secret, seed, flips=n),
            )
            for flips in (1, 3, 10, 25)
        ),
        at_most("A7  majority of the lucky", 0.60, run=lambda seed: simulation.lucky(secret, seed)),
        at_most("A10 five accounts pooled", 0.70, run=lambda seed: simulation.sybils(secret, seed), budget=60),
    ]
    gains = [simulation.gain(secret, seed) for seed in seeds]
    held = float(np.mean(gains)) <= 0.01
    lines.append(ReportLine("A1  gain of a judge that starts at 67%", "12", found=gains, limit="mean <= 1", held=held))
    for attack, (count, found) in (
        ("control: A2 without a policy", simulation.weighing_undefended(secret)),
        ("control: A3 without a policy", simulation.answering_undefended(secret)),
    ):
        lines.append(ReportLine(attack, str(count), found=[found], limit="= 100", held=found == 1.0))
    cells = [simulation.probing_fifteen_cells(secret, seed) for seed in seeds]
    lines.append(
        ReportLine("control: A1 with fifteen exact cells", "60", found=cells, limit=">= 80", held=min(cells) >= 0.80)
    )
    return lines


def priors_known(secret: Secret, seeds: Sequence[int]) -> list[ReportLine]:
    """Return three accounts with a prior, a year each, by disclosure level and rule. A share of the differing pairs
    that are named, or points that a judge of 85% gains. Where a level hides nothing of this, the line is a control."""
    lines = []
    truth, groups = secret.truth, secret.categories.of
    for level, shape, ladder, nulls in product(LEVELS, SHAPES, (False, True), (False, True)):
        rules = f"{level}, {shape}{', Ladder' * ladder}{', null rule' * nulls}"
        defence = Defence(level, ladder=ladder, nulls=nulls)
        found = [run_sparse(truth, groups, defence=defence, shape=shape, seed=seed).share for seed in seeds[:5]]
        most = 0.0 if nulls and shape == "null" else 0.125 if level == "overall" else 1.0
        names = "none held" if most == 1.0 and ladder else "= 100" if most == 1.0 else f"<= {100 * most:g}"
        held = max(found) <= most if most < 1 else ladder or min(found) == 1.0
        lines.append(ReportLine(f"P1  {rules}", "36", found=found, limit=names, held=held))
        gains = [run_judge(truth, groups, defence=defence, shape=shape, seed=seed).share for seed in seeds]
        lines.append(
            ReportLine(f"P2  {rules}", "36", found=gains, limit="mean <= 1", held=float(np.mean(gains)) <= 0.01)
        )
    for shape in SHAPES:
        one = run_sparse(truth, groups, defence=Defence("overall", files=120), shape=shape, seed=1)
        lines.append(
            ReportLine(
                f"control: P1, overall, {shape}, no quota",
                str(one.sent),
                found=[one.share],
                limit="= 100",
                held=one.share == 1,
            )
        )
    for level, least in zip(LEVELS, (0.08, 0.02), strict=True):
        many = [
            run_judge(truth, groups, defence=Defence(level, files=400), shape="complement", seed=seed).share
            for seed in seeds[:3]
        ]
        named = f">= {100 * least:g}"
        lines.append(
            ReportLine(f"control: P2, {level}, no quota", "400", found=many, limit=named, held=min(many) >= least)
        )
    return lines


def a_year_against_a_service(secret: Secret, folder: Path) -> ReportLine:
    """Return a1 with one try on each of 365 days: how many are scored, and what they tell."""
    dice = np.random.default_rng(0)
    with open_target(folder) as target:
        prober = target.account("prober")
        probes, entries = [], []
        for day in range(365):
            probe = attackers.random_probes(1, len(secret.truth), dice=dice)[0]
            answer = prober.submit(native(secret, probe), f"probe {day}")
            if answer.status_code == 202:
                probes.append(probe)
                entries.append(answer.json()["id"])
            target.days_pass()
        cards = [prober.scores(entry) for entry in entries]
    found = simulation.learnt(secret, probes, cards=cards)
    held = len(entries) == simulation.YEAR and found <= 0.60
    return ReportLine(
        "service: A1, a try on each of 365 days", str(len(entries)), found=[found], limit="12; <= 60", held=held
    )


def five_accounts_against_a_service(secret: Secret, folder: Path) -> list[ReportLine]:
    """Return a10: what five accounts learn, fast and patiently, whether the alarm is raised, and what approval does."""
    dice = np.random.default_rng(1)
    probes = attackers.random_probes(simulation.SYBILS * simulation.YEAR, len(secret.truth), dice=dice)
    files = [native(secret, probe) for probe in probes]
    lines = []
    for pace, days in (("in twelve days", 1.0), ("in a year", 27.0)):
        with open_target(folder / pace) as target:
            sybils = [target.account(f"sybil{number}") for number in range(simulation.SYBILS)]
            entries = in_turn(target, sybils, files=files, days=days)
            cards = [sybils[0].scores(entry) for entry in entries]
            warden = target.account(MAINTAINER, "maintain")
            alarm = warden.http.get("/api/v1/maintenance/suspicions").json()["alarm"]
        found = simulation.learnt(secret, probes, cards=cards)
        held = found <= 0.70 and bool(alarm)
        lines.append(
            ReportLine(
                f"service: A10, five accounts {pace}", str(len(entries)), found=[found], limit="<= 70, alarm", held=held
            )
        )
    with open_target(folder / "approved", APPROVE_FIRST_UPLOAD="1") as target:
        sybils = [target.account(f"sybil{number}") for number in range(simulation.SYBILS)]
        entries = in_turn(target, sybils, files=files[: len(sybils)], days=0.0)
        states = [sybils[0].http.get(f"/api/v1/submissions/{entry}").json()["state"] for entry in entries]
        held = set(states) == {"awaiting-approval"} and target.scores_before_approval() == 0
    lines.append(
        ReportLine(
            "service: A10 where first uploads are approved", "0 scored", found=[0.5], limit="none scored", held=held
        )
    )
    return lines


def everything_against_a_service(secret: Secret, folder: Path) -> ReportLine:
    """Return the control: the quota switched off, and nothing else. Three rounded categories are enough."""
    with open_target(folder, QUOTA_PER_DAY="0", QUOTA_PER_YEAR="0") as target:
        weigher = target.account("weigher")
        vectors = attackers.weighings(secret.categories)
        # Two weighings may be the same bytes; then the first one's score is known already.
        entries = [weigher.look(native(secret, vector), f"weighing {n}") for n, vector in enumerate(vectors)]
        approve_all(target.account(MAINTAINER, "maintain"))  # some weigh with votes for one place
        views = [secret.read_categories(weigher.scores(entry)["protocols"]["strict"]) for entry in entries]
    start = np.zeros(len(secret.truth), dtype=np.int8)
    found = agreement(attackers.weighed(vectors, views, groups=secret.categories, start=start), secret.truth)
    return ReportLine(
        "control: service, A2 without a quota", str(len(entries)), found=[found], limit="= 100", held=found == 1.0
    )


def main() -> int:
    """Run everything; 0 if every limit held and every control worked."""
    parser = argparse.ArgumentParser(prog="python -m tests.redteam", description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--no-service", action="store_true", help="only the arithmetic")
    options = parser.parse_args()
    secret, seeds = Secret(), range(options.seeds)
    print(f"{len(secret.truth):,} labels; seeds {seeds[0]} to {seeds[-1]}; labels known in percent, chance is 50")
    print(f"{'attack':<58} {'submissions':>11} {'mean':>7} {'most':>7}  limit")
    lines = arithmetic(secret, seeds)
    lines += priors_known(secret, seeds)
    print(*lines, sep="\n", flush=True)
    if not options.no_service:
        with tempfile.TemporaryDirectory() as folder:
            for number, run in enumerate(
                (a_year_against_a_service, five_accounts_against_a_service, everything_against_a_service)
            ):
                found = run(secret, Path(folder) / str(number))
                new = found if isinstance(found, list) else [found]
                print(*new, sep="\n", flush=True)
                lines += new
    return 0 if all(line.held for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
