"""Names that look alike: of those who come at the same instant one gets the name; reported judges have names too."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from leaderboard.ranking.reported_results import bundled_results, load_published
from maintenance.actions import entries, reported
from storage import confusables
from storage.confusables import ConfusableName, skeleton
from storage.database import Database
from storage.models.core import Submission
from submissions.metadata import parse_metadata
from tests.factories.accounts import MAINTAINER
from tests.factories.actions import by
from tests.factories.refusals import refuses
from tests.factories.specs import VL
from tests.factories.submission_service import BENCHMARK, SubmissionSetup, native, person, submit

ANN, BOB = person("ann"), person("bob")
GENUINE, POSING = "InternVL2-8B", "lnternVL2-8B"
ALICE = "judge-alice"
POSES = ("JUDGE-ALICE", "judge_alice", "judge alice", "judge-al1ce", "Judge\u2013Al\u0131ce.", "judge-alice-")
SPELLINGS = ("GPT-4o", "G\u0420T-4o", "GPT\u20134o", "G\u0420T\u20134o", "GPT-4\u043e", "G\u0420T-4\u043e")


def models(database: Database) -> set[str]:
    with database.read() as session:
        return set(session.scalars(select(Submission.model)))


def all_at_once(setup: SubmissionSetup, spellings: tuple[str, ...]) -> None:
    """Each spelling by an account of its own."""
    numbered = list(enumerate(spellings))
    files = [setup.arrive(native(setup.items) + b"\n" * number) for number, _ in numbered]
    start = Barrier(len(numbered))

    def one(number: int, spelling: str) -> None:
        start.wait(60)
        with suppress(ConfusableName):
            setup.intake.submit(files[number], parse_metadata({"model": spelling}), person(f"p{number}"))

    with ThreadPoolExecutor(len(numbered)) as pool:
        for done in [pool.submit(one, *each) for each in numbered]:
            done.result(120)


def checked_before_either_writes(monkeypatch: pytest.MonkeyPatch, racers: int, *, looks: int, seconds: float) -> None:
    """Nobody goes on after the last look at the names before all have had it, or `seconds` have passed."""
    met, looked = Barrier(racers), dict.fromkeys((person(f"p{number}").account for number in range(racers)), 0)
    real: Callable[..., str | None] = confusables.find_confusable

    def taken(session: Session, benchmark: str, *, owner: str, **about: Any) -> str | None:
        found = real(session, benchmark, owner=owner, **about)
        looked[owner] += 1
        if looked[owner] == looks:
            with suppress(BrokenBarrierError):
                met.wait(seconds)
        return found

    monkeypatch.setattr(confusables, "find_confusable", taken)


def test_of_look_alikes_that_come_at_the_same_instant_one_is_taken(
    setup: SubmissionSetup, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len({skeleton(name) for name in SPELLINGS}) == 1
    # Both have looked before they write: at model and judge, while the file is read, and once more in the transaction.
    checked_before_either_writes(monkeypatch, 2, looks=4, seconds=0.5)
    all_at_once(setup, SPELLINGS[:2])
    assert len(models(database)) == 1


def reporting(setup: SubmissionSetup, database: Database, *, kind: str) -> str:
    """Make GENUINE a reported result; its id, where it is an imported one."""
    if kind == "shipped":
        assert GENUINE in {one.name for one in load_published(VL)}
        setup.intake.shipped = lambda: bundled_results(VL)
        return ""
    data = f"name,organisation,url,macro\n{GENUINE},OpenGVLab,https://arxiv.org/abs/2501.00001,55.0\n".encode()
    (row,) = reported.import_file(by(database, MAINTAINER, benchmark=BENCHMARK), data.decode(), reason="a survey").new
    return row.id


@pytest.mark.parametrize("kind", ["shipped", "imported"])
def test_nobody_poses_as_a_reported_judge_or_its_makers(setup: SubmissionSetup, database: Database, kind: str) -> None:
    shipped = bundled_results(VL) if kind == "shipped" else []
    assert submit(setup, ANN, number=1, model="Judge A").id
    reporting(setup, database, kind=kind)
    with pytest.raises(ConfusableName) as refused:
        submit(setup, BOB, number=2, model=POSING)
    assert (refused.value.field, refused.value.other) == ("model", GENUINE)
    with pytest.raises(ConfusableName) as refused:
        submit(setup, BOB, number=3, model="Judge B", organisation="0penGVLab")
    assert refused.value.field == "organisation"
    own = submit(setup, BOB, number=4, model="Judge C").id
    for changes in ({"model": POSING}, {"organisation": "0penGVLab"}):
        with refuses(ConfusableName, "too-similar"):
            entries.edit(by(database, BOB, parse=parse_metadata, shipped=shipped), own, changes)
    assert submit(setup, BOB, number=5, model=GENUINE, organisation="OpenGVLab").id  # the judge itself, run again


def test_a_removed_result_holds_no_name_any_more(setup: SubmissionSetup, database: Database) -> None:
    row = reporting(setup, database, kind="imported")
    reported.remove(by(database, MAINTAINER, benchmark=BENCHMARK), row, "retracted")
    assert submit(setup, BOB, number=1, model=POSING).id


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *((ALICE, pose) for pose in POSES),
        ("GPT-4o", "G\u0420T-4o"),
        ("InternVL", "lnternVL"),
        ("Qwen2-VL", "Qwen2\u2013VL"),
        ("modern", "rnodern"),
        ("Gemini", "G\u0435mini"),
        ("OPT-4", "\u041e\u03a1\u03a4-4"),
        ("LLaVA-1.6-7B", "-llava 1.6_7b!"),
        *(("GPT-4o", f"GPT{nothing}-4o{nothing}") for nothing in "\ufe0f\u034f\u3164\u200b\u2800\U000e0100"),
    ],
)
def test_names_that_look_alike_have_one_skeleton(one: str, other: str) -> None:
    assert skeleton(one) == skeleton(other)


def test_a_name_that_looks_like_somebody_elses_is_refused(setup: SubmissionSetup) -> None:
    pose = POSES[0]
    submit(setup, ANN, number=1, model=ALICE, organisation=ALICE)
    with pytest.raises(ConfusableName) as refused:
        submit(setup, BOB, number=2, model=pose)
    assert (refused.value.field, refused.value.other) == ("model", ALICE)
    with pytest.raises(ConfusableName) as refused:
        submit(setup, BOB, number=3, model="Judge B", organisation=pose)
    assert refused.value.field == "organisation"
    assert submit(setup, ANN, number=4, model=pose).id  # one's own
    assert submit(setup, BOB, number=5, model=ALICE).id  # the same spelling


@pytest.mark.parametrize(
    ("one", "other"),
    [("Judge-1.5", "Judge-15"), ("Judge-1-5B", "Judge-15B"), ("Judge", "Judge+"),
     ("Judge-7B", "Judge-8B"), ("Judge 1", "Judge 2"), ("Voting@5", "Voting@15"), ("...", "--")],
)  # fmt: skip
def test_names_that_say_something_else_stay_apart(one: str, other: str) -> None:
    assert skeleton(one) != skeleton(other)


def test_the_name_of_a_judge_is_the_same_by_its_slug_and_no_imitation(
    setup: SubmissionSetup, database: Database
) -> None:
    setup.intake.shipped = lambda: bundled_results(VL)
    assert submit(setup, ANN, number=1, model="My model", judge="R1-Reward").id
    assert submit(setup, BOB, number=2, model="Your model", judge="r1 reward").id  # the slug is r1-reward
    with pytest.raises(ConfusableName) as refused:
        submit(setup, BOB, number=3, model="His model", judge="Rl-Reward")
    assert refused.value.field == "judge"
    edited = entries.edit(
        by(database, MAINTAINER, parse=parse_metadata), _entry_of(database, "My model"), {"judge": "My judge"}
    )
    assert edited.changed


@pytest.mark.parametrize("pose", ["GPT4o", "gpt4o (our run)", "G\u0420T4o"])
def test_a_model_whose_judge_is_not_stated_poses_as_no_reported_judge(
    setup: SubmissionSetup, database: Database, pose: str
) -> None:
    setup.intake.shipped = lambda: bundled_results(VL)
    with pytest.raises(ConfusableName) as refused:
        submit(setup, BOB, number=1, model=pose)
    assert (refused.value.field, refused.value.other) == ("model", "GPT-4o")
    entry = submit(setup, BOB, number=2, model="GPT-4o (our run)").id
    with refuses(ConfusableName, "too-similar"):
        entries.edit(by(database, BOB, parse=parse_metadata, shipped=bundled_results(VL)), entry, {"model": pose})


def _entry_of(database: Database, model: str) -> str:
    with database.read() as session:
        return session.scalars(select(Submission.id).where(Submission.model == model)).one()
