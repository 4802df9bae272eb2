"""The analyse page: addresses, figures, and their files."""

import csv
import html
import io
import json
import re
from typing import Any

import pytest
from starlette.datastructures import QueryParams

from leaderboard.analyse.pages import (
    FILES,
    FIRST_SHOWN,
    MOST_CHOSEN,
    AnalyseQuery,
    analyse_page,
    best,
    figure_file,
    names,
    read_query,
)
from leaderboard.charts.catalog import CHARTS, charts_of
from leaderboard.explore.item_catalog import ItemCatalog
from leaderboard.ranking.reported_results import load_published
from leaderboard.site.cache import BoardCache, BoardVersion
from leaderboard.site.render_context import RenderContext
from tests.factories import pairwise
from tests.factories.snapshots import FixedSource, entries, entry, snapshot
from tests.factories.specs import VL

HOSTILE = "{{value}} ${alert(1)} <img src=x onerror=alert(1)>"
ITEMS = ItemCatalog(relations_body=pairwise.stored)


def board(*found: dict[str, Any], language: str = "en") -> BoardVersion:
    context = RenderContext(VL).in_language(language)
    return BoardVersion("s" * 20, snapshot(list(found)), context=context, published=load_published(VL))


@pytest.fixture(scope="module")
def board_version() -> BoardVersion:
    return board(
        *entries([(1, 0.85), (2, 0.75), (3, 0.65)], k=5, organisation="Lab"),
        entry(4, 0.55, k=1, parameters_b=7.0),
        entry(5, 0.45, model=HOSTILE),
        entry(6, 0.35),
    )


def asked(board_version: BoardVersion, query: str = "") -> AnalyseQuery:
    return read_query(QueryParams(query), board_version)


def page_of(board_version: BoardVersion, query: str = "") -> str:
    return analyse_page(board_version, asked(board_version, query), catalog=ITEMS)


def drawing(board_version: BoardVersion, query: str = "") -> dict[str, Any]:
    """Return the figure that the script of a page asks for."""
    made = figure_file(board_version, asked(board_version, query), ITEMS, "json")
    return json.loads(made.encodings["identity"])["plotly"] if made is not None else {}


# --- addresses --------------------------------------------------------------------------------------------------------


def test_an_address_without_a_choice_shows_the_best_judges(board_version: BoardVersion) -> None:
    query = asked(board_version)
    assert (query.entries, query.chart, query.url()) == (None, "categories", "/analyse")
    assert best(board_version, query.kind) == tuple(f"e{number:011d}" for number in range(1, FIRST_SHOWN + 1))


def test_an_address_is_read_back_and_what_means_nothing_is_dropped(board_version: BoardVersion) -> None:
    text = "entries=e00000000003,nobody,e00000000003,e00000000001&chart=tags&protocol=paper&grouping=x&revision=v0"
    query = asked(board_version, text)
    assert query.entries == ("e00000000003", "e00000000001")
    assert (query.chart, query.protocol, query.grouping, query.revision) == ("tags", "paper", "", "v0")
    assert asked(board_version, query.url().partition("?")[2]) == query


def test_checkboxes_and_a_search_make_the_same_address(board_version: BoardVersion) -> None:
    query = asked(board_version, "entries=&entries=e00000000002&entries=e00000000003&add=judge+1")
    assert query.url() == "/analyse?entries=e00000000002,e00000000003,e00000000001"
    unknown = asked(board_version, "entries=e00000000002&add=nobody+is+called+so")
    assert (unknown.entries, unknown.add) == (("e00000000002",), "nobody is called so")
    assert "No judge is called" in analyse_page(board_version, unknown, catalog=ITEMS)


def test_a_figure_is_of_so_many_judges_at_most_each_once() -> None:
    many = board(*entries([(number, 0.6) for number in range(300)]))
    ids = [one["id"] for one in many.snapshot["entries"]]
    assert asked(many, f"entries={','.join(ids[:1] * 500 + ids)}").entries == tuple(ids[:MOST_CHOSEN])


