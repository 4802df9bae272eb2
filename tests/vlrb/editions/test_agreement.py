"""Worked examples of agreement between annotators."""

from __future__ import annotations

from typing import Any

import pytest

from vlrb.editions.agreement import agreement_report, krippendorff_alpha

# Krippendorff (2011), part C: four observers, twelve units, missing answers.
FOUR = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
TWO = ("0100000010", "1110010000")


@pytest.mark.parametrize(
    ("observers", "alpha"),
    [(FOUR, 0.743), (TWO, 0.095), (("ab", "ab"), 1.0), (("aa", "aa"), None), ((), None), (("a",), None)],
)
def test_alpha_of_worked_examples(observers: tuple[str, ...], alpha: float | None) -> None:
    said = [(unit, answer) for row in observers for unit, answer in enumerate(row) if answer != "."]
    found = krippendorff_alpha([unit for unit, _ in said], [answer for _, answer in said])
    assert found == (None if alpha is None else pytest.approx(alpha, abs=5e-4))


def answer(item: int, annotator: str, verdict: str) -> dict[str, Any]:
    return {"item": str(item), "annotator": annotator, "verdict": verdict, "errors": [], "seconds": None}


def test_an_annotator_who_differs_has_a_lower_kappa_and_alpha_rises_without_them() -> None:
    said = []
    for i in range(20):
        said += [answer(i, name, "ab"[i % 2]) for name in ("one", "two")] + [answer(i, "three", "ab"[i // 5 % 2])]
    people = agreement_report(said, {}, tag_of={})["annotators"]
    assert people["one"]["mean_kappa"] == people["two"]["mean_kappa"] > people["three"]["mean_kappa"]


def test_nobody_agrees_about_nothing() -> None:
    report = agreement_report([], {}, tag_of={"counting": "counting"})
    assert (report["answers"], report["alpha"], report["mean_kappa"], report["annotators"]) == (0, None, None, {})
    alone = agreement_report([answer(1, "x", "a"), answer(2, "y", "a")], {}, tag_of={})
    assert (alone["agreement"], alone["annotators"]["x"]["mean_kappa"]) == (None, None)
