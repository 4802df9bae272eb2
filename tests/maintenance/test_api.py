"""REST over the use cases: the same refusals as problems, and nothing private in public answers."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from auth import Identity
from maintenance import api
from storage.database import Database
from storage.limits.sliding_window import CHANGES_A_DAY
from submissions.metadata import parse_metadata
from tests.databases import with_labels
from tests.factories import small_benchmark
from tests.factories.accounts import ANONYMOUS, MAINTAIN_TOKEN, MAINTAINER, OWNER_OF_IT, STRANGER
from tests.factories.actions import by
from tests.factories.services.review_pages import signed_in_by_header
from web.actions import ACTIONS


class _ApiSite:
    def __init__(self, database: Database, benchmark: str = "demo") -> None:
        app = FastAPI()
        app.include_router(api.build(ACTIONS, by(database, ANONYMOUS, benchmark=benchmark, parse=parse_metadata)))
        self._client = TestClient(signed_in_by_header(app))
        (self.entry,) = small_benchmark.submit(database, range(1), owner=OWNER_OF_IT.account)

    def ask(self, user: Identity, method: str, *, path: str, body: Any = None) -> Any:
        return self._client.request(method, path, json=body, headers={"X-Account": user.account})


@pytest.fixture
def site(database: Database) -> _ApiSite:
    with_labels(database)
    return _ApiSite(database)


def test_a_token_for_maintaining_alone_does_what_maintainers_do_with_entries(site: _ApiSite) -> None:
    path = f"/api/v1/entries/{site.entry}"
    assert site.ask(MAINTAIN_TOKEN, "PATCH", path=path, body={"notes": "a typing error"}).status_code == 200
    assert site.ask(MAINTAIN_TOKEN, "GET", path=f"{path}/history").status_code == 200
    assert site.ask(MAINTAIN_TOKEN, "POST", path=f"{path}/withdraw", body={"reason": "x"}).json()["changed"]
    assert site.ask(STRANGER, "GET", path=f"{path}/history").status_code == 403


def test_instants_have_the_usual_format(site: _ApiSite) -> None:
    site.ask(MAINTAINER, "POST", path=f"/api/v1/entries/{site.entry}/hide", body={"reason": "x"})
    (found,) = site.ask(MAINTAINER, "GET", path="/api/v1/maintenance/entries").json()["entries"]
    assert datetime.fromisoformat(found["submitted_at"]).tzinfo is not None


def test_a_description_that_cannot_be_taken_names_every_field(site: _ApiSite) -> None:
    answer = site.ask(
        OWNER_OF_IT, "PATCH", path=f"/api/v1/entries/{site.entry}", body={"link": "x", "temperature": "hot"}
    )
    assert answer.status_code == 422
    assert {one["field"] for one in answer.json()["problems"]} == {"link", "temperature"}
    assert site.ask(OWNER_OF_IT, "PATCH", path=f"/api/v1/entries/{site.entry}", body={"temperature": 0.5}).json()[
        "changed"
    ]
    (change,) = site.ask(OWNER_OF_IT, "GET", path=f"/api/v1/entries/{site.entry}/history").json()
    assert change["after"] == {"temperature": 0.5}


def test_what_a_worker_has_to_do_is_accepted_and_can_be_followed(site: _ApiSite) -> None:
    body = {"revision": "v3", "source": "/labels.jsonl", "reason": "errors"}
    answer = site.ask(MAINTAINER, "POST", path="/api/v1/maintenance/labels", body=body)
    assert answer.status_code == 202
    again = site.ask(MAINTAINER, "POST", path="/api/v1/maintenance/labels", body=body)
    assert (again.json()["changed"], again.json()["task_id"]) == (False, answer.json()["task_id"])
    task = site.ask(MAINTAINER, "GET", path=f"/api/v1/maintenance/tasks/{answer.json()['task_id']}").json()
    assert (task["state"], task["subject"]) == ("queued", "v3")


def test_things_that_cannot_be_done_are_problems_with_a_code(site: _ApiSite) -> None:
    for path, body, status, code in (
        ("/api/v1/entries/e00000000000/hide", {"reason": "x"}, 404, "not-found"),
        (f"/api/v1/entries/{site.entry}/hide", {"reason": " "}, 409, "reason-needed"),
        (
            "/api/v1/maintenance/rescore/apply",
            {"revision": "v3", "reason": "x", "confirmation": ""},
            409,
            "not-confirmed",
        ),
        ("/api/v1/maintenance/rescore/preview", {"revision": "v3"}, 404, "not-found"),
    ):
        answer = site.ask(MAINTAINER, "POST", path=path, body=body)
        assert (answer.status_code, answer.json()["code"]) == (status, code)
    unknown_key = {"reason": "x", "by": "somebody"}
    assert site.ask(MAINTAINER, "POST", path=f"/api/v1/entries/{site.entry}/hide", body=unknown_key).status_code == 422


def test_the_public_chain_is_for_everybody_line_by_line(site: _ApiSite) -> None:
    site.ask(MAINTAINER, "POST", path=f"/api/v1/entries/{site.entry}/hide", body={"reason": "a secret reason"})
    answer = site.ask(ANONYMOUS, "GET", path="/api/v1/chain")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-ndjson")
    events = [json.loads(line) for line in answer.text.splitlines()]
    assert [set(one) for one in events] == [{"seq", "prev", "body_sha256", "hash"}] * len(events)
    assert (
        site.ask(ANONYMOUS, "GET", path=f"/api/v1/chain?after={len(events) - 1}").text
        == answer.text.splitlines(True)[-1]
    )
    assert site.ask(ANONYMOUS, "GET", path="/api/v1/chain?after=-1").status_code == 422


def test_the_refusal_of_too_many_edits_says_when_the_next_one_is_possible(site: _ApiSite, database: Database) -> None:
    path = f"/api/v1/entries/{site.entry}"
    for number in range(CHANGES_A_DAY):
        assert site.ask(OWNER_OF_IT, "PATCH", path=path, body={"notes": f"note {number}"}).status_code == 200
    told = site.ask(OWNER_OF_IT, "PATCH", path=path, body={"notes": "one more"})
    assert (told.status_code, told.json()["code"]) == (429, "too-many-changes")
    assert told.headers["content-type"] == "application/problem+json"
    assert 86_000 < int(told.headers["retry-after"]) <= 86_400
    assert told.json()["next_at"][:16].replace("T", " ") in told.json()["detail"]
    assert "entry.edited" not in site.ask(ANONYMOUS, "GET", path="/api/v1/decisions").text
    shown = site.ask(ANONYMOUS, "GET", path="/api/v1/decisions?edits=true&limit=500").json()["decisions"]
    assert [one["kind"] for one in shown].count("entry.edited") == CHANGES_A_DAY
