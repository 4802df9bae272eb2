"""A benchmark is a folder; its definition is checked, and VL-RewardBench's says what the code says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.factories.specs import VL
from tests.real_data import rows
from vlrb.benchmarks.items import ItemTable, LabelsError
from vlrb.benchmarks.pairs import label_set, pair_table, read_pairs
from vlrb.benchmarks.spec import SpecError
from vlrb.benchmarks.spec_file import known_benchmarks, load_spec
from vlrb.cli import main

ROOT = Path(__file__).parents[2]
INVENTED = """
id = "traffic-signs"
title = "Traffic signs"
citation = "none"
dataset = "none"
verdict_format = "double-brackets"

[fields]
id = "name"
question = "ask"
responses = ["left.text", "right.text"]
category = ["kind"]
label = "better"
label_values = { left = "first", right = "second" }

[[categories]]
key = "round"
title = "Round"
colour = "#000000"

[[categories]]
key = "square"
title = "Square"
colour = "#ffffff"

[[source_rules]]
equals = "r"
source = "round"

[[source_rules]]
equals = "s"
source = "square"

[[protocols]]
key = "strict"
rule = "Majority"
unreadable = "wrong"
votes = "majority"

[[overalls]]
key = "micro"
title = "All alike"
kind = "micro"
"""


def folder(definitions: Path, name: str, *, text: str) -> Path:
    """A folder of definitions that holds one benchmark."""
    path = definitions / name / "spec.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return definitions


def sign(number: int, kind: str = "r", *, better: str = "left") -> dict[str, Any]:
    return {
        "name": f"sign-{number}",
        "ask": "What does it say?",
        "left": {"text": f"stop {number}"},
        "right": {"text": f"go on {number}"},
        "kind": kind,
        "better": better,
    }


def test_a_benchmark_is_added_by_a_folder_alone(tmp_path: Path) -> None:
    definitions = folder(tmp_path, "traffic-signs", text=INVENTED)
    assert set(known_benchmarks(definitions)) == {"traffic-signs", *known_benchmarks()}
    assert load_spec("mm-rlhf-rewardbench", definitions) is load_spec("mm-rlhf-rewardbench")
    spec = load_spec("traffic-signs", definitions)
    pairs = read_pairs([sign(n, "rs"[n % 2], better="left" if n % 4 else "right") for n in range(4)], spec)
    assert [item.category for _, item in pairs.pairs] == ["round", "square"] * 2
    assert label_set(pairs.rows, "part", table=pair_table([pairs])).preferred.tolist() == [1, 0, 0, 0]


UNTIED = """
[[overalls]]
key = "untied"
title = "Pairs that people decided"
kind = "micro"
without_ties = true
"""


def test_chance_is_a_third_where_a_tie_is_an_answer_and_else_a_half(tmp_path: Path) -> None:
    tied = INVENTED.replace('right = "second" }', 'right = "second", same = "tie" }') + UNTIED
    spec = load_spec("traffic-signs", folder(tmp_path, "traffic-signs", text="ties = true\n" + tied))
    chances = {name: spec.chance(name) for name in spec.score_names}
    assert chances == {"round": 1 / 3, "square": 1 / 3, "micro": 1 / 3, "untied": 1 / 2}
    assert [spec.chance_percent(name) for name in ("micro", "untied")] == ["33.3", "50"]
    assert {two.chance(name) for two in map(load_spec, known_benchmarks()) for name in two.score_names} == {1 / 2}


TAGGED = 'tags = ["occlusion", "blur"]\n' + INVENTED
KINDS = """
[[errors]]
key = "occlusion"

