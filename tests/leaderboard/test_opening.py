"""Opening of the front page: the sentence about who is best, and the strips of dots."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from leaderboard.board.opening import BestSet, strips, untested
from leaderboard.board.opening import finding as sentences
from leaderboard.board.query import BoardQuery
from leaderboard.board.rows import Board, BoardRow, build_board
from leaderboard.render import opening_markup
from tests.factories.snapshots import baselines, crowd, entry, snapshot
from tests.factories.specs import VL
from tests.leaderboard.test_sections import reported
from vlrb.reported_arithmetic import arithmetic_check
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
    return replace(found, ranges={by: ranges}, _standings={})


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
    wrong = replace(reported("Judge X", 90.0), check=arithmetic_check(figures, VL))
    assert wrong.inconsistency
    found = board(published=(wrong, reported("Judge Y", 75.0)))
    assert "Judge Y, 75.0" in finding(found)
    assert strips(found)[0].best_name == "Judge Y"


def test_without_scores_the_sentence_says_so_and_without_results_there_is_no_figure() -> None:
    (nobody,) = sentences(board())
    assert nobody.startswith("No judge ")
    assert finding(board(published=(reported("Judge Y", 75.0),))).startswith(f"{nobody} Best reported: ")
    assert strips(board()) == ()
    assert "<figure" not in opening_markup(board())


def test_each_result_is_one_dot_and_baselines_are_none() -> None:
    found = board(0.9, 0.6, 0.4, published=(reported("Judge Y", 75.0), reported("Judge X", None)))
    macro, general = strips(found)[:2]
    assert [strip.key for strip in strips(found)] == ["macro", "general", "hallucination", "reasoning"]
    assert (macro.scored.count("h0"), macro.reported.count("h0")) == (3, 1)
    assert general.reported.count("h0") == 2
    assert (macro.best_is_reported, macro.best_name) == (False, found.rows[0].model)


def test_dots_stay_in_their_strip_however_many_there_are() -> None:
    found = build_board(snapshot(crowd(1500)), VL, published=())  # twice as many as have room
    for strip in strips(found):
        points = re.findall(r"M(\d+) (\d+)h0", strip.scored)
        assert 0 < len(points) <= 7 * 101
        assert all(0 <= int(x) <= 1000 and 0 <= int(y) <= 40 for x, y in points)


def test_judges_of_the_demo_are_not_set_beside_published_results() -> None:
    found = board(0.9, 0.9, published=(reported("Judge Y", 75.0),))
    demo = replace(found, spec=replace(VL, synthetic=True), _standings={})
    assert "reported" not in finding(demo)


def test_the_figure_says_in_words_what_its_dots_show() -> None:
    macro = strips(board(0.9, 0.6, published=(reported("owner/Judge-Y", 75.0), reported("Judge X", None))))[0]
    assert re.fullmatch(
        r"2 scored here, from [0-9.]+ to [0-9.]+\. 1 reported, from 75\.0 to 75\.0\.", " ".join(macro.summary)
    )
    assert macro.best_name in ("Judge-Y", "Judge 1")


def test_a_name_is_text_in_the_sentence() -> None:
    found = build_board(snapshot([entry(1, 0.9, model="<b>x</b>")]), VL, published=())
    assert "&lt;b&gt;x&lt;/b&gt; is scored" in opening_markup(found)


def test_scores_over_time_are_one_click_from_the_first_sentence() -> None:
    assert 'href="/analyse?chart=history"' in opening_markup(board(0.9))
