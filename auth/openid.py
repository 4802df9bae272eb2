"""OpenID Connect client (Authlib): discovery, authorization code with PKCE S256, ID token, userinfo.

Everything an answer says is checked against what was asked: issuer, audience, nonce, signature, expiry, and that
userinfo has the same subject. Addresses come from the discovery document and must be as safe as the issuer's.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import httpx2
from authlib.common.errors import AuthlibBaseError  # type: ignore[import-untyped]
from authlib.integrations.httpx_client import OAuth2Client  # type: ignore[import-untyped]
from authlib.oidc.core import CodeIDToken  # type: ignore[import-untyped]
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from auth.model import Organisation
from auth.settings import IdentitySettings

# Asymmetric ones only: with HS256 the client secret would be the key, and "none" is no signature.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
SCOPE = "openid profile"
LEEWAY = 60  # seconds that the issuer's clock may differ from ours
MOST_ORGANISATIONS = 200
_METADATA_SECONDS = 3600.0
_KEYS_SECONDS = 60.0  # an unknown key id makes us ask again, at most this often
_RETRY_SECONDS = 15.0  # before an issuer that did not answer is asked for its document again
_AT_ONCE = 8  # conversations; a slow issuer must not use up the threads that the rest of the service needs
_TURN_SECONDS = 2.0  # to wait for one's turn
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri")


class SignInFailed(Exception):
    """The issuer's answer cannot be trusted."""


class IssuerOffline(Exception):
    """The issuer does not answer as it should; nothing is known about the person."""


class TokenRefused(Exception):
    """The issuer no longer accepts the access token: it expired, or the person withdrew it."""


@dataclass(frozen=True, slots=True)
class UserClaims:
    """Claims of the issuer about a user."""

    subject: str
    name: str  # for people
    username: str  # the name that is unique at the issuer; "" where it does not tell. Roles hang on nothing else
    organisations: tuple[Organisation, ...]
    created_at: float | None  # seconds since 1970 UTC


@dataclass(frozen=True, slots=True)
class VerifiedLogin:
    """A person whose sign-in the issuer vouches for."""

    person: UserClaims


@dataclass(frozen=True, slots=True)
class Transaction:
    """Values of a started sign-in, which the answer must match."""

    state: str
    nonce: str
    verifier: str


