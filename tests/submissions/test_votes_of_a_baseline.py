"""A file whose votes need no judge: through the service, past a maintainer, onto the board."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.factories.services.service import until
from tests.factories.services.signed_in import SignedInService, running_signed_in, token_of
from vlrb.demo import demo_pairs

pytestmark = pytest.mark.slow

ADDRESS = "/api/v1/submissions"


def client(world: SignedInService, user: str, *, scope: str = "submit") -> httpx.Client:
    """Return a program that somebody gave a token."""
    with closing(world.browser(user)) as browser:
        token = token_of(browser, "program", scope=scope)
    return httpx.Client(base_url=world.service.url, timeout=60, headers={"Authorization": f"Bearer {token}"})


def votes(ids: list[str], different: int) -> bytes:
    """Return votes for the response stored first, but for so many pairs."""
    rows = ({"id": name, "votes": [int(number < different)]} for number, name in enumerate(ids))
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def submit(http: httpx.Client, data: bytes, *, model: str) -> str:
    answer = http.post(ADDRESS, files={"file": ("p.jsonl", data)}, data={"model": model})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def state(http: httpx.Client, entry: str) -> dict[str, Any]:
    return dict(http.get(f"{ADDRESS}/{entry}").json())


def row_of(http: httpx.Client, entry: str) -> dict[str, Any]:
    rows = http.get("/api/v1/leaderboard").json()["entries"]
    return next((row for row in rows if row["id"] == entry), {})


def test_a_file_of_a_baseline_waits_is_listed_once_approved_and_ranked_once_verified(tmp_path: Path) -> None:
    settings = {"MAINTAINERS": "bob", "QUOTA_PER_DAY": "0", "QUOTA_PER_YEAR": "0", "REQUESTS_PER_MINUTE": "0"}
    with running_signed_in(tmp_path / "data", **settings) as world:
        alice, bob = client(world, "alice"), client(world, "bob", scope="maintain")
        ids = [pair["id"] for pair in demo_pairs()]
        checked = alice.post("/api/v1/check", files={"file": ("p.jsonl", votes(ids, 1))}).json()
        assert checked["ok"] and [warning["code"] for warning in checked["warnings"]] == ["baseline-votes"]
        entry, judge = (
            submit(alice, votes(ids, 1), model="First"),
            submit(alice, votes(ids, len(ids) // 5), model="Judge"),
        )
        waiting = state(alice, entry)
        assert waiting["state"] == "awaiting-approval" and "those of a baseline" in waiting["reason"]
        (listed,) = bob.get("/api/v1/maintenance/approvals").json()
        assert (listed["submission"], listed["reasons"]) == (entry, ["baseline-votes"])
        until(lambda: row_of(alice, judge), 60, what="the other file is scored")
        assert bob.post(f"/api/v1/maintenance/approvals/{entry}/approve", json={"reason": "listed"}).json()["changed"]
        until(lambda: row_of(alice, entry), 60, what="the file is scored")
        row = row_of(alice, entry)
        assert (row["rank"], row["remark"]) == (None, "votes of a baseline")
        assert row_of(alice, judge)["rank"] is not None
        assert bob.post(f"/api/v1/entries/{entry}/verify", json={"reason": "ran it again"}).json()["changed"]
        until(lambda: row_of(alice, entry)["rank"], 60, what="the entry has a rank")
