"""Roles of an account, from configured names. Pure."""

from __future__ import annotations

from auth.model import GRANTED, IMPLIED, Role, Scope
from auth.settings import IdentitySettings

_SUBJECT = "sub:"


def configured_names(settings: IdentitySettings) -> frozenset[str]:
    """Return names that carry a role, as they are bound to accounts."""
    return frozenset(
        name.casefold() for name in (*settings.maintainers, *settings.owners) if not name.startswith(_SUBJECT)
    )


def roles_of(subject: str, bound: frozenset[str], *, settings: IdentitySettings) -> frozenset[Role]:
    """Return all roles of an account. `bound`: the configured names that mean this account."""
    means = {*bound, f"{_SUBJECT}{subject}"}

    def named(names: tuple[str, ...]) -> bool:
        return any((name if name.startswith(_SUBJECT) else name.casefold()) in means for name in names)

    if named(settings.owners):
        return IMPLIED[Role.OWNER]
    if named(settings.maintainers):
        return IMPLIED[Role.MAINTAINER]
    return IMPLIED[Role.SUBMITTER]


def restrict_to_scopes(roles: frozenset[Role], scopes: frozenset[Scope]) -> frozenset[Role]:
    """Return what is left of an account's roles for a token with these scopes."""
    return roles & {GRANTED[scope] for scope in scopes}
