"""Projects about candidates: draft labels after the first answer, gold pairs, adjudication, and the edition."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from auth import Forbidden, Identity
from maintenance import curation_text
from maintenance.actions import editions, operations, pools
from maintenance.actions.editions import EditionOptions
from maintenance.types import Conflict, NotFound
from operation.replication.curated_folders import CuratedFolders, find_problems
from operation.replication.replica import Replica
from review import text_output
from review.actions import adjudication, agreement_report, answers, gold, pool_projects, projects
from review.actions.individual_labels import export
from review.actions.pool_projects import VerificationTeam
from review.given_answers import SEEN, GivenAnswer
from storage.annotation import annotation_projects
from storage.jobs import tasks
from tests.factories.accounts import LOCAL, MAINTAINER, OWNER_OF_IT, SECOND_MAINTAINER, STRANGER
from tests.factories.actions import by
from tests.factories.maintain_page import MaintainPage
from tests.factories.pools import imported_pool, write_pool
from tests.factories.refusals import refuses
from tests.factories.review_setup import ReviewSetup, on_both, seen_order
from tests.review.test_projects import _account, people
from vlrb.benchmarks.spec_file import load_spec
from vlrb.label_quality.annotation import PREFERENCES, annotation_order

__all__ = ["people"]
ANN, BOB, CY = MAINTAINER, SECOND_MAINTAINER, STRANGER


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_pool(tmp_path / "imports" / "pool")


@pytest.fixture
def project(bench: ReviewSetup, folder: Path, people: None) -> int:
    return _start(bench, folder)


def _start(bench: ReviewSetup, folder: Path) -> int:
    pool = imported_pool(bench, folder)
    team = VerificationTeam(2, [], adjudicators=[CY.account])
    done = pool_projects.verify_pool(by(bench.database, ANN), pool, project="candidates", reason="to verify", team=team)
    return int(done.message.rpartition("/")[2])


def _seen(bench: ReviewSetup, user: Identity, *, project: int, place: int, letter: str) -> str:
    """Return first or second: where a response stands for this annotator."""
    if letter not in PREFERENCES:
        return letter
    return SEEN[seen_order(bench.database, user.account, place=place, project=project).index(PREFERENCES.index(letter))]


def _say(bench: ReviewSetup, user: Identity, *, project: int, place: int, letter: str) -> Any:
    said = GivenAnswer(_seen(bench, user, project=project, place=place, letter=letter))
    return answers.answer(by(bench.database, user), project, place=place, given_answer=said)


def _seen_by_adjudicator(bench: ReviewSetup, user: Identity, *, project: int, place: int, letter: str) -> str:
    with bench.database.read() as session:
        key = annotation_projects.item_at(session, project, place=place) or ""
    return SEEN[annotation_order(user.account, key).index(PREFERENCES.index(letter))]


def _decide(bench: ReviewSetup, user: Identity, *, project: int, place: int, letter: str) -> Any:
    said = GivenAnswer(_seen_by_adjudicator(bench, user, project=project, place=place, letter=letter))
    return adjudication.adjudicate(by(bench.database, user), project, place=place, given_answer=said)


def test_a_worker_imports_texts_drafts_and_gold_but_no_preference(bench: ReviewSetup, folder: Path) -> None:
    pool = imported_pool(bench, folder / "filtered")
    (found,) = pools.imported_pools(by(bench.database, ANN))
    assert (found.id, found.pairs, found.facts["drafts"], found.facts["gold"]) == (pool, 8, 3, 3)
    assert (found.folder, found.candidates) == (str(folder), "filtered/candidates.jsonl")
    assert "small-1, small-2: 8 of 40 stay" in curation_text.pool_list([found])
    report = pools.filter_report(by(bench.database, ANN), pool)
    assert "small-1: 3 runs, right on 60.0%" in curation_text.filter_report(report)
    assert bench.kinds().count("pools.imported") == 1
    for use in (pools.imported_pools, lambda ctx: pools.filter_report(ctx, pool)):
        with pytest.raises(Forbidden):
            use(by(bench.database, STRANGER))
    with refuses(Conflict, "known-pool"):
        pools.request_import(by(bench.database, ANN), "next", folder=str(folder), reason="again")


@pytest.mark.parametrize("damage", ["outside", "no-image", "no-pairs", "build"])
def test_a_folder_that_is_no_pool_is_refused_in_words(
    bench: ReviewSetup, folder: Path, tmp_path: Path, damage: str
) -> None:
    runner = replace(bench.runner, import_dirs=[tmp_path / "imports"])
    named, words = str(folder), ""
    if damage == "outside":
        named, words = str(tmp_path), "is not a folder below"
    elif damage == "no-image":
        (folder / "images" / "3.png").unlink()
        words = "1 image of the pool cannot be found"
    elif damage == "no-pairs":
        (folder / "filtered" / "candidates.jsonl").unlink()
        (folder / "pairs.jsonl").unlink()
        words = "holds neither candidates.jsonl nor pairs.jsonl"
    else:
        (folder / "filtered" / "candidates.jsonl").write_text('{"id": "q1", "query": "?", "response": ["a", "b"]}\n')
        words = "is not a pair of a pool"
    asked = pools.request_import(by(bench.database, ANN), "next", folder=named, reason="because")
    runner.run_all()
    task = operations.task(by(bench.database, ANN), asked.task_id or 0)
    assert task.state == "failed" and words in task.outcome


def test_a_folder_that_the_worker_beside_the_process_cannot_take_is_refused_at_once(
    bench: ReviewSetup, folder: Path, tmp_path: Path
) -> None:
    beside = by(bench.database, ANN, import_dirs=[tmp_path / "imports"])
    for named in ("misspelt", str(tmp_path), "../imports/../"):
        with refuses(Conflict, "no-folder"):
            pools.request_import(beside, "next", folder=named, reason="because")
    assert not operations.recent_tasks(beside)
    assert pools.request_import(beside, "next", folder="pool", reason="because").task_id


@on_both
def test_the_draft_label_comes_after_the_first_answer_and_a_change_is_a_second_one(
    bench: ReviewSetup, tmp_path: Path
) -> None:
    with bench.database.write() as session:
        session.add(_account(CY.account))
    project, place = _start(bench, write_pool(tmp_path / "pool")), 1
    ann = by(bench.database, ANN)
    before = answers.show(ann, project, place=place)
    assert (before.has_draft, before.draft, before.question) == (True, None, "What is in picture 0?")
    assert "two dogs in" not in json.dumps(before)
    _say(bench, ANN, project=project, place=place, letter="a")
    after = answers.show(ann, project, place=place)
    assert after.draft is not None
    assert (after.draft.preferred, after.draft.model) == (
        _seen(bench, ANN, project=project, place=place, letter="b"),
        "Strong-1",
    )
    assert after.draft.answer_1 == _seen(bench, ANN, project=project, place=place, letter="b"), "the judge saw B first"
    assert f"Answer 1 is the {after.draft.answer_1} response here" in text_output.pair(after)
    assert answers.show(by(bench.database, BOB), project, place=place).draft is None, "others have not answered yet"
    _say(bench, ANN, project=project, place=place, letter="b")
    again = answers.show(ann, project, place=place)
    assert again.first_answer == _seen(bench, ANN, project=project, place=place, letter="a")
    assert "Your first answer" in text_output.pair(again)
    assert answers.show(ann, project, place=4).has_draft is False
    _say(bench, ANN, project=project, place=2, letter="a")
    old = answers.show(ann, project, place=2)
    assert old.draft is not None and old.draft.answer_1 is None
    assert "do not know which" in text_output.pair(old)
    _say(bench, BOB, project=project, place=place, letter="b")
    found = agreement_report.agreement_within(ann, project)
    assert found["agreement"] == 0.0, "agreement is about answers before the draft"
    assert found["annotators"][ANN.account]["changed_after_draft"] == 1
    assert "1 of 2 changed after the draft label" in agreement_report.as_text(found)
    pool_projects.finish(ann, project, reason="done")
    lines = [one for one in export(ann, project) if one.annotator == ANN.account]
    assert ("b", "a") in [(one.verdict, one.first_verdict) for one in lines]


def test_gold_pairs_measure_annotators_and_who_is_below_the_threshold_is_marked(
    bench: ReviewSetup, project: int
) -> None:
    for place in range(1, 9):
        _say(bench, ANN, project=project, place=place, letter="a")
        _say(bench, BOB, project=project, place=place, letter="b" if place in (4, 5) else "a")
    (report,) = projects.reports(by(bench.database, ANN))
    assert report.gold == 3
    marks = {one.account: (one.gold, one.gold_right, one.below_gold_minimum) for one in report.progress}
    assert marks == {ANN.account: (3, 3, False), BOB.account: (3, 1, True)}
    assert "gold 1 of 3 right, below 70%" in text_output.projects([report])
    assert "below 70%" in agreement_report.as_text(agreement_report.agreement_within(by(bench.database, ANN), project))
    shown = answers.show(by(bench.database, BOB), project, place=4)
    assert "gold" not in json.dumps(shown._asdict(), default=str)


def test_gold_of_a_benchmark_is_stated_by_maintainers_and_no_draft_changes_its_labels(bench: ReviewSetup) -> None:
    ctx = by(bench.database, ANN, table=bench.table)
    made = projects.create(ctx, "may", "demo", "to be sure", projects.PairSelection("all"))
    project = int(made.message.rpartition("/")[2])
    right = bench.says(0, right=True)
    done = gold.set_gold(ctx, project, gold={bench.key(0): right, "WildVision-1": "both-false"})
    assert done.message == "may has 2 gold pairs."
    for bad in ({bench.key(0): "first"}, {"nothing": "a"}, {}):
        with pytest.raises((Conflict, NotFound)):
            gold.set_gold(ctx, project, gold=bad)
    with pytest.raises(Forbidden):
        gold.set_gold(by(bench.database, STRANGER, table=bench.table), project, gold={bench.key(0): "a"})
    wrong = bench.says(0, right=False)
    answers.answer(
        ctx, project, place=1, given_answer=GivenAnswer(_seen(bench, ANN, project=project, place=1, letter=wrong))
    )
    answers.answer(
        ctx,
        project,
        place=2,
        given_answer=GivenAnswer(_seen(bench, ANN, project=project, place=2, letter=bench.says(1, right=False))),
    )
    projects.close(ctx, project, revision="next", reason="May")
    bench.runner.run_all()
    base, draft = bench.labels.preferred.tolist(), bench.stored("next").preferred.tolist()
    assert draft == [base[0], 1 - base[1], *base[2:]]
    assert "verdict" not in json.dumps([body for body in bench.event_bodies() if body["ev"] == gold.GOLD])


@pytest.mark.usefixtures("project")
def test_disagreements_go_to_an_adjudicator_who_has_not_annotated_them(bench: ReviewSetup, project: int) -> None:
    for place, (first, second) in enumerate([("a", "b"), ("a", "a"), ("poor-image", "other"), ("a", "poor-image")], 1):
        _say(bench, ANN, project=project, place=place, letter=first)
        _say(bench, BOB, project=project, place=place, letter=second)
    sheet = answers.sheet(by(bench.database, CY), project)
    assert (sheet.annotates, sheet.adjudicates, sheet.to_adjudicate) == (False, True, [1, 4])
    assert answers.sheet(by(bench.database, ANN), project).to_adjudicate == [], "annotators do not judge themselves"
    assert answers.sheet(by(bench.database, LOCAL), project).to_adjudicate == [1, 4]
    with refuses(Conflict, "contested"):
        _say(
            bench, LOCAL, project=project, place=1, letter="a"
        )  # who may see the answers of others gives none that counts as blind
    with refuses(Conflict, "enough-answers"):
        _say(bench, LOCAL, project=project, place=2, letter="a")  # nothing to decide here, and nobody is asked any more
    with pytest.raises(NotFound):
        answers.show(by(bench.database, CY), project, place=1)
    with pytest.raises(NotFound):
        adjudication.disagreement(by(bench.database, OWNER_OF_IT), project, place=1)
    pair = adjudication.disagreement(by(bench.database, CY), project, place=1)
    assert sorted(one.verdict for one in pair.answers) == ["first", "second"]
    assert (pair.said, pair.draft, pair.has_draft) == (None, None, True)
    assert ANN.account not in json.dumps(pair, default=str)
    for user, place, code in ((ANN, 1, "own-answer"), (CY, 2, "no-disagreement"), (CY, 3, "no-disagreement")):
        with pytest.raises(Conflict) as refused:
            _decide(bench, user, project=project, place=place, letter="a")
        assert refused.value.code == code
    assert _decide(bench, CY, project=project, place=1, letter="a").changed
    assert not _decide(bench, CY, project=project, place=1, letter="a").changed
    assert "your earlier decision" in _decide(bench, CY, project=project, place=1, letter="b").message
    assert adjudication.disagreement(by(bench.database, CY), project, place=1).draft is not None
    with refuses(Conflict, "decided"):
        _decide(bench, LOCAL, project=project, place=1, letter="a")
    after = answers.sheet(by(bench.database, CY), project)
    assert (after.to_adjudicate, after.adjudicated) == ([4], [1])
    assert projects.reports(by(bench.database, ANN))[0].contested == (2, 1)
    assert bench.kinds().count(adjudication.ADJUDICATED) == 2
    pool_projects.finish(by(bench.database, ANN), project, reason="enough")
    with refuses(Conflict, "closed"):
        _decide(bench, CY, project=project, place=4, letter="a")
    assert {one.annotator for one in export(by(bench.database, ANN), project)} >= {f"adjudicator:{CY.account}"}


def test_an_adjudicator_s_answer_decides_the_label_of_a_draft(bench: ReviewSetup, people: None) -> None:
    ctx = by(bench.database, ANN, table=bench.table)
    made = projects.create(ctx, "may", "demo", "to be sure", projects.PairSelection("all"))
    project = int(made.message.rpartition("/")[2])
    adjudication.add_adjudicators(ctx, project, annotators=[CY.account])
    right, wrong = bench.says(0, right=True), bench.says(0, right=False)
    for user, letter in ((ANN, right), (BOB, wrong)):
        asked = by(bench.database, user, table=bench.table)
        answers.answer(
            asked,
            project,
            place=1,
            given_answer=GivenAnswer(_seen(bench, user, project=project, place=1, letter=letter)),
        )
    said = GivenAnswer(_seen_by_adjudicator(bench, CY, project=project, place=1, letter=wrong))
    adjudication.adjudicate(by(bench.database, CY, table=bench.table), project, place=1, given_answer=said)
    projects.close(ctx, project, revision="next", reason="May")
    bench.runner.run_all()
    assert bench.stored("next").preferred[0] == 1 - bench.labels.preferred[0]
    (closed,) = [body for body in bench.event_bodies() if body["ev"] == "verification.closed"]
    assert closed["adjudications"] == 1


def test_pairs_with_enough_answers_do_not_wait_for_more(bench: ReviewSetup, project: int) -> None:
    for user in (ANN, BOB):
        _say(bench, user, project=project, place=1, letter="a")
    assert sorted(answers.sheet(by(bench.database, LOCAL), project).waiting) == list(range(2, 9))


def test_annotators_of_a_pool_get_its_pairs_in_orders_of_their_own(bench: ReviewSetup, project: int) -> None:
    orders = [answers.sheet(by(bench.database, user), project).waiting for user in (ANN, BOB)]
    assert orders == [answers.sheet(by(bench.database, user), project).waiting for user in (ANN, BOB)]
    assert orders[0] != orders[1] and sorted(orders[0]) == sorted(orders[1]) == list(range(1, 9))


def test_only_maintainers_start_and_end_projects_about_candidates(bench: ReviewSetup, project: int) -> None:
    for use in (
        lambda ctx: pool_projects.verify_pool(ctx, 1, project="other", reason="because", team=VerificationTeam()),
        lambda ctx: pool_projects.finish(ctx, project, reason="because"),
        lambda ctx: adjudication.add_adjudicators(ctx, project, annotators=[CY.account]),
    ):
        with pytest.raises(Forbidden):
            use(by(bench.database, CY))
    with refuses(Conflict, "about-a-pool"):
        projects.close(by(bench.database, ANN), project, revision="next", reason="because")
    with pytest.raises(NotFound):
        pool_projects.verify_pool(
            by(bench.database, ANN), 9, project="other", reason="because", team=VerificationTeam()
        )


def _verified(bench: ReviewSetup, project: int) -> None:
    """Two annotators differ about the first pair, drop the second, and agree on the others."""
    for place in range(1, 9):
        for user in (ANN, BOB):
            letter = "a" if (user, place) == (BOB, 1) else "vague-style" if place == 2 else "ab"[place % 2]
            _say(bench, user, project=project, place=place, letter=letter)
    _decide(bench, CY, project=project, place=1, letter="b")


def _export(bench: ReviewSetup, project: int, *, state: Path, **more: Any) -> Any:
    options = EditionOptions(**more)
    ctx = by(bench.database, ANN)
    asked = editions.request_export(
        ctx, project, id="next-bench", title="Next bench", reason="release", options=options
    )
    replace(bench.runner, editions=state).run_all()
    return operations.task(ctx, asked.task_id or 0)


def test_a_closed_project_becomes_an_edition_with_hidden_labels(
    bench: ReviewSetup, project: int, tmp_path: Path
) -> None:
    _verified(bench, project)
    with refuses(Conflict, "open"):
        _export(bench, project, state=tmp_path / "editions")
    pool_projects.finish(by(bench.database, ANN), project, reason="done")
    task = _export(bench, project, state=tmp_path / "editions")
    assert task.state == "done", task.outcome
    (made,) = editions.exported(by(bench.database, ANN))
    assert (made["pairs"], made["filtered_by"]) == (7, ["small-1", "small-2"])
    assert "7 pairs (" in curation_text.editions([made])
    public, private = Path(made["public_folder"]), Path(made["private_folder"])
    labels = [json.loads(line) for line in (private / "labels.jsonl").read_text().splitlines()]
    decided = {line["id"]: line["preferred"] for line in labels}
    assert decided == {f"S-{n}": "ab"[(n + 1) % 2] for n in range(8) if n != 1} | {"S-0": "b"}
    assert load_spec("next-bench", public.parent).filtered_by == ("small-1", "small-2")
    assert not any("preferred" in path.read_text() for path in public.glob("hub/*.jsonl"))
    individual = (private / "individual.jsonl").read_text()
    assert CY.account not in individual and ANN.account not in individual
    assert bench.kinds().count("editions.exported") == 1
    with bench.database.read() as session:
        result = tasks.result(session, task.id)
    assert result is not None and result["project"] == project


def test_an_edition_that_is_there_stays_and_an_interrupted_export_is_completed(
    bench: ReviewSetup, project: int, tmp_path: Path
) -> None:
    _verified(bench, project)
    pool_projects.finish(by(bench.database, ANN), project, reason="done")
    first = _export(bench, project, state=tmp_path / "editions")
    card = (tmp_path / "editions" / "public" / "next-bench" / "card.json").read_bytes()
    # the same request finds what it made; another one is refused
    assert _export(bench, project, state=tmp_path / "editions").state == "done"
    other = _export(bench, project, state=tmp_path / "editions", hidden=20)
    assert (first.state, other.state) == ("done", "failed")
    assert "Editions stay" in other.outcome
    assert (tmp_path / "editions" / "public" / "next-bench" / "card.json").read_bytes() == card


def _contents(*folders: Path) -> dict[str, bytes]:
    files = (path for folder in folders for path in folder.rglob("*") if path.is_file() and path.name[0] != ".")
    return {str(path): path.read_bytes() for path in files}


@pytest.mark.parametrize("scheme", ["", "local://"])
def test_pools_and_editions_come_back_from_the_replica(
    bench: ReviewSetup, project: int, folder: Path, tmp_path: Path, scheme: str
) -> None:
    (place := tmp_path / "replica").mkdir()
    editions, replica = tmp_path / "editions", Replica(f"{scheme}{place}")
    _verified(bench, project)
    pool_projects.finish(by(bench.database, ANN), project, reason="done")
    CuratedFolders(bench.database, replica, editions=editions).mirror()
    assert not list(place.glob("editions/*")), "an edition is copied once it is recorded"
    _export(bench, project, state=editions)
    CuratedFolders(bench.database, replica, editions=editions).mirror()
    before = _contents(folder, editions)
    with bench.database.read() as session:
        assert find_problems(session, replica, editions=editions) == []
        for gone in (folder, editions):
            shutil.rmtree(gone)
        problems = find_problems(session, replica, editions=editions)
        assert ["or start a worker" in sentence for sentence in problems] == [True] * 2
    CuratedFolders(bench.database, replica, editions=editions).mirror()
    assert _contents(folder, editions) == before


def test_what_is_not_what_its_hash_says_is_neither_copied_nor_brought(
    bench: ReviewSetup, project: int, folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "replica").mkdir()
    replica, editions = Replica(str(tmp_path / "replica")), tmp_path / "editions"
    candidates, image = folder / "filtered" / "candidates.jsonl", folder / "images" / "1.png"
    imported = candidates.read_bytes()
    candidates.write_bytes(imported + b"\n")
    CuratedFolders(bench.database, replica, editions=editions).mirror()
    assert replica.files("pools") == set()
    candidates.write_bytes(imported)
    CuratedFolders(bench.database, replica, editions=editions).mirror()
    digest = hashlib.sha256(image.read_bytes()).hexdigest()
    copy = f"files/{digest[:2]}/{digest}"
    replica.write(copy, b"other bytes")
    assert CuratedFolders(bench.database, replica, editions=editions).check() == [], "this disk has the file"
    assert replica.read(copy) == image.read_bytes()
    replica.write(copy, b"other bytes")
    shutil.rmtree(folder)
    (lost,) = CuratedFolders(bench.database, replica, editions=editions).check()
    assert "images/1.png" in lost
    CuratedFolders(bench.database, replica, editions=editions).mirror()
    assert candidates.read_bytes() == imported
    assert not image.exists()
    assert "curated_folder.file_lost" in caplog.text


def test_undecided_pairs_and_changed_candidates_stop_an_export(
    bench: ReviewSetup, project: int, folder: Path, tmp_path: Path
) -> None:
    for place in range(1, 7):
        for user in (ANN, BOB):
            _say(bench, user, project=project, place=place, letter="a")
    pool_projects.finish(by(bench.database, ANN), project, reason="done")
    assert "not decided" in _export(bench, project, state=tmp_path / "e").outcome
    assert _export(bench, project, state=tmp_path / "e", partial=True).state == "done"
    (folder / "filtered" / "candidates.jsonl").write_text("")
    assert "is not the file" in _export(bench, project, state=tmp_path / "f").outcome


@pytest.mark.parametrize("bad", [{"hidden": 101}, {"retire": "soon"}, {"version": "a b"}])
def test_what_cannot_be_an_edition_is_refused_at_once(bench: ReviewSetup, bad: dict[str, Any]) -> None:
    with pytest.raises(Conflict):
        editions.request_export(
            by(bench.database, ANN), 1, id="x", title="T", reason="r", options=EditionOptions(**bad)
        )
    for name in ("vl-rewardbench", "Bad id", "x"):
        with pytest.raises(Conflict):
            editions.request_export(
                by(bench.database, ANN), 1, id=name, title="T", reason="r", options=EditionOptions()
            )


def test_the_maintain_page_has_the_whole_way_from_a_pool_to_an_edition(
    bench: ReviewSetup, folder: Path, tmp_path: Path, people: None
) -> None:
    page = MaintainPage(by(bench.database, ANN))
    typed = {"New pool": "next", "Folder of a pool": str(folder), "Reason": "for the next edition"}
    assert "A worker imports pool next" in page.press("Import the pool", typed, tab="Pools")[0]
    bench.runner.run_all()
    assert "small-1, small-2: 8 of 40 stay" in page.open("Pools")
    assert "Removes alone" in page.show("pools", "1")
    assert "There is no pool 7" in page.show("pools", "7")
    team = {"project": "may", "reason": "verify", "adjudicators": CY.account, "answers": "2"}
    assert "8 pairs, 3 of them gold" in page.act("pools.verify", ["1"], **team)[0]
    _verified(bench, 1)
    assert "1 disagreement, 1 decided" in page.open("Verification")
    assert "is closed" in page.act("verification.finish", ["1"], reason="done")[0]
    edition = {"id": "next-bench", "title": "Next", "reason": "release", "hidden": "50"}
    assert "A worker makes edition next-bench" in page.act("editions.export", ["1"], **edition)[0]
    replace(bench.runner, editions=tmp_path / "editions").run_all()
    assert "7 pairs (" in page.open("Editions")
