"""Comparison of an answer with the known one: right, wrong, or undecided. Pure.

A final answer is after the last "Answer:" or in the last \\boxed{}. Choices are compared by letter or by their text,
plain numbers by value, yes and no as such. Of anything else only the same text is right, and every other text is
undecided, never a guess: fractions, signs, units and other names of the same thing are for a model or for people.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

_FINAL = re.compile(r"(?:final answer|answer)[*_]*\s*(?:is)?\s*[*_]*[:=][*_]*\s*(.+)", re.IGNORECASE)
_BOX = "\\boxed{"
_BOXED = re.compile(r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}")
_LETTER = re.compile(r"\(?([A-J])\)?(?:[.:)]\s*(.*))?", re.DOTALL)
_NUMBER = re.compile(r"[-+]?(?:[1-9][0-9]{0,2}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?")
_BOOLEAN = {"yes": True, "true": True, "no": False, "false": False}
_LONGEST = 400


def final_answer(text: str) -> str | None:
    """Return what a reply gives as its answer; None where it names none."""
    if (place := text.rfind(_BOX)) >= 0:
        boxed = _BOXED.match(text, place)
        return _cleaned(boxed[1]) if boxed else None
    matches = _FINAL.findall(text)
    return _cleaned(matches[-1]) or None if matches else None


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
    texts = [_cleaned(given), _cleaned(known)]
    if texts[0] == texts[1]:
        return True if texts[0] else None
    for read in (_number, _boolean, _bare_letter):
        first, second = map(read, texts)
        if first is not None and second is not None:
            return bool(first == second)
    return None


def _cleaned(text: str) -> str:
    """Return a text with single spaces and without the marks of bold and formulas around it."""
    return " ".join(text[:_LONGEST].split()).strip("*`$ ").rstrip(".").strip()


def _number(text: str) -> Decimal | None:
    return Decimal(text.replace(",", "")) if _NUMBER.fullmatch(text) else None


def _boolean(text: str) -> bool | None:
    return _BOOLEAN.get(text.casefold())


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
