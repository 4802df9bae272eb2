"""Accounts of tests."""

from auth import ANONYMOUS, LOCAL, OPEN, Identity, Role, Scope

SUBMITTER = frozenset({Role.SUBMITTER})


def person(account: str, *roles: Role) -> Identity:
    """Somebody signed in with a browser."""
    return Identity(account, name=account, roles=frozenset(roles) | SUBMITTER, auth_method="session")


OWNER_OF_IT = person("aowner000000")
STRANGER = person("astranger000")
ANNOTATOR = person("aannotator00")
MAINTAINER = person("amaintainer0", Role.MAINTAINER)
SECOND_MAINTAINER = person("amaintainer1", Role.MAINTAINER)
SUBMIT_TOKEN = Identity(  # a maintainer's token that was made for submitting only
    "amaintainer0", name="amaintainer0", roles=SUBMITTER, auth_method="token", scopes=frozenset({Scope.SUBMIT})
)

MAINTAIN_TOKEN = Identity(  # and one that was made for nothing else but maintaining
    "atoken000000",
    name="amaintainer0",
    roles=frozenset({Role.MAINTAINER}),
    auth_method="token",
    scopes=frozenset({Scope.MAINTAIN}),
)
OWNER_OF_THE_SERVICE = person("aboss0000000", Role.MAINTAINER, Role.OWNER)

__all__ = [
    "ANNOTATOR",
    "ANONYMOUS",
    "LOCAL",
    "MAINTAINER",
    "MAINTAIN_TOKEN",
    "OPEN",
    "OWNER_OF_IT",
    "OWNER_OF_THE_SERVICE",
    "SECOND_MAINTAINER",
    "STRANGER",
    "SUBMIT_TOKEN",
]
