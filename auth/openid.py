"""OpenID Connect client (Authlib): discovery, authorization code with PKCE S256, ID token, userinfo.

Everything an answer says is checked against what was asked: issuer, audience, nonce, signature, expiry, and that
userinfo has the same subject. Addresses come from the discovery document and must be as safe as the issuer's.
"""

from __future__ import annotations

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
from authlib.integrations.base_client import BaseApp, OAuth2Mixin, OpenIDMixin  # type: ignore[import-untyped]
from authlib.integrations.httpx_client import OAuth2Client  # type: ignore[import-untyped]
from joserfc.errors import JoseError

from auth.model import Organisation
from auth.settings import IdentitySettings

# Asymmetric ones only: with HS256 the client secret would be the key, and "none" is no signature.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
SCOPE = "openid profile"
LEEWAY = 60  # seconds that the issuer's clock may differ from ours
MOST_ORGANISATIONS = 200
_LOADED_SECONDS = 3600.0
_AT_ONCE = 8  # conversations; a slow issuer must not use up the threads that the rest of the service needs
_TURN_SECONDS = 2.0  # to wait for one's turn
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri")


class SignInFailed(Exception):
    """The issuer's answer cannot be trusted."""


class IssuerOffline(Exception):
    """The issuer does not answer as it should; nothing is known about the person."""


@dataclass(frozen=True, slots=True)
class UserClaims:
    """Claims of the issuer about a user."""

    subject: str
    name: str  # for people
    username: str  # the name that is unique at the issuer; "" where it does not tell. Roles hang on nothing else
    organisations: tuple[Organisation, ...]
    created_at: float | None  # seconds since 1970 UTC


@dataclass(frozen=True, slots=True)
class Transaction:
    """Values of a started sign-in, which the answer must match."""

    state: str
    nonce: str
    verifier: str


class _IssuerApp(OAuth2Mixin, OpenIDMixin, BaseApp):  # type: ignore[misc]
    """Authlib's application, without a web framework."""

    client_cls = OAuth2Client


class OpenIdClient:
    """Talks to one issuer. Safe to share between threads; connects to nothing before it is used."""

    def __init__(self, settings: IdentitySettings) -> None:
        self._settings = settings
        self._loaded: tuple[float, _IssuerApp] | None = None
        self._conversations = threading.BoundedSemaphore(_AT_ONCE)

    def authorization_url(self, transaction: Transaction) -> str:
        """Return where to send the browser.

        Raises:
            IssuerOffline: the discovery document cannot be had, or is not this issuer's.
        """
        with self._conversation() as issuer:
            started = issuer.create_authorization_url(
                self._settings.redirect_uri,
                state=transaction.state,
                nonce=transaction.nonce,
                code_verifier=transaction.verifier,
            )
        return str(started["url"])

    def exchange(self, code: str, transaction: Transaction) -> UserClaims:
        """Exchange the code for what the issuer vouches for.

        Raises:
            SignInFailed: the code, the ID token or userinfo is wrong.
            IssuerOffline: no usable answer.
        """
        options = {
            "iss": {"essential": True, "value": self._settings.issuer},
            "aud": {"essential": True, "value": self._settings.client_id},
        }
        with self._conversation() as issuer:
            token = issuer.fetch_access_token(
                self._settings.redirect_uri,
                grant_type="authorization_code",
                code=code,
                code_verifier=transaction.verifier,
            )
            if not isinstance(token.get("id_token"), str) or not isinstance(token.get("access_token"), str):
                raise SignInFailed("the answer has no ID token")
            claims = _verified(issuer, token, nonce=transaction.nonce, options=options)
            answer = issuer.userinfo(token=token)
        if answer.get("sub") != claims["sub"]:
            raise SignInFailed("userinfo speaks of another subject")
        return _person({**claims, **answer})

    @contextmanager
    def _conversation(self) -> Iterator[Any]:
        if not self._conversations.acquire(timeout=_TURN_SECONDS):
            raise IssuerOffline("too many are waiting for it")
        try:
            yield self._issuer()
        except AuthlibBaseError as error:
            raise SignInFailed(f"the code was refused ({error.error})") from None
        except (httpx2.HTTPError, ValueError, TypeError, KeyError) as error:
            raise IssuerOffline(type(error).__name__) from None
        finally:
            self._conversations.release()

    def _issuer(self) -> _IssuerApp:
        """Return the application with the discovery document and keys of the last hour; new key ids are asked for."""
        if self._loaded is not None and time.monotonic() - self._loaded[0] < _LOADED_SECONDS:
            return self._loaded[1]
        issuer = self._discovered()
        self._loaded = time.monotonic(), issuer
        return issuer

    def _discovered(self) -> _IssuerApp:
        settings = self._settings
        issuer = _IssuerApp(
            None,
            client_id=settings.client_id,
            client_secret=settings.client_secret or None,
            server_metadata_url=settings.issuer.rstrip("/") + "/.well-known/openid-configuration",
            user_agent="vl-rewardbench-leaderboard",
            client_kwargs={
                "scope": SCOPE,
                "code_challenge_method": "S256",
                "verify": httpx2.create_ssl_context(),
                "timeout": settings.http_seconds,
            },
        )
        metadata = issuer.load_server_metadata()
        if metadata.get("issuer") != settings.issuer:
            raise IssuerOffline("the discovery document is another issuer's")
        for endpoint in _ENDPOINTS:
            if not _as_safe_as(str(metadata.get(endpoint, "")), settings.issuer):
                raise IssuerOffline(f"the discovery document has no safe {endpoint}")
        methods = metadata.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        if settings.client_secret and "client_secret_basic" not in methods and "client_secret_post" in methods:
            issuer.client_kwargs["token_endpoint_auth_method"] = "client_secret_post"  # noqa: S105 (a method's name)
        # Nothing else of the document reaches the client, which takes settings of connections by the same way.
        issuer.server_metadata = {name: metadata[name] for name in ("issuer", "_loaded_at", *_ENDPOINTS)}
        issuer.server_metadata["id_token_signing_alg_values_supported"] = list(ALGORITHMS)
        return issuer


def _verified(issuer: _IssuerApp, token: Mapping[str, Any], *, nonce: str, options: Mapping[str, Any]) -> Any:
    """Return the claims of the ID token (OpenID Connect Core, 3.1.3.7)."""
    try:
        return issuer.parse_id_token(token, nonce, claims_options=options, leeway=LEEWAY)
    except (JoseError, AuthlibBaseError, ValueError, TypeError, KeyError) as error:
        raise SignInFailed(f"the ID token does not hold ({type(error).__name__})") from None


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