[[errors]]
key = "blur-motion"
tag = "blur"
title = "motion"
"""


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('kind = "micro"', 'kind = "median"', "kind 'median' is not one of micro, mean"),
        ('unreadable = "wrong"', 'unreadable = "coin"', "unreadable 'coin'"),
        ('source = "square"', 'source = "oval"', "source 'oval' is not one of round, square"),
        ('key = "square"', 'key = "round"', "occurs twice|is not one of"),
        ('id = "traffic-signs"', 'id = "signs"', "the folder is 'traffic-signs'"),
        ('title = "Traffic signs"\n', "", "the entry 'title' is missing"),
        ('kind = "micro"\n', "", r"the entry 'overalls\[1\].kind' is missing"),
        ('id = "traffic-signs"', "id = ", "Invalid value"),
        ('left = "first"', "left = 0", "label_values 0 is not one of first, second, tie"),
        (
            'kind = "micro"',
            'kind = "micro"\n[[overalls]]\nkey = "m"\ntitle = "M"\nkind = "mean"\npairs = 3',
            "kind micro",
        ),
        ('tag = "blur"', 'tag = "glare"', "tag of an error 'glare' is not one of occlusion, blur"),
        ('tag = "blur"', "", "tag of an error 'blur-motion' is not one of occlusion, blur"),
        ('key = "blur-motion"', 'key = "occlusion"', "the key of an error occurs twice"),
        ('key = "blur-motion"', "", r"the entry 'errors\[2\].key' is missing"),
        ('title = "motion"', '[tag_names]\nshade = "glare"', "tag of a tag name 'glare' is not one of occlusion, blur"),
    ],
)
def test_a_definition_that_contradicts_itself_is_an_error_that_says_where(
    tmp_path: Path, old: str, new: str, reason: str
) -> None:
    definitions = folder(tmp_path, "traffic-signs", text=(TAGGED + KINDS).replace(old, new))
    with pytest.raises(SpecError, match=reason):
        load_spec("traffic-signs", definitions)


def test_annotators_choose_from_the_tags_or_from_the_errors_that_a_definition_declares(tmp_path: Path) -> None:
    plain = load_spec("traffic-signs", folder(tmp_path / "plain", "traffic-signs", text=INVENTED))
    assert (plain.errors, plain.tag_of) == ((), {})
    tagged = load_spec("traffic-signs", folder(tmp_path / "tagged", "traffic-signs", text=TAGGED))
    assert tagged.tag_of == {"occlusion": "occlusion", "blur": "blur"}
    kinds = load_spec("traffic-signs", folder(tmp_path / "kinds", "traffic-signs", text=TAGGED + KINDS))
    assert kinds.tag_of == {"occlusion": "occlusion", "blur-motion": "blur"}
    assert [error.title for error in kinds.errors] == ["occlusion", "motion"]


def test_a_definition_with_tags_of_its_own_takes_no_errors_and_names_of_the_one_that_it_imitates(
    tmp_path: Path,
) -> None:
    imitating = 'id = "signs"\ntitle = "Signs"\nimitates = "vl-rewardbench"\n'
    assert load_spec("signs", folder(tmp_path / "same", "signs", text=imitating)).errors == VL.errors
    own = load_spec("signs", folder(tmp_path / "own", "signs", text=f'{imitating}tags = ["blur"]\n'))
    assert (tuple(own.tag_of), own.tag_names) == (("blur",), {})


def test_an_unknown_benchmark_is_an_error() -> None:
    with pytest.raises(SpecError, match="known: demo, "):
        load_spec("../vl-rewardbench")


def test_labels_outside_the_definition_are_an_error(tmp_path: Path) -> None:
    spec = load_spec("traffic-signs", folder(tmp_path, "traffic-signs", text=INVENTED))
    with pytest.raises(LabelsError, match=r"row 2: the field `better` must be one of left, right"):
        read_pairs([sign(0), sign(1, better="both")], spec)
    with pytest.raises(LabelsError, match=r"row 1: the field `left.text` must be a text"):
        read_pairs([{**sign(0), "left": None}], spec)


def test_what_a_definition_lacks_is_as_in_the_one_that_it_imitates() -> None:
    demo, imitated = load_spec("demo"), load_spec("vl-rewardbench")
    assert demo.protocols == imitated.protocols and demo.groupings == imitated.groupings
    assert demo.editions != imitated.editions and demo.synthetic and not imitated.synthetic


def test_the_editions_of_vl_rewardbench_are_its_revisions() -> None:
    table, spec = ItemTable.load(VL), load_spec("vl-rewardbench")
    sizes = {revision: len(table.in_revision(revision)) for revision in table.revisions}
    assert {edition.key: edition.pairs for edition in spec.editions} == sizes


@pytest.mark.parametrize(
    ("category", "item", "key"),
    [
        ("open_generation/correctness_task", "nocaps_1", "correctness"),
        ("open_generation/preference_task", "nocaps_1", "preference"),
        ("reasoning", "MathVista_7", "math"),
        ("reasoning", "EMMA-Coding_7", "coding"),
        ("safety", "PAIRS_7", "bias"),
        ("safety", "hateful_7", "toxicity"),
        ("vqa", "math_7", "vqa"),
    ],
)
def test_multimodal_rewardbench_splits_reasoning_and_safety_by_id(category: str, item: str, key: str) -> None:
    spec = load_spec("multimodal-rewardbench")
    assert spec.source_of(category, item) == key
    with pytest.raises(ValueError, match=f"'{category.upper()}' is no category"):
        spec.source_of(category.upper(), item)


def test_the_first_keyword_in_the_path_decides() -> None:
    spec = load_spec("mm-rlhf-rewardbench")
    assert spec.source_of("short/longer_video.png", "x") == "long"
    assert spec.source_of("video/abc", "x") == "video"


def test_the_real_pairs_of_mm_rlhf_are_the_released_edition() -> None:
    pairs = read_pairs(rows("benchmarks/mm_rlhf_rewardbench.jsonl"), load_spec("mm-rlhf-rewardbench"))
    assert pairs.edition == "released" and len({name for name, _ in pairs.pairs}) == 46


def test_sentences_call_a_score_by_the_name_that_people_use() -> None:
    grouped, several = load_spec("mm-rlhf-rewardbench"), load_spec("multimodal-rewardbench")
    assert [grouped.accuracy_text(name) for name in grouped.overall_keys] == ["ACC", "Mean of 5", "ACC+"]
    assert [several.accuracy_text(name) for name in ("micro", "mean-of-seven")] == ["Overall accuracy", "Mean of 7"]
    assert load_spec("vl-rewardbench").accuracy_text("macro") == "macro accuracy"
    assert [grouped.category_text(name) for name in ("mcq", "long", "video")] == [
        "multiple choice",
        "long answers",
        "video",
    ]
    assert several.category_text("vqa") == "visual question answering"


def test_the_example_of_the_documentation_is_a_whole_benchmark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    example = page[page.index("## Add a benchmark") :]
    (definition,) = re.findall(r"^```toml\n(id = .*?)^```", example, re.M | re.S)
    pairs, votes = (tmp_path / name for name in ("pairs.jsonl", "votes.jsonl"))
    for path, text in zip((pairs, votes), re.findall(r"^```jsonl\n(.*?)^```", example, re.M | re.S), strict=True):
        path.write_text(text, encoding="utf-8")
    monkeypatch.setenv("BENCHMARK_DEFINITIONS", str(folder(tmp_path, "weather", text=definition)))
    assert main(["score", str(votes), "--benchmark", "weather", "--labels", str(pairs), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["protocols"]["strict"]["micro"] == 0.5
    assert definition.count("\n") < 40
