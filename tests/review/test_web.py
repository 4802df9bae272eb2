"""Pages and REST of reviews: nothing tells a label, text is text, and refusals are problems."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from auth import Identity
from maintenance.actions import tasks
from review.actions import answers, disputes, projects
from review.actions.answers import GivenAnswer
from review.annotation import INVERT, PREFERENCES, UNUSABLE, error_groups
from review.selection import ProjectPlan
from tests.factories.accounts import ANONYMOUS, MAINTAINER, OWNER_OF_IT, STRANGER
from tests.factories.maintain_page import MaintainVisitor
from tests.factories.review_setup import HOSTILE, ReviewSetup, materials
from tests.factories.services.review_pages import serve
from tests.factories.specs import VL
from vlrb.benchmarks.spec import ErrorChoice

WHY = "The preferred response invents a second dog."


class _ReviewSite:
    def __init__(self, bench: ReviewSetup, directory: Path) -> None:
        self.bench = bench
        self.client = TestClient(serve(bench.database, materials(bench.table, directory)), follow_redirects=False)

    def ask(self, user: Identity, method: str, *, path: str, body: Any = None, **more: Any) -> Any:
        return self.client.request(method, path, json=body, headers={"X-Account": user.account}, **more)


@pytest.fixture
def site(bench: ReviewSetup, tmp_path: Path) -> _ReviewSite:
    return _ReviewSite(bench, tmp_path)


def test_a_dispute_goes_from_a_form_to_its_answer(site: _ReviewSite) -> None:
    key = site.bench.key(0)
    page = site.ask(STRANGER, "GET", path=f"/dispute/{key}")
    assert page.status_code == 200
    fields = {"better": "b", "tag": "counting", "reason": f"{WHY} {HOSTILE}"}
    short = site.client.post(f"/dispute/{key}", data={**fields, "reason": HOSTILE[:5]}, headers=_as(STRANGER))
    assert short.status_code == 422
    assert "at least 20 characters" in short.text and "&lt;img" in short.text and HOSTILE[:5] not in short.text
    assert re.search(r'value="b" required checked', short.text)
    sent = site.client.post(f"/dispute/{key}", data=fields, headers=_as(STRANGER))
    assert (sent.status_code, sent.headers["location"]) == (303, f"/dispute/{key}#yours")
    assert "with the maintainers" in site.ask(STRANGER, "GET", path=f"/dispute/{key}").text
    listed = site.ask(MAINTAINER, "GET", path="/api/v1/maintenance/disputes").json()
    one = listed[0]["dispute"]
    assert (one["better"], one["tag"], one["reason"]) == ("b", "counting", f"{WHY} {HOSTILE}")
    answer = site.ask(
        MAINTAINER, "POST", path=f"/api/v1/maintenance/disputes/{one['id']}/accept", body={"note": HOSTILE}
    )
    assert answer.json()["changed"]
    page = site.ask(STRANGER, "GET", path=f"/dispute/{key}").text
    assert "accepted" in page and HOSTILE not in page and "&lt;img" in page
    assert "Your disputes" not in site.ask(OWNER_OF_IT, "GET", path=f"/dispute/{key}").text
    mine = site.ask(STRANGER, "GET", path="/disputes").text
    assert f'href="/dispute/{key}"' in mine and HOSTILE not in mine and "accepted" in mine
    assert "已接受" in site.ask(STRANGER, "GET", path="/disputes?lang=zh-CN").text
    assert key not in site.ask(OWNER_OF_IT, "GET", path="/disputes").text
    assert site.ask(ANONYMOUS, "GET", path="/disputes").status_code == 401
    for name in ("0" * 64, "x", HOSTILE):
        assert site.ask(STRANGER, "GET", path=f"/dispute/{name}").status_code == 404


def _as(user: Identity) -> dict[str, str]:
    return {"X-Account": user.account}


def test_who_is_not_signed_in_reads_the_pair_and_is_led_to_the_sign_in(site: _ReviewSite) -> None:
    page = site.ask(ANONYMOUS, "GET", path=f"/dispute/{site.bench.key(0)}")
    assert page.status_code == 200
    assert f"/auth/sign-in?next=/dispute/{site.bench.key(0)}" in page.text and "<form class=" not in page.text
    body = {"item": "x", "better": "a", "reason": WHY}
    assert site.ask(ANONYMOUS, "POST", path="/api/v1/disputes", body=body).status_code == 401


def test_the_page_of_a_project_holds_neither_a_pair_nor_an_answer_nor_inline_code(site: _ReviewSite) -> None:
    projects.create(site.bench.by(MAINTAINER), "may", base="demo", reason="x", plan=ProjectPlan())
    page = site.ask(MAINTAINER, "GET", path="/annotate/1")
    assert page.status_code == 200 and "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert not re.search(r"\sstyle=|<style|\son\w+=|<script(?![^>]*src=)", page.text)
    for item in site.bench.table.items:
        assert item.key not in page.text
    for user, path, status in (
        (STRANGER, "/annotate/1", 404),
        (MAINTAINER, "/annotate/2", 404),
        (MAINTAINER, "/annotate/x", 404),
        (ANONYMOUS, "/annotate", 401),
        (STRANGER, "/annotate", 200),
    ):
        assert site.ask(user, "GET", path=path).status_code == status


def test_no_two_buttons_have_the_same_key() -> None:
    many = replace(VL, errors=tuple(ErrorChoice(str(number), "other", title="x") for number in range(30)))
    (group,) = error_groups(many)
    keys = [one.key for one in (*PREFERENCES, INVERT, *UNUSABLE, *group.buttons) if one.key] + ["J", "N", "Z"]
    assert len(set(keys)) == len(keys) == 35


def test_disputes_and_projects_are_worked_on_the_page_and_shown_as_text(bench: ReviewSetup) -> None:
    disputes.dispute(bench.by(MAINTAINER), bench.key(0), better="a", reason=f"{WHY} {HOSTILE}")
    page = MaintainVisitor(bench.by(MAINTAINER))
    shown = page.look("disputes")
    assert HOSTILE not in shown and "&lt;img" in shown
    assert "is accepted" in page.act("disputes.accept", ["1"], note="you are right")
    assert "Nothing is disputed" in page.look("disputes") and "accepted" in page.look("disputes", state="accepted")
    assert "its number" in page.act("disputes.accept", ["one"], note="x")
    draft = {"revision": "next", "base": "demo", "reason": "because", "disclosure": "public"}
    assert "waits for a worker" in page.act("disputes.draft", **draft)
    assert tasks.recent_tasks(bench.by(MAINTAINER))[0].params["disclosure"] == "public"
    start = {"name": "may", "base": "demo", "reason": "x", "file": bench.file_of(0, 4)}
    assert "has 2 pairs" in page.act("verification.start", **start)
    assert "no account" in page.act("verification.annotators", ["1"], annotators="nobody")
    assert "1 more may answer" in page.act("verification.annotators", ["1"], annotators="local")
    assert "local 0" in page.look("verification")
    close = {"revision": "more", "reason": "x"}
    assert "Nobody has answered" in page.act("verification.close", ["1"], **close)
    answers.answer(bench.by(MAINTAINER), 1, place=1, given_answer=GivenAnswer("first"))
    assert "WildVision-" in page.show("verification", "verification.decisions", "1")
    assert "waits for a worker" in page.act("verification.close", ["1"], **close)
