"""Names of judges and organisations as the board shows them."""

from __future__ import annotations

import re

import pytest

from leaderboard.ranking.names import short_name
from leaderboard.site.render import environment
from leaderboard.site.render_context import RenderContext


def markup(model: str) -> str:
    """Return a name as a row of the board has it."""
    return str(environment(RenderContext()).get_template("parts/names.html").module.shown_name(model))  # type: ignore[attr-defined]  # a macro


def shown(model: str) -> str:
    """Return the text of the markup, with what is hidden from sight."""
    return re.sub(r"<[^>]+>", "", markup(model))


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("Lab/judge-7B", "judge-7B"),
        ("judge", "judge"),
        ("GPT-4o / low detail", "GPT-4o / low detail"),
        ("a/b/c", "a/b/c"),
    ],
)
def test_a_repository_is_called_by_its_name_without_the_owner(model: str, name: str) -> None:
    assert short_name(model) == name


def test_a_name_may_break_where_browsers_would_not() -> None:
    assert markup("a_b-c d/e") == "a_<wbr>b-c d/e"


def test_the_middle_of_a_long_name_is_hidden_and_still_text() -> None:
    name = "Lab/" + "run_" * 30 + "end"
    assert '<span class="cut">' in markup(name)
    assert shown(name) == name


def test_a_name_is_escaped() -> None:
    assert "<img" not in markup("<img onerror=x>" * 9)
