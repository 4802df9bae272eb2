"""A mail server that speaks SMTP over a socket and keeps what it takes."""

from __future__ import annotations

import email
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import default
from typing import cast


@dataclass
class MailBox:
    """What a server has taken. `answers`: what it says to the next e-mails instead, such as `451 later`."""

    url: str = ""
    emails: list[EmailMessage] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)


class _Handler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        box = cast(_Server, self.server).box
        self._say("220 mail.test")
        to: list[str] = []
        while line := self.rfile.readline().decode("ascii").strip():
            verb = line.split()[0].upper()
            if verb == "RCPT":
                refused = box.answers.pop(0) if box.answers else ""
                to += [] if refused else [line]
                self._say(refused or "250 ok")
            elif verb == "DATA":
                self._say("354 go on")
                box.emails.append(self._content())
                box.recipients += to
                self._say("250 taken")
            elif verb == "QUIT":
                self._say("221 bye")
                return
            else:
                to = [] if verb == "MAIL" else to
                self._say("250 ok")

    def _content(self) -> EmailMessage:
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            lines.append(line.removeprefix(b"."))
        return cast(EmailMessage, email.message_from_bytes(b"".join(lines), policy=default))

    def _say(self, text: str) -> None:
        self.wfile.write(text.encode() + b"\r\n")


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    box: MailBox


@contextmanager
def mail_server() -> Iterator[MailBox]:
    """Run a server on this machine."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.box = MailBox(f"smtp://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield server.box
        finally:
            server.shutdown()
            thread.join()
