"""Browsing pairs: what an item file may hold, that the order tells nothing, filters, search, addresses."""

import json
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest

from leaderboard.compare import service as compare
from leaderboard.explore.item_catalog import THUMBNAIL_BYTES, ItemCatalog, ItemFileError, ItemTexts, read_item_file
from leaderboard.explore.pages import PAGE, ItemQuery, ItemSearch, explore_page, only_right_links, read_query
from leaderboard.site.cache import BoardVersion
from leaderboard.site.render_context import RenderContext
from tests.factories.labels import SIZES, pairs, table
from tests.factories.pairwise import SKILLS, body, related, stored
from tests.factories.specs import INVENTED, VL
from vlrb.benchmarks.items import ItemTable, response_fingerprint
from vlrb.benchmarks.pairs import build_table


def item_file(path: Path, rows: list[dict[str, Any]]) -> Path:
    file = path / "items.jsonl"
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return file


def texts_only(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: row[name] for name in ("id", "query", "response")} for row in rows]


A, B = list(SKILLS)[:2]
BOARD = BoardVersion("s", body(), context=RenderContext(VL), published=())


@pytest.fixture(scope="module")
def all_pairs() -> ItemSearch:
    """Return the numbers of the benchmark, with texts and what judges got right."""
    items = table(SIZES)
    rows = [ItemTexts(row["query"], tuple(sorted(row["response"])), image="") for row in pairs(SIZES)]
    return ItemSearch.of(items, rows, relations=related()[0].relations)


def test_texts_are_found_whatever_order_the_file_has(tmp_path: Path) -> None:
    rows = texts_only(pairs(3))
    texts = read_item_file(item_file(tmp_path, rows[::-1]), table(3))
    for row, found in zip(rows, texts, strict=True):
        assert found is not None
        assert found.query == row["query"]
        assert sorted(found.responses) == sorted(row["response"])


def test_the_order_of_the_responses_does_not_depend_on_the_stored_order(tmp_path: Path) -> None:
    rows = texts_only(pairs(3))
    turned = [{**row, "response": row["response"][::-1]} for row in rows]
    one = read_item_file(item_file(tmp_path, rows), table(3))
    other = read_item_file(item_file(tmp_path, turned), table(3))
    assert one == other
    first_stored = [
        text is not None and text.responses[0] == row["response"][0] for text, row in zip(one, rows, strict=True)
    ]
    assert 0 < sum(first_stored) < len(rows)


def test_lengths_stand_in_the_order_of_the_responses() -> None:
    items = table(3)
    rows = pairs(3)
    by_order = ItemSearch.of(items, None, relations=None)
    for index, row in enumerate(rows):
        shown = sorted(row["response"], key=response_fingerprint)
        assert by_order.show(index).words == tuple(len(text.split()) for text in shown)


@pytest.mark.parametrize("column", ["human_ranking", "ranking", "rationale", "human_error_analysis", "models"])
def test_a_file_with_a_column_that_might_tell_a_label_is_refused(tmp_path: Path, column: str) -> None:
    file = item_file(tmp_path, [{**row, column: [0, 1]} for row in texts_only(pairs(3))])
    with pytest.raises(ItemFileError, match=column):
        read_item_file(file, table(3))
    catalog = ItemCatalog(item_file=file)
    assert catalog.texts is None
    assert catalog.has_item_file


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"query": "q"}', '{"query": "q", "response": ["a"]}', '{"query": 1, "response": ["a", "b"]}']
)
def test_a_line_that_is_no_item_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "items.jsonl"
    file.write_text(line)
    with pytest.raises(ItemFileError, match="line 1"):
        read_item_file(file, table(3))


def test_identical_texts_under_two_ids_are_told_apart(tmp_path: Path) -> None:
    rows = texts_only(pairs(3))
    twin = {**rows[0], "id": "VLFeedback-twin"}
    items = build_table(INVENTED, {"r1": [*pairs(3), {**pairs(3)[0], "id": "VLFeedback-twin"}]})
    assert all(read_item_file(item_file(tmp_path, [twin, *rows]), items))
    known = ItemSearch.of(items, None, relations=None)
    names = {known.name(item) for item in items.items}
    assert len(names) == len(items)
    for index, item in enumerate(items.items):
        assert known.find(known.name(item)) == index
        assert known.find(item.key) == index


def test_an_address_is_twelve_digits_and_means_one_pair_only(all_pairs: ItemSearch) -> None:
    for index in range(0, 1250, 100):
        name = all_pairs.show(index).name
        assert len(name) == 12
        assert all_pairs.find(name) == index
    for name in ("", "1234567", "zzzzzzzzzzzz", "../../etc/passwd", "0" * 65, "%00"):
        assert all_pairs.find(name) is None


def test_filters_narrow_and_add_up(all_pairs: ItemSearch) -> None:
    assert all_pairs.select(ItemQuery()).total == 1250
    assert all_pairs.select(ItemQuery(category="general")).total == 183
    assert all_pairs.select(ItemQuery(source="POVID")).total == 448
    assert all_pairs.select(ItemQuery(category="general", source="POVID")).total == 0
    few, some, most = (all_pairs.select(ItemQuery(right=name)).total for name in ("few", "some", "most"))
    assert few + some + most == 1250
    assert min(few, some, most) > 0


