"""Messages to webhooks over HTTPS, signed as Standard Webhooks are, to public addresses only.

The form of messages is https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md.
An address is resolved once; what is checked is what is connected to, so that a name cannot change in between.
"""

from __future__ import annotations

import base64
import hmac
import http.client
import ipaddress
import re
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address
from typing import NamedTuple
from urllib.parse import urlsplit

SECONDS = 10.0  # that a receiver may take, from the connection to its answer
SECRET_PREFIX = "whsec_"  # noqa: S105 (how every secret begins)
_SECRET_BYTES = 32
_LONGEST_ADDRESS = 500
_MOST_ADDRESSES = 4  # of a name, that are tried
_HTTPS, _FIRST_OPEN_PORT = 443, 1024
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|[0-9A-Fa-f:.]{2,45}")
_PLAIN = re.compile(r"[!-~]+")  # printable ASCII without spaces
_EMBEDDING = ipaddress.IPv6Network("64:ff9b::/96")  # NAT64, RFC 6052: an IPv4 address stands at the end
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
_PLATFORMS = (  # hosts of virtual machines, whose numbers do not say so: Azure, Oracle
    ipaddress.IPv4Network("168.63.129.16/32"),
    ipaddress.IPv4Network("192.0.0.0/24"),
)

Address = IPv4Address | IPv6Address


class DeliveryFailed(Exception):
    """A message was not taken. Its text is a code, such as `timeout`, and never names the address."""


class WebhookUrl(NamedTuple):
    """An https address in its parts."""

    host: str
    port: int
    target: str  # path and query


def parse_url(text: str) -> WebhookUrl:
    """Return the parts of an https address. Raises ValueError for everything else."""
    parts = urlsplit(text)
    host, port = parts.hostname or "", parts.port or _HTTPS
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    plain = _PLAIN.fullmatch(text) and len(text) <= _LONGEST_ADDRESS
    if not plain or parts.scheme != "https" or "@" in parts.netloc or "#" in text or not _HOST.fullmatch(host):
        raise ValueError("no https address")
    if port != _HTTPS and port < _FIRST_OPEN_PORT:
        raise ValueError("a port of another service")
    return WebhookUrl(host, port, target=target)


def is_public(address: Address) -> bool:
    """Return whether an address is one of the public internet: not of this machine, its network, or its platform."""
    if isinstance(address, IPv4Address):
        usable = address.is_global and not (address.is_multicast or address.is_reserved)
        return usable and not any(address in network for network in _PLATFORMS)
    inner = address.ipv4_mapped or address.sixtofour
    if address in _EMBEDDING:
        inner = IPv4Address(int(address) & 0xFFFFFFFF)
    if inner is not None:
        return is_public(inner)
    return address in _GLOBAL_UNICAST and address.is_global and address.teredo is None


def new_secret() -> str:
    """Return a secret that signs messages to one webhook."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def signature(secret: str, message_id: str, *, timestamp: int, body: bytes) -> str:
    """Return the value of `webhook-signature`: HMAC-SHA256 over id, timestamp and body, separated by full stops."""
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = b".".join((message_id.encode(), str(timestamp).encode(), body))
    return f"v1,{base64.b64encode(hmac.digest(key, signed, 'sha256')).decode()}"


@dataclass(frozen=True, slots=True)
class WebhookSender:
    """What connects to webhooks. `permits`: which addresses it may connect to; `trust`: whose certificates hold."""

    permits: Callable[[Address], bool] = is_public
    trust: ssl.SSLContext = field(default_factory=ssl.create_default_context, repr=False)
    seconds: float = SECONDS

    def send(self, address: str, secret: str, *, message_id: str, body: bytes) -> None:
        """Deliver a message. Raises DeliveryFailed unless the receiver answers with a status from 200 to 299.

        Redirects are not followed. Of the answer only status and headers are read.
        """
        try:
            status = self._post(parse_url(address), _headers(secret, message_id, body=body), body=body)
        except TimeoutError:
            raise DeliveryFailed("timeout") from None
        except ssl.SSLError:
            raise DeliveryFailed("certificate") from None
        except (OSError, ValueError, http.client.HTTPException):
            raise DeliveryFailed("unreachable") from None
        if not 200 <= status < 300:
            raise DeliveryFailed(f"status-{status}")

    def _post(self, url: WebhookUrl, headers: dict[str, str], *, body: bytes) -> int:
        until = time.monotonic() + self.seconds
        with self._connected(url, until) as plain, _cut_at(until, plain) as cut:
            try:
                with self.trust.wrap_socket(plain, server_hostname=url.host) as encrypted:
                    connection = _Connection(url.host, url.port)
                    connection.sock = encrypted
                    connection.request("POST", url.target, body, headers)
                    return connection.getresponse().status
            except (OSError, http.client.HTTPException) as error:
                if cut.is_set():
                    raise TimeoutError from error
                raise

    def _connected(self, url: WebhookUrl, until: float) -> socket.socket:
        """Return a connection to the first address that takes one."""
        failed: OSError = OSError("no address")
        for address in self._resolve(url):
            try:
                return socket.create_connection((address, url.port), max(0.1, until - time.monotonic()))
            except OSError as error:
                failed = error
        raise failed

    def _resolve(self, url: WebhookUrl) -> list[str]:
        """Return the addresses to connect to. A name with any address that is not permitted is refused."""
        resolved = socket.getaddrinfo(url.host, url.port, type=socket.SOCK_STREAM)
        addresses = [_ip_address(str(place[0])) for *_, place in resolved]
        if any(address is None or not self.permits(address) for address in addresses):
            raise DeliveryFailed("not-public")
        return [str(address) for address in addresses[:_MOST_ADDRESSES]]


class _Connection(http.client.HTTPConnection):
    """HTTP over a socket that is encrypted already."""

    default_port = _HTTPS


def _headers(secret: str, message_id: str, *, body: bytes) -> dict[str, str]:
    now = int(time.time())
    return {
        "Content-Type": "application/json",
        "User-Agent": "leaderboard-webhooks/1",
        "Connection": "close",
        "webhook-id": message_id,
        "webhook-timestamp": str(now),
        "webhook-signature": signature(secret, message_id, timestamp=now, body=body),
    }


def _ip_address(text: str) -> Address | None:
    """Return an IP address; None where a text is none. One with a zone is of this machine's own network."""
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


@contextmanager
def _cut_at(until: float, connection: socket.socket) -> Iterator[threading.Event]:
    """End a connection at a time, however slowly the other side sends: its own timeouts count from each octet.

    Yield what is set then.
    """
    cut = threading.Event()
    with connection.dup() as same:  # the one that was given is detached when it is encrypted
        timer = threading.Timer(max(0.0, until - time.monotonic()), _shut, [same, cut])
        timer.start()
        try:
            yield cut
        finally:
            timer.cancel()
            timer.join()


def _shut(connection: socket.socket, cut: threading.Event) -> None:
    cut.set()
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
