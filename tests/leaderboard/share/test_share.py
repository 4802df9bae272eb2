"""Badge, feed, picture, citations: right, well-formed, and deaf to hostile names."""

import io
import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from PIL import Image, ImageColor

from leaderboard.ranking.reported_results import load_published
from leaderboard.ranking.rows import Board, BoardRow, build_board
from leaderboard.share import citation, feed, og_image
from leaderboard.share.badge import badge
from leaderboard.share.escape import xml
from leaderboard.share.summary import description, summarize
from leaderboard.site.colours import LIGHT
from tests.factories.hostile_text import HOSTILE, MARKUP, UNICODE
from tests.factories.snapshots import entry, snapshot
from tests.factories.specs import VL, spec_of
from vlrb.common.rounding import percent

ATOM = "{http://www.w3.org/2005/Atom}"
SVG = "{http://www.w3.org/2000/svg}"
BASE = "https://board.example"


def board(*found: dict[str, Any], benchmark: str = "vl-rewardbench", reported: bool = True) -> Board:
    published = load_published(VL) if reported else ()
    made = build_board(snapshot(list(found), benchmark), spec_of(benchmark), published=published)
    return replace(made, snapshot_id="5f0c" * 16)


def one(**metadata: Any) -> tuple[dict[str, Any], BoardRow, Board]:
    """Return a judge of a board of two: reported results, which have other names, would take ten times as long."""
    facts = entry(1, 0.7, **metadata)
    made = board(facts, entry(2, 0.5), reported=False)
    row = made.find(facts["id"])
    assert row is not None
    return facts, row, made


def texts(svg: bytes) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]


def test_the_badge_says_score_half_interval_and_rank() -> None:
    _, row, made = one()
    assert texts(badge(summarize(row, made)))[0] == "VL-RewardBench"
    said = re.fullmatch(r"macro (\d\d\.\d) ± (\d\.\d) · rank 1", texts(badge(summarize(row, made)))[1])
    assert said
    low, high = row.interval["macro"]
    assert said[1] == percent(row.value("macro"))
    assert float(said[2]) == pytest.approx((high - low) * 50, abs=0.06)


def test_the_badge_of_a_reported_result_says_so() -> None:
    made = board()
    row = made.find("r-r1-reward-2505-02835")
    assert row is not None
    assert texts(badge(summarize(row, made)))[1].endswith("· reported")


@pytest.mark.parametrize("name", HOSTILE)
def test_badges_and_feeds_are_well_formed_whatever_a_judge_is_called(name: str) -> None:
    _, row, made = one(model=name, organisation=name, version=name)
    root = ET.fromstring(badge(summarize(row, made)))
    assert {element.tag for element in root.iter()} == {
        SVG + tag for tag in ("svg", "title", "rect", "path", "g", "text")
    }
    title = root.find(f"{SVG}title")
    assert title is not None
    assert title.text is not None
    assert normal(title.text).startswith(normal(xml(name)))
    atom = ET.fromstring(feed.feed(made, BASE))
    entries = atom.findall(f"{ATOM}entry")
    assert len(entries) == 2
    assert any(normal(xml(name)) in normal(found.findtext(f"{ATOM}title") or "") for found in entries)
    assert {element.tag.removeprefix(ATOM) for element in atom.iter()} <= {
        *("feed", "title", "subtitle", "id", "link", "updated", "author", "name", "entry", "published", "summary")
    }
    assert all(link.get("href", "").startswith(BASE) for link in atom.iter(f"{ATOM}link"))


def normal(text: str) -> str:
    return " ".join(text.split())


