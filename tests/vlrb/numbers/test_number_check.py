"""Counts behind published percentages: known papers, and a slow exhaustive search."""

import time
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.factories.specs import SPLITS, VL, read_figures, verdict
from vlrb.benchmarks.spec import Split
from vlrb.numbers import sentences
from vlrb.numbers.figures import Figures, PublishedFigure, figure
from vlrb.numbers.splits import check_numbers

NAMES = ("general", "hallucination", "reasoning", "overall", "macro")


def check(*values):
    return check_numbers(read_figures(*values))


def said(answer):
    return list(sentences.sentences(answer))


# Known papers


def test_r1_reward_counted_rl_pairs_as_general():
    answer = check("63.84", "85.71", "64.78", "71.92", "71.44")
    assert answer.verdict == "fits"
    (one,) = answer.fits
    assert (one.split.grouping, one.split.revisions) == ("rl-in-general", ("v0", "v1"))
    assert (one.right, one.solutions, one.reading) == ((309, 384, 206), 1, "rounded")
    assert "899/1250 = 71.92" in said(answer)[0]
    assert any("63.84 is not" in text and "117/183 = 63.93" in text for text in said(answer))


@pytest.mark.parametrize(
    ("values", "grouping", "label", "right"),
    [
        ((78.1, 72.7, 66.0, 73.8, 72.3), "povid-in-general", "631/301/318", (493, 219, 210)),  # one is cut off
        ((50.8, 89.3, 60.4, 76.3, None), "official", "183/749/318", (93, 669, 192)),
        ((49.18, 70.76, 65.09, 66.16, 61.68), "official", "183/749/318", (90, 530, 207)),
        ((43.65, 39.52, 51.42, 43.14, 44.86), "official", "181/749/317", (79, 296, 163)),  # of other labels
        ((68.55, 92.19, 81.82, 82.16, 80.85), "rl-in-general", "484/448/318", (396, 413, 218)),  # columns exchanged
    ],
)
def test_the_rows_of_papers_fit_one_grouping(values, grouping, label, right):
    (one,) = check(*values).fits
    assert (one.split.grouping, one.split.label, one.right) == (grouping, label, right)


def test_categories_that_fit_alone_are_named_when_the_overall_does_not_fit():
    answer = check(45.04, 50.45, 57.55, 50.15, 51.01)
    assert answer.verdict == "not found"
    assert [(one.split.grouping, one.right) for one in answer.categories_alone] == [("rl-in-general", (218, 226, 183))]


def test_an_impossible_macro_is_said_and_the_rest_is_still_explained():
    answer = check(54.6, 38.3, 59.1, 41.2, 44.0)
    assert answer.verdict == "impossible"
    assert "Macro 44.0 is not the mean" in answer.impossible[0]
    assert "under any grouping" in said(answer)[1]


def test_an_overall_outside_its_categories_is_impossible_whatever_is_dropped():
    answer = check(50.0, 60.0, 70.0, 71.0, None)
    assert answer.verdict == "impossible"
    assert answer.fits == ()
    assert "outside the three categories" in answer.impossible[0]


def test_digits_that_no_count_has_are_impossible():
    answer = check("33.3401", None, None, None, None)
    assert answer.verdict == "impossible"
    assert "General 33.3401 is not a share" in answer.impossible[0]


def test_the_implied_overall_is_given_for_every_split():
    implied = {split: ends for split, *ends in check(50.8, 72.5, 64.2, 67.2, 62.5).implied}
    assert set(implied) == set(SPLITS)
    assert implied[SPLITS[0]] == pytest.approx([67.16, 67.26], abs=0.01)


def test_a_missing_category_follows_from_the_overall():
    (one, *_) = check(50.8, 72.5, None, 67.2, 62.5).fits
    assert (one.split.grouping, one.right) == ("official", (93, 543, 204))


def test_an_overall_alone_is_turned_into_counts():
    answer = check(None, None, None, "46.51", None)
    first, second = said(answer)[:2]
    assert first.startswith("Overall 46.51 is not") and first.endswith(" 1250 (v0 and v1).")
    assert second == "Overall 46.51 is 580 right out of 1247 (v2)."


# Reading


@pytest.mark.parametrize(
    ("typed", "printed"),
    [("71.92", "71.92"), (" 71,9 % ", "71.9"), (66.0, "66.0"), (66, "66"), ("0", "0"), ("100.00", "100.00")],
)
def test_figures_are_read_as_people_write_them(typed, printed):
    assert str(figure(typed)) == printed


def test_digits_beyond_the_sixth_are_rounded_away():
    assert figure(100 * 117 / 183) == PublishedFigure(63934426, 6)


@pytest.mark.parametrize("typed", ["abc", "-1", "100.1", "1e1", "nan", "7 1", "٧١", "71.9.1", "9" * 5000])
def test_what_is_no_percentage_is_refused(typed):
    with pytest.raises(ValueError, match="percentage between 0 and 100"):
        figure(typed)


# Rules, against a search through everything

TINY = (
    Split("official", ("a",), sizes=(3, 4, 2)),
    Split("povid-in-general", ("a",), sizes=(5, 2, 2)),
    Split("official", ("b",), sizes=(2, 4, 1)),
)


def prints(one, share, *, reading):
    """The definition: the printed figure is at most half a last digit off, or the digits cut off."""
    if one is None:
        return True
    last = Fraction(1, 100 * 10**one.decimals)
    value = one.digits * last
    rounded = abs(share - value) <= last / 2
    cut = 0 <= share - value < last
    return rounded if reading == "rounded" else cut if reading == "cut off" else rounded or cut