class OpenIdClient:
    """Talks to one issuer. Safe to share between threads; connects to nothing before it is used."""

    def __init__(self, settings: IdentitySettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._metadata: tuple[float, dict[str, Any]] | None = None
        self._keys: tuple[float, KeySet] | None = None
        self._tls: ssl.SSLContext | None = None
        self._failed_at = -_RETRY_SECONDS
        self._conversations = threading.BoundedSemaphore(_AT_ONCE)

    def authorization_url(self, transaction: Transaction) -> str:
        """Return where to send the browser.

        Raises:
            IssuerOffline: the discovery document cannot be had, or is not this issuer's.
        """
        with self._client() as client:
            url, _ = client.create_authorization_url(
                self._discover(client)["authorization_endpoint"],
                state=transaction.state,
                nonce=transaction.nonce,
                code_verifier=transaction.verifier,
            )
        return str(url)

    def exchange(self, code: str, transaction: Transaction, *, now: float) -> VerifiedLogin:
        """Exchange the code for a verified login. `now`: seconds since 1970 UTC, against which expiry is checked.

        Raises:
            SignInFailed: the code, the ID token or userinfo is wrong.
            IssuerOffline: no usable answer.
        """
        with self._client() as client:
            metadata = self._discover(client)
            token = self._fetch_token(client, metadata, code=code, transaction=transaction)
            claims = self._verified(client, metadata, token=token, nonce=transaction.nonce, now=now)
            try:
                answer = self._ask_userinfo(client, metadata, access_token=str(token["access_token"]))
            except TokenRefused:
                raise SignInFailed("userinfo refuses the token that was just issued") from None
        if answer.get("sub") != claims["sub"]:
            raise SignInFailed("userinfo speaks of another subject")
        return VerifiedLogin(_person({**claims, **answer}))

    @contextmanager
    def _client(self) -> Iterator[Any]:
        if not self._conversations.acquire(timeout=_TURN_SECONDS):
            raise IssuerOffline("too many are waiting for it")
        try:
            with self._new_client() as client:
                yield client
        finally:
            self._conversations.release()

    def _new_client(self) -> Any:
        settings = self._settings
        client = OAuth2Client(
            client_id=settings.client_id,
            client_secret=settings.client_secret or None,
            scope=SCOPE,
            redirect_uri=settings.redirect_uri,
            code_challenge_method="S256",
            verify=self._tls_context(),
            timeout=settings.http_seconds,
        )
        client.headers["User-Agent"] = "vl-rewardbench-leaderboard"
        return client

    def _tls_context(self) -> ssl.SSLContext:
        """Made once: loading the certificates takes a tenth of a second."""
        with self._lock:
            if self._tls is None:
                self._tls = httpx2.create_ssl_context()
            return self._tls

    def _discover(self, client: Any) -> dict[str, Any]:
        with self._lock:
            known = self._metadata
        if known is not None and time.monotonic() - known[0] < _METADATA_SECONDS:
            return known[1]
        if time.monotonic() - self._failed_at < _RETRY_SECONDS:
            raise IssuerOffline("it did not answer a moment ago")
        try:
            metadata = self._fetch_metadata(client)
        except IssuerOffline:
            self._failed_at = time.monotonic()
            raise
        with self._lock:
            self._metadata = (time.monotonic(), metadata)
        return metadata

    def _fetch_metadata(self, client: Any) -> dict[str, Any]:
        metadata = _json_object(client, self._settings.issuer.rstrip("/") + "/.well-known/openid-configuration")
        if metadata.get("issuer") != self._settings.issuer:
            raise IssuerOffline("the discovery document is another issuer's")
        for endpoint in _ENDPOINTS:
            if not _as_safe_as(str(metadata.get(endpoint, "")), self._settings.issuer):
                raise IssuerOffline(f"the discovery document has no safe {endpoint}")
        return metadata

    def _fetch_token(self, client: Any, metadata: Mapping[str, Any], *, code: str, transaction: Transaction) -> Any:
        methods = metadata.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        if self._settings.client_secret and "client_secret_basic" not in methods and "client_secret_post" in methods:
            client.token_endpoint_auth_method = "client_secret_post"  # noqa: S105 (the name of a method)
        try:
            token = client.fetch_token(
                metadata["token_endpoint"],
                grant_type="authorization_code",
                code=code,
                code_verifier=transaction.verifier,
                redirect_uri=self._settings.redirect_uri,
            )
        except AuthlibBaseError as error:
            raise SignInFailed(f"the code was refused ({error.error})") from None
        except (httpx2.HTTPError, ValueError) as error:
            raise IssuerOffline(f"token endpoint: {type(error).__name__}") from None
        if not isinstance(token.get("id_token"), str) or not isinstance(token.get("access_token"), str):
            raise SignInFailed("the answer has no ID token")
        return token

    def _verified(
        self, client: Any, metadata: Mapping[str, Any], *, token: Mapping[str, Any], nonce: str, now: float
    ) -> dict[str, Any]:
        """Return the claims of the ID token (OpenID Connect Core, 3.1.3.7)."""
        registry = JWSRegistry(algorithms=list(ALGORITHMS), strict_check_header=False)
        try:
            try:
                decoded = jwt.decode(token["id_token"], self._key_set(client, metadata), registry=registry)
            except InvalidKeyIdError:  # the issuer may have new keys
                keys = self._key_set(client, metadata, older_than=_KEYS_SECONDS)
                decoded = jwt.decode(token["id_token"], keys, registry=registry)
            claims = CodeIDToken(
                decoded.claims,
                decoded.header,
                {
                    "iss": {"essential": True, "value": self._settings.issuer},
                    "aud": {"essential": True, "value": self._settings.client_id},
                },
                {"nonce": nonce, "client_id": self._settings.client_id, "access_token": token["access_token"]},
            )
            claims.validate(now=int(now), leeway=LEEWAY)
        except (JoseError, AuthlibBaseError, ValueError, TypeError, KeyError) as error:
            raise SignInFailed(f"the ID token does not hold ({type(error).__name__})") from None
        return dict(claims)

    def _key_set(self, client: Any, metadata: Mapping[str, Any], *, older_than: float = _METADATA_SECONDS) -> KeySet:
        with self._lock:
            known = self._keys
        if known is not None and time.monotonic() - known[0] < older_than:
            return known[1]
        try:
            keys = KeySet.import_key_set(_json_object(client, metadata["jwks_uri"]))  # type: ignore[arg-type]
        except (JoseError, ValueError, TypeError, KeyError) as error:
            raise IssuerOffline(f"keys: {type(error).__name__}") from None
        with self._lock:
            self._keys = (time.monotonic(), keys)
        return keys

    def _ask_userinfo(self, client: Any, metadata: Mapping[str, Any], *, access_token: str) -> dict[str, Any]:
        return _json_object(client, metadata["userinfo_endpoint"], headers={"Authorization": f"Bearer {access_token}"})


def _json_object(client: Any, url: str, *, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    """GET; redirects are not followed, so that a token goes where it was meant to go."""
    try:
        answer = client.request("GET", url, headers=dict(headers or {}), withhold_token=True)
        if headers and answer.status_code in (401, 403):
            raise TokenRefused
        answer.raise_for_status()
        value = answer.json()
    except (httpx2.HTTPError, ValueError) as error:
        raise IssuerOffline(f"{urlsplit(url).path}: {type(error).__name__}") from None
    if not isinstance(value, dict):
        raise IssuerOffline(f"{urlsplit(url).path}: no JSON object")
    return value


def _as_safe_as(url: str, issuer: str) -> bool:
    parts, own = urlsplit(url), urlsplit(issuer)
    return bool(parts.hostname) and (parts.scheme == "https" or (parts.scheme, parts.netloc) == ("http", own.netloc))


def _person(claims: Mapping[str, Any]) -> UserClaims:
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 1 <= len(subject) <= 255 or not subject.isprintable():
        raise SignInFailed("the subject is missing or unusable")
    username = _text(claims.get("preferred_username"))
    name = username or _text(claims.get("name")) or subject[:200]
    listed = claims.get("orgs", claims.get("organizations"))
    organisations = (
        [_organisation(claim) for claim in listed if isinstance(claim, dict)] if isinstance(listed, list) else []
    )
    known = tuple(organisation for organisation in organisations if organisation is not None)[:MOST_ORGANISATIONS]
    return UserClaims(
        subject,
        name,
        username=username,
        organisations=known,
        created_at=_instant(claims.get("created_at", claims.get("createdAt"))),
    )


def _organisation(claims: Mapping[str, Any]) -> Organisation | None:
    """Return one of `orgs` as Hugging Face has it; other issuers' claims are not read. Its `name` is not, either:
    anybody may give theirs the display name of another."""
    id_ = _text(claims.get("sub"))
    return (
        Organisation(id_, _text(claims.get("preferred_username")), role=_text(claims.get("roleInOrg"))) if id_ else None
    )


def _text(value: object) -> str:
    """Printable text of sensible length; nothing for anything else."""
    if not isinstance(value, str):
        return ""
    value = value.strip()
    return value if value.isprintable() and len(value) <= 200 else ""


def _instant(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float) and 0 < value < 1e11:
        return float(value)
    try:
        stated = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return stated.timestamp() if stated is not None and stated.tzinfo is not None else None
