"""The queue of annotation: a file of pairs goes in, decisions are made pair by pair, a file of labels comes out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from maintenance.actions import rescoring
from maintenance.previews import pairs_csv
from maintenance.types import Conflict, NotFound
from review.actions import answers, projects, results
from review.actions.answers import GivenAnswer
from review.selection import ProjectPlan
from storage.annotation import annotation_projects
from tests.databases import new_database
from tests.factories.accounts import MAINTAINER, OWNER_OF_IT, SECOND_MAINTAINER, STRANGER
from tests.factories.actions import by, run_command
from tests.factories.refusals import refuses
from tests.factories.review_setup import ReviewSetup, on_both, set_up
from tests.factories.suite.programs import edition_main
from tests.review.test_projects import people
from tests.vlrb.editions.test_verify import candidate
from vlrb.disclosure import PUBLIC

__all__ = ["people"]
TEXTS = ("A cat.", "Two dogs.")


def write(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def own_pairs(directory: Path, *, gold: int = 0) -> Path:
    """Return a file of pairs with texts and images; the first ones are labelled."""
    (directory / "images").mkdir()
    lines = []
    for number in range(3):
        (directory / "images" / f"{number}.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes([number]))
        line = {"item": f"k{number}", "id": f"S-{number}", "query": f"What is in picture {number}?"}
        label = {"label": "a"} if number < gold else {}
        lines.append({**line, "response": list(TEXTS), "image": f"images/{number}.png", **label})
    return write(directory / "to_annotate.jsonl", lines)


def start(bench: ReviewSetup, *, base: str = "demo", **planned: Any) -> int:
    ctx = bench.by(MAINTAINER)
    name, plan = f"p{len(projects.reports(ctx))}", ProjectPlan(**planned)
    done = projects.create(ctx, name, base=base, reason="to be sure", plan=plan)
    return int(done.message.rpartition("/")[2])


def items(bench: ReviewSetup, project: int) -> list[str]:
    with bench.database.read() as session:
        return [item.item for item in annotation_projects.items(session, project)]


def close(bench: ReviewSetup, project: int, *, revision: str = "next") -> Any:
    ctx = bench.by(MAINTAINER)
    return projects.close(ctx, project, revision=revision, reason="May")


def states(bench: ReviewSetup, project: int) -> dict[int, tuple[str, str | None]]:
    listed = results.decisions(bench.by(MAINTAINER), project)
    return {pair.place: (pair.state, pair.verdict) for pair in listed}


def test_one_annotator_alone_changes_no_label(bench: ReviewSetup) -> None:
    project = start(bench)
    for place in range(1, 8):
        bench.prefer(MAINTAINER, project=project, place=place, letter=bench.says(place - 1, right=False))
    assert "7 contested" not in close(bench, project).message
    bench.runner.run_all()
    assert (bench.stored("next").preferred == bench.labels.preferred).all()


@pytest.mark.usefixtures("people")
@on_both
def test_a_contested_pair_takes_one_more_answer_and_then_keeps_its_label(bench: ReviewSetup) -> None:
    project = start(bench, file=bench.file_of(0, 1))
    projects.add_annotators(bench.by(MAINTAINER), project, annotators=[STRANGER.account, OWNER_OF_IT.account])
    for user, letter in ((STRANGER, "a"), (MAINTAINER, "b")):
        bench.prefer(user, project=project, place=1, letter=letter)
    assert states(bench, project) == {1: ("contested", None), 2: ("open", None)}
    ctx = bench.by(OWNER_OF_IT)
    assert 1 in answers.sheet(ctx, project).waiting
    answers.answer(ctx, project, place=1, given_answer=GivenAnswer("both-false"))
    assert states(bench, project)[1] == ("contested", None), "three answers, no majority"
    with refuses(Conflict, "enough-answers"):
        bench.prefer(SECOND_MAINTAINER, project=project, place=1, letter="a")
    close(bench, project)
    bench.runner.run_all()
    assert (bench.stored("next").preferred == bench.labels.preferred).all()


def test_the_list_tells_answers_of_no_pair_that_needs_more(bench: ReviewSetup) -> None:
    project = start(bench, file=bench.file_of(0, 1, 2))
    bench.prefer(MAINTAINER, project=project, place=1, letter="a")
    for user, letter in ((MAINTAINER, "a"), (SECOND_MAINTAINER, "b")):
        bench.prefer(user, project=project, place=2, letter="b")
        bench.prefer(user, project=project, place=3, letter=letter)
    ctx = bench.by(MAINTAINER)
    told = {pair.place: pair.answers for pair in results.decisions(ctx, project)}
    assert told == {1: {}, 2: {"b": 2}, 3: {}}, "a contested pair takes one more"
    text = run_command(ctx, "verification", "decisions", str(project)).text
    assert re.search(r"2 +\S+ +agreed +b +b 2 ", text)


@pytest.mark.usefixtures("people")
@on_both
def test_an_annotator_below_the_gold_minimum_keeps_a_project_open(bench: ReviewSetup, tmp_path: Path) -> None:
    gold = [{"item": bench.key(index), "label": bench.says(index, right=True)} for index in (0, 1)]
    file = write(tmp_path / "pairs.jsonl", [*gold, {"item": bench.key(2)}])
    project = start(bench, file=str(file))
    for place, right in ((1, False), (2, False), (3, False)):
        bench.prefer(MAINTAINER, project=project, place=place, letter=bench.says(place - 1, right=right))
    for place in (1, 2, 3):
        bench.prefer(SECOND_MAINTAINER, project=project, place=place, letter=bench.says(place - 1, right=place < 3))
    assert states(bench, project)[3] == ("agreed", bench.says(2, right=False))
    with refuses(Conflict, "below-gold-minimum"):
        close(bench, project)
    ctx = bench.by(SECOND_MAINTAINER)
    assert projects.leave_out(ctx, project, annotators=[MAINTAINER.account]).changed
    assert states(bench, project)[3] == ("open", None), "the answer counts no more"
    with pytest.raises(NotFound):
        bench.prefer(MAINTAINER, project=project, place=3, letter="a")
    close(bench, project)
    bench.runner.run_all()
    assert (bench.stored("next").preferred == bench.labels.preferred).all()


@pytest.mark.usefixtures("people")
def test_who_was_left_out_may_answer_again_where_a_maintainer_says_so(bench: ReviewSetup) -> None:
    project, ctx = start(bench), bench.by(SECOND_MAINTAINER)
    bench.prefer(MAINTAINER, project=project, place=1, letter="a")
    projects.leave_out(ctx, project, annotators=[MAINTAINER.account])
    assert not projects.leave_out(ctx, project, annotators=[MAINTAINER.account]).changed
    assert projects.add_annotators(ctx, project, annotators=[MAINTAINER.account]).changed
    bench.prefer(MAINTAINER, project=project, place=1, letter="b")


def test_a_sample_is_the_same_for_the_same_seed_and_of_the_category(bench: ReviewSetup) -> None:
    first, again, other = (start(bench, sample=6, seed=seed) for seed in (1, 1, 2))
    assert items(bench, first) == items(bench, again) != items(bench, other)
    assert len(items(bench, first)) == 6
    category = bench.table.items[0].category
    members = [item.key for item in bench.table.items if item.category == category]
    assert items(bench, start(bench, category=category)) == members
    assert set(items(bench, start(bench, category=category, sample=2))) <= set(members)
    for bad in ({"sample": 22}, {"category": "colours"}):
        with pytest.raises(Conflict):
            start(bench, **bad)


@pytest.mark.parametrize("answers_wanted", [1, 101])
def test_a_pair_needs_two_answers_at_least(bench: ReviewSetup, answers_wanted: int) -> None:
    with refuses(Conflict, "bad-answers"):
        start(bench, answers=answers_wanted)


def test_a_file_of_pairs_goes_in_and_a_file_of_labels_comes_out(bench: ReviewSetup, tmp_path: Path) -> None:
    guidelines = "Look at the image first.\nThen read."
    project = start(bench, base="", file=str(own_pairs(tmp_path, gold=1)), guidelines=guidelines)
    ctx = bench.by(MAINTAINER)
    assert answers.sheet(ctx, project).guidelines == guidelines
    shown = answers.show(ctx, project, place=2)
    assert (shown.name, shown.question, set(shown.responses or ())) == ("S-1", "What is in picture 1?", set(TEXTS))
    assert shown.image == f"/annotate/{project}/2/image"
    image = answers.image_of(ctx, project, place=2)
    assert image is not None and image.read_bytes()[-1] == 1
    for user in (MAINTAINER, SECOND_MAINTAINER):
        bench.prefer(user, project=project, place=1, letter="a")
        bench.prefer(user, project=project, place=2, letter="b")
    with refuses(Conflict, "draft-name"):
        close(bench, project)
    run_command(ctx, "verification", "close", str(project), "--reason", "done")  # names no draft
    labels = [json.loads(line) for line in results.as_lines(results.export(ctx, project)).splitlines()]
    assert [(pair["item"], pair["id"], pair["state"], pair["label"]) for pair in labels] == [
        ("k0", "S-0", "gold", "a"), ("k1", "S-1", "agreed", "b"), ("k2", "S-2", "open", None),
    ]  # fmt: skip
    assert [answer["verdict"] for answer in labels[1]["answers"]] == ["b", "b"]


BAD_LINES: list[dict[str, Any]] = [
    {"query": "?", "response": list(TEXTS)},
    {"item": "k0", "query": "?", "response": list(TEXTS)},
    {"item": "k9", "response": list(TEXTS)},
    {"item": "k9", "query": "?", "response": ["one"]},
    {"item": "k9", "query": "?", "response": list(TEXTS), "label": "first"},
    {"item": "k9", "query": "?", "response": list(TEXTS), "image": "../to_annotate.jsonl"},
    {"item": "k9", "query": "?", "response": list(TEXTS), "image": "images/none.png"},
    {"item": "k" * 71, "query": "?", "response": list(TEXTS)},
]


@pytest.mark.parametrize("line", BAD_LINES, ids=range(len(BAD_LINES)))
def test_a_line_that_is_no_pair_is_refused_by_its_number(
    bench: ReviewSetup, tmp_path: Path, line: dict[str, Any]
) -> None:
    file = own_pairs(tmp_path)
    with file.open("a") as more:
        more.write(json.dumps(line) + "\n")
    with pytest.raises(Conflict, match="line 4") as refused:
        start(bench, base="", file=str(file))
    assert refused.value.code == "bad-file"


def test_a_process_reads_files_below_its_directories_alone(bench: ReviewSetup, tmp_path: Path) -> None:
    inside, outside = tmp_path / "imports", tmp_path / "elsewhere"
    inside.mkdir()
    outside.mkdir()
    for directory, named in ((outside, "../elsewhere/to_annotate.jsonl"), (inside, "nothing.jsonl")):
        own_pairs(directory)
        with refuses(Conflict, "no-file"):
            projects.create(
                by(bench.database, MAINTAINER, table=bench.table, import_dirs=(inside,)),
                "may",
                reason="x",
                plan=ProjectPlan(file=named),
            )


def test_a_preview_tells_the_answers_behind_each_changed_label(tmp_path: Path) -> None:
    bench = set_up(new_database(f"sqlite:///{tmp_path}/board.db"), tmp_path / "state")
    project = start(bench)
    for place in range(1, 22):
        for user in (MAINTAINER, SECOND_MAINTAINER):
            bench.prefer(user, project=project, place=place, letter=bench.says(place - 1, right=place > 1))
    ctx = bench.by(MAINTAINER)
    projects.close(ctx, project, revision="next", reason="May", disclosure=PUBLIC)
    bench.runner.run_all()
    asked = rescoring.request_preview(ctx, "next")
    bench.runner.run_all()
    result = rescoring.preview(ctx, asked.task_id or 0)
    (pair,) = result["pairs"]
    letter = bench.says(0, right=False)
    assert (pair["change"], pair["answers"]) == ("flipped", {letter: 2})
    assert f"{letter}:2" in pairs_csv(result).decode()
    bench.database.close()


def test_candidates_of_an_edition_go_through_the_queue_and_come_back(bench: ReviewSetup, tmp_path: Path) -> None:
    pool = tmp_path / "pool"
    (pool / "filtered").mkdir(parents=True)
    (pool / "images").mkdir()
    (pool / "images" / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    write(pool / "pairs.jsonl", [candidate(number) for number in range(3)])
    write(pool / "filtered" / "candidates.jsonl", [candidate(number) for number in range(3)])
    out = tmp_path / "verification"
    assert edition_main(["verify", "export", str(pool / "filtered" / "candidates.jsonl"), "--output", str(out)]) == 0
    project = start(bench, base="", file=str(out / "queue" / "to_annotate.jsonl"))
    ctx = bench.by(MAINTAINER)
    assert answers.image_of(ctx, project, place=1) is not None
    for user in (MAINTAINER, SECOND_MAINTAINER):
        for place, letter in enumerate("aab", start=1):
            bench.prefer(user, project=project, place=place, letter=letter)
    close(bench, project, revision="")
    labels = tmp_path / "labels.jsonl"
    labels.write_text(results.as_lines(results.export(ctx, project)))
    assert edition_main(["verify", "import", str(out), str(labels)]) == 0
    verified = [json.loads(line) for line in (out / "verified.jsonl").read_text().splitlines()]
    assert [line["preferred"] for line in verified] == [0, 0, 1]