def every_solution(figures, sizes, *, reading):
    for right in product(*(range(n + 1) for n in sizes)):
        shares = [Fraction(k, n) for k, n in zip(right, sizes, strict=True)]
        values = dict(zip(NAMES, [*shares, Fraction(sum(right), sum(sizes)), sum(shares) / 3], strict=True))
        if all(prints(figures.values[name], values[name], reading=reading) for name in NAMES[:4]):
            stated = [one for one in figures.categories if one is not None]
            printed = sum((Fraction(one.digits, 100 * 10**one.decimals) for one in stated), start=Fraction(0)) / 3
            of_printed = (
                len(stated) == 3 and figures.mean is not None and prints(figures.mean, printed, reading=reading)
            )
            if of_printed or prints(figures.mean, values["macro"], reading=reading):
                yield right


figure_or_none = st.none() | st.builds(
    lambda d, p: PublishedFigure(min(d, 100 * 10**p), p), st.integers(0, 1000), st.integers(0, 1)
)
possible = st.tuples(
    *(st.integers(1, n).flatmap(lambda m: st.tuples(st.integers(0, m), st.just(m))) for n in (8, 7, 4)),
    st.integers(0, 2),
    st.sets(st.sampled_from(NAMES), min_size=2),
)


def figures_of(values):
    return Figures(dict(zip(VL.score_names, values, strict=True)), VL)


def printed_figures(parts):
    """Figures that some counts really give, a random part of them published."""
    *pairs, decimals, kept = parts
    shares = [Fraction(k, n) for k, n in pairs]
    values = [*shares, Fraction(sum(k for k, _ in pairs), sum(n for _, n in pairs)), sum(shares) / 3]
    return Figures(
        {
            name: PublishedFigure(round(100 * 10**decimals * value), decimals) if name in kept else None
            for name, value in zip(NAMES, values, strict=True)
        },
        VL,
    )


@settings(max_examples=25)
@given(figures=possible.map(printed_figures))
def test_fits_are_those_of_an_exhaustive_search(figures):
    answer = check_numbers(replace(figures, spec=replace(VL, splits=TINY)))
    for reading in ("rounded", "cut off", "either"):
        expected = {split: list(every_solution(figures, split.sizes, reading=reading)) for split in TINY}
        if any(expected.values()):
            found = {one.split: one for one in answer.fits}
            assert set(found) == {split for split in TINY if expected[split]}
            for split, one in found.items():
                assert one.solutions == len(expected[split])
                assert any(
                    all(mine in (None, other) for mine, other in zip(one.right, right, strict=True))
                    for right in expected[split]
                )
            return
    assert all(one.exchanged for one in answer.fits)


@settings(max_examples=12)
@given(figures=st.builds(lambda *values: figures_of(values), *(figure_or_none for _ in NAMES)))
def test_what_is_called_impossible_has_no_solution_at_all(figures):
    if not any((*figures.categories, figures.pooled, figures.mean)):
        return
    answer = check_numbers(replace(figures, spec=replace(VL, splits=TINY)))
    if answer.verdict == "impossible":
        for split in TINY:
            for sizes in product(*(range(1, n + 1) for n in split.sizes)):
                assert not any(True for _ in every_solution(figures, sizes, reading="rounded"))


sizes = st.sampled_from(SPLITS)
real_counts = sizes.flatmap(
    lambda split: st.tuples(st.just(split), st.tuples(*(st.integers(0, n) for n in split.sizes)), st.integers(1, 3))
)


@given(real_counts)
def test_figures_printed_from_real_counts_always_fit(case):
    split, right, decimals = case
    shares = [Fraction(k, n) for k, n in zip(right, split.sizes, strict=True)]
    values = [*shares, Fraction(sum(right), sum(split.sizes)), sum(shares) / 3]
    answer = check_numbers(
        figures_of([PublishedFigure(round(100 * 10**decimals * value), decimals) for value in values])
    )
    assert answer.verdict == "fits"
    assert split in [one.split for one in answer.fits]
    if decimals == 3:
        assert right in [one.right for one in answer.fits]


def test_whole_percentages_of_any_kind_are_answered_quickly():
    start = time.process_time()
    for values in [(52, 51, 60, 58, 54), (99, 1, 50, 2, 50), (30, 31, 32, 32, 31), (None, 50, None, 90, None)]:
        assert said(check(*values))
    assert time.process_time() - start < 1


# The verdict beside reported rows


@pytest.mark.parametrize(
    ("values", "word", "grouping", "remark"),
    [
        ((63.84, 85.71, 64.78, 71.92, 71.44), "other-categories", "rl-in-general", "fits 484/448/318"),
        ((78.1, 72.7, 66.0, 73.8, 72.3), "other-categories", "povid-in-general", "fits 631/301/318"),
        ((81.5, 94.2, 60.4, 76.3, 78.7), "no-categories", None, "fits no known categories"),
        ((54.6, 38.3, 59.1, 41.2, 44.0), "contradicts", None, "macro average does not match"),
        ((50.8, 72.5, 64.2, 67.2, 62.5), "adds-up", "official", ""),
        ((64.2, 72.5, 50.8, 67.2, 62.5), "columns-exchanged", None, "fits with general and reasoning exchanged"),
        ((60.0, 60.0, 60.0, 70.0, None), "contradicts", None, "categories do not add up"),
        ((28.3, 27.1, 59.1, None, None), "not-checkable", None, ""),
        ((None, None, None, 75.3, None), "not-checkable", None, ""),
    ],
)
def test_figures_have_one_verdict_and_one_short_remark(values, word, grouping, remark):
    found = verdict(*values)
    assert (found.verdict, found.grouping, found.remark) == (word, grouping, remark)
