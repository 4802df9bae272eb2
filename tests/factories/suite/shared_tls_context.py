"""TLS settings made once in a process of tests: each client reads all certificates of the authorities, for a hundredth
of a second, and speaks plain HTTP to this machine then.
"""

from __future__ import annotations

import ssl
from functools import cache

import httpcore2

_create, _create_for_httpx2 = ssl.create_default_context, httpcore2.default_ssl_context


def share_tls_contexts() -> None:
    """Have all clients that trust the same authorities use one context; none changes it."""
    ssl.create_default_context = cache(_create)  # type: ignore[assignment]
    httpcore2.default_ssl_context = cache(_create_for_httpx2)
