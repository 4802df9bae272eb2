"""Worked examples of agreement."""

from __future__ import annotations

import pytest

from vlrb.label_quality.annotator_agreement import alpha_without, kappa, krippendorff_alpha, mean_kappas

# Krippendorff (2011), part C: four observers, twelve units, missing answers.
OBSERVERS = {
    "A": "123321412...",
    "B": "123322412 5.3".replace(" ", ""),
    "C": ".33323422 51.".replace(" ", ""),
    "D": "123324412 51.".replace(" ", ""),
}


def units() -> dict[str, dict[str, str]]:
    return {str(unit): {name: row[unit] for name, row in OBSERVERS.items() if row[unit] != "."} for unit in range(12)}


def test_alpha_of_four_observers_with_missing_answers() -> None:
    assert krippendorff_alpha(list(answers.values()) for answers in units().values()) == pytest.approx(0.743, abs=5e-4)


def test_alpha_of_two_observers() -> None:
    assert krippendorff_alpha(zip("0100000010", "1110010000", strict=True)) == pytest.approx(0.095, abs=5e-4)


@pytest.mark.parametrize("answers", [[], [["a"]], [["a", "a"], ["a", "a"]]])
def test_alpha_of_nothing_that_could_differ_is_none(answers: list[list[str]]) -> None:
    assert krippendorff_alpha(answers) is None


def test_alpha_of_full_agreement_is_one() -> None:
    assert krippendorff_alpha([["a", "a"], ["b", "b"]]) == 1.0


def table(cells: dict[tuple[str, str], int]) -> tuple[dict[str, str], dict[str, str]]:
    pairs = [pair for pair, number in cells.items() for _ in range(number)]
    return {str(i): one for i, (one, _) in enumerate(pairs)}, {str(i): other for i, (_, other) in enumerate(pairs)}


def test_kappa_of_a_worked_example() -> None:
    """20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: observed 0.7, chance 0.5."""
    first, second = table({("y", "y"): 20, ("y", "n"): 5, ("n", "y"): 10, ("n", "n"): 15})
    assert kappa(first, second) == pytest.approx(0.4)


def test_kappa_needs_items_in_common_and_answers_that_differ() -> None:
    assert kappa({"1": "a"}, {"2": "a"}) is None
    assert kappa({"1": "a"}, {"1": "a"}) is None


def test_an_annotator_who_differs_has_a_lower_kappa_and_alpha_rises_without_them() -> None:
    answers = {str(i): {"one": "ab"[i % 2], "two": "ab"[i % 2], "three": "ab"[i // 5 % 2]} for i in range(20)}
    found = mean_kappas(answers)
    assert found["one"] == found["two"] > found["three"]  # type: ignore[operator]
    assert alpha_without(answers, "three") == 1.0