def test_names_that_are_equal_are_told_apart() -> None:
    found = names(board(entry(1, 0.7, model="Same"), entry(2, 0.6, model="Same")), ())
    assert list(found.values())[:2] == ["Same (e00000000001)", "Same (e00000000002)"]
    assert len(set(found.values())) == len(found)
    assert found["r-gpt-4o-2024-08-06-2411-17451"] == "GPT-4o (2024-08-06) · arXiv:2411.17451"


# --- the page ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chart", sorted(charts_of(VL)))
def test_each_figure_is_drawn_for_a_telephone_and_for_a_wider_page(board_version: BoardVersion, chart: str) -> None:
    page = page_of(board_version, f"chart={chart}")
    if 'class="empty-figure"' in page:
        assert "data-wide" not in page
        return
    for width in ("wide", "narrow"):
        address = html.unescape(re.findall(rf'data-{width}="([^"]*)"', page)[0])
        assert drawing(board_version, address.partition("?")[2])["data"]
    assert page.index("plotly-cartesian") < page.index("analyse.")


def test_a_figure_of_the_whole_field_has_no_choice_of_judges_and_does_not_depend_on_it(
    board_version: BoardVersion,
) -> None:
    page = page_of(board_version, "chart=size&entries=e00000000006")
    assert 'type="checkbox"' not in page
    of_all = drawing(board_version, "chart=size")
    assert drawing(board_version, "chart=size&entries=e00000000006") == of_all != {}
    assert "entries=e00000000006" in page, "other figures get the choice back"


def test_an_empty_figure_says_how_to_fill_it(board_version: BoardVersion) -> None:
    page = page_of(board_version, "chart=votes&entries=e00000000004")
    assert "No data" in page and 'class="empty-figure"' in page
    assert 'href="/analyse?chart=votes">Show the best judges' in page
    able = tuple(f"e{number:011d}" for number in (1, 2, 3, 5, 6))
    assert best(board_version, CHARTS["votes"]) == able, "those with one vote have no curve"
    assert "No judge chosen" in page_of(board_version, "entries=")
    assert "Show the best" not in page_of(board_version, "chart=cost"), "no choice of judges would help"
    bare = BoardCache(FixedSource(None), published=()).refresh()
    assert 'href="/app/submit"' in page_of(bare)
    assert "data-wide" in page_of(BoardCache(FixedSource(None)).refresh()), "reported results alone are a figure"


def test_agreement_and_error_consistency_have_three_decimals_in_the_table() -> None:
    compared = BoardVersion("s" * 20, pairwise.body(), context=RenderContext(VL), published=load_published(VL))
    table = page_of(compared, "chart=agreement").split("<tbody>")[1]
    assert len(re.findall(r"<td class=\"n\">-?0\.\d{3}</td>", table)) == 20, "five judges"


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FILES)
def test_a_figure_is_a_file_of_each_kind(board_version: BoardVersion, kind: str) -> None:
    query = asked(board_version, "entries=e00000000001,e00000000002")
    made = figure_file(board_version, query, ITEMS, kind)
    assert made is not None
    text = made.encodings["identity"].decode()
    if kind == "csv":
        rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
        assert [row["judge"] for row in rows[::4]] == ["Judge 1", "Judge 2"]
    else:
        data = json.loads(text)
        assert (data["label_revision"], data["protocol"], len(data["rows"])) == ("v2", "strict", 2 * 4)
        assert set(data["columns"]) >= {"judge", "value, %", "pairs"}


def test_nothing_drawn_is_no_file(board_version: BoardVersion) -> None:
    assert figure_file(board_version, asked(board_version, "entries="), ITEMS, "json") is None


def test_every_figure_has_an_address_and_belongs_to_a_group(board_version: BoardVersion) -> None:
    page = page_of(board_version)
    shown = {
        asked(board_version, found.partition("?")[2]).chart for found in re.findall(r'href="(/analyse[^"#.]*)"', page)
    }
    assert shown >= {key for key, kind in CHARTS.items() if kind.group == "accuracy"}
    assert {"position", "history"} <= shown, "the first figures of the other groups"
