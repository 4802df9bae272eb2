"""The best of several variants of one judge: what the board, the API, files and pages say of it."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from leaderboard.ranking.parameters import BoardQuery
from leaderboard.ranking.rows import build_board
from leaderboard.share.exports import as_csv, extract
from tests.factories.board_app import serve
from tests.factories.snapshots import FixedSource, entry, items, label_sets, snapshot
from tests.factories.specs import VL
from vlrb.scoring import tally_many
from vlrb.statistics.pairwise import Variants, compare_all
from vlrb.statistics.uncertainty import Z, mover_macro, wilson

BEST, OTHER = "e00000000001", "e00000000002"


def made(*, public: bool = True) -> dict[str, Any]:
    """Return a snapshot with a judge that is the best of five, and another one."""
    random, truth = np.random.default_rng(4), label_sets()["v2"].preferred
    base = random.random(len(items())) < 0.7
    anew = np.where(random.random((5, len(items()))) < 0.3, random.random((5, len(items()))) < 0.7, base)
    right = np.vstack([anew[np.argsort(-anew.mean(axis=1))], random.random(len(items())) < 0.55])
    verdicts = np.where(right, truth, 1 - truth).astype(np.int8)
    variants = {BEST: Variants(5, verdicts[1:5, :, np.newaxis])}
    rows = verdicts[[0, 5], :, np.newaxis]
    summary = compare_all(
        [BEST, OTHER], rows, labels=label_sets()["v2"], table=items(), public=public, variants=variants
    ).summary
    entries = []
    for number, row in ((1, 0), (2, 5)):
        (tally,) = tally_many(verdicts[row][np.newaxis, :, np.newaxis], label_sets()["v2"], table=items())
        entries.append({**entry(number, 0.5, k=1), "tallies": {"v2": tally.to_json()}})
    return {**snapshot(entries), "relations": {"v2": {"id": "r" * 64, "judges": 2, **summary}}}


def test_the_interval_beside_the_plain_one_has_its_upper_limit_and_a_lower_lower_one() -> None:
    body = made()
    board = build_board(body, VL)
    row, other = board.find(BEST), board.find(OTHER)
    assert row is not None and row.best_of is not None and other is not None
    assert other.best_of is None
    assert row.best_of.variants == 5
    said = body["relations"]["v2"]["variants"][BEST]["official"]
    assert set(row.best_of.interval) == {"macro", "overall", "general", "hallucination", "reasoning"} == set(said)
    parts = [(round((row.value(name) or 0) * n), n) for name, n in board.sizes.items() if name != "overall"]
    assert row.best_of.interval["macro"][0] == pytest.approx(mover_macro(parts, said["macro"][1]).low)
    overall = round((row.value("overall") or 0) * 1250)
    assert row.best_of.interval["overall"][0] == pytest.approx(wilson(overall, 1250, said["overall"][1]).low)
    for name, bounds in row.best_of.interval.items():
        assert bounds[0] < row.interval[name][0] and bounds[1] == row.interval[name][1]
        assert 0 < row.best_of.gain[name] == said[name][0] < 0.05
        assert said[name][1] > Z


def test_the_plain_interval_is_as_it_was_and_other_rules_have_no_best_of() -> None:
    body, without = made(), made()
    without["relations"]["v2"].pop("variants")
    for protocol in ("strict", "paper", "lmms-eval"):
        rows = {row.id: row for row in build_board(body, VL, protocol=protocol).rows}
        for row in build_board(without, VL, protocol=protocol).rows:
            assert (row.interval, row.rank) == (rows[row.id].interval, rows[row.id].rank)
            assert (rows[row.id].best_of is not None) == (protocol == "strict" and row.id == BEST)


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(serve(FixedSource({**made(), "disclosure": {}}), published=()))


def test_api_board_and_page_say_the_same(client: TestClient) -> None:
    first, second = client.get("/api/v1/leaderboard").json()["entries"]
    assert second["best_of"] is None
    said = first["best_of"]
    assert said["variants"] == 5
    assert client.get(f"/api/v1/entries/{BEST}").json()["best_of"] == said
    low, high = said["interval"]["macro"]
    assert low < first["interval"]["macro"][0] and high == first["interval"]["macro"][1]
    words = f"{100 * low:.1f}–{100 * high:.1f}"
    assert f"best of 5 variants, {words}, luck +{100 * said['gain']['macro']:.1f}" in client.get("/").text
    page = client.get(f"/entries/{BEST}").text
    assert "Best of 5 variants" in page and words in page
    assert "Best of" not in client.get(f"/entries/{OTHER}").text


def test_files_have_it_in_columns_of_its_own() -> None:
    board = build_board(made(), VL)
    first, second = csv.DictReader(io.StringIO(as_csv(extract(board, BoardQuery(VL))).decode()))
    row = board.find(BEST)
    assert row is not None and row.best_of is not None
    assert first["best_of_variants"] == "5" and second["best_of_variants"] == ""
    assert float(first["best_of_macro_low"]) == row.best_of.interval["macro"][0]
    assert float(first["best_of_overall_gain"]) == row.best_of.gain["overall"]
    assert float(first["macro_low"]) == row.interval["macro"][0]
