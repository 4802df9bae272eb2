"""Files of a view: every format holds the rows of the view, numbers are numbers, and hostile text is text."""

import io
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from markdown_it import MarkdownIt

from leaderboard.ranking.parameters import BoardQuery, read_query
from leaderboard.ranking.reported_results import load_published
from leaderboard.ranking.rows import Board, build_board
from leaderboard.share.exports import (
    FORMATS,
    Extract,
    as_csv,
    as_json,
    as_latex,
    as_markdown,
    as_parquet,
    records,
)
from leaderboard.share.exports import extract as take
from tests.factories import pairwise
from tests.factories.hostile_text import HOSTILE
from tests.factories.snapshots import crowd, entry, snapshot
from tests.factories.specs import EXPORT_FIELDS, VALUES, VL

ADDRESS = "https://board.example/?as_of=abc"


def board(*more: dict[str, Any], **rules: Any) -> Board:
    found = [
        entry(1, 0.7, model="Judge-7B", version="2", organisation="Lab", parameters_b=7.0, open_weights=True),
        entry(2, 0.6, k=1, judge_type="scalar", open_weights=False),
        entry(3, 0.8),
        *more,
    ]
    return replace(build_board(snapshot(found), VL, published=load_published(VL), **rules), snapshot_id="5f0c" * 16)


def extract(query: Mapping[str, str] | None = None, **rules: Any) -> Extract:
    return take(board(**rules), read_query(query or {}, ("v2", "v0"), spec=VL), address=ADDRESS)


def hostile() -> Extract:
    """Return every text of the catalogue as the name of a judge, and as everything else that somebody may write."""
    judges = [
        entry(100 + number, 0.5, model=text, version=text, organisation=text, base_model=text, link=text)
        for number, text in enumerate(HOSTILE)
    ]
    return take(board(*judges), BoardQuery(VL, tier="scored"), address=ADDRESS)


def read_csv(content: bytes) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(content), keep_default_na=False, na_values=[""])


def test_csv_read_back_is_the_table_with_numbers_as_numbers() -> None:
    taken = extract()
    frame = read_csv(as_csv(taken))
    assert list(frame.columns) == list(EXPORT_FIELDS)
    table = records(taken)
    assert len(frame) == len(table) == len(taken.board.rows)
    for name, kind in EXPORT_FIELDS.items():
        if kind in ("whole", "number"):
            assert pd.api.types.is_numeric_dtype(frame[name]), name
            expected = [float("nan") if one[name] is None else one[name] for one in table]
            assert frame[name].tolist() == pytest.approx(expected, rel=0, abs=0, nan_ok=True)
    assert frame["model"].tolist() == [one["model"] for one in table]


def test_csv_is_the_view_in_its_order_beyond_the_first_page() -> None:
    many = replace(build_board(snapshot(crowd(230)), VL), snapshot_id="abc")
    view = read_query({"sort": "hallucination", "dir": "asc", "tier": "scored", "page": "2"}, ("v2",), spec=VL)
    frame = read_csv(as_csv(take(many, view)))
    assert len(frame) == 230
    assert frame["hallucination"].is_monotonic_increasing


def test_ranks_follow_the_order_of_the_view_and_reported_rows_have_none() -> None:
    by_macro, by_general = extract({"sort": "macro"}), extract({"sort": "general"})
    for taken in (by_macro, by_general):
        ranks = [one["rank"] for one in records(taken) if one["tier"] == "scored"]
        assert ranks == sorted(ranks)
        assert all(one["rank"] is None for one in records(taken) if one["tier"] != "scored")


def test_rules_stand_beside_what_was_counted_by_them_and_nothing_else() -> None:
    table = records(extract({"protocol": "paper", "grouping": "rl-in-general"}, protocol="paper", revision="v0"))
    scored = next(one for one in table if one["tier"] == "scored")
    reported = next(one for one in table if one["tier"] == "reported")
    assert (scored["protocol"], scored["label_revision"]) == ("paper", "v0")
    assert (reported["protocol"], reported["label_revision"]) == (None, None)


def test_no_cell_of_the_csv_can_be_a_formula() -> None:
    content = as_csv(hostile()).decode()
    frame = read_csv(content.encode())
    assert len(frame) == 3 + len(HOSTILE)
    for name in ("model", "version", "organisation", "base_model", "url"):
        for text in frame[name].dropna():
            for part in re.split(r"[;,|\t\r\n]", text):
                assert not re.match(r"[\s\"]*[=+\-@＝＋－＠]", part), text


def test_json_holds_the_same_table_and_says_what_it_is() -> None:
    taken = extract({"q": "tier:scored"})
    said = json.loads(as_json(taken))
    assert said["entries"] == records(taken)
    assert said["columns"] == list(EXPORT_FIELDS)
    assert (said["snapshot"], said["address"], said["protocol"]) == ("5f0c" * 16, ADDRESS, "strict")


