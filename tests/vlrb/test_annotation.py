"""Answers of annotators about a pair, and the label that follows."""

from __future__ import annotations

import numpy as np
import pytest

from tests.factories.labels import table
from tests.factories.specs import VL
from vlrb.benchmarks.items import presentation_order
from vlrb.label_quality.annotation import (
    AGREED,
    CONTESTED,
    AnnotationAnswer,
    JudgedAnswers,
    Proposal,
    agreement,
    annotation_order,
    draft_from_disputes,
    judge_answers,
    preferred_label,
)

A = Proposal("a")
AGREE_ON_A, DISAGREE = JudgedAnswers(AGREED, "a"), JudgedAnswers(CONTESTED)


@pytest.mark.parametrize(
    ("verdicts", "outcome"),
    [
        (["a"], AGREE_ON_A),
        (["a", "b"], DISAGREE),
        (["a", "a", "b"], AGREE_ON_A),
        (["b", "b", "a", "a"], DISAGREE),
        (["a", "poor-image"], DISAGREE),
        (["both-false", "poor-image", "a"], JudgedAnswers(AGREED, "both-false")),
        (["vague-style", "vague-knowledge"], JudgedAnswers(AGREED, "vague-style")),
        (["a", "b", "other"], DISAGREE),
        (["a", "a", "other", "other"], DISAGREE),
    ],
)
def test_more_than_half_of_the_answers_decide(verdicts: list[str], outcome: JudgedAnswers) -> None:
    assert judge_answers([AnnotationAnswer(one) for one in verdicts], 1, tag_of=VL.tag_of) == outcome


def test_tags_need_more_than_half_of_those_who_agree_on_the_outcome() -> None:
    said = [
        AnnotationAnswer("a", ("recognition-text", "counting")),
        AnnotationAnswer("a", ("recognition-face",)),
        AnnotationAnswer("b", ("counting",)),
    ]
    assert judge_answers(said, 3, tag_of=VL.tag_of) == JudgedAnswers(AGREED, "a", ("recognition",))
    few = [AnnotationAnswer("a", ("counting",)), AnnotationAnswer("a"), AnnotationAnswer("a")]
    assert judge_answers(few, 3, tag_of=VL.tag_of) == AGREE_ON_A


def test_an_error_that_the_benchmark_does_not_have_gives_no_tag() -> None:
    said = [AnnotationAnswer("a", ("counting", "blur-motion")), AnnotationAnswer("a", ("counting", "blur-focus"))]
    found = judge_answers(said, 2, tag_of={"blur-motion": "blur", "blur-focus": "blur"})
    assert found == JudgedAnswers(AGREED, "a", ("blur",))
    assert judge_answers(said, 2, tag_of={}) == AGREE_ON_A


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ([("a", None)], A),
        ([("b", "counting"), ("b", None)], Proposal("b", frozenset({"counting"}))),
        ([("a", None), ("b", None)], None),
        ([("equal", None), ("bad-item", None)], Proposal("drop")),
        ([("a", None), ("both-wrong", None)], None),
    ],
)
def test_accepted_disputes_that_contradict_one_another_change_nothing(
    said: list[tuple[str, str | None]], outcome: Proposal | None
) -> None:
    assert draft_from_disputes(said) == outcome


def test_the_order_is_fixed_and_even_on_average_and_the_next_annotator_sees_the_other() -> None:
    orders = [annotation_order(4, str(number)) for number in range(2000)]
    assert orders == [annotation_order(4, str(number)) for number in range(2000)]
    assert 900 < sum(order == (0, 1) for order in orders) < 1100
    assert [annotation_order(5, str(number)) for number in range(2000)] == [(second, first) for first, second in orders]


def test_a_and_b_are_the_responses_as_pages_show_them() -> None:
    for item in table().items:
        one, two = presentation_order(item.responses)
        assert item.responses[one] <= item.responses[two]
        assert (preferred_label(item, "a"), preferred_label(item, "b")) == (one, two)


def test_agreement_is_cohens_kappa_over_the_pairs_that_both_answered() -> None:
    keys = [str(number) for number in range(11)]
    first = dict(zip(keys, ["a"] * 5 + ["b"] * 5, strict=False))
    second = dict(zip(keys[:10], ["a"] * 4 + ["b"] * 5 + ["poor-image"], strict=True))
    (found,) = agreement({"x": first, "y": {**second, "10": "a"}, "z": {}}, keys)
    # 8 of 10 the same; by chance .5 * .4 + .5 * .5 = .45: (.8 - .45) / .55
    assert (found.first, found.second, found.items, found.same) == ("x", "y", 10, 8)
    assert found.kappa == pytest.approx(0.35 / 0.55)
    assert np.isfinite(found.kappa)
