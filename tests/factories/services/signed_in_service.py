"""The real service with sign-in, and attackers over HTTP: HTTP, tokens, real files. Only its clock is ours.

The service reads one clock, the database's. A day passes by moving the recorded times of attempts back by a day, which
to the quota is the same; no code of the service is touched.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import numpy.typing as npt

from tests.factories.fakes.openid_provider import person
from tests.factories.services.service import Service, until
from tests.factories.services.signed_in import SignedInService, running_signed_in, token_of
from tests.redteam.policy import Secret

DAY = 86_400.0
MAINTAINER = "warden"


@dataclass
class AttackTarget:
    """A running service with sign-in, and its database file."""

    world: SignedInService
    database: Path

    @property
    def service(self) -> Service:
        """What answers."""
        return self.world.service

    def account(self, name: str, scope: str = "submit") -> Attacker:
        """Somebody new, signed in, with a token."""
        provider = self.world.provider
        provider.users[name] = person(f"90{len(provider.users)}", name)
        with closing(self.world.browser(name)) as browser:
            given = token_of(browser, "probe", scope=scope)
        http = httpx.Client(base_url=self.service.url, timeout=60, headers={"Authorization": f"Bearer {given}"})
        return Attacker(self, name, http=http)

    def days_pass(self, days: float = 1.0) -> None:
        """As far as quotas can tell."""
        connection = sqlite3.connect(self.database, timeout=60)
        try:
            with connection:
                connection.execute("UPDATE attempts SET at = at - ?", (days * DAY,))
        finally:
            connection.close()

    def submissions(self) -> int:
        """Return how many there are, the demo's own judges included."""
        return self._count("SELECT count(*) FROM submissions")

    def scores_before_approval(self) -> int:
        """Return how many scores there are of submissions that wait for a maintainer."""
        return self._count(
            "SELECT count(*) FROM scores JOIN approvals USING (submission_id) WHERE approvals.state = 'waiting'"
        )

    def _count(self, statement: str) -> int:
        with closing(sqlite3.connect(self.database, timeout=60)) as connection:
            return int(connection.execute(statement).fetchone()[0])


@dataclass
class Attacker:
    """An account with a token."""

    target: AttackTarget
    name: str
    http: httpx.Client

    def submit(self, data: bytes, model: str) -> httpx.Response:
        """One file."""
        form = {"model": model, "accept_unreadable": "true"}  # who probes with null votes means them
        return self.http.post("/api/v1/submissions", files={"file": ("p.jsonl", data)}, data=form)

    def look(self, data: bytes, model: str) -> str:
        """Submit a file that is taken; the id of the entry."""
        answer = self.submit(data, model)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["id"])

    def attempts(self) -> int:
        """Return how many scored submissions the service has counted."""
        return int(self.http.get("/api/v1/quota").json()["attempts"])

    def scores(self, entry: str) -> dict[str, Any]:
        """Return what the public API says of an entry, once it is scored and published."""
        path = f"/api/v1/entries/{entry}"
        until(lambda: self.http.get(path).status_code == 200, 60, what=f"{entry} is published")
        return dict(self.http.get(path).json())


def approve_all(warden: Attacker) -> list[str]:
    """A maintainer lets everything through that waits; the submissions."""
    waiting = [str(one["submission"]) for one in warden.http.get("/api/v1/maintenance/approvals").json()]
    for name in waiting:
        address = f"/api/v1/maintenance/approvals/{name}/approve"
        assert warden.http.post(address, json={"reason": "no attack"}).status_code == 200
    return waiting


def in_turn(
    target: AttackTarget, accounts: Sequence[Attacker], *, files: Sequence[bytes], days: float, first: int = 0
) -> list[str]:
    """Return each account sends a file, then so many days pass, and so on; the entries of the files from ``first``
    on."""
    entries = []
    for number, data in enumerate(files[first:], first):
        if number and number % len(accounts) == 0:
            target.days_pass(days)
        entries.append(accounts[number % len(accounts)].look(data, f"probe {number}"))
    return entries


DEMO_JUDGES = 6


@contextmanager
def open_target(folder: Path, **environ: str) -> Iterator[AttackTarget]:
    """Provide the service on the synthetic benchmark, its labels hidden, its policy the usual one unless `environ`
    differs."""
    settings = {
        "HIDDEN_LABELS": "demo",
        "MAINTAINERS": MAINTAINER,
        "REQUESTS_PER_MINUTE": "0",  # the quota has to hold without the guard against request floods
        **environ,
    }
    with running_signed_in(folder / "data", **settings) as world:
        target = AttackTarget(world, folder / "data" / "demo" / "leaderboard.db")
        until(lambda: target.submissions() == DEMO_JUDGES, 30, what="the demo judges are submitted")
        yield target


# Files --------------------------------------------------------------------------------------------------------------


def native(secret: Secret, votes: npt.NDArray[np.int8], *, items: Sequence[int] | None = None) -> bytes:
    """Return votes, one an item or (items, K), as native JSONL, null where they abstain; ``items``: only these."""
    names = [item.ids["demo"] for item in secret.table.items]
    chosen = range(len(names)) if items is None else items
    matrix = votes.reshape(len(names), -1).tolist()
    rows = ({"id": names[i], "votes": [None if vote < 0 else vote for vote in matrix[i]]} for i in chosen)
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def official(pairs: Sequence[dict[str, Any]], verdict: str, **forged: Any) -> bytes:
    """Return a line a pair as the official script writes, with one verdict for all and fields that the uploader made
    up."""
    lines = []
    for pair in pairs:
        meta = {"filter_choice": f"Overall Judgment: {verdict}", "random_number": 0, "flag_status": "agree"}
        row = {"id": pair["id"], "query": pair["query"], "response": pair["response"], "meta": meta, **forged}
        lines.append(json.dumps(row) + "\n")
    return "".join(lines).encode()
