"""Sentences that people read: without words that the glossary replaced, and each compared in one place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from scripts.messages import template

BANNED = re.compile(
    r"\b(whoever|for ever|is told|are told|oops|sorry|successfully|shut out|let in|coin|door|desk)\b", re.I
)

TESTS = Path(__file__).parent
# Tests whose rule is what a text says.
ABOUT_TEXTS = ("test_texts.py", "test_chinese_pages.py", "vlrb/common/test_text.py", "vlrb/common/test_translations.py")


@cache
def sentences() -> list[str]:
    """Return those of the project that can be translated, plural forms among them."""
    ids = (message.id for message in template() if message.id)
    return [text for id_ in ids for text in ([id_] if isinstance(id_, str) else id_)]


def test_no_sentence_has_a_word_that_was_replaced() -> None:
    assert [line for line in sentences() if BANNED.search(line)] == []


ROW = 5  # words in a row: fewer are a name, a heading, or the shortest way to say which of two sentences it is


def test_tests_repeat_no_sentence_word_for_word() -> None:
    """So that a text is changed in one place; elsewhere tests compare codes, values, and elements."""
    known = {row for line in sentences() if line[0].isupper() for row in rows_of_words(line)}  # no parts of sentences
    repeated = [
        f"{path.relative_to(TESTS)}:{number}: {text}"
        for path in sorted(TESTS.rglob("test_*.py"))
        if path.relative_to(TESTS).as_posix() not in ABOUT_TEXTS
        for number, text in compared_texts(ast.parse(path.read_text(encoding="utf-8")))
        if known & set(rows_of_words(text))
    ]
    assert repeated == [], f"{len(repeated)} comparisons; compare what the sentence is about:\n" + "\n".join(repeated)


def compared_texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and value of each string that an assertion compares: of `assert`, `expect` and `raises`.

    What an `assert` says when it fails is compared with nothing.
    """
    for node in ast.walk(tree):
        compares = isinstance(node, ast.Assert) or (
            isinstance(node, ast.Call)
            and getattr(node.func, "attr", "") in ("raises", "to_contain_text", "to_have_text")
        )
        compared = node.test if isinstance(node, ast.Assert) else node
        for part in ast.walk(compared) if compares else ():
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield part.lineno, part.value


def rows_of_words(text: str) -> Iterator[tuple[str, ...]]:
    """Yield each `ROW` words in a row, in small letters; a value that is filled in stands between rows."""
    for part in re.split(r"%\(\w+\)[sd]|\{\w*\}", text):
        words = [word.lower() for word in re.findall(r"[A-Za-z][A-Za-z'’]*", part)]
        yield from (tuple(words[start : start + ROW]) for start in range(len(words) - ROW + 1))
