"""Signing in against a real provider, and what an attacker could change on the way."""

from __future__ import annotations

import logging
from typing import Any

import httpx
import pytest
from authlib.oidc.core import CodeIDToken  # type: ignore[import-untyped]
from joserfc.jwk import RSAKey

import auth.sign_in
from common.logging_setup import JsonLines
from tests.factories.fakes.openid_provider import CLIENT_ID, CLIENT_SECRET, Provider, person
from tests.factories.services.auth_site import PUBLIC_URL, SECRET, AuthSite, program, query_of


def test_what_is_asked_of_the_issuer_has_state_nonce_pkce_and_the_exact_address(
    site: AuthSite, provider: Provider
) -> None:
    site.browser().start()
    site.browser().start()
    first, second = provider.authorize_requests
    assert first["redirect_uri"] == f"{PUBLIC_URL}/auth/callback"
    assert (first["response_type"], first["code_challenge_method"]) == ("code", "S256")
    assert set(first["scope"].split()) == {"openid", "profile"}
    for name in ("state", "nonce", "code_challenge"):
        assert len(first[name]) == 43
        assert first[name] != second[name]


def test_the_cookies_are_bound_to_the_host_and_kept_from_scripts_and_other_sites(site: AuthSite) -> None:
    browser = site.browser()
    started = browser.get("/auth/sign-in")
    signed_in = browser.sign_in()
    for header in (*started.headers.get_list("set-cookie"), *signed_in.headers.get_list("set-cookie")):
        name, _, rest = header.partition("=")
        assert name.startswith("__Host-")
        attributes = {part.strip().lower() for part in rest.split(";")[1:]}
        assert {"httponly", "secure", "samesite=lax", "path=/"} <= attributes
        assert not any(one.startswith("domain") for one in attributes)


def test_an_account_is_its_issuer_and_subject_whatever_its_name(site: AuthSite, provider: Provider) -> None:
    browser = site.browser()
    browser.sign_in()
    before = browser.get("/whoami").json()["account"]
    provider.users["alice"] = person("1001", "alice-renamed")
    browser.sign_in()
    after = browser.get("/whoami").json()
    assert (after["account"], after["name"]) == (before, "alice-renamed")
    provider.users["bob"] = person("1002", "alice-renamed")
    other = site.browser()
    other.sign_in("bob")
    assert other.get("/whoami").json()["account"] != before


