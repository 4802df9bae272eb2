"""The red-team page says what comes out when the exploits are run, and nothing else."""

from __future__ import annotations

import json

import pytest
from starlette.testclient import TestClient

from bench.red_team import EXPLOITS, OUTPUT, ExploitSetup, run
from leaderboard.about import red_team
from leaderboard.site.cache import BoardCache
from tests.factories.board_app import board_app
from tests.factories.snapshots import FixedSource, entries, snapshot

STORED = json.loads(OUTPUT.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def bench() -> ExploitSetup:
    return ExploitSetup()


def test_every_exploit_run_again_gives_what_the_page_shows(bench: ExploitSetup) -> None:
    assert {one["id"] for one in STORED["exploits"]} == set(EXPLOITS)
    for stored in STORED["exploits"]:
        assert run(bench, stored["id"]).items() <= stored.items()  # `python -m bench.red_team` stores all of them again


def test_no_exploit_gains_anything_here_and_every_one_does_under_the_official_rule() -> None:
    by_id = {one["id"]: one for one in STORED["exploits"]}
    honest = by_id.pop("honest")
    assert honest["official"] == honest["here"]
    chance = 0.5
    for name, one in by_id.items():
        here, official = one["here"].get("overall"), one["official"].get("overall")
        # Two votes a pair are honest ones, and count as much as one does.
        assert here is None or here < (honest["here"]["overall"] - 0.05 if name == "even-votes" else chance + 0.02), (
            name
        )
        assert "error" in one["official"] or official > chance + 0.2, name
    growth = [one["official_seconds"] for one in STORED["backtracking"]]
    assert growth[2] > 16 * growth[0]  # four times the spaces


def test_the_page_shows_every_exploit_with_both_results() -> None:
    client = TestClient(board_app(BoardCache(FixedSource(snapshot(entries([(1, 0.9)]))), published=())))
    page = client.get("/red-team")
    assert page.status_code == 200
    assert "default-src 'none'" in page.headers["content-security-policy"]
    for one in STORED["exploits"]:
        assert f'<tr id="{one["id"]}">' in page.text
    assert page.text.count('class="hollow"') == sum("overall" in one["official"] for one in STORED["exploits"])
    assert [one["here"].words for one in red_team.exploits() if one["id"] == "missing-category"] == [
        "refused: pairs are missing"
    ]
    assert 'href="/red-team"' in client.get("/about").text