def test_parquet_has_types_and_says_what_it_is() -> None:
    taken = extract()
    table = pq.read_table(io.BytesIO(as_parquet(taken)))
    types = {field.name: field.type for field in table.schema}
    assert types["rank"] == pa.int32()
    assert types["macro"] == types["macro_low"] == pa.float64()
    assert types["open_weights"] == pa.bool_()
    assert types["date"] == pa.date32()
    assert types["submitted_at"] == pa.timestamp("ms", tz="UTC")
    assert types["model"] == pa.string()
    assert table.schema.metadata[b"snapshot_id"] == b"5f0c" * 16
    assert table.schema.metadata[b"address"] == ADDRESS.encode()
    for name in ("model", "macro", "rank", "open_weights"):
        assert table[name].to_pylist() == [one[name] for one in records(taken)]


@pytest.mark.parametrize("suffix", FORMATS)
def test_an_empty_board_gives_a_file(suffix: str) -> None:
    empty = build_board({**snapshot([]), "created_at": "", "label_revisions": [], "label_revision": ""}, VL)
    assert FORMATS[suffix].write(take(empty, BoardQuery(VL)))


def test_markdown_is_a_table_with_the_columns_of_the_view() -> None:
    taken = extract({"cols": "macro,date", "tier": "scored"})
    html = MarkdownIt("commonmark").enable("table").render(as_markdown(taken).decode())
    assert re.findall(r"<th[^>]*>(.*?)</th>", html) == ["Rank", "Judge", "Macro", "Date"]
    assert html.count("<tr>") == 4
    assert html.count("<strong>") == 1


def latex_rows(text: str) -> list[str]:
    """Return each row with what stands under it."""
    body = (
        re.split(r"\\midrule\n|\\endlastfoot\n", text)[-1]
        .partition("\\bottomrule")[0]
        .partition("\\end{longtable}")[0]
        .strip()
    )
    return body.replace("\\\\[-3pt]\n", "\\\\[-3pt] ").split("\n")


def test_latex_is_a_booktabs_table_with_intervals_and_the_best_in_bold() -> None:
    text = as_latex(extract({"tier": "scored"})).decode()
    rows = latex_rows(text)
    assert len(rows) == 3
    assert all(row.count(" & ") == 14 for row in rows)
    assert text.count("\\textbf{") >= len(VALUES)
    assert rows[0].startswith("1 & Judge 3 & \\textbf{")
    values, _, intervals = rows[0].partition("\\\\[-3pt]")
    assert re.search(r"\\textbf\{\d\d\.\d\}", values)
    assert len(re.findall(r"\{\\tiny \d\d\.\d--\d\d\.\d\}", intervals)) == len(VALUES)
    assert all(rule in text for rule in ("\\toprule", "\\midrule", "\\bottomrule", "\\usepackage{booktabs}"))


def test_the_best_is_the_best_counted_here_whatever_is_reported() -> None:
    text = as_latex(extract()).decode()
    bold = [row for row in latex_rows(text) if "\\textbf" in row]
    assert bold
    assert not any("dagger" in row for row in bold)
    assert "best counted here" in text
    assert "\\textbf" in as_latex(extract({"tier": "reported"})).decode()


def test_bold_are_those_that_share_first_place_on_the_board_whoever_is_filtered() -> None:
    found = build_board(pairwise.body(), VL)
    first = {name for name, at in found.standings().items() if at.best == 1}
    assert 1 < len(first) < 6
    for query in ({"tier": "scored"}, {"q": "id:" + ",".join(sorted(pairwise.SKILLS)[2:])}):
        taken = take(found, read_query({**query, "cols": "rank,model,macro"}, ("v2",), spec=VL), address=ADDRESS)
        bold = [
            row.id
            for row, line in zip(taken.rows, latex_rows(as_latex(taken).decode()), strict=True)
            if "textbf" in line
        ]
        assert set(bold) == first & {row.id for row in taken.rows}


def test_warnings_go_along_into_what_is_quoted() -> None:
    """Figures that fit other categories, and what maintainers flagged, are not quoted without saying so."""
    taken = extract({"q": "id:r-r1-reward-2505-02835,r-omni-rewardmodel-bt-2510-23451"})
    notes = {row.model: row.note for row in taken.rows}
    misfit, other = notes["Omni-RewardModel-BT"], notes["R1-Reward"]
    assert misfit == "fits no known categories" and other == "fits 484/448/318"
    table, latex, rows = (form(taken).decode() for form in (as_markdown, as_latex, as_csv))
    assert "Omni-RewardModel-BT †a |" in table and "R1-Reward †b |" in table
    assert r"Omni-RewardModel-BT$^{\dagger a}$" in latex and r"R1-Reward$^{\dagger b}$" in latex
    for text in (table, latex):
        assert f"a: {misfit}; b: {other}." in text.replace("\\:", ":")
    assert f",{misfit}," in rows and f",{other}," in rows


def test_file_names_are_plain() -> None:
    for form in FORMATS.values():
        assert form.file_name("vl-rewardbench", "", "v2", "2026-11-21") == f"vl-rewardbench-v2-2026-11-21.{form.suffix}"
        assert re.fullmatch(r"[A-Za-z0-9.-]+", form.file_name(*HOSTILE))
