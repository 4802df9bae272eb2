"""Cross-site request check (CSRF) by Origin and Sec-Fetch-Site, and the public base URL. Pure."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from vlrb.common.messages import _

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_HOST = re.compile(r"(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
_OF_PROXIES = ("forwarded", "via", "x-real-ip", "x-client-ip", "true-client-ip", "x-forwarded-", "cf-")


def is_cross_site(headers: Headers, own: str | None, *, cookie: bool) -> str | None:
    """Return why a state change is refused; None if it is not.

    `own`: this site's origin; None where it is only known from the Host header (no sign-in configured).
    `cookie`: whether a session cookie came along. Programs send neither Origin nor Sec-Fetch-Site; that is fine as
    long as nothing that a browser adds by itself speaks for them.
    """
    origins, sites = headers.getlist("origin"), headers.getlist("sec-fetch-site")
    if len(origins) > 1 or len(sites) > 1:
        return _("The request names more than one origin.")
    foreign = bool(sites) and sites[0] not in ("same-origin", "none")
    if foreign or (origins and not _is_own(origins[0], own, host=headers.getlist("host"))):
        return _("This request was sent by a page of another site.")
    if not origins and not sites and cookie:
        return _("This request does not say which page sent it (no Origin header).")
    return None


def base_url(public_url: str, scheme: str, *, host: str) -> str:
    """Return the public base URL without a trailing slash: as configured, or from the request."""
    return public_url or f"{scheme}://{host if _HOST.fullmatch(host) else 'localhost'}"


def _is_own(origin: str, own: str | None, *, host: Sequence[str]) -> bool:
    if own is not None:
        return origin == own
    parts = urlsplit(origin)
    return parts.scheme in ("http", "https") and len(host) == 1 and parts.netloc == host[0]


def is_not_loopback(headers: Headers) -> str | None:
    """Return why a request is not from this machine, where being on it is all that is asked for; None if it is.

    A page of another site can make its own name resolve to 127.0.0.1, and a proxy beside the service connects from
    there: the Host header and the proxy's headers tell them apart.
    """
    host = headers.getlist("host")
    if len(host) != 1 or not is_loopback(host[0]):
        return _("Without sign-in this service answers to localhost only.")
    if any(name.startswith(_OF_PROXIES) for name in headers):
        return _("A proxy is in front of this service, which runs without sign-in. Configure the sign-in.")
    return None


def is_loopback(host: str) -> bool:
    """Return whether a Host header (with or without port), or an address, names this machine."""
    name = host if host.count(":") > 1 and host[0] != "[" else urlsplit(f"//{host}").hostname or ""
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