def test_the_feed_has_what_atom_asks_for_and_the_newest_first() -> None:
    atom = ET.fromstring(feed.feed(board(entry(1, 0.7), entry(2, 0.5), entry(9, 0.6)), BASE))
    for parent in (atom, *atom.findall(f"{ATOM}entry")):
        assert all(parent.findtext(f"{ATOM}{name}") for name in ("id", "title", "updated"))
    days = [found.findtext(f"{ATOM}published") or "" for found in atom.findall(f"{ATOM}entry")]
    assert days == sorted(days, reverse=True)
    assert atom.findtext(f"{ATOM}author/{ATOM}name")
    assert ET.fromstring(feed.feed(board(), BASE)).findtext(f"{ATOM}updated")


def test_an_entry_of_the_feed_does_not_change_when_others_come() -> None:
    before = ET.fromstring(feed.feed(board(entry(2, 0.5)), BASE)).find(f"{ATOM}entry")
    after = ET.fromstring(feed.feed(board(entry(1, 0.7), entry(2, 0.5)), BASE)).findall(f"{ATOM}entry")
    assert before is not None
    assert ET.tostring(before).strip() in [ET.tostring(found).strip() for found in after]


# Markup is text like any other for what draws; letters are not.
@pytest.mark.parametrize("name", [*UNICODE, *MARKUP[:3], "A" * 500])
def test_pictures_are_drawn_whatever_a_judge_is_called(name: str) -> None:
    _, row, made = one(model=name)
    image = Image.open(io.BytesIO(og_image.of_entry(row, made)))
    assert (image.format, image.size) == ("PNG", (1200, 630))
    assert image.convert("RGB").getpixel((0, 0)) == ImageColor.getrgb(LIGHT.ground)


@pytest.mark.parametrize(
    ("name", "drawn"),
    [("裁判模型", "Entry e00000000001"), ("裁判 Qwen2.5-VL-72B", "Qwen2.5-VL-72B"), ("Modèle 7B", "Modele 7B")],
)
def test_a_name_that_the_font_lacks_gives_way_to_its_ascii_or_to_the_id(name: str, drawn: str) -> None:
    _, row, made = one(model=name)
    picture = og_image.of_entry(row, made)
    assert picture == og_image.of_entry(replace(row, model=drawn), made)


def test_the_picture_of_the_board_is_small_and_the_same_twice() -> None:
    made = board(*(entry(number, 0.5) for number in range(8)))
    assert og_image.of_board(made) == og_image.of_board(made)
    assert len(og_image.of_board(made)) < 60_000
    assert Image.open(io.BytesIO(og_image.of_board(board()))).size == (1200, 630)


@pytest.mark.parametrize("name", HOSTILE)
def test_bibtex_is_one_entry_with_balanced_braces(name: str) -> None:
    _, row, made = one(model=name, organisation=name)
    text = citation.of_entry(row, made, address=f"{BASE}/entries/{row.id}")
    depth = 0
    for position, sign in enumerate(text):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        assert depth > 0 or text[: position + 1].count("{") == 0 or position >= len(text) - 2
    assert depth == 0
    assert len(re.findall(r"^@", text, re.MULTILINE)) == 1
    assert re.findall(r"^  (\w+) = ", text, re.MULTILINE) == ["title", "author", "year", "month", "note", "url"]


def test_the_snapshot_is_cited_with_its_date_id_and_address() -> None:
    text = citation.of_board(board(entry(1, 0.7)), f"{BASE}/?as_of=5f0c5f0c5f0c5f0c")
    for part in ("@misc{vlrewardbench-board-5f0c5f0c5f0c,", "2026-11-21", "5f0c" * 16, "1 entry scored", "?as_of=5f0c"):
        assert part in text
    assert "2411.17451" in VL.citation
    assert VL.citation.count("{") == VL.citation.count("}")


def test_a_description_names_judge_score_interval_and_rule() -> None:
    _, row, made = one(organisation="Lab")
    said = description(row, made)
    assert said.startswith("Judge 1 (Lab) on VL-RewardBench: macro accuracy ")
    assert "95% interval" in said
    assert "rank 1 of 2" in said
    assert said.endswith("Rule strict, labels v2.")
