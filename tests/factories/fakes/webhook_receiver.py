"""A program that takes webhooks over TLS on this machine, under a certificate of its own."""

from __future__ import annotations

import ipaddress
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import cast

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass
class TakenMessage:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """What was taken. `answers`: statuses of the next answers, 204 after them; `drip`: seconds between octets."""

    url: str = ""
    trust: ssl.SSLContext = field(default_factory=ssl.create_default_context)
    messages: list[TakenMessage] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    drip: float = 0.0


class _HookHandler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        receiver = cast(_HookServer, self.server).receiver
        body = self.rfile.read(int(self.headers["Content-Length"]))
        receiver.messages.append(TakenMessage(self.path, {k.lower(): v for k, v in self.headers.items()}, body=body))
        while receiver.drip:
            self.wfile.write(b"H")
            time.sleep(receiver.drip)
        self.send_response(receiver.answers.pop(0) if receiver.answers else 204)
        self.send_header("Location", receiver.url)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class _HookServer(ThreadingHTTPServer):
    daemon_threads = True
    receiver: Receiver

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of connections that the other side ends."""


@contextmanager
def webhook_receiver(folder: Path) -> Iterator[Receiver]:
    """Run a receiver, whose key lies in a folder."""
    certificate = _write_certificate(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with _HookServer(("127.0.0.1", 0), _HookHandler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        trust = ssl.create_default_context(cafile=str(certificate))
        server.receiver = Receiver(f"https://localhost:{server.server_address[1]}/hook?of=alice", trust)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield server.receiver
        finally:
            server.shutdown()
            thread.join()


def _write_certificate(folder: Path) -> Path:
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = folder / "receiver.pem"
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM) + secret)
    return path