def test_search_finds_words_ids_and_keys(all_pairs: ItemSearch) -> None:
    assert all_pairs.select(ItemQuery(search="picture 7 of povid")).total >= 1
    assert [one.id for one in all_pairs.select(ItemQuery(search="PICTURE 447 POVID show?")).shown] == ["POVID-447"]
    assert all_pairs.select(ItemQuery(search="MMMU-Pro-150")).total == 1
    shown = all_pairs.show(40)
    assert [one.number for one in all_pairs.select(ItemQuery(search=shown.name)).shown] == [41]
    assert all_pairs.select(ItemQuery(search="nothing like it")).total == 0


def test_pages_hold_every_pair_once(all_pairs: ItemSearch) -> None:
    numbers = [one.number for page in range(1, 51) for one in all_pairs.select(ItemQuery(page=page)).shown]
    assert numbers == list(range(1, 1251))
    last = all_pairs.select(ItemQuery(page=9999))
    assert (last.page, len(last.shown), PAGE) == (50, 25, 25)


def test_the_share_of_right_judges_is_said_in_tenths(all_pairs: ItemSearch) -> None:
    bands = related()[0].relations.bands
    assert bands is not None
    for index in (0, 100, 500):
        assert all_pairs.show(index).right == f"{bands[index] * 10}–{bands[index] * 10 + 10}%"
    assert all_pairs.judges == 6


def test_nothing_is_said_about_judges_where_labels_are_hidden_or_items_are_others() -> None:
    hidden = related(public=False)[0].relations
    assert ItemSearch.of(table(SIZES), None, relations=hidden).show(0).right == ""
    assert ItemSearch.of(table(3), None, relations=related()[0].relations).bands is None
    few = related()[0].relations
    assert few.bands is not None
    assert ItemSearch.of(table(SIZES), None, relations=_without_bands(few)).bands is None


def _without_bands(relations: Any) -> Any:
    return replace(relations, bands=np.full(1250, -1, dtype=np.int8))


def test_a_query_that_means_nothing_shows_all() -> None:
    nothing = {"category": "x", "source": "<b>", "right": "?", "page": "-1", "q": "  ", "only": A, "not": A}
    assert read_query(nothing, BOARD) == read_query({"only": A, "not": "e1"}, BOARD) == ItemQuery()
    query = ItemQuery("a b", "general", source="POVID", right="few", only=A, other=B, page=3)
    assert read_query(dict(parse_qsl(query.url().partition("?")[2])), BOARD) == query


def test_a_comparison_leads_to_the_pairs_that_only_one_of_its_judges_is_right_on() -> None:
    catalog = ItemCatalog(relations_body=stored)
    relations = catalog.relations(BOARD)
    (pair,) = compare.compare(BOARD, (A, B), relations=relations).pairs
    links = only_right_links(pair, relations)
    counted = pair.of("overall")
    assert counted and [count for _id, count, _url in links] == [counted.only_first, counted.only_second]
    for only, count, url in links:
        query = read_query(dict(parse_qsl(url.partition("?")[2])), BOARD)
        page = explore_page(BOARD, catalog, query=query)
        assert (query.only, query.other) == ((A, B) if only == A else (B, A))
        assert f"{count} pairs, page 1 of" in page
        assert escape(query.url(page=2)) in page
    assert not only_right_links(replace(pair, reason="reported"), relations)
    page = explore_page(BOARD, ItemCatalog(), query=query)
    assert "No pairs can be" in page and "No pair matches" in page


def test_images_are_served_from_beside_the_item_file_only(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(b"x")
    folder = tmp_path / "items"
    (folder / "images").mkdir(parents=True)
    (folder / "images" / "a.png").write_bytes(b"png")
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    catalog = ItemCatalog(item_file=item_file(folder, texts_only(pairs(3))))
    assert catalog.image("images/a.png") == (folder / "images" / "a.png").resolve()
    for name in (
        "../secret.png",
        "/etc/passwd",
        "link.png",
        "images",
        "",
        "images/b.png",
        str(tmp_path / "secret.png"),
    ):
        assert catalog.image(name) is None, name


def test_a_list_shows_small_images_alone(tmp_path: Path) -> None:
    (tmp_path / "small.png").write_bytes(b"x" * THUMBNAIL_BYTES)
    (tmp_path / "large.png").write_bytes(b"x" * (THUMBNAIL_BYTES + 1))
    catalog = ItemCatalog(item_file=item_file(tmp_path, texts_only(pairs(1))))
    shown = [
        catalog.has_thumbnail(ItemTexts("?", ("a", "b"), image=name))
        for name in ("small.png", "large.png", "no.png", "")
    ]
    assert (shown, catalog.has_thumbnail(None)) == ([True, False, False, False], False)


def test_relations_are_read_once_and_their_absence_is_no_failure() -> None:
    asked: list[str] = []

    def read(name: str) -> bytes | None:
        asked.append(name)
        return stored(name)

    catalog = ItemCatalog(relations_body=read)
    assert catalog.relations(BOARD) is catalog.relations(BOARD)
    assert len(asked) == 1
    assert catalog.relations(BOARD, "v0") is None
    assert ItemCatalog().relations(BOARD) is None

    def fail(name: str) -> bytes | None:
        raise OSError("the database is away")

    assert ItemCatalog(relations_body=fail).relations(BOARD) is None


def test_the_table_is_the_one_that_ships_unless_a_manifest_is_named(tmp_path: Path) -> None:
    file = tmp_path / "manifest.json"
    file.write_text(json.dumps(table(3).to_json()))
    assert ItemCatalog(file).table.benchmark == "vl-rewardbench"
    assert isinstance(ItemCatalog().table, ItemTable)
    assert len(ItemCatalog().table) == 1250
