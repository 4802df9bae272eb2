"""Prompts are the published ones, to the byte."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from vlrb.judge import JudgeError
from vlrb.judge.prompts import find_prompt
from vlrb.judge.totals import read_reply

OFFICIAL, VLMEVALKIT, R1_REWARD = map(find_prompt, ("official", "vlmevalkit", "r1-reward"))
STORED = "76b0586d362927cb34e5c07cd131ef971fd9f6ac3c36dac9e968069ce40e2786"
SWAPPED = "1515cad062a11eff5f68c6f1a5e0af7c74adb49be93a4a1457b552144cd38a57"


@pytest.mark.parametrize(("swapped", "digest"), [(False, STORED), (True, SWAPPED)])
def test_the_official_prompt_is_the_one_of_the_official_script(swapped: bool, digest: str) -> None:
    text = OFFICIAL.render("Q?", ("FIRST", "SECOND"), swapped=swapped)
    assert len(text) == 974
    assert hashlib.sha256(text.encode()).hexdigest() == digest


def test_the_image_token_is_removed_from_the_whole_official_prompt() -> None:
    assert "<image>" not in OFFICIAL.render("<image>\nQ?", ("a<image>\n", "b"), swapped=False)


def test_placeholders_in_a_response_stay_as_they_are() -> None:
    text = OFFICIAL.render("{a1} {query}", ("{a1}", "x"), swapped=False)
    assert "Question: {a1} {query}\n\nAnswer 1: {a1}\n\nAnswer 2: x\n" in text


def test_the_prompt_of_vlmevalkit_differs_in_three_places_alone() -> None:
    ours = OFFICIAL.template.removeprefix(" ").replace("questions. Please", "questions.\nPlease")
    assert VLMEVALKIT.template == ours.replace(". For example", ".For example")
    assert VLMEVALKIT.image_first


def test_the_prompt_of_r1_reward_keeps_its_trailing_spaces_and_its_own_verdict() -> None:
    assert "[Response 1]:\n{a0}  \n\n" in R1_REWARD.template
    assert R1_REWARD.template.endswith("</think><answer>1/2</answer>")
    assert [read_reply(text, R1_REWARD.reading) for text in ("<answer> 2 </answer>", "<answer>3</answer>", "2")] == [
        1,
        -1,
        -1,
    ]


def test_a_prompt_of_ones_own_needs_its_three_places(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("{query} {a0}")
    with pytest.raises(JudgeError, match=r"lacks \{a1\}"):
        find_prompt(str(path))
    path.write_text("{query} {a0} {a1}")
    assert find_prompt(str(path)).render("q", ("a", "b"), swapped=True) == "q b a"
