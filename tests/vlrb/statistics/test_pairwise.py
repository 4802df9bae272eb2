"""Pairwise statistics: every array against a slow and obvious count."""

import json
from dataclasses import replace
from itertools import combinations
from math import erfc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.factories import labels as factories_labels
from tests.factories.oracles.pair_oracle import strict_outcome
from tests.factories.specs import CATEGORIES, GROUPINGS, ORDERS, SOURCES, VL
from tests.rank_ranges import ranges_by
from vlrb.benchmarks.labels import make_label_set
from vlrb.protocols import ranking_keys, scores
from vlrb.scoring import Tally, tally
from vlrb.statistics.pairwise import AGREEMENT_AT_MOST, agreement, comparable, compare_all, pack, rank_ranges_of, unpack
from vlrb.statistics.reliability import agreement_matrix, error_consistency
from vlrb.statistics.uncertainty import Z, macro_difference, mcnemar_exact
from vlrb.votes import ABSENT, Votes, condensed

TABLE = factories_labels.table(
    {"VLFeedback": 4, "WildVision": 9, "POVID": 20, "RLAIF-V": 12, "RLHF-V": 5, "MathVerse": 8, "MMMU-Pro": 7}
)
LABELS = factories_labels.labels(TABLE)


def judges(count, seed=0, *, table=TABLE, labels=LABELS):
    """Verdicts of judges of very different ability, some undecided, some absent."""
    rng = np.random.default_rng(seed)
    right = rng.random((count, len(table))) < np.linspace(0.15, 0.95, count)[:, np.newaxis]
    verdicts = np.where(right, labels.preferred, 1 - labels.preferred).astype(np.int8)
    verdicts[rng.random(verdicts.shape) < 0.05] = -1
    verdicts[rng.random(verdicts.shape) < 0.05] = ABSENT
    return verdicts[::-1]


def related_by(names, verdicts, **options):
    """The relations of judges with one vote an item."""
    return compare_all(names, verdicts[:, :, np.newaxis], **options)


def related(count=8, seed=0, **options):
    names = [f"e{number}" for number in range(count)]
    return related_by(names, judges(count, seed), labels=LABELS, table=TABLE, **options)


def slow_only_right(verdicts, labels, i, j, sources=SOURCES):
    """Return the item indices of the pairs of some sources that only one of two judges is right on."""
    return {
        n
        for n, (item, label) in enumerate(zip(TABLE.items, labels.preferred.tolist(), strict=True))
        if item.source in sources and label >= 0 and verdicts[i, n] == label and verdicts[j, n] != label
    }


def without(labels, missing):
    """The same labels in a revision that lacks some items."""
    kept = {n: int(p) for n, p in enumerate(labels.preferred) if n not in missing}
    return make_label_set("smaller", TABLE, preferred=kept, tags=None)


@pytest.mark.parametrize("grouping", ["official", "rl-in-general"])
@pytest.mark.parametrize("order", ORDERS)
def test_rank_ranges_are_those_of_the_correctness_bits(grouping, order):
    verdicts = judges(9, seed=3)
    found = related_by([f"e{i}" for i in range(9)], verdicts, labels=LABELS, table=TABLE)
    code = {source: c for c, name in enumerate(CATEGORIES) for source in GROUPINGS[grouping][name]}
    category = np.array([code[item.source] for item in TABLE.items])
    correct = verdicts == LABELS.preferred
    expected = ranges_by(correct, category, CATEGORIES.index(order) if order in CATEGORIES else order)
    ranges = list(rank_ranges_of(found.summary, grouping, order=order).values())
    assert [r.best for r in ranges] == expected.best.tolist()
    assert [r.worst for r in ranges] == expected.worst.tolist()
    first = {name for name, range_ in zip(found.summary["entries"], ranges, strict=True) if range_.best == 1}
    entries, how = found.summary["entries"], {"spec": VL, "grouping": grouping, "tried": {}}
    assert found.relations.best_set(entries, order, **how) == first


