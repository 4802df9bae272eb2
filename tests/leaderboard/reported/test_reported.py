"""The page of published figures puts each under what arithmetic says of it, as its row on the board does."""

from __future__ import annotations

from leaderboard.ranking.reported_results import load_published
from leaderboard.reported.pages import SORTS, VERDICTS, ReportedView, read_view, reported_page, summary
from leaderboard.site.cache import BoardCache
from tests.factories.snapshots import FixedSource, snapshot
from vlrb.benchmarks.spec_file import load_spec


def test_a_result_is_wrong_on_the_page_exactly_where_the_board_marks_it() -> None:
    for benchmark in ("vl-rewardbench", "mm-rlhf-rewardbench"):
        for result in load_published(load_spec(benchmark)):
            assert (result.check.verdict not in ("adds-up", "not-checkable")) == bool(result.check.remark), result.id


def test_every_result_is_counted_once_and_a_filter_shows_what_it_counts() -> None:
    board_version = BoardCache(FixedSource(snapshot([]))).refresh()
    counts = summary(board_version.published)
    assert sum(counts.values()) == len(board_version.published) > 100
    for verdict in VERDICTS:
        for sort in SORTS:
            page = reported_page(board_version, read_view({"verdict": verdict, "sort": sort}))
            assert page.count('scope="row"') == counts[verdict]


def test_a_view_has_one_address_and_what_means_nothing_is_as_good_as_none() -> None:
    assert read_view({"verdict": "zz", "sort": "zz"}) == ReportedView() and ReportedView().url() == "/reported"
    assert ReportedView("adds-up").url(sort="date") == "/reported?verdict=adds-up&sort=date"
