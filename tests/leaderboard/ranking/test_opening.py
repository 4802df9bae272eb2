"""Opening of the front page: the sentence about who is best, cards, and dots."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from leaderboard.board.cards import cards
from leaderboard.ranking.opening import BestSet, untested
from leaderboard.ranking.opening import finding as sentences
from leaderboard.ranking.parameters import BoardQuery
from leaderboard.ranking.position import axis_style, marked_strips
from leaderboard.ranking.rows import Board, BoardRow, build_board
from tests.factories.snapshots import baselines, entry, snapshot
from tests.factories.specs import VL
from tests.leaderboard.ranking.test_sections import reported
from vlrb.numbers.reported import check_reported
from vlrb.statistics.pairwise import RankRange


def board(*skills: float, published: tuple[object, ...] = ()) -> Board:
    found = [entry(number, skill) for number, skill in enumerate(skills, start=1)]
    return build_board({**snapshot(found), "baselines": baselines(False)}, VL, published=published)  # type: ignore[arg-type]


def finding(found: Board, best_set: BestSet = untested, **view: Any) -> str:
    """Return the sentences above the table of a view as they stand there."""
    return " ".join(sentences(found, BoardQuery(found.spec, **view), best_set=best_set))


def shared(found: Board, *, by: str = "macro") -> Board:
    """Return the board where all but the last could be first."""
    ids = [row.id for row in found.rows if row.tier == "scored"]
    ranges = {name: RankRange(1, len(ids) - 1) for name in ids[:-1]} | {ids[-1]: RankRange(len(ids), len(ids))}
    return replace(found, ranges={by: ranges}, _kept={})


def figures(row: BoardRow, key: str) -> str:
    low, high = (f"{100 * bound:.1f}" for bound in row.interval[key])
    return f"{key} {100 * (row.value(key) or 0):.1f} ({low}–{high})"


def test_the_sentence_names_a_leader_its_interval_and_the_best_reported_result() -> None:
    found = board(0.9, 0.4, published=(reported("Judge Y", 75.0), reported("Judge X", 70.0)))
    best = figures(found.rows[0], "macro")
    assert finding(found) == f"Judge 1 leads: {best}. Best reported: Judge Y, 75.0, not verified."


def test_all_that_could_be_first_share_its_place() -> None:
    found = board(0.9, 0.9, 0.4)
    top, second = found.rows[:2]
    assert finding(shared(found)).startswith(f"{top.model} shares first place with {second.model}: macro ")
    crowded = finding(shared(board(0.9, 0.9, 0.8, 0.8, 0.7, 0.4)))
    assert " shares first place with 4 others: macro " in crowded


def test_the_sentence_follows_what_orders_the_view() -> None:
    found = board(0.6, 0.5)
    best = max(found.rows, key=lambda row: row.value("hallucination") or 0)
    assert finding(found, sort="hallucination") == f"{best.model} leads: {figures(best, 'hallucination')}."
    assert finding(found, sort="date") == finding(found)


def test_the_sentence_is_about_the_judges_that_a_filter_leaves() -> None:
    rows = [entry(1, 0.8), entry(2, 0.6, open_weights=True), entry(3, 0.5, open_weights=True)]
    found = build_board(snapshot(rows), VL)
    asked: list[tuple[list[str], str]] = []

    def both(names: Any, order: str) -> Any:
        asked.append((sorted(names), order))
        return names

    open_weights = (("open", "yes"),)
    two = [row for row in found.rows if row.open_weights]
    assert finding(found, filters=open_weights).startswith(f"Of these judges, {two[0].model} leads: macro ")
    tested = finding(found, both, filters=open_weights, sort="general")
    assert re.match(r"Of these judges, Judge \d shares first place with Judge \d: general ", tested)
    assert asked == [(sorted(row.id for row in two), "general")]
    nobody = finding(found, both, search="nobody")
    assert nobody and not any(row.model in nobody for row in found.rows)


def test_untested_judges_that_share_first_place_on_the_board_share_it_in_a_filter() -> None:
    found = shared(board(0.9, 0.8, 0.4))
    assert " shares first place with " in finding(found, search="judge")


def test_a_tab_of_reported_results_says_nothing_of_judges_scored_here() -> None:
    found = board(0.9, 0.4, published=(reported("Judge Y", 75.0),))
    assert finding(found, tier="reported") == "Best reported: Judge Y, 75.0, not verified."
    assert "eported" not in finding(found, tier="scored")
    assert finding(found, tier="baseline") == ""


def test_a_figure_that_arithmetic_speaks_against_is_never_called_the_best() -> None:
    figures = {**dict.fromkeys(("general", "hallucination", "reasoning", "overall"), 50.0), "macro": 90.0}
    wrong = replace(reported("Judge X", 90.0), check=check_reported(figures, VL))
    assert wrong.check.remark
    found = board(published=(wrong, reported("Judge Y", 75.0)))
    assert "Judge Y, 75.0" in finding(found)


def test_without_scores_the_sentence_says_so() -> None:
    (nobody,) = sentences(board())
    assert nobody.startswith("No judge ")
    assert finding(board(published=(reported("Judge Y", 75.0),))).startswith(f"{nobody} Best reported: ")


def test_each_result_is_one_dot_and_baselines_are_none() -> None:
    found = board(0.9, 0.6, 0.4, published=(reported("Judge Y", 75.0), reported("Judge X", None)))
    strips = marked_strips(found, found.rows[0])
    assert [strip.key for strip in strips] == ["macro", "general", "hallucination", "reasoning"]
    assert (strips[0].scored.count("h0"), strips[0].reported.count("h0")) == (3, 1)
    assert strips[1].reported.count("h0") == 2


def test_dots_stay_in_their_strip_however_many_there_are() -> None:
    found = board(0.6)
    found = replace(found, rows=found.rows[:1] * 1500)  # twice as many as have room
    for strip in marked_strips(found, found.rows[0]):
        points = re.findall(r"M(\d+) (\d+)h0", strip.scored)
        assert 0 < len(points) <= 7 * 101
        assert all(0 <= int(x) <= 1000 and 0 <= int(y) <= 40 for x, y in points)


def test_equal_categories_of_a_row_are_dots_beside_each_other() -> None:
    row = replace(board(0.6).rows[0], scores={"general": 0.5, "hallucination": 0.5, "reasoning": 0.1})
    style = axis_style(row, "general", ("general", "hallucination", "reasoning"))
    dots = "--x-general:37.5%;--x-hallucination:37.5%;--x-reasoning:0%;--y-hallucination:5px"
    assert style.startswith("--v:37.5%;--l:") and style.endswith(dots)


def test_judges_of_the_demo_are_not_set_beside_published_results() -> None:
    found = board(0.9, 0.9, published=(reported("Judge Y", 75.0),))
    demo = replace(found, spec=replace(VL, synthetic=True), _kept={})
    assert "reported" not in finding(demo)


def lead(found: Board, **view: Any) -> str:
    return " ".join(sentences(found, BoardQuery(found.spec, **view), whole=True))


def test_the_lead_is_real_only_where_tests_say_so() -> None:
    found = board(0.9, 0.5)
    scored = [row for row in found.rows if row.tier == "scored"]
    tests = {row.id: RankRange(place, place) for place, row in enumerate(scored, start=1)}
    gap = rf"{scored[1].model} is [0-9.]+ points behind"
    tested = lead(replace(found, ranges={"macro": tests}))
    assert re.search(f"Its lead is real: {gap}, more than chance explains. Guessing gives 50", tested)
    assert re.search(f"macro [^:]+. {gap}. Guessing gives 50", lead(found))
    assert "cannot tell them apart" in lead(shared(board(0.9, 0.9, 0.4)))


def test_each_card_leads_to_its_view_and_a_figure_is_never_claimed_without_its_verdict() -> None:
    figures = {**dict.fromkeys(("general", "hallucination", "reasoning", "overall"), 50.0), "macro": 90.0}
    wrong = replace(reported("Judge X", 90.0), check=check_reported(figures, VL))
    rows = [entry(1, 0.9), entry(2, 0.6, open_weights=True, parameters_b=7.0)]
    found = build_board(snapshot(rows), VL, published=(wrong, reported("Judge Y", 75.0)))
    best, small, category, claimed = cards(found, BoardQuery(VL, search="anything", protocol="paper"))
    assert [card.name for card in (best, small, category)] == ["Judge 1", "Judge 2", "Judge 1"]
    assert (small.url, category.url) == (
        "/?protocol=paper&open=yes&max_size=10",
        "/?protocol=paper&sort=hallucination&dir=desc",
    )
    assert (claimed.name, claimed.wrong, claimed.url) == ("Judge X", True, "/?tier=reported&protocol=paper")
    assert claimed.words == wrong.remark
    assert len(cards(replace(found, spec=replace(VL, synthetic=True)), BoardQuery(VL))) == 3
    assert cards(board(), BoardQuery(VL)) == ()
    assert "1 other" not in best.words
    assert "1 other" in cards(shared(board(0.9, 0.9, 0.4)), BoardQuery(VL))[0].words
