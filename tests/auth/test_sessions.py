"""Sessions: forged, fixed, stolen, old, ended; and the account page."""

from __future__ import annotations

import base64
import json

import pytest

from auth.crypto import digest
from maintenance.actions import accounts
from tests.factories.accounts import MAINTAINER
from tests.factories.actions import by
from tests.factories.services.auth_site import AuthSite, Browser, program


@pytest.fixture
def alice(site: AuthSite) -> Browser:
    browser = site.browser()
    browser.sign_in()
    return browser


def test_a_session_that_was_never_made_here_is_nobody(site: AuthSite) -> None:
    unsigned = base64.urlsafe_b64encode(json.dumps({"user": "alice", "preferred_username": "alice"}).encode()).decode()
    for forged in ("x", "a" * 43, "a" * 5000, "' OR 1=1 --", unsigned, "", "%00"):
        browser = site.browser()
        browser.plant(site.settings.session_cookie, forged)
        assert browser.name() == ""
        assert browser.post("/submit").status_code == 401
    assert site.done == []


def test_the_database_holds_only_the_digest_of_a_session(site: AuthSite, alice: Browser) -> None:
    ((stored,),) = site.sql("SELECT id_sha256 FROM sessions")
    assert stored == digest(alice.session)
    thief = site.browser()
    thief.plant(site.settings.session_cookie, stored)  # who reads the database cannot sign in with what it holds
    assert thief.name() == ""


def test_a_session_from_before_the_sign_in_is_worth_nothing_after_it(site: AuthSite) -> None:
    planted = "p" * 43
    victim, attacker = site.browser(), site.browser()
    attacker.plant(site.settings.session_cookie, planted)
    victim.plant(site.settings.session_cookie, planted)
    victim.sign_in()
    assert victim.name() == "alice"
    assert victim.session != planted
    assert attacker.name() == ""


def test_signing_in_again_changes_the_session_and_ends_the_one_before(site: AuthSite, alice: Browser) -> None:
    before = alice.session
    alice.sign_in("bob")
    assert alice.session != before
    assert alice.name() == "bob"
    thief = site.browser()
    thief.plant(site.settings.session_cookie, before)
    assert thief.name() == ""


def test_signing_out_ends_the_session_on_the_server(site: AuthSite, alice: Browser) -> None:
    kept = alice.session
    out = alice.post("/auth/sign-out")
    assert (out.status_code, out.headers["location"]) == (303, "/")
    assert alice.session == ""
    alice.plant(site.settings.session_cookie, kept)  # deleting the cookie alone would not do
    assert alice.name() == ""


def test_signing_out_everywhere_ends_all_sessions_of_this_account_alone(site: AuthSite, alice: Browser) -> None:
    second, other = site.browser(), site.browser()
    second.sign_in()
    other.sign_in("bob")
    alice.post("/account/sessions/end")
    assert [browser.name() for browser in (alice, second, other)] == ["", "", "bob"]


def test_a_banned_account_is_out_at_once_and_cannot_come_back(site: AuthSite, alice: Browser) -> None:
    token = alice.make_token()
    account = alice.get("/whoami").json()["account"]
    context = by(site.database, MAINTAINER, identity=None)
    assert accounts.ban(context, account, "probing").changed
    assert not accounts.ban(context, account, "probing").changed, "twice is as good as once"
    assert alice.name() == ""
    assert program(site, token).post("/submit").status_code == 403
    assert alice.sign_in().status_code == 403
    assert accounts.unban(context, account, "settled").changed
    assert alice.sign_in().status_code == 303
    kinds = [kind for (kind,) in site.sql("SELECT kind FROM events ORDER BY seq")]
    assert kinds == ["identity.token-made", "identity.banned", "identity.unbanned"]


def test_a_cookie_that_was_sent_twice_is_not_believed(site: AuthSite, alice: Browser) -> None:
    name = site.settings.session_cookie
    twice = {"cookie": f"{name}={alice.session}; {name}={'p' * 43}"}
    assert site.browser().get("/whoami", headers=twice).json()["name"] == ""
    once = {"cookie": f"{name}={alice.session}; other=1"}
    assert site.browser().get("/whoami", headers=once).json()["name"] == "alice"


def test_what_a_client_says_about_itself_is_not_believed(site: AuthSite, alice: Browser) -> None:
    token = alice.make_token()
    claims = {"x-forwarded-user": "alice", "remote-user": "alice", "x-auth-request-user": "alice"}
    assert program(site, **claims).get("/whoami").json()["name"] == ""
    for parameter in ("token", "access_token", "session"):
        assert program(site).get("/whoami", params={parameter: token}).json()["name"] == ""
    assert program(site, token).get("/whoami").json()["name"] == "alice"


def test_public_pages_stay_readable_while_nobody_can_be_looked_up(site: AuthSite, alice: Browser) -> None:
    token = alice.make_token()
    site.sql("ALTER TABLE sessions RENAME TO gone")
    site.sql("ALTER TABLE api_tokens RENAME TO gone_too")
    assert alice.name() == ""
    for answer in (alice.post("/submit"), program(site, token).get("/whoami")):
        assert (answer.status_code, answer.json()["code"]) == (503, "database-offline")
        assert answer.headers["retry-after"] == "5"
    assert site.done == []


def test_the_account_page_is_private_escaped_and_not_to_be_framed(site: AuthSite, alice: Browser) -> None:
    page = alice.get("/account")
    assert page.headers["cache-control"] == "no-store"
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert page.headers["x-content-type-options"] == "nosniff"
    assert "<script>judge" not in page.text
    assert "&lt;script&gt;judge" in page.text
    assert "It was flagged: &lt;b&gt;copied" in page.text
    assert alice.session not in page.text
    assert "style=" not in page.text


def test_the_account_page_of_nobody_shows_the_way_in_and_nothing_else(site: AuthSite) -> None:
    page = site.browser().get("/account")
    assert "/auth/sign-in" in page.text
    assert "judge" not in page.text


def test_a_refusal_is_a_page_for_browsers_and_a_problem_for_programs(site: AuthSite, alice: Browser) -> None:
    page = alice.post("/maintain", headers={"accept": "text/html"})
    assert (page.status_code, page.headers["content-type"]) == (403, "text/html; charset=utf-8")
    problem = program(site).post("/maintain")
    assert (problem.status_code, problem.headers["content-type"]) == (401, "application/problem+json")
    assert problem.headers["www-authenticate"] == "Bearer"
    assert problem.json()["code"] == "sign-in-needed"


def test_a_page_that_needs_a_sign_in_is_what_one_comes_back_to_with_its_query(site: AuthSite) -> None:
    page = site.browser().get("/maintain?state=open&note=a%26b", headers={"accept": "text/html"})
    assert page.status_code == 401
    assert "/auth/sign-in?next=%2Fmaintain%3Fstate%3Dopen%26note%3Da%2526b" in page.text
