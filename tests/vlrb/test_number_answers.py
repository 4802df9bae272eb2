"""Check my numbers: reading figures, the verdict in a sentence, addresses, the command."""

import json
import re

import pytest

from tests.factories.specs import VL
from tests.factories.suite.programs import numbers_main as main
from vlrb.numbers import report as number_check
from vlrb.numbers.figures import BadFigures

R1 = {"general": "63.84", "hallucination": "85.71", "reasoning": "64.78", "overall": "71.92", "macro": "71.44"}
THINK = {"general": "78.1", "hallucination": "72.7", "reasoning": "66.0", "overall": "73.8", "macro": "72.3"}
# 102, 500 and 161 right of 183, 749 and 318, with the digits behind the second decimal cut off.
CUT_OFF = {"general": "55.73", "hallucination": "66.75", "reasoning": "50.62"}
OMNI = {"general": "81.5", "hallucination": "94.2", "reasoning": "60.4", "overall": "76.3", "macro": "78.7"}


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        (R1, r"from RLAIF-V and RLHF-V counted as general \(484/448/318\), not [\w ]+\.$"),
        (THINK, r"\(631/301/318\), not [\w ]+, if some figures "),
        (CUT_OFF, "categories, if the figures were cut off"),
        (OMNI, "no categories .+ Perhaps pairs were left out"),
        ({"general": "64", "hallucination": "70", "reasoning": "60"}, "others too"),
        ({"general": "63.93", "hallucination": "85.71", "reasoning": "64.78"}, "fit the official categories"),
        ({"general": "64", "hallucination": "70", "reasoning": "60", "macro": "61"}, "cannot all be right"),
        ({"macro": "71.92"}, "^Without the categories"),
    ],
)
def test_the_verdict_is_one_sentence(figures: dict[str, str], words: str) -> None:
    assert re.search(words, number_check.answer(figures, VL)["headline"])


@pytest.mark.parametrize(
    ("figures", "field", "words"),
    [
        ({"general": "abc"}, "general", "“abc” is not a percentage"),
        ({"general": "50", "macro": "100.1"}, "macro", "not a percentage"),
        ({"reasoning": "-3"}, "reasoning", "not a percentage"),
        ({"overall": "9" * 500}, "overall", "9…”"),
        ({}, None, "No figure was given"),
        ({"overall": "0.719", "macro": "0.7"}, None, "percent are needed"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_field(figures: dict[str, str], field: str | None, words: str) -> None:
    with pytest.raises(BadFigures, match=words) as wrong:
        number_check.answer(figures, VL)
    assert wrong.value.field == field


def test_an_address_holds_the_figures_as_they_were_typed() -> None:
    assert number_check.url({"general": "63.80", "macro": "71,4"}) == "/check-numbers?general=63.80&macro=71%2C4"
    assert number_check.url({"general": 63.84, "overall": None}) == "/check-numbers?general=63.84"
    assert number_check.url({"general": ""}) == "/check-numbers"


def test_the_command_says_it_and_exits_with_what_it_found(capsys: pytest.CaptureFixture[str]) -> None:
    options = [word for name, value in R1.items() for word in (f"--{name}", value)]
    assert main([*options]) == 0
    assert capsys.readouterr().out.startswith("These figures come from RLAIF-V")
    options = [word for name, value in OMNI.items() for word in (f"--{name}", value)]
    assert main(["--json", *options]) == 1
    assert json.loads(capsys.readouterr().out)["verdict"] == "not found"
    assert main(["--overall", "much"]) == 2
    assert "--overall: “much” is not a percentage" in capsys.readouterr().err


def test_the_command_speaks_the_language_of_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert main(["--overall", "71.9", "--general", "63.8"]) == 0
    assert capsys.readouterr().out.startswith("这些数字来自 RLAIF-V")
    assert main(["--overall", "much"]) == 2
    assert capsys.readouterr().err.startswith("--overall：“much”不是")
