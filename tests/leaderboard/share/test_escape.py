"""Somebody else's text in other languages: it stays text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from common.csv_text import csv_cell
from leaderboard.share.escape import latex, markdown, one_line, xml
from tests.factories.hostile_text import FORMULAS, HOSTILE

RENDERER = MarkdownIt("commonmark").enable("table")


@pytest.mark.parametrize("text", [text for text in FORMULAS if not text.startswith(("a", "'"))])
def test_a_cell_that_would_be_calculated_begins_with_an_apostrophe(text: str) -> None:
    assert csv_cell(text).startswith(f"'{text[0]}")
    assert csv_cell(text).replace("'", "") == text.replace("'", "")


@given(st.text(alphabet=" \"';,|\t\r\n=+-@＝a1", max_size=12))
def test_wherever_a_spreadsheet_cuts_no_part_is_a_formula(text: str) -> None:
    for part in re.split(r"[;,|\t\r\n]", csv_cell(text)):
        start = part.lstrip(' "')
        assert not start.startswith(("=", "+", "-", "@", "＝"))


@given(st.text(max_size=40))
def test_harmless_cells_stay_as_they_are(text: str) -> None:
    if not re.search(r"[=+\-@＝＋－＠\t\r\n]", text):
        assert csv_cell(text) == text


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_is_one_cell_of_plain_text(text: str) -> None:
    table = f"| a | b |\n|---|---|\n| {markdown(text)} | last |\n"
    html = RENDERER.render(table)
    cells = re.findall(r"<td>(.*?)</td>", html, re.DOTALL)
    assert len(cells) == 2, html
    assert cells[1] == "last"
    assert not re.search(r"<(?!/?code>)", cells[0]), html
    shown = re.sub(r"</?code>", "", cells[0])
    for entity, sign in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        shown = shown.replace(entity, sign)
    assert shown.strip() == one_line(text).replace("|", "¦" if "<code>" in cells[0] else "|")


@pytest.mark.parametrize("text", ["https://evil.example", "see www.evil.example", "@somebody", "a@evil.example", "#12"])
def test_what_github_links_without_markup_stands_in_code(text: str) -> None:
    assert markdown(text) == f"` {text} `"


@given(st.text(max_size=60))
def test_latex_has_no_command_but_ours_and_its_braces_balance(text: str) -> None:
    escaped = latex(text)
    assert escaped.count("{") == escaped.count("}")
    commands = re.findall(r"\\([a-z]+)\d*\{\}|\\([$&#%_])", escaped)
    assert len(commands) == escaped.count("\\")
    bare = re.sub(r"\\[a-z]+\d*\{\}|\\[$&#%_]|\{.?\}", "", escaped)
    assert not re.search(r"[\\{}$&#%_~^<>|\"`\n\r*\[\]@]", bare)


def test_latex_keeps_dashes_and_quotes_apart() -> None:
    assert latex("a---b") == "a-{}-{}-b"
    assert latex("''") == "{'}{'}"
    assert latex("x [1] *") == "x {[}1{]} {*}"


@given(st.text(max_size=40))
def test_xml_text_holds_what_xml_can_hold(text: str) -> None:
    from xml.etree import ElementTree as ET

    made = ET.Element("a")
    made.text = xml(text)
    parsed = ET.fromstring(ET.tostring(made, encoding="utf-8"))
    assert (parsed.text or "").replace("\r", "\n") == xml(text).replace("\r\n", "\n").replace("\r", "\n")


@pytest.mark.parametrize("text", HOSTILE)
def test_one_line_is_visible_and_one_line(text: str) -> None:
    assert not re.search(r"[\x00-\x1f\u200b\u202e\u00ad\u2028]", one_line(text))
