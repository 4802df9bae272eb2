"""Files with few votes: where a label set is not public they wait for a maintainer, and count as probes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from auth import LOCAL, Identity
from benchmark.items import ItemTable
from benchmark.statistics.reliability import abstaining, majority
from benchmark.votes import ABSENT, UNDECIDED
from maintenance.actions import approvals
from predictions.parse import parse_predictions
from storage.database import Database
from submissions import policy_text, status
from submissions.quota import QuotaPolicy
from submissions.service import SubmissionRules, SubmissionService
from tests.databases import with_labels
from tests.factories.accounts import MAINTAINER
from tests.factories.actions import by
from tests.factories.specs import VL, spec_of
from tests.factories.submission_service import BENCHMARK, SIGNER, SubmissionSetup, make_setup
from tests.real_data import real_file
from tests.submissions.test_policy import ANN, Metadata, jobs, state

RULES = QuotaPolicy(abstaining_approval=0.15, abstaining_probe=0.05)
REAL = ("lmms_061.jsonl", "official_k3.jsonl", "officialold_k3.jsonl", "vlmeval_tsv.tsv", "vlmeval_xlsx.xlsx")


def desk_with(database: Database, folder: Path, *, disclosure: str, policy: QuotaPolicy = RULES) -> SubmissionSetup:
    with_labels(database, "r1", benchmark=BENCHMARK)
    setup = make_setup(database, folder, policy=policy)
    stated = {"disclosure": {"r1": disclosure}}
    rules = SubmissionRules(policy, lambda session: stated)
    read, uploads = setup.intake._read, setup.intake._uploads
    setup.intake = SubmissionService(database, uploads, read=read, benchmark=BENCHMARK, signer=SIGNER, rules=rules)
    return setup


def votes(setup: SubmissionSetup, empty: int, *, filler: list[int | None]) -> bytes:
    """Return all items; the first so many with ``filler`` for their votes."""
    rows = [
        {"id": item.ids["r1"], "votes": filler if number < empty else [1] * len(filler)}
        for number, item in enumerate(setup.items.items)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def submit(setup: SubmissionSetup, data: bytes, *, user: Identity = ANN) -> str:
    return setup.intake.submit(setup.arrive(data), Metadata.parse({"model": "Judge"}), user).id


@pytest.mark.parametrize(
    ("disclosure", "empty", "filler", "waits"),
    [
        ("categories", 4, [None], True),  # 19% of 21
        ("categories", 3, [None], False),  # 14%
        ("categories", 4, [0, 1], True),  # a tie leaves a pair out as well as a null does
        ("categories", 4, [0, 0, None], False),  # 6% of the votes, and every pair has a majority
        ("overall", 4, [None], True),
        ("public", 10, [None], False),
    ],
)
def test_a_file_with_few_votes_waits_where_labels_are_not_public(
    database: Database, tmp_path: Path, disclosure: str, empty: int, filler: list[int | None], waits: bool
) -> None:
    setup = desk_with(database, tmp_path, disclosure=disclosure)
    taken = submit(setup, votes(setup, empty, filler=filler))
    assert state(database, taken, user=ANN) == ("awaiting-approval" if waits else "queued")
    assert jobs(database) == (0 if waits else 1)


def test_a_waiting_submitter_sees_why_and_the_maintainer_sees_the_share(database: Database, tmp_path: Path) -> None:
    setup = desk_with(database, tmp_path, disclosure="categories")
    taken = submit(setup, votes(setup, 10, filler=[None]))
    found = status.get_status(database, spec_of(BENCHMARK), taken, ANN)
    assert found is not None and "many votes for neither response" in str(found.reason)
    (waiting,) = approvals.waiting(by(database, MAINTAINER, benchmark=BENCHMARK))
    assert waiting.abstaining == pytest.approx(10 / 21)
    assert approvals.approve(by(database, MAINTAINER), taken, "a judge that often refuses").changed
    assert state(database, taken, user=ANN) == "queued"


def test_maintainers_and_people_without_sign_in_do_not_wait(database: Database, tmp_path: Path) -> None:
    setup = desk_with(database, tmp_path, disclosure="categories")
    for user in (MAINTAINER, LOCAL):
        assert state(database, submit(setup, votes(setup, 10, filler=[None]), user=user), user=MAINTAINER) == "queued"


def test_a_file_that_waits_does_not_hold_up_an_account_that_was_approved(database: Database, tmp_path: Path) -> None:
    policy = QuotaPolicy(approve_first=True, abstaining_approval=0.15)
    setup = desk_with(database, tmp_path, disclosure="categories", policy=policy)
    first = submit(setup, votes(setup, 0, filler=[None]))
    approvals.approve(by(database, MAINTAINER), first, "known lab")
    second = setup.intake.submit(setup.arrive(votes(setup, 10, filler=[None])), Metadata.parse({"model": "B"}), ANN).id
    third = setup.intake.submit(setup.arrive(votes(setup, 1, filler=[0])), Metadata.parse({"model": "C"}), ANN).id
    assert (state(database, second, user=ANN), state(database, third, user=ANN)) == ("awaiting-approval", "queued")


def test_the_policy_page_and_the_api_say_the_limits(database: Database, tmp_path: Path) -> None:
    setup = desk_with(
        database, tmp_path, disclosure="categories", policy=QuotaPolicy(abstaining_approval=0.15, ladder_margin=0.015)
    )
    stated = setup.intake.rules()
    assert policy_text.policy_json(stated)["abstaining_approval_above"] == 0.15
    said = {rule.anchor: rule for rule in policy_text.policy_rules(stated)}
    assert said["abstaining"].value == "above 15% wait for a maintainer"
    assert said["ladder"].value == "1.5 points above the account’s best"
    without = {
        rule.anchor: rule
        for rule in policy_text.policy_rules(
            desk_with(database, tmp_path / "x", disclosure="public", policy=QuotaPolicy()).intake.rules()
        )
    }
    assert (without["abstaining"].value, without["ladder"].value) == ("any", "all")


def test_the_share_is_that_of_a_plain_count() -> None:
    dice = np.random.default_rng(3)
    for k in (1, 2, 3, 4):
        matrix = dice.choice(np.array([0, 1, UNDECIDED], dtype=np.int8), size=(200, k), p=[0.5, 0.3, 0.2])
        matrix[:20] = ABSENT
        null = sum(vote == UNDECIDED for row in matrix[20:] for vote in row) / (180 * k)
        open_ = sum(max((row == 0).sum(), (row == 1).sum()) * 2 <= k for row in matrix[20:]) / 180
        assert abstaining(matrix) == pytest.approx(max(null, open_))
        assert (majority(matrix[np.newaxis])[0][:20] == ABSENT).all()
    assert abstaining(np.full((3, 2), ABSENT, dtype=np.int8)) == 0.0


@pytest.mark.parametrize("name", REAL)
def test_honest_files_of_real_tools_do_not_wait(name: str) -> None:
    upload = parse_predictions(real_file(f"data/tools/{name}").read_bytes(), ItemTable.load(VL))
    assert abstaining(upload.votes.matrix) < 0.10
