"""Names and slugs of judges."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vlrb.judges import MOST_SLUG, judge_name, judge_slug


@pytest.mark.parametrize(
    ("model", "stated", "name", "slug"),
    [
        ("R1-Reward", None, "R1-Reward", "r1-reward"),
        ("GPT-4o (2024-08-06)", None, "GPT-4o", "gpt-4o"),
        ("IXC-2.5-Reward (official results.json in repo)", None, "IXC-2.5-Reward", "ixc-2-5-reward"),
        ("Judge (a) (b)", None, "Judge", "judge"),
        ("(only a remark)", None, "(only a remark)", "only-a-remark"),
        ("R1-Reward Voting@15", "R1-Reward", "R1-Reward", "r1-reward"),
        ("My model", "  R1   Reward ", "R1 Reward", "r1-reward"),
        ("My model", "", "My model", "my-model"),
        ("MR. Judge-7B", None, "MR. Judge-7B", "mr-judge-7b"),
        ("Caf\u00e9 7B", None, "Caf\u00e9 7B", "cafe-7b"),
    ],
)
def test_a_judge_is_named_by_its_model_without_remarks_unless_somebody_states_it(
    model: str, stated: str | None, name: str, slug: str
) -> None:
    assert judge_name(model, stated) == name
    assert judge_slug(name) == slug


@given(st.text(min_size=1, max_size=200))
@example("\u8bc4\u5224")
@example("-" * 90)
@example("a" * 200)
def test_a_slug_can_stand_in_an_address_and_knows_no_case(name: str) -> None:
    slug = judge_slug(name)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug)
    assert len(slug) <= MOST_SLUG
    assert judge_slug(f"  {name} ") == slug
    assert judge_slug(name.casefold()) == slug


def test_names_in_other_scripts_keep_slugs_of_their_own() -> None:
    slugs = {
        judge_slug(name) for name in ("\u8bc4\u5224", "\u88c1\u5224", "\u8bc4\u5224 7B", "Judge", "J" * 100, "J" * 101)
    }
    assert len(slugs) == 6
    assert judge_slug("\u8bc4\u5224 7B").startswith("7b-")


def test_no_judge_has_the_address_of_a_page() -> None:
    assert judge_slug("Compare").startswith("compare-")
