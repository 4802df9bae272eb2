"""API tokens: what they allow, and when they stop allowing it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from auth.crypto import digest
from tests.factories.fakes.openid_provider import Provider, person
from tests.factories.services.auth_site import AuthSite, Browser, program


@pytest.fixture
def alice(another: Callable[..., AuthSite]) -> Browser:
    """Return a maintainer."""
    browser = another(maintainers=("alice",)).browser()
    browser.sign_in()
    return browser


def test_a_token_is_shown_once_and_kept_as_a_digest(alice: Browser) -> None:
    token = alice.make_token()
    assert token not in alice.get("/account").text
    ((stored,),) = alice.site.sql("SELECT token_sha256 FROM api_tokens")
    assert stored == digest(token)
    assert program(alice.site, stored).get("/whoami").status_code == 401
    bodies = " ".join(body for (body,) in alice.site.sql("SELECT body FROM events"))
    assert token not in bodies
    assert stored not in bodies


def test_a_token_does_what_it_was_made_for_and_nothing_else(alice: Browser) -> None:
    submit, maintain = alice.make_token("a"), alice.make_token("b", ("maintain",))
    both = alice.make_token("c", ("maintain", "submit"))

    def statuses(token: str) -> list[int]:
        return [program(alice.site, token).post(path).status_code for path in ("/submit", "/maintain", "/own")]

    assert statuses(submit) == [200, 403, 403]
    assert statuses(maintain) == [403, 200, 403]
    assert statuses(both) == [200, 200, 403]
    assert "This token allows submit" in program(alice.site, submit).post("/maintain").json()["detail"]


def test_a_token_cannot_make_tokens_or_end_sessions(alice: Browser) -> None:
    token = alice.make_token(scopes=("maintain", "submit"))
    client = program(alice.site, token)
    fields = {"name": "more", "scopes": "submit", "days": "30"}
    for path in ("/account/tokens", "/account/sessions/end"):
        assert client.post(path, data=fields).status_code == 403
    assert alice.name() == "alice"


def test_who_is_no_maintainer_makes_no_maintainers_token(alice: Browser) -> None:
    bob = alice.site.browser()
    bob.sign_in("bob")
    page = bob.post("/account/tokens", {"name": "x", "scopes": "maintain", "days": "30"})
    assert page.status_code == 403
    assert 'value="maintain"' not in bob.get("/account").text


def test_a_token_loses_what_its_account_loses(alice: Browser, another: Callable[..., AuthSite]) -> None:
    token = alice.make_token(scopes=("maintain",))
    assert program(alice.site, token).post("/maintain").status_code == 200
    assert program(another(), token).post("/maintain").status_code == 403  # the same database, other maintainers


def test_a_revoked_token_is_refused_at_once(alice: Browser) -> None:
    token = alice.make_token()
    ((token_id,),) = alice.site.sql("SELECT id FROM api_tokens")
    for _ in range(2):  # twice is as good as once
        assert alice.post(f"/account/tokens/{token_id}/revoke").status_code == 303
    answer = program(alice.site, token).post("/submit")
    assert answer.status_code == 401
    assert "revoked" in answer.json()["detail"]
    kinds = [kind for (kind,) in alice.site.sql("SELECT kind FROM events ORDER BY seq")]
    assert kinds == ["identity.role-bound", "identity.token-made", "identity.token-revoked"]


def test_an_expired_token_is_refused(alice: Browser) -> None:
    token = alice.make_token(days=7)
    alice.site.sql("UPDATE api_tokens SET created_at = created_at - 604790, expires_at = expires_at - 604790")
    assert program(alice.site, token).post("/submit").status_code == 200
    alice.site.sql("UPDATE api_tokens SET expires_at = expires_at - 20")
    assert program(alice.site, token).post("/submit").status_code == 401
    assert "expired" in alice.get("/account").text


def test_nobody_revokes_the_token_of_somebody_else(alice: Browser) -> None:
    token = alice.make_token("laptop")
    ((token_id,),) = alice.site.sql("SELECT id FROM api_tokens")
    bob = alice.site.browser()
    bob.sign_in("bob")
    bob.post(f"/account/tokens/{token_id}/revoke")
    assert program(alice.site, token).post("/submit").status_code == 200
    assert "laptop" not in bob.get("/account").text


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": ""}, "Give the token a name"),
        ({"name": "x" * 101}, "at most 100"),
        ({"name": "a\x00b"}, "Give the token a name"),
        ({"scopes": []}, "Choose what"),
        ({"scopes": ["everything"]}, "Choose what"),
        ({"days": "3650"}, "is valid for"),
        ({"days": "-1"}, "is valid for"),
        ({"days": "9" * 5000}, "is valid for"),
        ({"days": "٣٠"}, "is valid for"),
    ],
)
def test_what_cannot_be_made_is_said(alice: Browser, fields: dict[str, object], said: str) -> None:
    form = {"name": "x", "scopes": ["submit"], "days": "30"} | fields
    page = alice.post("/account/tokens", form)
    assert page.status_code == 422
    assert said in page.text


def test_tokens_of_hugging_face_are_not_ours(alice: Browser) -> None:
    assert program(alice.site, "hf_" + "x" * 34).get("/whoami").json()["name"] == ""


# Roles


def test_a_role_by_name_stays_with_the_account_that_had_the_name_first(
    another: Callable[..., AuthSite], provider: Provider
) -> None:
    site = another(maintainers=("alice",), owners=("BOB",))
    alice, bob = site.browser(), site.browser()
    alice.sign_in()
    bob.sign_in("bob")
    assert alice.roles() == ["maintainer", "submitter"]
    assert bob.roles() == ["maintainer", "owner", "submitter"]
    provider.users["alice"] = person("1001", "alice-renamed")
    provider.users["mallory"] = person("6666", "alice")  # takes the name that became free
    alice.sign_in()
    mallory = site.browser()
    mallory.sign_in("mallory")
    assert mallory.name() == "alice"
    assert mallory.roles() == ["submitter"]
    assert mallory.post("/maintain").status_code == 403
    assert alice.roles() == ["maintainer", "submitter"]
    site.sql("DELETE FROM role_names")  # without the binding the name would be enough
    mallory.sign_in("mallory")
    assert mallory.post("/maintain").status_code == 200


def test_a_role_can_hang_on_the_subject_which_never_changes_hands(another: Callable[..., AuthSite]) -> None:
    site = another(maintainers=("sub:1002",))
    bob, alice = site.browser(), site.browser()
    bob.sign_in("bob")
    alice.sign_in()
    assert (bob.roles(), alice.roles()) == (["maintainer", "submitter"], ["submitter"])
