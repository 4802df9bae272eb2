"""Authentication and authorisation: OpenID Connect sign-in, sessions, API tokens, roles.

Use cases need only what is exported here: they take an `Identity` and call `require`.
"""

from auth.model import (
    ANONYMOUS,
    LOCAL,
    OPEN,
    AuthError,
    Forbidden,
    Identity,
    Organisation,
    Role,
    Scope,
    TooManyRequests,
    Unauthenticated,
    require,
    require_person,
)

__all__ = [
    "ANONYMOUS",
    "LOCAL",
    "OPEN",
    "AuthError",
    "Forbidden",
    "Identity",
    "Organisation",
    "Role",
    "Scope",
    "TooManyRequests",
    "Unauthenticated",
    "require",
    "require_person",
]
