"""Comparison of an answer with the known one: final answers are found, normalised and compared. Pure.

A final answer is after the last "Answer:" or in the last \\boxed{}. Choices are compared by letter or by their
text, numbers by value, other texts without case, articles and punctuation. What has no final answer is undecided, never
a guess.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from fractions import Fraction

RIGHT, WRONG = True, False
_FINAL = re.compile(r"(?:final answer|answer)\s*(?:is)?\s*[:=]\s*(.+)", re.IGNORECASE)
_BOXED = re.compile(r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}")
_LETTER = re.compile(r"\(?([A-J])\)?(?:[.:)]\s.*)?", re.DOTALL)
_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?")
_RATIO = re.compile(r"([-+]?\d+)\s*/\s*(\d+)")
_LONGEST = 400


def final_answer(text: str) -> str | None:
    """Return what a reply gives as its answer; None where it names none."""
    boxed = _BOXED.findall(text)
    if boxed:
        return _stripped(boxed[-1])
    matches = _FINAL.findall(text.replace("*", ""))
    return _stripped(matches[-1]) if matches and _stripped(matches[-1]) else None


def is_right(text: str, known: str, choices: Mapping[str, str] | None = None) -> bool | None:
    """Return whether a reply's final answer is the known one; None where it gives none.

    ``choices``: letter -> text, where the question offers some; the known answer may be either.
    """
    given = final_answer(text)
    if given is None:
        return None
    if choices:
        return _choice(given, choices) == _choice(known, choices) if _choice(given, choices) else None
    return normalised(given) == normalised(known)


def normalised(text: str) -> str:
    """Return a text as it is compared: a number by its value, other texts without case, articles and punctuation."""
    plain = unicodedata.normalize("NFKC", text).strip().strip("$").strip().rstrip(".").strip()
    number = _number(plain.removesuffix("%").removesuffix("°").strip())
    if number is not None:
        return str(number)
    words = re.sub(r"[^\w\s/+\-]", " ", plain.casefold()).split()
    return " ".join(word for word in words if word not in ("a", "an", "the"))


def _number(text: str) -> Fraction | None:
    ratio = _RATIO.fullmatch(text)
    if ratio:
        return Fraction(int(ratio[1]), int(ratio[2])) if int(ratio[2]) else None
    if not re.search(r"\d", text) or not _NUMBER.fullmatch(text):
        return None
    return Fraction(text.replace(",", ""))


def _choice(given: str, choices: Mapping[str, str]) -> str | None:
    """Return the letter of a choice that an answer names, by letter or text."""
    letter = _LETTER.fullmatch(given.strip())
    if letter and letter[1] in choices:
        return letter[1]
    wanted = normalised(given)
    return next((name for name, text in choices.items() if normalised(text) == wanted), None)


def _stripped(text: str) -> str:
    return text.strip()[:_LONGEST].strip("*` ")
