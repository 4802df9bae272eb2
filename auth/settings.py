"""Authentication settings as values; the environment is read in `settings/web.py`."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import urlsplit

from auth.model import IMPLIED, Role

HUGGING_FACE = "https://huggingface.co"
_SUBJECT = "sub:"
SHORTEST_SECRET = 32  # bytes
_REMEDY = "Make one with: python -c 'import secrets; print(secrets.token_urlsafe(48))'"
_FEWEST_CHARACTERS = 10  # different ones in a secret; 64 random hexadecimal digits have 16
# Refused anywhere in a secret; the first is what Gradio signs cookies with when it has no client secret.
_KNOWN = (hashlib.sha256(b"-v4").hexdigest(), "change", "secret", "password", "example", "default", "replace")


# Browsers leave the usual port out.
_ORIGIN = r"https://[a-z0-9.-]+(?!:443$)(:[0-9]{1,5})?|http://(localhost|127\.0\.0\.1|\[::1\])(?!:80$)(:[0-9]{1,5})?"
_ISSUER = rf"({_ORIGIN})(/[^\s?#@]*)?"


class Mode(StrEnum):
    """Modes of distinguishing users."""

    LOCAL = "local"  # they are not: anyone who reaches the loopback address may do everything
    OPEN = "open"  # they are not, and others can reach the service: everybody may submit, nobody may maintain
    OPENID = "openid"


@dataclass(frozen=True, slots=True)
class IdentitySettings:
    """Raises ValueError on construction, with the remedy, for anything that would let the wrong people in."""

    mode: Mode = Mode.LOCAL
    public_url: str = ""  # scheme://host[:port] under which browsers reach the service
    client_id: str = ""
    client_secret: str = field(default="", repr=False)  # "": a public client, PKCE alone
    issuer: str = HUGGING_FACE
    session_secrets: tuple[str, ...] = field(default=(), repr=False)  # the first signs, all are accepted
    maintainers: tuple[str, ...] = ()  # names at the issuer, or "sub:<subject>"
    owners: tuple[str, ...] = ()
    session_seconds: float = 7 * 86_400.0  # after sign-in, whatever happens
    idle_seconds: float = 86_400.0  # without a request
    http_seconds: float = 10.0  # patience with the issuer
    touch_seconds: float = 60.0  # how coarsely the last use is recorded

    def __post_init__(self) -> None:
        if self.mode is not Mode.OPENID:
            return
        for name, value in (("OIDC_CLIENT_ID", self.client_id), ("PUBLIC_URL", self.public_url)):
            if not value:
                raise ValueError(f"{name} is missing: sign-in needs it.")
        for name, url, pattern in (("PUBLIC_URL", self.public_url, _ORIGIN), ("OIDC_ISSUER", self.issuer, _ISSUER)):
            if not re.fullmatch(pattern, url):
                raise ValueError(
                    f"{name}={url} must be scheme and host in small letters, without the usual port, for instance "
                    "https://board.example.org (http:// only on this machine); an issuer may have a path."
                )
        if not self.session_secrets:
            raise ValueError(f"SESSION_SECRET is missing: sign-in needs it. {_REMEDY}")
        for secret in self.session_secrets:
            check_secret(secret)

    @property
    def https(self) -> bool:
        """Whether browsers come over https."""
        return self.public_url.startswith("https://")

    @property
    def session_cookie(self) -> str:
        """Name of the cookie. `__Host-` makes browsers refuse it from other hosts, other paths and plain http."""
        return "__Host-vlrb_session" if self.https else "vlrb_session"

    @property
    def sign_in_cookie(self) -> str:
        """Name of the cookie that ties an answer of the issuer to the browser that asked."""
        return "__Host-vlrb_signin" if self.https else "vlrb_signin"

    @property
    def redirect_uri(self) -> str:
        """Return the only redirect address that the issuer may use."""
        return f"{self.public_url}/auth/callback"

    @property
    def configured_names(self) -> frozenset[str]:
        """Return names that carry a role, as they are bound to accounts."""
        names = (*self.maintainers, *self.owners)
        return frozenset(name.casefold() for name in names if not name.startswith(_SUBJECT))

    def roles_of(self, subject: str, bound: frozenset[str]) -> frozenset[Role]:
        """Return all roles of an account. `bound`: the configured names that mean this account."""
        means = {*bound, f"{_SUBJECT}{subject}"}
        for names, role in ((self.owners, Role.OWNER), (self.maintainers, Role.MAINTAINER)):
            if any((name if name.startswith(_SUBJECT) else name.casefold()) in means for name in names):
                return IMPLIED[role]
        return IMPLIED[Role.SUBMITTER]

    @property
    def issuer_name(self) -> str:
        """Return the issuer's display name."""
        return "Hugging Face" if self.issuer == HUGGING_FACE else urlsplit(self.issuer).netloc


def check_secret(secret: str) -> None:
    """Refuse a known or guessable secret.

    Raises:
        ValueError: with the remedy, never with the secret.
    """
    if len(secret.encode()) < SHORTEST_SECRET:
        raise ValueError(f"SESSION_SECRET is shorter than {SHORTEST_SECRET} bytes. {_REMEDY}")
    known = any(word in secret.lower() for word in _KNOWN)
    if known or len(set(secret)) < _FEWEST_CHARACTERS:
        raise ValueError(f"SESSION_SECRET is one that others know or can guess. {_REMEDY}")
