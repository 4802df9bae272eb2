"""Opening of the front page: the sentence about who is best, and the strips of dots."""

from __future__ import annotations

import re
from dataclasses import replace

from leaderboard.board.opening import finding as sentences
from leaderboard.board.opening import strips
from leaderboard.board.rows import Board, build_board
from leaderboard.render import opening_markup
from tests.factories.snapshots import baselines, crowd, entry, snapshot
from tests.factories.specs import VL
from tests.leaderboard.test_sections import reported
from vlrb.statistics.pairwise import RankRange


def board(*skills: float, published: tuple[object, ...] = ()) -> Board:
    found = [entry(number, skill) for number, skill in enumerate(skills, start=1)]
    return build_board({**snapshot(found), "baselines": baselines(False)}, VL, published=published)  # type: ignore[arg-type]


def finding(found: Board) -> str:
    """Return the sentences above the table as they stand there."""
    return " ".join(sentences(found))


def test_the_sentence_names_a_leader_its_interval_and_the_best_reported_result() -> None:
    found = board(0.9, 0.4, published=(reported("Judge Y", 75.0), reported("Judge X", 70.0)))
    top = found.rows[0]
    low, high = (f"{100 * bound:.1f}" for bound in top.interval["macro"])
    assert finding(found) == (
        f"Judge 1 leads: macro {100 * (top.value('macro') or 0):.1f} ({low}–{high}). Best reported 75.0, not verified."
    )


def test_judges_that_tests_cannot_separate_from_the_first_share_its_place() -> None:
    found = board(0.9, 0.9, 0.4)
    first, second, third = (row.id for row in found.rows if row.tier == "scored")
    ranges = {
        first: RankRange(1, 2),
        second: RankRange(1, 2),
        third: RankRange(3, 3),
    }
    shared = replace(found, ranges={"macro": ranges}, _standings={})
    assert re.match(r"Two judges share first place; .*macro \d\d\.\d ", finding(shared))


def test_without_scores_the_sentence_says_so_and_without_results_there_is_no_figure() -> None:
    (nobody,) = sentences(board())
    assert nobody.startswith("No judge ")
    assert finding(board(published=(reported("Judge Y", 75.0),))) == f"{nobody} Best reported 75.0, not verified."
    assert strips(board()) == ()
    assert "<figure" not in opening_markup(board())


def test_each_result_is_one_dot_and_baselines_are_none() -> None:
    found = board(0.9, 0.6, 0.4, published=(reported("Judge Y", 75.0), reported("Judge X", None)))
    macro, general = strips(found)[:2]
    assert [strip.key for strip in strips(found)] == ["macro", "general", "hallucination", "reasoning"]
    assert (macro.scored.count("h0"), macro.reported.count("h0")) == (3, 1)
    assert general.reported.count("h0") == 2
    assert (macro.best, macro.best_is_reported) == max(
        (f"{100 * (found.rows[0].value('macro') or 0):.1f}", False), ("75.0", True)
    )


def test_dots_stay_in_their_strip_however_many_there_are() -> None:
    found = build_board(snapshot(crowd(1500)), VL, published=())  # twice as many as have room
    for strip in strips(found):
        points = re.findall(r"M(\d+) (\d+)h0", strip.scored)
        assert 0 < len(points) <= 7 * 101
        assert all(0 <= int(x) <= 1000 and 0 <= int(y) <= 40 for x, y in points)


def test_judges_of_the_demo_are_called_simulated_and_not_set_beside_published_results() -> None:
    found = board(0.9, 0.9, published=(reported("Judge Y", 75.0),))
    demo = replace(found, spec=replace(VL, synthetic=True), _standings={})
    assert "reported" not in finding(demo)
    ranges = {row.id: RankRange(1, 2) for row in found.rows if row.tier == "scored"}
    shared = replace(demo, ranges={"macro": ranges}, _standings={})
    assert re.match(r"Two simulated judges .+ first place", finding(shared))


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
