"""Login throttling: failed attempts are counted in the database, so a restart or a second process does not reset
them."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from auth import queries
from auth.crypto import KeyRing
from auth.model import TooManyFailures
from storage.database import Database

WINDOW = 15 * 60.0  # seconds


@dataclass(frozen=True, slots=True)
class LoginThrottle:
    """So many failures from one place within the window; what comes after them is refused unseen."""

    database: Database
    seal: KeyRing
    kind: str
    most: int = 5

    def check(self, address: str) -> None:
        """Raise TooManyFailures where no attempt is allowed for now."""
        with self.database.read() as session:
            wait = queries.locked_for(session, self.kind, source=self._source(address), most=self.most, window=WINDOW)
        if wait is not None:
            raise TooManyFailures(wait)

    def add(self, address: str) -> None:
        """Count a failure. Raises TooManyFailures where others were faster and have used up what is allowed."""
        source = self._source(address)
        with self.database.write() as session:
            wait = queries.locked_for(session, self.kind, source=source, most=self.most, window=WINDOW)
            if wait is None:
                queries.add_failure(session, self.kind, source=source, window=WINDOW)
        if wait is not None:
            raise TooManyFailures(wait)

    def _source(self, address: str) -> str:
        return self.seal.keyed("failures", network(address))


def network(address: str) -> str:
    """Return the network of an address: IPv4 as it is, IPv6 as its /64, which one subscriber gets whole."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address[:100]
    if isinstance(parsed, ipaddress.IPv6Address):
        mapped = parsed.ipv4_mapped
        return str(mapped) if mapped else str(ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed)
