"""Comparison of an answer with the known one: right, wrong, or undecided. Pure.

A final answer is after the last "Answer:" or in the last \\boxed{}. Choices are compared by letter or by their text,
numbers by value, yes and no as such. Of anything else only the same text is right, and every other text is undecided,
never a guess: signs, units and other names of the same thing are for a model or for people.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from fractions import Fraction

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
_WRAPPED = re.compile(r"(\*|`+|\$\$?)(.+)\1", re.DOTALL)
_BOOLEAN = {"yes": True, "true": True, "no": False, "false": False}
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
    first, second = _cleaned(given), _cleaned(known)
    if first == second:
        return True if first else None
    numbers = _number(first), _number(second)
    if numbers[0] and numbers[1]:
        (value, mark), (other, its_mark) = numbers[0], numbers[1]
        return True if value == other else False if mark == its_mark else None  # 50% and 50 are undecided
    for forms in ([_BOOLEAN.get(text.casefold()) for text in (first, second)], [*map(_bare_letter, (first, second))]):
        if forms[0] is not None and forms[1] is not None:
            return forms[0] == forms[1]
    return None


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


def _choice(answer: str, choices: Mapping[str, str]) -> str | None:
    """Return the letter of the one choice that an answer names, by letter or text; None for none or several."""
    letter = _LETTER.fullmatch(answer.strip())
    texts = [answer] + ([letter[2]] if letter and letter[2] else [])
    named = {name for name, choice in choices.items() for text in texts if agreement(text.lower(), choice.lower())}
    if letter and letter[1] in choices:
        named.add(letter[1])
    return named.pop() if len(named) == 1 else None


def _stripped(text: str) -> str:
    """Return a text without the marks of bold, code and formulas around it."""
    plain = text.strip()[:_LONGEST].removeprefix("**").removesuffix("**").strip()
    wrapped = _WRAPPED.fullmatch(plain)
    return wrapped[2].strip() if wrapped and wrapped[1] not in wrapped[2] else plain