def test_two_first_sign_ins_at_once_make_one_account(site: AuthSite) -> None:
    import threading

    browsers = [site.browser() for _ in range(4)]
    answers = [browser.start() for browser in browsers]
    results: list[int] = []
    pairs = list(zip(browsers, answers, strict=True))
    threads = [threading.Thread(target=lambda b=b, a=a: results.append(b.get(a).status_code)) for b, a in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [303] * 4
    assert site.sql("SELECT count(*) FROM accounts")[0][0] == 1


def test_no_secret_reaches_a_log(site: AuthSite, provider: Provider, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, logger="httpx2")  # which a process that logs as the service does keeps quiet
    browser = site.browser()
    answer = browser.start()
    browser.get(answer)
    token = browser.make_token()
    program(site, token).post("/submit")
    program(site, "vlrb_" + "x" * 43).post("/submit")
    browser.get(answer)
    secrets = [SECRET, CLIENT_SECRET, browser.session, token, query_of(answer)["code"], *provider.tokens]
    assert len(secrets) == 6
    lines = [
        JsonLines().format(record)
        for record in caplog.records
        # What the browser and the provider of this test say about themselves is not ours.
        if not record.name.startswith(("httpx.", "httpcore.")) and record.name != "httpx"
    ]
    ours = [line for line in lines if PUBLIC_URL not in line]
    assert any("/token" in line for line in ours)
    assert any("sign_in.failed" in line for line in ours)
    assert not [line for line in ours if any(secret in line for secret in secrets)]


# Attacks on the answer


def test_a_code_for_somebody_else_cannot_be_pushed_into_a_browser(
    site: AuthSite, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    attacker, victim = site.browser(), site.browser()
    provider.who = "mallory"
    answer = attacker.start()  # the attacker stops here and sends the link to the victim
    assert victim.get(answer).status_code == 400
    victim.start()
    assert victim.get(answer).status_code == 400
    assert victim.name() == ""

    monkeypatch.setattr(
        auth.sign_in, "constant_time_equal", lambda one, other: True
    )  # without the check of the state ...
    provider.check_pkce = False
    monkeypatch.setattr(CodeIDToken, "validate_nonce", lambda self: None)  # ... and of PKCE and nonce behind it
    victim.start()
    victim.get(answer)
    assert victim.name() == "mallory"


def test_pkce_stops_a_code_that_was_seen_on_the_way(
    site: AuthSite, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CodeIDToken, "validate_nonce", lambda self: None)  # PKCE alone
    stolen = query_of(site.browser().start())["code"]
    thief = site.browser()
    own = thief.start()
    assert thief.get(own.replace(query_of(own)["code"], stolen)).status_code == 400
    provider.check_pkce = False
    own, stolen = thief.start(), query_of(site.browser().start())["code"]
    assert thief.get(own.replace(query_of(own)["code"], stolen)).status_code == 303


def test_an_answer_works_once_even_if_the_issuer_lets_codes_work_twice(site: AuthSite, provider: Provider) -> None:
    provider.codes_work_once = False
    browser = site.browser()
    answer = browser.start()
    kept = browser.cookies[site.settings.sign_in_cookie]
    assert browser.get(answer).status_code == 303
    assert site.settings.sign_in_cookie not in browser.cookies
    assert browser.get(answer).status_code == 400  # the cookie is gone
    thief = site.browser()
    thief.plant(site.settings.sign_in_cookie, kept)
    assert thief.get(answer).status_code == 400
    assert thief.name() == ""
    site.sql("UPDATE sessions SET sign_in_sha256 = id_sha256")  # forget that it was used: then it works again
    thief.plant(site.settings.sign_in_cookie, kept)
    assert thief.get(answer).status_code == 303


TAMPERED: dict[str, dict[str, Any]] = {
    "another nonce": {"nonce": "n" * 43},
    "no nonce": {"nonce": None},
    "another audience": {"aud": "somebody-else"},
    "several audiences, issued to another": {"aud": [CLIENT_ID, "other"], "azp": "other"},
    "expired": {"exp": 1_700_000_000},
    "no expiry": {"exp": None},
    "from the future": {"iat": 4_000_000_000, "exp": 4_000_000_600},
    "another issuer": {"iss": "https://evil.example"},
    "no subject": {"sub": None},
    "another subject than userinfo": {"sub": "1002"},
    "another access token": {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"},
}


@pytest.mark.parametrize("claims", TAMPERED.values(), ids=TAMPERED.keys())
def test_an_id_token_that_does_not_fit_lets_nobody_in(
    site: AuthSite, provider: Provider, claims: dict[str, Any]
) -> None:
    provider.claims = claims
    browser = site.browser()
    assert browser.sign_in().status_code == 400
    assert (browser.name(), browser.session) == ("", "")
    provider.claims = {}
    assert browser.sign_in().status_code == 303


def test_an_id_token_with_a_forged_signature_lets_nobody_in(site: AuthSite, provider: Provider) -> None:
    forgeries: list[tuple[dict[str, Any], Any]] = [
        ({}, RSAKey.generate_key(2048, {"kid": "one"})),
        ({"kid": "two"}, RSAKey.generate_key(2048, {"kid": "two"})),
        ({"alg": "HS256"}, None),
        ({"alg": "none"}, None),
    ]
    for provider.header, provider.key in forgeries:
        assert site.browser().sign_in().status_code == 400, provider.header


def test_keys_that_the_issuer_changed_are_fetched_again(site: AuthSite, provider: Provider) -> None:
    site.browser().sign_in()
    before = provider.published
    try:
        provider.published = RSAKey.generate_key(2048, {"kid": "new"})
        provider.header = {"kid": "new"}
        assert site.browser().sign_in().status_code == 303
    finally:
        provider.published = before


@pytest.mark.parametrize(
    "discovery",
    [
        {"issuer": "https://evil.example"},
        {"token_endpoint": "http://evil.example/token"},
        {"userinfo_endpoint": ""},
        {"jwks_uri": "file:///etc/passwd"},
    ],
)
def test_a_discovery_document_that_leads_elsewhere_is_not_followed(
    site: AuthSite, provider: Provider, discovery: dict[str, Any]
) -> None:
    provider.discovery = discovery
    assert site.browser().get("/auth/sign-in").status_code == 502


def test_an_answer_of_another_issuer_is_refused(site: AuthSite) -> None:
    browser = site.browser()
    answer = browser.start()
    ours = query_of(answer)["iss"]
    changed = httpx.URL(answer).copy_merge_params({"iss": "https://evil.example"})
    assert browser.get(str(changed)).status_code == 400
    assert ours == site.settings.issuer


def test_a_refusal_at_the_issuer_is_no_error_of_ours(site: AuthSite) -> None:
    page = site.browser().get("/auth/callback?error=access_denied&state=x")
    assert page.status_code == 400
    assert "not signed in" in page.text


def test_an_issuer_that_is_down_is_said_so_and_nothing_else_breaks(site: AuthSite, provider: Provider) -> None:
    browser = site.browser()
    answer = browser.start()
    provider.offline = True
    assert browser.get(answer).status_code == 502
    assert browser.get("/whoami").status_code == 200


def test_the_address_to_come_back_to_is_not_taken_from_the_request(site: AuthSite, provider: Provider) -> None:
    asked = site.browser().get("/auth/sign-in", headers={"host": "evil.example", "x-forwarded-host": "evil.example"})
    assert query_of(asked.headers["location"])["redirect_uri"] == f"{PUBLIC_URL}/auth/callback"


def test_inside_a_frame_the_way_out_is_shown_instead(site: AuthSite) -> None:
    page = site.browser().get("/auth/sign-in?next=/app/submit", headers={"sec-fetch-dest": "iframe"})
    assert page.status_code == 200
    assert 'target="_blank"' in page.text
    assert page.headers["content-security-policy"].endswith("frame-ancestors 'self'")
