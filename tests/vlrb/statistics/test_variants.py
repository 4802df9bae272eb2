"""Entries that are variants of one judge."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlrb.statistics.variants import ALIKE_FROM, Variant, alike_pairs, family, group_variants


def groups(*variants, alike=()):
    found = group_variants(variants, alike)
    return {frozenset(name for name in found if found[name] == root) for root in found.values()}


def sets(*names):
    return {frozenset(one) for one in names}


def test_versions_of_one_account_are_variants_of_one_judge():
    assert groups(
        Variant("a", "ann", model="Judge v1"), Variant("b", "ann", model="judge-v2"), Variant("c", "ann", model="Other")
    ) == sets("ab", "c")


def test_one_account_with_another_name_on_the_same_base_model_tries_the_same_judge():
    assert groups(
        Variant("a", "ann", model="First", base_model="Qwen/Qwen2.5-VL-7B"),
        Variant("b", "ann", model="Second", base_model="qwen2.5 vl 7b"),
        Variant("c", "ann", model="Qwen2.5-VL-7B"),
        Variant("d", "ann", model="Third", base_model="InternVL"),
    ) == sets("abc", "d")


def test_one_organisation_is_as_good_as_one_account_and_a_base_model_alone_is_not():
    base = {"base_model": "Qwen2.5-VL-7B"}
    assert groups(
        Variant("a", "ann", model="A", organisation="A Lab", **base),
        Variant("b", "bob", model="B", organisation="a lab", **base),
        Variant("c", "cy", model="C", **base),
    ) == sets("ab", "c")


def test_votes_that_agree_join_what_belongs_together_with_either():
    ann, bob = (
        (Variant("a", "ann", model="A"), Variant("b", "ann", model="A v2")),
        (Variant("c", "bob", model="C"), Variant("d", "cy", model="D")),
    )
    assert groups(*ann, *bob, alike=[("b", "c")]) == sets("abc", "d")


def test_who_is_not_named_is_grouped_with_nobody():
    one = Variant("a", "ann", model="Judge", organisation="Lab", base_model="Base", judge="judge", named=False)
    named = Variant("b", "ann", model="Judge", organisation="Lab", base_model="Base", judge="judge")
    other = Variant("c", "ann", model="Judge", organisation="Lab", base_model="Base", judge="judge", named=False)
    assert groups(one, named, other, alike=[("a", "b"), ("c", "a")]) == sets("a", "b", "c")


@pytest.mark.parametrize(
    ("name", "key"),
    [("Lab/My-Judge v2", "myjudge"), ("My Judge_run 13", "myjudge"), ("GPT-4o", "gpt4o"), ("GPT-4", "gpt4"),
     ("Judge 7B", "judge7b"), ("Judge-v1.2", "judge"), ("", "")],
)  # fmt: skip
def test_a_family_is_a_name_without_publisher_spelling_and_version(name, key):
    assert family(name) == key


variant = st.builds(
    Variant,
    st.just(""),
    st.sampled_from("xy"),
    st.sampled_from(["m", "n", "o"]),
    st.sampled_from(["", "p"]),
    st.sampled_from(["", "m", "q"]),
    st.sampled_from(["", "j"]),
    st.booleans(),
)


@given(st.lists(variant, max_size=4))
def test_groups_do_not_depend_on_the_order_and_are_those_of_all_chains(rows):
    named = [Variant(str(n), *(getattr(row, name) for name in Variant.__slots__[1:])) for n, row in enumerate(rows)]

    def linked(one, other):
        makers = one.owner == other.owner or (one.organisation == other.organisation != "")
        families = ({one.model, one.base_model} & {other.model, other.base_model}) - {""}
        return one.named and other.named and (one.judge == other.judge != "" or bool(makers and families))

    chains = [{one.id} for one in named]
    for one in named:
        for other in named:
            if linked(one, other):
                joined = set().union(*(chain for chain in chains if chain & {one.id, other.id}))
                chains = [chain for chain in chains if not chain & joined] + [joined]
    for order in permutations(named):
        assert groups(*order) == {frozenset(chain) for chain in chains}


def test_votes_are_alike_from_the_limit_on_among_the_items_that_both_files_have():
    base = np.zeros(100, dtype=np.int8)
    at, below = base.copy(), base.copy()
    at[: round(100 * (1 - ALIKE_FROM))] = 1
    below[: round(100 * (1 - ALIKE_FROM)) + 1] = -1
    absent = np.full(100, -2, dtype=np.int8)
    part = at.copy()
    part[40:] = -2  # 5 of the 40 items differ
    found = alike_pairs("abcde", np.stack([base, at, below, absent, part]))
    assert found == [("a", "b"), ("b", "e")]
