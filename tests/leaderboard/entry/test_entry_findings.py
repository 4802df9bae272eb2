"""Findings of an entry's page: what is said first, and that nothing is said that the data cannot show."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from leaderboard.entry.pages import EntryQuery, entry_page, result_card
from leaderboard.explore.item_catalog import ItemCatalog
from leaderboard.ranking.differences import Pair, ScoreDifference
from leaderboard.ranking.findings import category_finding, neighbour_finding, tag_finding
from leaderboard.ranking.position import marked_strips
from leaderboard.ranking.rows import build_board
from leaderboard.site.cache import BoardCache
from tests.factories.snapshots import FixedSource, entry, snapshot
from tests.factories.specs import SLICES, VL
from tests.leaderboard.ranking.test_sections import reported
from vlrb.baselines import EARLIER
from vlrb.scoring import FIELDS, Tally
from vlrb.statistics.reliability import corrected_accuracy

KEYS = ("general", "hallucination", "reasoning")


def found(*values: tuple[float, float]) -> Any:
    """(accuracy, half an interval) of each category."""
    shares = {key: value for key, (value, _) in zip(KEYS, values, strict=True)}
    intervals = {key: (value - half, value + half) for key, (value, half) in zip(KEYS, values, strict=True)}
    return category_finding(shares, intervals, keys=KEYS)


def test_a_category_is_the_strongest_only_where_it_is_significantly_above_all_others() -> None:
    clear = found((0.41, 0.07), (0.79, 0.03), (0.50, 0.05))
    assert (clear.first[0], [key for key, _ in clear.below], clear.level) == (
        "hallucination",
        ["reasoning", "general"],
        (),
    )
    partly = found((0.40, 0.05), (0.60, 0.05), (0.58, 0.05))
    assert ([key for key, _ in partly.below], [key for key, _ in partly.level]) == (["general"], ["reasoning"])
    assert found((0.50, 0.05), (0.52, 0.05), (0.51, 0.05)).below == ()
    assert category_finding({"general": 0.5}, {}, keys=KEYS) is None


def tagged(**right_of: tuple[int, int]) -> Tally:
    """A judge with (pairs, right) of some error tags, and 300 of 400 tagged pairs right in all."""
    counts = np.zeros((len(SLICES), len(FIELDS)), dtype=np.int64)
    for name, (pairs, right) in {"POVID": (400, 300), **right_of}.items():
        counts[SLICES.index(name), :3] = pairs, right, pairs - right
    return Tally(1, counts, agreeing=np.zeros((len(SLICES), 2), dtype=np.int64), has_tags=True, spec=VL)


def test_an_error_hurts_only_where_its_pairs_are_significantly_less_often_right_than_the_other_tagged_pairs() -> None:
    result = tag_finding(tagged(existence=(100, 40), counting=(50, 34), other=(50, 45)))
    assert result is not None
    assert [key for key, _share in result.ranked] == ["existence", "counting", "other"]
    assert result.harmful == ("existence",)
    assert tag_finding(replace(tagged(), has_tags=False)) is None


def test_neighbours_are_ahead_behind_or_not_to_be_told_apart_after_holm() -> None:
    board = build_board(snapshot([entry(number, 0.5) for number in range(1, 5)]), VL)
    own, *others = board.rows[:4]

    def pair(other: Any, delta: float, *, p: float) -> Pair:
        return Pair(own, other, reason="", differences=(ScoreDifference("macro", delta, p=p),), spec=VL)

    pairs = [pair(others[0], 0.2, p=0.001), pair(others[1], -0.1, p=0.03), pair(others[2], -0.2, p=0.001)]
    result = neighbour_finding(pairs, "macro")
    assert result is not None
    assert (result.ahead_of, result.behind, result.level) == ((pairs[0],), (pairs[1], pairs[2]), ())
    weaker = neighbour_finding([pairs[0], replace_p(pairs[1], 0.04), replace_p(pairs[2], 0.04)], "macro")
    assert weaker is not None
    assert len(weaker.level) == 2
    assert neighbour_finding((), "macro") is None


def replace_p(pair: Pair, p: float) -> Pair:
    return replace(pair, differences=(replace(pair.differences[0], p=p),))


def test_the_strip_marks_the_entry_with_its_interval_within_the_axis() -> None:
    board = build_board(snapshot([entry(1, 0.9), entry(2, 0.1)]), VL, published=(reported("Judge Y", 75.0),))
    for row in board.rows:
        if row.tier == "baseline":
            continue
        for strip in marked_strips(board, row):
            assert strip.mark is None or 0 <= strip.mark <= 1000
            if strip.interval and strip.mark is not None:
                assert strip.interval[0] <= strip.mark <= strip.interval[1]
    without = replace(board.rows[0], scores=dict.fromkeys(board.rows[0].scores))
    assert marked_strips(board, without) == ()


def test_the_card_of_a_new_entry_says_its_rank_its_neighbours_and_how_to_show_it(tmp_path: Path) -> None:
    cache = BoardCache(FixedSource(snapshot([entry(number, 0.5 + number / 20) for number in range(1, 5)])))
    board_version, catalog = cache.refresh(), ItemCatalog(None, None, relations_body=lambda _: None, spec=VL)
    row = next(one for one in board_version.board().rows if one.tier == "scored")
    early, settled = result_card(board_version, catalog, entry_id=row.id, base="https://board.example")
    assert not settled
    assert 'role="status"' in early, "the tests follow"
    markup, settled = result_card(board_version, catalog, entry_id=row.id, base="https://board.example", waited=60)
    words = " ".join(re.sub("<[^>]+>", " ", markup).split())
    assert settled and 'role="status"' not in markup
    assert re.search(r"Rank \d of 4 scored here", words)
    assert "guessing (50%)" in words
    assert "significant" in words
    for part in ("badge.svg", "og.png", "@misc{", "/compare?entries="):
        assert part in markup
    assert result_card(board_version, catalog, entry_id="nobody") == ("", True)


def test_the_page_says_what_as_many_wrong_labels_as_these_corrected_would_cost() -> None:
    known = {"id": EARLIER, "name": "Earlier", "expected": None, "tallies": {"v2": entry(9, 0.95)["tallies"]["v2"]}}
    board_version = BoardCache(FixedSource({**snapshot([entry(1, 0.7)]), "baselines": [known]})).refresh()
    rows = board_version.board().rows
    perfect, value = (row.value("overall") for row in rows if row.tier in ("scored", "baseline"))
    perfect, value = sorted((perfect or 0, value or 0), reverse=True)
    said = f"overall is {100 * corrected_accuracy(value, 1 - perfect):.1f}% by right labels, not {100 * value:.1f}%"
    for revision, there in (("v2", True), ("v0", False)):
        render = entry_page(board_version, EntryQuery("e00000000001", revision=revision), catalog=ItemCatalog())
        assert render is not None
        assert (said in " ".join(re.sub("<[^>]+>", " ", render()).split())) == there


def test_the_page_states_place_and_length_apart_as_they_are_stored() -> None:
    made = entry(1, 0.7)
    style = {"order": [0.5, 0.25, 0.75], "length": [-0.1, -0.2, 0.0], "categories": {}, "pairs": 900}
    made["tallies"]["v2"]["behaviour"]["style"] = style
    render = entry_page(
        BoardCache(FixedSource(snapshot([made]))).refresh(), EntryQuery(made["id"]), catalog=ItemCatalog()
    )
    assert render is not None
    assert re.search(r"\+0\.50 \(\+0\.25 to \+0\.75\).*-0\.10 \(-0\.20 to \+0\.00\)", render(), re.S)
