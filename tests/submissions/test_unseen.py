"""Submissions that are not public: their owner and maintainers see them, strangers ask at every interface in vain."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pyarrow.parquet
import pytest

from tests.factories.fakes.openid_provider import person
from tests.factories.services.service import until
from tests.factories.services.signed_in import SignedInService, running_signed_in
from tests.leaderboard.test_secrets import ROUTES

pytestmark = pytest.mark.slow

MARK = "7e1planted"  # in all that strangers must not be told, and in nothing else
SAID = {
    "version": f"V {MARK}", "organisation": f"Lab {MARK}", "base_model": f"B {MARK}", "prompt": f"P {MARK}",
    "notes": f"N {MARK}", "link": f"https://{MARK}.example/", "paper": f"https://{MARK}.example/p",
    "code": f"https://{MARK}.example/c", "hub_id": f"{MARK}/judge",
}  # fmt: skip
NAMES = {one: f"{one} {MARK}" for one in ("waiting", "rejected", "unpublished", "hidden")}
BARE = {"model", "version", "reason", "receipt_url", "attempt", "entry_url"}
"""Fields of a state that strangers find empty."""


@dataclass
class VisibilityWorld:
    """A service on which the first submission of an account waits. `entries`: kind -> id; `files`: kind -> bytes."""

    signed_in: SignedInService
    people: dict[str, httpx.Client]
    strangers: dict[str, httpx.Client]
    entries: dict[str, str] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)

    def submit(self, kind: str, user: str, **said: str) -> str:
        taken = send(self.people[user], self.files[kind], name=f"{kind}-{MARK}.jsonl", **said)
        assert taken.status_code == 202, taken.text
        self.entries[kind] = taken.json()["id"]
        return self.entries[kind]

    def state(self, kind: str, http: httpx.Client) -> dict[str, Any]:
        reply = http.get(f"/api/v1/submissions/{self.entries[kind]}")
        return dict(reply.json()) if reply.status_code == 200 else {}


def send(http: httpx.Client, data: bytes, *, name: str = "p.jsonl", **said: str) -> httpx.Response:
    return http.post("/api/v1/submissions", files={"file": (name, data)}, data=said)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VisibilityWorld]:
    folder = tmp_path_factory.mktemp("unseen")
    settings = {"APPROVE_FIRST_UPLOAD": "1", "MAINTAINERS": "alice", "QUOTA_PER_DAY": "0", "REQUESTS_PER_MINUTE": "0"}
    with running_signed_in(folder / "data", gradio=True, **settings) as signed_in:
        names = ("waiter", "refused")
        signed_in.provider.users |= {one: person(f"30{n}", one) for n, one in enumerate(names)}
        people = {one: signed_in.browser(one) for one in ("alice", *names)}
        world = VisibilityWorld(
            signed_in, people, strangers={"nobody": signed_in.browser(), "mallory": signed_in.browser("mallory")}
        )
        judge = sorted((folder / "data" / "demo" / "judges").glob("*.jsonl"))[0].read_bytes()
        for number, kind in enumerate([*NAMES, "anonymous", "public"], start=1):
            world.files[kind] = judge + b"\n" * number
        fill(world)
        yield world


def fill(world: VisibilityWorld) -> None:
    """One entry of every kind, and one that everybody may see."""
    alice = world.people["alice"]
    world.submit("waiting", "waiter", model=NAMES["waiting"], **SAID)
    world.submit("rejected", "refused", model=NAMES["rejected"], **SAID)
    why = {"reason": f"because {MARK}"}
    assert alice.post(f"/api/v1/maintenance/approvals/{world.entries['rejected']}/reject", json=why).status_code == 200
    world.submit("unpublished", "alice", model=NAMES["unpublished"], published="false", **SAID)
    world.submit("hidden", "alice", model=NAMES["hidden"], **SAID)
    identifying = {name: SAID[name] for name in ("organisation", "link", "paper", "code", "hub_id")}
    world.submit("anonymous", "alice", model="Anonymous judge", anonymous_until="2027-06-01", **identifying)
    world.submit("public", "alice", model="Public judge", organisation="Public lab")
    for kind in ("unpublished", "hidden", "anonymous", "public"):
        until(lambda kind=kind: world.state(kind, alice)["state"] == "scored", 60, what=f"{kind} is scored")
    assert alice.post(f"/api/v1/entries/{world.entries['hidden']}/hide", json=why).status_code == 200

    def settled() -> bool:
        board = alice.get("/").text
        return "Anonymous judge" in board and "Public judge" in board and NAMES["hidden"] not in board

    until(settled, 60, what="the board shows what it may")


def words(reply: httpx.Response) -> str:
    """Return all that an answer says."""
    if "parquet" in reply.headers.get("content-type", ""):
        table = pyarrow.parquet.read_table(io.BytesIO(reply.content))
        return f"{table.to_pylist()} {table.schema.metadata!r}"
    return reply.content.decode("latin-1") + str(reply.headers.multi_items())


def addresses(world: VisibilityWorld, http: httpx.Client, *entries: str) -> list[str]:
    """Return every GET that the service offers, about each entry where it is about one."""
    known = http.get("/openapi.json").json()["paths"]
    described = {re.sub(r"\{[^}]*\}", entry, path) for path in known if "get" in known[path] for entry in entries}
    asked = {"shown": world.entries["public"], "pair": "0" * 16, "name": "7e1"}
    pages = {one.format(id=entry, **asked) for several in ROUTES.values() for one in several for entry in entries}
    mine = {f"/account/submissions/{entry}" for entry in entries}
    setup = ("entries", "approvals", "tasks", "labels", "health", "accounts")  # not described
    mine |= {f"/api/v1/maintenance/{name}" for name in setup}
    more = ("/account", "/metrics", "/healthz", "/readyz", "/app/", "/app/config", "/policy")
    return sorted({*described, *pages, *mine, *more})


def test_no_interface_tells_a_stranger_what_is_not_public(world: VisibilityWorld) -> None:
    """In turn: who is signed in asks at each address, and nobody at each chart, about one entry after the other."""
    unseen = [world.entries[kind] for kind in (*NAMES, "anonymous")]
    nobody, mallory = world.strangers["nobody"], world.strangers["mallory"]
    everything = addresses(world, nobody, *unseen)
    charts = [address for address in everything if address.startswith("/analyse")]
    asked = {
        "nobody": [one for one in everything if one not in charts] + one_of_each(charts, unseen),
        "mallory": one_of_each(addresses(world, mallory, *unseen), unseen),
    }
    for user, found in asked.items():
        for address in found:
            reply = world.strangers[user].get(address)
            assert reply.status_code < 500, address
            assert MARK not in words(reply), f"{address} tells {user}"


def one_of_each(found: list[str], entries: list[str]) -> list[str]:
    """Return one of those that differ in their entry only: the first with the first entry, the next with the next."""
    alike: dict[str, list[str]] = {}
    for address in found:
        alike.setdefault(re.sub("|".join(entries), "{id}", address), []).append(address)
    return [same[place % len(same)] for place, same in enumerate(alike.values())]


def test_the_same_interfaces_tell_of_what_is_public_and_its_owner_of_what_is_not(world: VisibilityWorld) -> None:
    """The positive control."""
    http, entry = world.strangers["nobody"], world.entries["public"]
    telling = {one for one in addresses(world, http, entry) if "Public judge" in words(http.get(one))}
    there = {"/", f"/entries/{entry}", "/feed.xml", "/export/board.csv", "/export/board.parquet"}
    assert telling >= {*there, f"/api/v1/submissions/{entry}", f"/entries/{entry}/cite.bib"}
    for kind, user in (("waiting", "waiter"), ("rejected", "refused"), ("unpublished", "alice"), ("hidden", "alice")):
        assert world.state(kind, world.people[user])["model"] == NAMES[kind]
        assert world.state(kind, world.people["alice"])["model"] == NAMES[kind], "maintainers see all"
        assert MARK in words(world.people[user].get("/account"))


def test_strangers_see_state_and_times_and_of_an_unpublished_one_nothing(world: VisibilityWorld) -> None:
    expected = {"waiting": "awaiting-approval", "rejected": "withdrawn", "hidden": "withdrawn", "unpublished": None}
    for http in world.strangers.values():
        for kind, state in expected.items():
            told = world.state(kind, http)
            assert told.get("state") == state
            assert not [name for name in BARE if told.get(name)], kind
        public = world.state("public", http)
        assert public["model"] == "Public judge" and public["receipt_url"]
        unnamed = world.state("anonymous", http)
        assert (unnamed["model"], unnamed["receipt_url"]) == ("Anonymous judge", None)


def test_the_log_names_none_of_them(world: VisibilityWorld) -> None:
    log = world.signed_in.service.log
    assert "started" in log
    assert MARK not in log
