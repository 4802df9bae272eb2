"""Comparison of an answer with the known one: right, wrong, or undecided. Pure.

A final answer is after the last "Answer:" or in the last \\boxed{}. Choices are compared by letter or by their text,
numbers by value, words without case, articles and punctuation. No mathematical sign is dropped: where one is left
that is not understood, only the same text is right, and everything else is undecided, never a guess. Short words may
be units, variables or other names of the same thing: unequal ones are undecided, too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from fractions import Fraction

RIGHT, WRONG = True, False
_FINAL = re.compile(r"(?:final answer|answer)[*_]*\s*(?:is)?\s*[*_]*[:=][*_]*\s*(.+)", re.IGNORECASE)
_BOX = "\\boxed{"
_BOXED = re.compile(r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}")
_LETTER = re.compile(r"\(?([A-J])\)?(?:[.:)]\s*(.*))?", re.DOTALL)
_NUMBER = re.compile(r"[-+]?(?:[1-9][0-9]{0,2}(?:,[0-9]{3})+|[0-9]+)?(?:\.[0-9]+)?")
_RATIO = re.compile(r"([-+]?[0-9]+)\s*/\s*([0-9]+)")
_FRAC = re.compile(r"([-+]?)\\[dt]?frac\{\s*([0-9]+)\s*\}\{\s*([0-9]+)\s*\}")
_MINUS = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d"), "-")
_WIDE = re.compile("[\uff01-\uff5e\u3000]+")  # forms of ASCII that take two columns
_DEGREE = re.compile(r"\^\{?\\circ\}?")
_HYPHEN = re.compile(r"(?<=[^\W\d_]{3})-(?=[^\W\d_]{3})")  # between words; anywhere else it may be a minus
_EXCLAMATION = re.compile(r"(?<=[^\W\d_]{3})!$")  # after a word; after a variable it is a factorial
_HARMLESS = re.compile("[.,;:?'\"()\u2018\u2019\u201c\u201d]")  # between words; in a formula they mean something
_OPPOSITES = ({"yes", "no"}, {"true", "false"})
_SHORT = 4  # letters: up to here a word may be a unit, a product of variables or a short name of the same thing
_WRAPPED = re.compile(r"(\*|`+|\$\$?)(.+)\1", re.DOTALL)
_ARTICLES = ("a", "an", "the")
_LONGEST = 400


def final_answer(text: str) -> str | None:
    """Return what a reply gives as its answer; None where it names none."""
    if (place := text.rfind(_BOX)) >= 0:
        boxed = _BOXED.match(text, place)
        return _stripped(boxed[1]) if boxed else None
    matches = _FINAL.findall(text)
    return _stripped(matches[-1]) or None if matches else None


def is_right(text: str, known: str, *, choices: Mapping[str, str] | None = None) -> bool | None:
    """Return whether a reply's final answer is the known one; None where nobody can tell by its form.

    ``choices``: letter -> text, where the question offers some; the known answer may be either.
    """
    given = final_answer(text)
    if given is None or len(given) >= _LONGEST:  # what is cut is no answer
        return None
    if not choices:
        return agreement(given, known)
    chosen, right = _choice(given, choices), _choice(known, choices)
    return chosen == right if chosen and right else None


def agreement(given: str, known: str) -> bool | None:
    """Return whether two answers say the same; None where their forms do not tell."""
    texts = _cleaned(given), _cleaned(known)
    if texts[0] == texts[1]:
        return RIGHT if texts[0] else None
    numbers = _number(texts[0]), _number(texts[1])
    if numbers[0] and numbers[1]:
        (value, mark), (other, its_mark) = numbers[0], numbers[1]
        return RIGHT if value == other else WRONG if mark == its_mark else None  # 50% and 50 are undecided
    letters = _bare_letter(texts[0]), _bare_letter(texts[1])
    if letters[0] and letters[1]:
        return letters[0] == letters[1]
    return _same_words(_plain_words(texts[0]), _plain_words(texts[1]))


def _cleaned(text: str) -> str:
    """Return a text with one kind of minus, digits of one width, single spaces and nothing around it."""
    narrow = _WIDE.sub(lambda wide: unicodedata.normalize("NFKC", wide[0]), text.translate(_MINUS))
    plain = " ".join(_stripped(unicodedata.normalize("NFC", narrow)).split()).rstrip(".").strip()
    return _stripped(_DEGREE.sub("°", plain).replace("\\%", "%"))


def _number(text: str) -> tuple[Fraction, str] | None:
    """Return the number that a text is, and nothing else, with the percent or degree sign behind it."""
    mark = text[-1:] if text.endswith(("%", "°")) else ""
    value = _value(text.removesuffix(mark).strip()) if len(text) < _LONGEST else None
    return None if value is None else (value / 100 if mark == "%" else value, mark)


def _value(text: str) -> Fraction | None:
    ratio = _RATIO.fullmatch(_FRAC.sub(r"\1\2/\3", text))
    if ratio:
        return Fraction(int(ratio[1]), int(ratio[2])) if int(ratio[2]) else None
    if not re.search(r"[0-9]", text) or not _NUMBER.fullmatch(text):
        return None
    return Fraction(text.replace(",", ""))


def _bare_letter(text: str) -> str | None:
    letter = _LETTER.fullmatch(text)
    return letter[1] if letter and not letter[2] else None


def _plain_words(text: str) -> list[str]:
    """Return the words of a text of words alone, without articles; nothing where a digit, sign or variable is in it."""
    plain = _HARMLESS.sub(" ", _EXCLAMATION.sub("", _HYPHEN.sub(" ", text.casefold())))
    words = [word for word in plain.split() if word not in _ARTICLES]
    return words if all(len(word) > 1 and word.isalpha() for word in words) else []


def _same_words(given: list[str], known: list[str]) -> bool | None:
    """Return whether words are the same; texts that share a word or its start, or have a short one, are undecided."""
    if not given or not known:
        return None
    if given == known:
        return RIGHT
    if len(given) == len(known) == 1 and {*given, *known} in _OPPOSITES:
        return WRONG
    alike = any(answer.startswith(other) or other.startswith(answer) for answer in given for other in known)
    return None if alike or min(map(len, given + known)) <= _SHORT else WRONG


def _choice(answer: str, choices: Mapping[str, str]) -> str | None:
    """Return the letter of the one choice that an answer names, by letter or text; None for none or several."""
    letter = _LETTER.fullmatch(answer.strip())
    texts = [answer] + ([letter[2]] if letter and letter[2] else [])
    named = {name for name, choice in choices.items() for text in texts if agreement(text, choice)}
    if letter and letter[1] in choices:
        named.add(letter[1])
    return named.pop() if len(named) == 1 else None


def _stripped(text: str) -> str:
    """Return a text without the marks of bold, code and formulas around it."""
    plain = text.strip()[:_LONGEST].removeprefix("**").removesuffix("**").strip()
    wrapped = _WRAPPED.fullmatch(plain)
    return wrapped[2].strip() if wrapped and wrapped[1] not in wrapped[2] else plain
