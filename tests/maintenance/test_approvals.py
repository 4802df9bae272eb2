"""First submissions through REST, the command line and the page: the same decisions everywhere."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from maintenance import api
from storage import visibility
from storage.database import Database
from tests.databases import submitted, with_labels
from tests.factories.accounts import ANONYMOUS, MAINTAINER
from tests.factories.actions import by
from tests.factories.maintain_page import MaintainVisitor
from tests.factories.services.review_pages import SignedInAs
from tests.factories.suite.programs import Finished, run_maintenance
from web.actions import ACTIONS


@pytest.fixture
def waiting(database: Database) -> list[str]:
    with_labels(database)
    ids = submitted(database, 2, owner="anew00000000")
    with database.write() as session:
        for name in ids:
            visibility.request_approval(session, name, shown=visibility.PLAIN, approval=True)
    return ids


def state(database: Database, name: str) -> str:
    with database.read() as session:
        return visibility.approvals(session, [name])[name][0]


def test_rest_lists_and_decides_with_a_reason(database: Database, waiting: list[str]) -> None:
    app = FastAPI()
    app.include_router(api.build(ACTIONS, by(database, ANONYMOUS)))
    http = TestClient(SignedInAs(app), headers={"X-Account": MAINTAINER.account})
    base = "/api/v1/maintenance/approvals"
    assert sorted(one["submission"] for one in http.get(base).json()) == sorted(waiting)
    assert http.post(f"{base}/{waiting[0]}/approve", json={"reason": " "}).json()["code"] == "reason-needed"
    assert http.post(f"{base}/{waiting[0]}/approve", json={"reason": "known"}).json()["changed"]
    assert http.post(f"{base}/{waiting[1]}/reject", json={"reason": "constant"}).json()["changed"]
    assert http.get(base).json() == []
    assert http.post(f"{base}/{waiting[0]}/reject", json={"reason": "late"}).json()["code"] == "already-approved"
    assert [state(database, name) for name in waiting] == ["approved", "rejected"]


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_the_command_line_lists_and_decides(database: Database, waiting: list[str], tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/data/leaderboard.db"
    environ = {"PATH": os.environ["PATH"], "DATA_DIR": str(tmp_path), "DATABASE_URL": url}

    def command(*words: str) -> Finished:
        return run_maintenance("approvals", *words, environ=environ)

    listed = command("list", "--json")
    assert sorted(one["submission"] for one in json.loads(listed.stdout)) == sorted(waiting), listed.stderr
    assert "is approved" in command("approve", waiting[0], "--reason", "known").stdout
    assert "approved already" in command("approve", waiting[0], "--reason", "known").stdout
    assert state(database, waiting[0]) == "approved"


def test_what_people_typed_is_text_on_the_page(database: Database) -> None:
    with_labels(database)
    (name,) = submitted(database, 1, model="<img src=x onerror=alert(1)>")
    with database.write() as session:
        visibility.request_approval(session, name, shown=visibility.PLAIN, approval=True)
    shown = MaintainVisitor(by(database, MAINTAINER)).look("approvals")
    assert "&lt;img" in shown
    assert "<img" not in shown
