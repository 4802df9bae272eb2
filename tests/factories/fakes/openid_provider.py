"""A real OpenID provider on loopback: discovery, authorize, token with PKCE, JWKS (RS256), userinfo. It can lie."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from fastapi import FastAPI, Form, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.factories.services.serving import serving as serving

CLIENT_ID, CLIENT_SECRET = "leaderboard", "the client's own secret"


@dataclass
class AuthorizationGrant:
    """What a code or an access token stands for."""

    user: str
    redirect_uri: str
    nonce: str | None
    challenge: str | None
    used: bool = False


@dataclass
class Provider:
    """The provider's state, and the ways in which a test makes it misbehave."""

    url: str = ""
    redirect_uris: set[str] = field(default_factory=set)
    users: dict[str, dict[str, Any]] = field(default_factory=dict)
    who: str = "alice"  # is at the keyboard, and agrees to everything
    claims: dict[str, Any] = field(default_factory=dict)  # put over those of the ID token
    header: dict[str, Any] = field(default_factory=dict)  # put over that of the ID token
    userinfo: dict[str, Any] = field(default_factory=dict)  # put over the answer of userinfo
    discovery: dict[str, Any] = field(default_factory=dict)  # put over the discovery document
    key: Any = None  # signs ID tokens instead of the published one
    check_pkce: bool = True
    codes_work_once: bool = True
    offline: bool = False
    codes: dict[str, AuthorizationGrant] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)  # access token -> user
    asked: list[str] = field(default_factory=list)  # paths, in order
    authorize_requests: list[dict[str, str]] = field(default_factory=list)
    published: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one", "use": "sig"}))

    def reset(self) -> None:
        """As after the start, with the same key and address."""
        fresh = Provider(url=self.url, published=self.published)
        fresh.users = {
            "alice": person("1001", "alice"),
            "bob": person("1002", "bob"),
            "mallory": person("6666", "mallory"),
        }
        self.__dict__.update(fresh.__dict__)

    def app(self) -> FastAPI:
        """Return the endpoints."""
        app = FastAPI()

        @app.middleware("http")
        async def watch(request: Request, call_next: Any) -> Response:
            self.asked.append(request.url.path)
            return Response("down", 503) if self.offline else await call_next(request)

        app.get("/.well-known/openid-configuration")(self._discovery)
        app.get("/jwks")(lambda: {"keys": [self.published.as_dict(private=False)]})
        app.get("/authorize")(self._authorize)
        app.post("/token")(self._token)
        app.get("/userinfo")(self._userinfo)
        return app

    def _discovery(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "jwks_uri": f"{self.url}/jwks",
            "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],  # a client must not believe this
            "code_challenge_methods_supported": ["S256"],
            **self.discovery,
        }

    def _authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        self.authorize_requests.append(asked)
        if asked.get("client_id") != CLIENT_ID or asked.get("redirect_uri") not in self.redirect_uris:
            return JSONResponse({"error": "invalid_request"}, 400)
        if asked.get("response_type") != "code" or (self.check_pkce and asked.get("code_challenge_method") != "S256"):
            return JSONResponse({"error": "invalid_request"}, 400)
        code = secrets.token_urlsafe(16)
        self.codes[code] = AuthorizationGrant(
            self.who, asked["redirect_uri"], nonce=asked.get("nonce"), challenge=asked.get("code_challenge")
        )
        query = urlencode({"code": code, "state": asked.get("state", ""), "iss": self.url})
        return RedirectResponse(f"{asked['redirect_uri']}?{query}", 302)

    def _token(
        self,
        request: Request,
        code: str = Form(""),
        redirect_uri: str = Form(""),
        code_verifier: str = Form(""),
        grant_type: str = Form(""),
    ) -> Response:
        expected = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        if request.headers.get("authorization") != f"Basic {expected}":
            return JSONResponse({"error": "invalid_client"}, 401)
        grant = self.codes.get(code)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(code_verifier.encode()).digest()).decode().rstrip("=")
        wrong = (
            grant is None
            or grant_type != "authorization_code"
            or grant.redirect_uri != redirect_uri
            or (grant.used and self.codes_work_once)
            or (self.check_pkce and grant.challenge != challenge)
        )
        if wrong or grant is None:
            return JSONResponse({"error": "invalid_grant"}, 400)
        grant.used = True
        access_token = "issuer_" + secrets.token_urlsafe(16)
        self.tokens[access_token] = grant.user
        answer = {"access_token": access_token, "token_type": "Bearer", "expires_in": 28800}
        return JSONResponse({**answer, "id_token": self._id_token(grant)})

    def _id_token(self, grant: AuthorizationGrant) -> str:
        now = int(time.time())
        claims = {
            "iss": self.url,
            "sub": self.users[grant.user]["sub"],
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 600,
            "nonce": grant.nonce,
            **self.claims,
        }
        header = {"alg": "RS256", "kid": "one", **self.header}
        kept = {name: value for name, value in claims.items() if value is not None}
        if header["alg"] in ("none", "HS256"):
            # HS256: the published RSA key taken as the secret of an HMAC, the classic confusion of algorithms
            signed = f"{_encoded(json.dumps(header).encode())}.{_encoded(json.dumps(kept).encode())}"
            mac = hmac.digest(self.published.as_pem(private=False), signed.encode(), "sha256")
            return f"{signed}.{_encoded(mac) if header['alg'] == 'HS256' else ''}"
        return jwt.encode(header, kept, self.key or self.published, algorithms=[header["alg"]])

    def _userinfo(self, request: Request) -> Response:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if token not in self.tokens:
            return JSONResponse({"error": "invalid_token"}, 401)
        return JSONResponse({**self.users[self.tokens[token]], **self.userinfo})


def person(subject: str, name: str, **organisations: str) -> dict[str, Any]:
    """Claim of a user as Hugging Face states them; organisations: name=role."""
    orgs = [
        {"sub": f"org-{org}", "preferred_username": org, "name": org.title(), "roleInOrg": role}
        for org, role in organisations.items()
    ]
    return {"sub": subject, "preferred_username": name, "name": name.title(), "orgs": orgs}


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
