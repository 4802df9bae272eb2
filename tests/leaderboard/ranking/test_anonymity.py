"""No figure about two entries names an anonymous one: versions of one judge agree more than two judges do."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from leaderboard.analyse.pages import analyse_page, figure_file, read_query
from leaderboard.compare import service as compare
from leaderboard.explore.item_catalog import ItemCatalog
from leaderboard.ranking.anonymity import anonymous_entries
from leaderboard.site.cache import BoardVersion
from leaderboard.site.render_context import RenderContext
from tests.factories import pairwise
from tests.factories.specs import VL
from vlrb.statistics.pairwise import PairwiseArrays

ANONYMOUS, NAMED, OTHER = "e00000000004", "e00000000001", "e00000000002"


def board_version(**facts: Any) -> BoardVersion:
    body = pairwise.body()
    for entry in body["entries"]:
        if entry["id"] == ANONYMOUS:
            entry.update(facts)
    return BoardVersion("s", body, context=RenderContext(VL), published=())


def relations(of: BoardVersion) -> PairwiseArrays:
    found = ItemCatalog(relations_body=pairwise.stored).relations(of, "v2")
    assert found is not None
    return found


@cache
def hidden() -> BoardVersion:
    return board_version(anonymous_until="2096-10-02T07:06:40Z")


@cache
def shown() -> BoardVersion:
    return board_version(anonymous_until=None)


def test_relations_without_some_entries_are_those_of_the_others() -> None:
    whole = relations(shown())
    less = whole.without({ANONYMOUS})
    assert set(whole.entries) - set(less.entries) == {ANONYMOUS}
    for i, one in enumerate(less.entries):
        for j, other in enumerate(less.entries):
            at, to = whole.entries.index(one), whole.entries.index(other)
            assert less.agreement[i, j] == whole.agreement[at, to]
            assert less.pair(one, other, VL) == whole.pair(one, other, VL)
    assert whole.without(()) is whole


def test_no_share_of_judges_that_are_right_on_a_pair_depends_on_an_anonymous_entry() -> None:
    """Which named judges are right on a pair is public: what is left of the share of all would be the anonymous one."""
    whole = relations(shown())
    assert whole.outcomes is not None
    others = whole.outcomes.copy()
    others[whole.entries.index(ANONYMOUS)] = 2 - others[whole.entries.index(ANONYMOUS)]
    once, again = (one.without({ANONYMOUS}) for one in (whole, replace(whole, outcomes=others)))
    assert once.bands is not None
    assert np.array_equal(once.bands, again.bands)
    assert not np.array_equal(once.bands, whole.bands)
    assert set(whole.without(whole.entries[:2]).bands.tolist()) == {-1}  # too few for a share


def test_pages_and_api_read_relations_without_anonymous_entries() -> None:
    assert anonymous_entries(hidden().snapshot) == {ANONYMOUS}
    assert ANONYMOUS not in relations(hidden()).entries
    assert ANONYMOUS in relations(shown()).entries  # the control: what is left out was there


def test_an_anonymous_entry_has_intervals_and_no_paired_count() -> None:
    whole = relations(shown())
    for of, paired in ((hidden(), False), (shown(), True)):
        (pair,) = compare.compare(of, [NAMED, ANONYMOUS], relations=whole).pairs
        assert pair.paired is paired
        assert any(one.only_first is not None or one.p is not None for one in pair.differences) is paired
    assert "without its owner" in compare.compare(hidden(), [NAMED, ANONYMOUS], relations=whole).pairs[0].reason


def test_the_agreement_figure_leaves_anonymous_entries_out_and_says_so() -> None:
    catalog = ItemCatalog(relations_body=pairwise.stored)
    for of, expected in ((hidden(), 1), (shown(), 3)):
        asked = {"entries": f"{NAMED},{OTHER},{ANONYMOUS}", "chart": "agreement"}
        drawn = figure_file(of, read_query(asked, of), catalog, "json")
        assert drawn is not None
        assert len(json.loads(drawn.encodings["identity"])["rows"]) == expected
    assert "anonymous" in analyse_page(hidden(), read_query(asked, hidden()), catalog=catalog)
