"""The whole service with sign-in: a real OpenID provider, real processes, HTTP."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.factories.fakes.openid_provider import person
from tests.factories.services.service import KEPT, until
from tests.factories.services.signed_in import SignedInService, running_signed_in, token_of
from tests.factories.suite.programs import Finished, run_vlrb
from vlrb.client.jws import event_of

pytestmark = pytest.mark.slow


@dataclass
class SignInWorld(SignedInService):
    """A service, the provider that it trusts, and where its files are."""

    folder: Path

    def file(self, number: int) -> Path:
        """Return a complete file for the demo benchmark; another number, other bytes."""
        judge = self.folder / "data" / "demo" / "judges" / "judge-a.jsonl"
        path = self.folder / f"predictions-{number}.jsonl"
        source = judge if judge.exists() else sorted(judge.parent.glob("*.jsonl"))[0]
        path.write_bytes(source.read_bytes() + b"\n" * number)
        return path


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SignInWorld]:
    folder = tmp_path_factory.mktemp("signin")
    with running_signed_in(folder / "data", gradio=True) as found:
        for number in range(10):
            found.provider.users[f"user{number}"] = person(f"20{number}", f"user{number}")
        yield SignInWorld(found.service, found.provider, folder=folder)


def post(client: httpx.Client, path: Path, **more: Any) -> httpx.Response:
    with path.open("rb") as file:
        return client.post("/api/v1/submissions", files={"file": file}, data={"model": path.name}, **more)


def test_somebody_signs_in_submits_and_finds_the_entry_on_their_account(world: SignInWorld) -> None:
    browser = world.browser("alice")
    cookies = {cookie.name: cookie for cookie in browser.cookies.jar}
    session = cookies["vlrb_session"]
    assert session.has_nonstandard_attr("HttpOnly")
    assert session.get_nonstandard_attr("SameSite") == "lax"
    taken = post(browser, world.file(1))
    assert taken.status_code == 202, taken.text
    receipt = event_of(taken.json()["receipt"])
    assert (receipt["owner"][0], receipt["attempt"]) == ("a", 1)
    assert receipt["policy"]["per_24_hours"] == 1
    until(lambda: browser.get(taken.json()["status_url"]).json()["state"] == "scored", 30, what="it is scored")
    account = browser.get("/account").text
    assert "predictions-1.jsonl" in account
    assert f"/entries/{taken.json()['id']}" in account
    assert browser.get("/api/v1/quota").json()["attempts"] == 1
    other = world.browser("bob")
    assert "predictions-1.jsonl" not in other.get("/account").text


def test_nobody_submits_without_signing_in_and_everybody_may_check(world: SignInWorld) -> None:
    http = world.service.http
    refused = post(http, world.file(4))
    assert (refused.status_code, refused.json()["code"]) == (401, "sign-in-needed")
    assert http.post("/api/v1/check", content=world.file(4).read_bytes()).json()["ok"] is True
    policy = http.get("/api/v1/policy").json()
    assert policy["scored_submissions"]["per_365_days"] == 12
    assert policy["sign_in"] == world.provider.url


def submit(world: SignInWorld, number: int, *options: str, **environ: str) -> Finished:
    command = ("submit", str(world.file(number)), "--model", f"CLI {number}", "--server", world.service.url, *options)
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return run_vlrb(*command, environ={**kept, "HOME": str(world.folder), **environ}, folder=world.folder)


def test_the_command_line_submits_with_a_token_and_says_when_the_next_one_is_possible(world: SignInWorld) -> None:
    browser = world.browser("user3")
    token = token_of(browser)
    without = submit(world, 6)
    assert (without.returncode, "send an API token" in without.stderr) == (1, True)
    assert "VLRB_TOKEN" in without.stderr
    ran = submit(world, 6, VLRB_TOKEN=token)
    assert ran.returncode == 0, ran.stderr
    assert "CLI 6" in browser.get("/account").text
    again = submit(world, 7, VLRB_TOKEN=token)
    assert (again.returncode, "submission is possible from" in again.stderr) == (1, True)
    assert token not in again.stderr + again.stdout + world.service.log


def day(ahead: int) -> str:
    """Return a day to come."""
    return (datetime.now(UTC) + timedelta(days=ahead)).date().isoformat()


def test_an_owner_looks_after_a_submission_without_any_script(world: SignInWorld) -> None:
    owner, other = world.browser("user6"), world.browser("user7")
    later = day(200)
    options = {"organisation": "Lab Planted 7e1", "anonymous_until": later, "published": "false"}
    with world.file(11).open("rb") as file:
        taken = owner.post("/api/v1/submissions", files={"file": file}, data={"model": "Unseen", **options})
    assert taken.status_code == 202, taken.text
    entry, status = taken.json()["id"], taken.json()["status_url"]
    until(lambda: owner.get(status).json()["state"] == "scored", 60, what="it is scored")
    page = f"/account/submissions/{entry}"
    assert "not before you publish it" in owner.get(page).text
    assert f'href="{status}/votes"' in owner.get(page).text
    own = owner.get(f"{status}/votes")
    assert own.headers["content-disposition"] == f'attachment; filename="votes-{entry}.jsonl"'
    assert f"not published, anonymous until {later}" in owner.get("/account").text
    assert other.get(page).status_code == 404
    assert other.post(f"{page}/publish").status_code == 404
    assert world.service.http.get(page).status_code == 303  # to the sign-in
    assert owner.post(f"{page}/publish", headers={"Origin": "https://evil.example"}).status_code == 403
    until(lambda: owner.get("/api/v1/leaderboard").json()["unpublished"] == 1, 60, what="it is counted in public")
    assert "Unseen" not in owner.get("/").text
    edited = owner.post(f"{page}/edit", data={"model": "Seen", "organisation": "Lab Planted 7e1"})
    assert (edited.status_code, edited.headers["location"]) == (303, page)
    wrong = owner.post(f"{page}/edit", data={"model": "", "notes": "kept <b>as typed</b>"})
    assert (wrong.status_code, "enter a model name" in wrong.text) == (422, True)
    assert "kept &lt;b&gt;as typed" in wrong.text
    assert [owner.post(f"{page}/publish").status_code for _ in range(2)] == [303, 303]  # a double click
    until(lambda: world.service.http.get(f"/entries/{entry}").status_code == 200, 60, what="it is on the board")
    public = (f"/entries/{entry}", "/", "/feed.xml", "/export/board.csv", status)
    seen = [world.service.http.get(path).text for path in public]
    assert all("Seen" in text for text in seen)
    assert "Planted" not in "".join(seen)
    assert world.service.http.get(status).json()["receipt_url"] is None
    assert owner.post(f"{page}/reveal").status_code == 303
    until(lambda: "Planted" in world.service.http.get(f"/entries/{entry}").text, 60, what="its owner is named")
    assert owner.post(f"{page}/withdraw", data={"reason": "wrong prompt"}).status_code == 422
    assert owner.post(f"{page}/withdraw", data={"reason": "wrong prompt", "confirm": "yes"}).status_code == 303
    until(lambda: world.service.http.get(f"/entries/{entry}").status_code == 410, 60, what="a stub is left")


def test_the_command_line_publishes_describes_names_and_withdraws(world: SignInWorld) -> None:
    token = token_of(world.browser("user8"))
    ran = submit(world, 12, "--unpublished", "--anonymous-until", day(200), "--wait", "--json", VLRB_TOKEN=token)
    assert ran.returncode == 0, ran.stderr
    entry = json.loads(ran.stdout)["id"]
    kept = {name: os.environ[name] for name in KEPT if name in os.environ} | {"HOME": str(world.folder)}

    def command(*words: str, **environ: str) -> Finished:
        return run_vlrb(*words, "--server", world.service.url, environ={**kept, **environ})

    assert command("edit", entry, "--publish").returncode == 1
    assert "is changed" in command("edit", entry, "--publish", "--notes", "Rerun.", VLRB_TOKEN=token).stdout
    assert "No change" in command("edit", entry, "--publish", "--notes", "Rerun.", VLRB_TOKEN=token).stdout
    assert "is changed" in command("edit", entry, "--anonymous-until", day(90), VLRB_TOKEN=token).stdout
    late = command("edit", entry, "--anonymous-until", "2099-01-01", VLRB_TOKEN=token)
    assert (late.returncode, "at most 365 days" in late.stderr) == (1, True)
    assert "is changed" in command("edit", entry, "--not-anonymous", VLRB_TOKEN=token).stdout
    assert command("edit", entry, VLRB_TOKEN=token).returncode == 2  # nothing to change
    until(lambda: "CLI 12" in command("board").stdout, 60, what="it is on the board")
    assert command("board").stdout.startswith("Rank ")
    assert all("CLI 12" in command("board", form).stdout for form in ("--csv", "--latex"))
    assert json.loads(command("board", "--json").stdout)["entries"]
    assert command("withdraw", entry, "--reason", "wrong prompt").returncode == 1
    assert "withdrawn" in command("withdraw", entry, "--reason", "wrong prompt", VLRB_TOKEN=token).stdout
    assert "withdrawn: wrong prompt" in command("status", entry, VLRB_TOKEN=token).stdout