def test_who_could_be_first_of_some_entries_is_tested_among_these_alone():
    verdicts = judges(9, seed=3)
    found = related_by([f"e{i}" for i in range(9)], verdicts, labels=LABELS, table=TABLE).relations
    some = ["e3", "e4", "e6", "e8"]
    alone = related_by(some, verdicts[[3, 4, 6, 8]], labels=LABELS, table=TABLE).summary
    for order in ORDERS:
        ranges = rank_ranges_of(alone, "official", order=order)
        expected = {name for name, range_ in ranges.items() if range_.best == 1}
        assert found.best_set(some, order, spec=VL, grouping="official", tried={}) == expected
        everybody_tried = found.best_set(some, order, spec=VL, grouping="official", tried=dict.fromkeys(some, 10**9))
        assert everybody_tried == set(some), "the best of very many is first by luck"
    assert found.best_set(["e3", "e99"], "macro", spec=VL, grouping="official", tried={}) is None


@pytest.mark.parametrize("labels", [LABELS, without(LABELS, {0, 3, 17, 60})], ids=["all", "some"])
def test_a_pair_is_compared_by_the_exact_test_and_the_macro_test(labels):
    verdicts = judges(4, seed=5)
    found = related_by("abcd", verdicts, labels=labels, table=TABLE).relations
    assert found.pairs == labels.items
    for (i, a), (j, b) in combinations(enumerate("abcd"), 2):
        assert found.only_right(a, b) == slow_only_right(verdicts, labels, i, j)
        for grouping, categories in GROUPINGS.items():
            pair = found.pair(a, b, VL, grouping)
            counts = {
                name: [len(slow_only_right(verdicts, labels, *order, sources)) for order in ((i, j), (j, i))]
                + [sum(p >= 0 and x.source in sources for x, p in zip(TABLE.items, labels.preferred, strict=True))]
                for name, sources in {**categories, "overall": SOURCES, **{s: [s] for s in SOURCES}}.items()
            }
            for name, (b_, c, n) in counts.items():
                one = pair[name]
                assert (one.only_first, one.only_second, one.n) == (b_, c, n)
                assert one.delta == pytest.approx((b_ - c) / n)
                assert one.p == mcnemar_exact(b_, c)
                assert one.low <= one.delta <= one.high
                assert (one.low > 0 or one.high < 0) == (one.p < 0.05)
            macro = macro_difference([(b - c, b + c, n) for b, c, n in (counts[name] for name in CATEGORIES)])
            assert (pair["macro"].delta, pair["macro"].p) == pytest.approx((float(macro.delta), float(macro.p)))
            assert (pair["macro"].low > 0 or pair["macro"].high < 0) == (macro.p < 0.05)


EVEN = np.random.default_rng(7).choice(np.array([0, 1, 1, -1], dtype=np.int8), (4, len(TABLE), 4))


def test_a_pair_with_halves_is_compared_by_the_mean_difference_of_its_outcomes():
    found = unpack(pack(compare_all("abcd", EVEN, labels=LABELS, table=TABLE).relations))
    category = np.array([CATEGORIES.index(item.category) for item in TABLE.items])
    mine = np.array([[strict_outcome(v.tolist(), p) for v, p in zip(e, LABELS.preferred, strict=True)] for e in EVEN])
    for (i, a), (j, b) in combinations(enumerate("abcd"), 2):
        d = mine[i] - mine[j]
        pair = found.pair(a, b, VL)
        groups = {name: [d[category == code]] for code, name in enumerate(CATEGORIES)}
        groups |= {"overall": [d], "macro": [d[category == code] for code in range(3)]}
        for name, values in groups.items():
            error = sum(np.var(v, ddof=1) / len(v) for v in values) ** 0.5 / len(values)
            delta = float(np.mean([v.mean() for v in values]))
            assert pair[name].delta == pytest.approx(delta)
            assert pair[name].p == pytest.approx(erfc(abs(delta) / error / 2**0.5))
            assert pair[name].low == pytest.approx(delta - Z * error)
            assert (pair[name].only_first, pair[name].only_second) == (None, None)


