"""Identity, roles and scopes as values, and the checks that raise 401 and 403 errors. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from vlrb.common.messages import _


class Role(StrEnum):
    """Roles. An owner is a maintainer too, a maintainer a submitter."""

    SUBMITTER = "submitter"
    MAINTAINER = "maintainer"
    OWNER = "owner"


class Scope(StrEnum):
    """Scope of an API token."""

    SUBMIT = "submit"
    MAINTAIN = "maintain"


IMPLIED: dict[Role, frozenset[Role]] = {
    Role.SUBMITTER: frozenset({Role.SUBMITTER}),
    Role.MAINTAINER: frozenset({Role.SUBMITTER, Role.MAINTAINER}),
    Role.OWNER: frozenset(Role),
}
# A token never carries the owner's role: what only an owner may do needs a person at a browser.
GRANTED: dict[Scope, Role] = {Scope.SUBMIT: Role.SUBMITTER, Scope.MAINTAIN: Role.MAINTAINER}


def restrict_to_scopes(roles: frozenset[Role], scopes: frozenset[Scope]) -> frozenset[Role]:
    """Return what is left of an account's roles for a token with these scopes."""
    return roles & {GRANTED[scope] for scope in scopes}


def is_id(organisation: str) -> bool:
    """Return whether a text is an id as Hugging Face has them, and no name."""
    return len(organisation) == 24 and set(organisation) <= set("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class Organisation:
    """An organisation as the issuer names it; `role` is the issuer's word ("admin", "write", ...), "" if unknown."""

    id: str
    name: str  # the one that nobody else can have there; "" where the issuer tells none
    role: str = ""

    @property
    def shown(self) -> str:
        """For people."""
        return self.name or self.id

    def is_meant(self, setting: str) -> bool:
        """Return whether a setting means this one: an id is compared with ids alone, a name with names."""
        return self.id == setting if is_id(setting) else bool(self.name) and self.name.casefold() == setting.casefold()


@dataclass(frozen=True, slots=True)
class Identity:
    """Identity of a request. `account` is stable; `name` is for people and may change hands."""

    account: str  # "" nobody, "local" the person at this machine
    name: str = ""
    organisations: tuple[Organisation, ...] = ()
    roles: frozenset[Role] = frozenset()  # what this request may do: for tokens already narrowed to their scopes
    auth_method: Literal["nobody", "session", "token", "local"] = "nobody"
    scopes: frozenset[Scope] = frozenset()  # of the token; empty for everything else
    credential: str = ""  # which session (a digest) or token (its public id) it was

    @property
    def signed_in(self) -> bool:
        """Whether anybody is known to ask."""
        return bool(self.account)


ANONYMOUS = Identity(account="")
LOCAL = Identity(account="local", name="local", roles=frozenset(Role), auth_method="local")
# Reachable by others and without sign-in, which somebody accepted on purpose: everybody is one submitter.
OPEN = Identity(account="local", name="local", roles=IMPLIED[Role.SUBMITTER], auth_method="local")


class AuthError(Exception):
    """The request is denied; carries what an HTTP answer needs."""

    status, code = 403, "refused"
    retry_after: int | None = None  # seconds until it may be allowed

    def __init__(self, detail: str, identity: Identity = ANONYMOUS, *, needed: Role | None = None) -> None:
        super().__init__(detail)
        self.detail, self.identity, self.needed = detail, identity, needed


class Unauthenticated(AuthError):
    """No user is signed in, or the token is not valid."""

    status, code = 401, "sign-in-needed"


class Forbidden(AuthError):
    """The user is known, but may not do this."""

    status, code = 403, "not-allowed"


class TooManyRequests(AuthError):
    """More requests than anybody needs; try again in a moment."""

    status, code = 429, "too-many-requests"

    def __init__(self, retry_after: float) -> None:
        super().__init__(_("Too many requests. Try again in a moment."))
        self.retry_after = int(retry_after) + 1


def require(identity: Identity, role: Role) -> Identity:
    """Let a use case go on, or stop it.

    Raises:
        Unauthenticated: nobody is known.
        Forbidden: somebody is, but without this role, or with a token that was not made for it.
    """
    if not identity.signed_in:
        raise Unauthenticated(_("Sign in, or send an API token."), identity, needed=role)
    if role not in identity.roles:
        if identity.auth_method == "token":
            scopes = " and ".join(sorted(identity.scopes)) or "nothing"
            detail = _(
                "This token allows {scopes}. The request needs the role {role} for its account, and a scope that "
                "includes it.",
                scopes=scopes,
                role=role,
            )
            raise Forbidden(detail, identity, needed=role)
        raise Forbidden(_("This needs the role {role}.", role=role), identity, needed=role)
    return identity


def require_person(identity: Identity) -> Identity:
    """Do as `require`, for what a token must never do (make tokens, end sessions): a browser that is signed in.

    Raises:
        Unauthenticated: nobody is known.
        Forbidden: a token asks, or there is no sign-in here.
    """
    if not identity.signed_in:
        raise Unauthenticated(_("Sign in first."))
    if identity.auth_method != "session":
        raise Forbidden(_("Only somebody who is signed in with a browser can do this."), identity)
    return identity
