"""Redirect targets, origins, seals and roles, without a database."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from auth import ANONYMOUS, LOCAL, Forbidden, Identity, Role, Scope, Unauthenticated, require, require_person
from auth.crypto import KeyRing
from auth.csrf import is_cross_site
from auth.model import IMPLIED, restrict_to_scopes
from auth.sign_in import local_path

KEY, OTHER = "k" * 40, "o" * 40


@pytest.mark.parametrize(
    "target",
    [
        "/",
        "/account",
        "/entries/e0?x=1&y=a#part",
        "/app/submit",
        "/?q=type:scalar",
        "/a//b",
        "/entries/e0?y=a%20b",
        "/?q=%C3%BC",
    ],
)
def test_a_path_of_this_site_is_kept(target: str) -> None:
    assert local_path(target) == target


@pytest.mark.parametrize(
    "target",
    [
        None,
        "",
        "account",
        "https://evil",
        "//evil",
        "/\\evil",
        "/%2f%2fevil",
        "/%252f%252fevil",
        "/\n/evil",
        "/%0a/evil",
        " /account",
        "javascript:alert(1)",
        "/" + "x" * 3000,
        "/auth/sign-in",
        "/%61uth/sign-out",
        "/\u2028evil",
        "/%e2%80%a8x",
        "/ü",
    ],
)
def test_anything_else_leads_home(target: str | None) -> None:
    assert local_path(target) == "/"


@given(st.text(alphabet=st.sampled_from("/\\%2fF5cC09aA.:@?#evil \t\n"), max_size=12))
def test_no_target_ever_reads_as_another_host(target: str) -> None:
    path = local_path(target)
    assert path.startswith("/")
    # A browser drops tabs and line ends, and takes a backslash as a slash.
    seen = "".join(character for character in path if character not in "\t\r\n").replace("\\", "/")
    assert not seen.startswith("//")


@pytest.mark.parametrize(
    ("origin", "site", "cookie", "allowed"),
    [
        ("https://board.example", None, True, True),
        ("https://board.example", "same-origin", True, True),
        ("https://board.example", "cross-site", True, False),
        ("https://evil.example", "same-origin", True, False),
        ("null", None, True, False),
        ("null", None, False, False),
        (None, None, True, False),
        (None, None, False, True),
        (None, "same-origin", True, True),
        (None, "cross-site", False, False),
    ],
)
def test_who_may_send_a_state_change(origin: str | None, site: str | None, cookie: bool, allowed: bool) -> None:
    sent = {"host": "board.example", "origin": origin, "sec-fetch-site": site}
    headers = Headers({name: value for name, value in sent.items() if value is not None})
    assert (is_cross_site(headers, "https://board.example", cookie=cookie) is None) is allowed


def test_a_seal_opens_what_it_made_for_the_same_purpose_until_it_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    seal = KeyRing((KEY,))
    signed = seal.sign("sign-in", {"s": "é"})
    assert seal.unsign("sign-in", signed, seconds=600) == {"s": "é"}
    assert seal.unsign("other", signed, seconds=600) is None
    assert KeyRing((OTHER,)).unsign("sign-in", signed, seconds=600) is None
    assert KeyRing((OTHER, KEY)).unsign("sign-in", signed, seconds=600) == {"s": "é"}
    for forged in ("", ".", signed[:-4], f"x{signed}", signed.swapcase(), "é.é"):
        assert seal.unsign("sign-in", forged, seconds=600) is None
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 601)
    assert seal.unsign("sign-in", signed, seconds=600) is None


def test_what_is_encrypted_for_one_account_does_not_open_for_another() -> None:
    seal = KeyRing((KEY,))
    sealed = seal.encrypt("issuer-token", "hf_oauth", owner="a1")
    assert b"hf_oauth" not in sealed
    assert seal.encrypt("issuer-token", "hf_oauth", owner="a1") != sealed
    assert seal.decrypt("issuer-token", sealed, owner="a1") == "hf_oauth"
    assert KeyRing((OTHER, KEY)).decrypt("issuer-token", sealed, owner="a1") == "hf_oauth"
    assert seal.decrypt("issuer-token", sealed, owner="a2") is None
    assert seal.decrypt("other", sealed, owner="a1") is None
    assert KeyRing((OTHER,)).decrypt("issuer-token", sealed, owner="a1") is None
    assert seal.decrypt("issuer-token", b"", owner="a1") is None


def test_use_cases_are_stopped_or_go_on() -> None:
    person = Identity("a1", "alice", roles=IMPLIED[Role.MAINTAINER], auth_method="session")
    token = Identity(
        "a1", "alice", roles=frozenset({Role.SUBMITTER}), auth_method="token", scopes=frozenset({Scope.SUBMIT})
    )
    assert require(person, Role.MAINTAINER) is person
    assert require(LOCAL, Role.OWNER) is LOCAL
    assert require_person(person) is person
    with pytest.raises(Unauthenticated):
        require(ANONYMOUS, Role.SUBMITTER)
    with pytest.raises(Forbidden) as refusal:
        require(person, Role.OWNER)
    assert refusal.value.needed is Role.OWNER
    for user in (token, LOCAL):
        with pytest.raises(Forbidden):
            require_person(user)
    with pytest.raises(Unauthenticated):
        require_person(ANONYMOUS)


def test_scopes_only_ever_take_away() -> None:
    for scopes in (frozenset[Scope](), frozenset({Scope.SUBMIT}), frozenset(Scope)):
        for roles in IMPLIED.values():
            assert restrict_to_scopes(roles, scopes) <= roles
            assert Role.OWNER not in restrict_to_scopes(roles, scopes)