def test_two_votes_stand_for_all_of_a_judge():
    votes = np.concatenate([EVEN, EVEN[:, :, :3]], axis=2)  # seven
    for k in (2, 5):
        full = compare_all("abcd", votes[:, :, :k], labels=LABELS, table=TABLE)
        two = compare_all("abcd", condensed(votes[:, :, :k]), labels=LABELS, table=TABLE)
        assert (pack(two.relations), two.summary) == (pack(full.relations), full.summary)


def test_a_stranger_cannot_be_compared():
    found = related().relations
    assert found.pair("e0", "e99", VL) is None
    assert found.pair("e1", "e1", VL)["overall"].p == 1


def test_agreement_is_that_of_each_pair_to_three_decimals_for_at_most_two_hundred_judges():
    verdicts = judges(6)
    found = related_by("abcdef", verdicts, labels=LABELS, table=TABLE).relations.agreement
    for i, j in combinations(range(6), 2):
        assert found[i, j] == found[j, i] == round(agreement_matrix(verdicts[[i, j]])[0, 1], 3)
    assert (
        related_by([str(n) for n in range(210)], judges(210), labels=LABELS, table=TABLE).relations.agreement.shape
        == (AGREEMENT_AT_MOST,) * 2
    )


def test_error_consistency_of_two_entries_is_that_of_a_count_item_by_item():
    verdicts = judges(3)
    relations = related_by("abc", verdicts, labels=LABELS, table=TABLE).relations
    expected = error_consistency(*(verdicts[:2] == LABELS.preferred).astype(float))
    assert relations.error_consistency("a", "b") == relations.error_consistency("b", "a") == pytest.approx(expected)


def test_judges_without_a_common_item_have_no_agreement_but_the_others_do():
    verdicts = judges(3)
    verdicts[0, :30], verdicts[1, 30:] = ABSENT, ABSENT
    found = agreement(verdicts)
    assert np.isnan(found[0, 1]) and not np.isnan(found[[0, 1], [2, 2]]).any()
    assert np.diag(found).tolist() == [1, 1, 1]


