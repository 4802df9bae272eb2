"""The catalogue of sentences: complete, and without words that the glossary replaced."""

from __future__ import annotations

import re
from functools import cache

from scripts import texts
from scripts.texts import CATALOGUE

BANNED = re.compile(
    r"\b(whoever|for ever|is told|are told|oops|sorry|successfully|shut out|let in|coin|door|desk)\b", re.I
)


@cache
def sentences() -> list[str]:
    """Return those of the project; each file is read once."""
    return texts.sentences()


def test_the_catalogue_holds_every_sentence_that_people_read() -> None:
    found, written = set(sentences()), set(CATALOGUE.read_text(encoding="utf-8").splitlines())
    assert (found - written, written - found) == (set(), set()), (
        "run `.venv/bin/python -m scripts.texts`, and read what changed"
    )


def test_no_sentence_has_a_word_that_was_replaced() -> None:
    assert [line for line in sentences() if BANNED.search(line.partition(": ")[2])] == []


def test_sentences_of_code_and_templates_are_found_and_docstrings_are_not() -> None:
    found = set(sentences())
    assert "auth/tokens.py: Choose what the token may do." in found
    assert any(line.startswith("leaderboard/templates/check.html: ") for line in found)
    assert not any("Return the " in line for line in found)
