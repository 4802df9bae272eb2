"""Ranks and rank ranges in the order of the view."""

from leaderboard.ranking.rank_info import RankInfo, band_classes, order_of, shared_ranks, standings, with_bands
from leaderboard.ranking.rows import build_board
from tests.factories import pairwise
from tests.factories.snapshots import entry
from tests.factories.specs import VL
from vlrb.statistics.pairwise import RankRange


def test_equal_counts_share_a_rank_and_what_has_no_value_has_none() -> None:
    values = [("a", 0.5), ("b", 0.75), ("c", 0.5), ("d", None), ("e", 0.25)]
    assert shared_ranks(values) == {"b": 1, "a": 2, "c": 2, "e": 4}


def test_a_range_is_given_in_ranks_of_the_board() -> None:
    """One judge was not compared."""
    ranks = {"first": 1, "untested": 2, "second": 3, "third": 4}
    ranges = {
        "first": RankRange(1, 2),
        "second": RankRange(1, 3),
        "third": RankRange(2, 3),
    }
    assert standings(ranks, ranges) == {
        "first": RankInfo(1, 1, worst=3, level=False),
        "untested": RankInfo(2),
        "second": RankInfo(3, 1, worst=4, level=True),
        "third": RankInfo(4, 3, worst=4, level=False),
    }


def test_a_judge_whose_tested_version_is_not_the_ranked_one_keeps_its_place_among_the_tested() -> None:
    ranges = {"old": RankRange(1, 2), "other": RankRange(1, 2)}
    assert standings({"new": 1, "other": 2}, ranges, versions={"old": "new"}) == {
        "new": RankInfo(1),
        "other": RankInfo(2, 1, worst=2, level=True),
    }


def test_a_range_over_many_of_the_judges_is_wide_and_one_of_few_ranks_is_not() -> None:
    ranks = {f"{rank:02}": rank for rank in range(1, 41)}
    ranges = {name: RankRange(max(1, rank - 2), min(40, rank + 2)) for name, rank in ranks.items()}
    found = standings(ranks, ranges | {"20": RankRange(10, 20), "30": RankRange(21, 30)})
    assert {name for name, at in found.items() if at.wide} == {"20"}
    few = standings({"a": 1, "b": 2, "c": 3}, dict.fromkeys("abc", RankRange(1, 3)))
    assert not any(at.wide for at in few.values())


def test_who_cannot_be_first_begins_below_those_that_share_the_first_rank() -> None:
    ranges = {"a": RankRange(1, 2), "b": RankRange(1, 2), "c": RankRange(2, 3)}
    assert standings({"a": 1, "b": 1, "c": 3}, ranges)["c"] == RankInfo(3, 3, worst=3)


def test_a_range_that_counts_removed_entries_is_not_shown() -> None:
    assert standings({"a": 1}, {"a": RankRange(1, 2), "gone": RankRange(1, 2)}) == {"a": RankInfo(1)}


def test_ranks_follow_accuracies_and_nothing_else() -> None:
    assert [order_of(key, VL) for key in ("hallucination", "overall", "date", "rank")] == [
        "hallucination",
        "overall",
        "macro",
        "macro",
    ]


def test_only_strict_boards_have_ranges_and_each_rank_lies_in_its_range() -> None:
    body = pairwise.body(entry(40, 0.66))
    board = build_board(body, VL)
    for order in ("macro", "overall", "general", "hallucination", "reasoning"):
        found = board.standings(order)
        tested = [at for at in found.values() if at.best is not None and at.worst is not None]
        assert len(tested) == len(pairwise.SKILLS)
        assert all(at.best <= at.rank <= at.worst for at in tested if at.best and at.worst)
        assert found[next(name for name, at in found.items() if at.rank == 1)].level is False
    assert {row.id for row in board.rows if row.rank_range} == set(pairwise.SKILLS)
    for rules in ({"protocol": "paper"}, {"revision": "v0"}):
        assert not build_board(body, VL, **rules).ranges  # type: ignore[arg-type]


def test_the_first_band_holds_whoever_could_be_first() -> None:
    found = with_bands(
        {"a": RankInfo(1, 1, worst=2), "b": RankInfo(2, 1, worst=3, level=True), "c": RankInfo(3, 2, worst=3)}
    )
    assert [found[name].band for name in "abc"] == [1, 1, None]  # a band of one is none


def test_a_lower_band_holds_judges_whose_range_reaches_its_top() -> None:
    ranges = {"a": (1, 1, 1), "b": (2, 2, 4), "c": (3, 2, 4), "d": (4, 3, 5), "e": (5, 4, 5)}
    found = with_bands({name: RankInfo(*range_) for name, range_ in ranges.items()})
    assert [found[name].band for name in "abcde"] == [None, 2, 2, 4, 4]


def test_what_was_not_tested_is_in_no_band() -> None:
    found = with_bands(
        {"a": RankInfo(1, 1, worst=3), "new": RankInfo(2), "b": RankInfo(3, 1, worst=3, level=True), "c": RankInfo(4)}
    )
    assert found["new"].band is None
    assert band_classes(["a", "b", "c"], found) == {"a": " band begins", "b": " band ends"}


def test_a_judge_that_stands_alone_interrupts_a_band() -> None:
    found = with_bands(
        {"a": RankInfo(1, 1, worst=3), "alone": RankInfo(2, 2, worst=2), "b": RankInfo(3, 1, worst=3, level=True)}
    )
    assert band_classes(["a", "alone", "b"], found) == {"a": " band begins ends", "b": " band begins ends"}


def test_the_range_of_a_first_place_that_nobody_shares_is_not_shown() -> None:
    """Tests of the first place alone find it alone, though tests of all ranks at once leave the second open."""
    ranges = {"a": RankRange(1, 2), "b": RankRange(2, 2), "c": RankRange(3, 4), "d": RankRange(3, 4)}
    found = with_bands(standings({"a": 1, "b": 2, "c": 3, "d": 4}, ranges))
    assert {name: at.range for name, at in found.items()} == {"a": "", "b": "", "c": "3–4", "d": "3–4"}
    shared = with_bands(standings({"a": 1, "b": 2}, dict.fromkeys("ab", RankRange(1, 2))))
    assert {at.range for at in shared.values()} == {"1–2"}