def test_bands_are_tenths_of_the_judges_that_have_the_item():
    verdicts = judges(12, seed=2)
    found = related_by([str(n) for n in range(12)], verdicts, labels=LABELS, table=TABLE)
    histogram = {category: [0] * 10 for category in CATEGORIES}
    for n, item in enumerate(TABLE.items):
        present = [v for v in verdicts[:, n].tolist() if v != ABSENT]
        right = present.count(int(LABELS.preferred[n]))
        band = min(9, 10 * right // len(present)) if len(present) >= 5 else -1
        assert found.relations.bands[n] == band
        if band >= 0:
            histogram[item.category][band] += 1
    assert found.summary["difficulty"] == histogram


def test_fewer_than_five_judges_of_an_item_show_no_band():
    found = related(4)
    assert set(found.relations.bands.tolist()) == {-1}
    assert found.summary["difficulty"] is None
    verdicts = judges(5)
    verdicts[4, 7] = ABSENT
    bands = related_by("abcde", verdicts, labels=without(LABELS, {9}), table=TABLE).relations.bands
    assert (bands[7], bands[9]) == (-1, -1)


def test_the_majority_is_counted_like_a_judge_and_needs_three():
    majority = related(3).summary["majority"]
    assert Tally.from_json(majority, VL).counts[: len(SOURCES), 0].sum() == len(TABLE)
    assert related(2).summary["majority"] is None


def test_labels_that_are_not_public_give_ranges_and_nothing_else_that_depends_on_them():
    hidden, public = related(8, public=False), related(8)
    assert set(hidden.summary["ranges"]) == {"official"}
    orders = public.summary["ranges"]["official"]
    assert {name: set(one) for name, one in hidden.summary["ranges"]["official"].items()} == {
        name: set(one) for name, one in orders.items()
    }
    assert hidden.summary["difficulty"] is hidden.summary["majority"] is None
    assert not hidden.summary["lengths"] and public.summary["lengths"]
    flipped = replace(LABELS, preferred=1 - LABELS.preferred)
    others = related_by([f"e{number}" for number in range(8)], judges(8), labels=flipped, table=TABLE, public=False)
    assert pack(others.relations) == pack(hidden.relations)  # not even its digest depends on a label
    back = unpack(pack(hidden.relations))
    assert back.best_set(back.entries, "macro", spec=VL, grouping="official", tried={}) is None
    assert back.error_consistency("e0", "e1") is back.only_right("e0", "e1") is None
    assert back.outcomes is back.sources is back.bands is back.pair("e0", "e1", VL) is None
    assert np.array_equal(back.agreement, public.relations.agreement, equal_nan=True)


def test_a_category_without_items_has_no_ranges_and_takes_the_macro_with_it():
    table = factories_labels.table(dict.fromkeys(SOURCES, 2) | {"MathVerse": 0, "MMMU-Pro": 0})
    labels = factories_labels.labels(table)
    found = related_by("abc", judges(3, 0, table=table, labels=labels), labels=labels, table=table)
    assert set(found.summary["ranges"]["official"]) == {"overall", "general", "hallucination"}
    assert set(found.relations.pair("a", "b", VL)) == {"overall", "general", "hallucination", *SOURCES[:5]}
    assert rank_ranges_of(found.summary, "official", order="macro") == {}


def test_nobody_has_no_relations():
    found = related_by([], np.zeros((0, len(TABLE)), dtype=np.int8), labels=LABELS, table=TABLE)
    assert found.summary["ranges"] == {grouping: {} for grouping in GROUPINGS}
    assert unpack(pack(found.relations)).outcomes.shape == (0, len(TABLE))


def test_verdicts_of_another_table_are_an_error():
    with pytest.raises(ValueError, match="entries x items"):
        related_by("ab", judges(2)[:, 1:], labels=LABELS, table=TABLE)


@settings(max_examples=15)
@given(st.integers(0, 9), st.integers(0, 1000), st.booleans())
def test_what_is_stored_is_read_back(count, seed, public):
    found = related_by([f"e{n}" for n in range(count)], judges(count, seed), labels=LABELS, table=TABLE, public=public)
    packed = pack(found.relations)
    back = unpack(packed)
    for name in ("label_revision", "entries", "pairs"):
        assert getattr(back, name) == getattr(found.relations, name)
    for name in ("outcomes", "items", "sources", "agreement", "bands"):
        one, other = getattr(back, name), getattr(found.relations, name)
        assert one is other is None or np.array_equal(one, other, equal_nan=name == "agreement")
    assert pack(back) == packed
    assert json.loads(json.dumps(found.summary)) == found.summary


def slow_comparable(candidates, counts):
    def value(index):
        macro = scores(Tally(1, counts[index], agreeing=counts[index], has_tags=False, spec=VL))
        return (-(macro["macro"] or 0), -(macro["overall"] or 0), index)

    best = {}
    for index, judge in enumerate(candidates):
        if judge not in best or value(index) < value(best[judge]):
            best[judge] = index
    return [str(index) for index in sorted(best.values(), key=value)]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 4)), max_size=9))
def test_of_each_judge_its_best_version_is_compared(rows):
    tallies = [tally(Votes(row[:, np.newaxis]), LABELS, table=TABLE).counts for row in judges(5)]
    counts = np.array([tallies[v] for _, v in rows]).reshape(len(rows), *tallies[0].shape)
    keys = ranking_keys(counts, VL)
    ranked = [str(index) for index in sorted(range(len(rows)), key=lambda index: (keys[index], index))]
    found = comparable(ranked, {str(index): judge for index, (judge, _) in enumerate(rows)})
    assert found.chosen == slow_comparable([judge for judge, _ in rows], counts)
    assert found.judges == len({judge for judge, _ in rows})


def test_at_most_five_hundred_judges_are_compared():
    names = [str(number) for number in range(600)]
    found = comparable(names, {name: name for name in names})
    assert found.chosen == names[:500]
    assert found.judges == 600
