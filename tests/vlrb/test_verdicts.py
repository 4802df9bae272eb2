"""A verdict is what the official pattern finds, if that is 1 or 2; in linear time whatever the text."""

import random
import re
from collections.abc import Iterator

import pytest

from vlrb.verdicts import choice_of
from vlrb.votes import UNDECIDED

FIRST, SECOND = 0, 1
OFFICIAL = re.compile(
    r"(?:Overall Judgment|Therefore)\s*.*\s*-*\s*Answer\s*(\d+)\s*is\s*(?:the\s*)?(?:slightly\s*)?better", re.IGNORECASE
)
TOKENS = [
    *("Overall Judgment", "Therefore", "THEREFORE", "overall judgment", "Over", "all Judgment", "There", "fore"),
    *("Answer", "answer", "An\u017fwer", "is", "\u0131s", "\u0130s", "the", "slightly", "\u017flightly", "better"),
    *(" ", "  ", "\n", "*", "**", "-", "---", ":", "x", "\u00df", "\u2028", "\r", "\x0b"),
    *("1", "2", "3", "01", "\uff12", "\u0662", "\u0967"),
    *("Answer 1 is better", "Answer 2 is the slightly better", "An\u017fwer \uff12 is better"),
    "Overall Judgment: **Answer 1 is better**",
]


def official(text: str) -> int:
    """Return the official rule as printed, with the two stated differences: only 1 and 2 are verdicts, and in ASCII
    digits."""
    found = OFFICIAL.search(text.replace("\n", "").replace("*", ""))
    if not found or len(found.group(1)) > 4000 or not found.group(1).isascii():
        return UNDECIDED
    number = int(found.group(1))
    return number - 1 if number in (1, 2) else UNDECIDED


def random_texts(count: int) -> Iterator[str]:
    """Beginnings and ends of verdicts in any order."""
    source = random.Random(20241126)
    for _ in range(count):
        text = "".join(source.choice(TOKENS) for _ in range(source.randint(1, 10)))
        yield source.choice(("", "Therefore", "Overall Judgment: ")) + text


def test_random_texts_get_the_official_verdict() -> None:
    count = 30_000
    seen = {UNDECIDED: 0, FIRST: 0, SECOND: 0}
    for text in random_texts(count):
        assert choice_of(text) == official(text), repr(text)
        seen[choice_of(text)] += 1
    assert min(seen.values()) > count / 24, "the texts must exercise every verdict"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Answer 1 is better than Answer 2. Overall Judgment: Answer 2 is better", SECOND),
        ("Therefore it is false that Answer 1 is better", FIRST),
        ("Overall Judgment: Answer 2 is the slightly better", SECOND),
        ("Therefore, **Answer 1** is slightly\nbetter.", FIRST),
        ("There*fore Answer 2 is better", SECOND),
        ("Therefore Answer 1 is better. Therefore Answer 3 is better", UNDECIDED),
        ("Answer 1 is better", UNDECIDED),
        ("Therefore Response 1 is better", UNDECIDED),
        ("Therefore \\boxed{1}", UNDECIDED),
        ("Therefore Answer \uff12 is better", UNDECIDED),
        ("Therefore Answer 1 is better. Overall Judgment: Answer \uff12 is better", UNDECIDED),
        ("Therefore Answer 3 is better", UNDECIDED),
        ("Therefore Answer -1 is better", UNDECIDED),
        ("Therefore Answer " + "1" * 5000 + " is better", UNDECIDED),
        ("Therefore Answer " + "0" * 5000 + "1 is better", FIRST),
        ("", UNDECIDED),
    ],
)
def test_frozen_examples(text: str, expected: int) -> None:
    assert choice_of(text) == expected
