"""E-mail over SMTP: the server of SMTP_URL, and messages that nobody can add headers to."""

from __future__ import annotations

import re
import smtplib
import ssl
import unicodedata
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, localtime
from urllib.parse import unquote, urlsplit

from auth.csrf import is_loopback

SECONDS = 20.0  # that a server may take to answer
_ADDRESS = re.compile(
    r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
    r"@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)*[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?",
    re.ASCII,
)
_LONGEST_ADDRESS = 254  # RFC 5321, 4.5.3.1.3
_LONGEST_SUBJECT = 150
_PORTS = {"smtp": 587, "smtps": 465}


class MailRefused(Exception):
    """The server has refused an e-mail for good."""


class MailDelayed(Exception):
    """The server could not be reached, or asks for another attempt later."""


def is_address(text: str) -> bool:
    """Return whether a text is an address as e-mail is commonly sent to; no name, no comment, no line break."""
    return len(text) <= _LONGEST_ADDRESS and _ADDRESS.fullmatch(text) is not None


def header_text(text: str) -> str:
    """Return a text for one header: without line breaks, controls and directions, and not too long."""
    visible = "".join(" " if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") else c for c in text)
    return " ".join(visible.split())[:_LONGEST_SUBJECT]


@dataclass(frozen=True, slots=True)
class MailServer:
    """A server that takes e-mail, and the address that it is from. Raises ValueError for a URL that names none.

    `smtps://` is TLS from the start. `smtp://` is STARTTLS, which only a server on this machine may lack.
    """

    url: str = field(repr=False)
    sender: str

    def __post_init__(self) -> None:
        """Check both settings."""
        parts = urlsplit(self.url)
        named = (
            parts.scheme in _PORTS and parts.hostname and not (parts.path.strip("/") or parts.query or parts.fragment)
        )
        if not named or not is_address(self.sender):
            raise ValueError(
                "SMTP_URL names no mail server, or no sender. For instance "
                "SMTP_URL=smtps://user:password@mail.example?from=board@example.org."
            )

    def send(self, email: EmailMessage) -> None:
        """Hand an e-mail to the server. Raises MailRefused and MailDelayed; neither names an address."""
        try:
            with self._connected() as connection:
                connection.send_message(email)
        except smtplib.SMTPRecipientsRefused as error:
            raise _answered(next(iter(error.recipients.values()))[0]) from None
        except smtplib.SMTPResponseException as error:
            raise _answered(error.smtp_code) from None
        except (smtplib.SMTPException, OSError) as error:
            raise MailDelayed(f"the mail server could not be used ({type(error).__name__})") from None

    def message(self, to: str, identifier: str, *, subject: str, body: str, unsubscribe: str = "") -> EmailMessage:
        """Return an e-mail in plain text. The library refuses line breaks in any of its headers.

        `identifier`: its Message-ID without the host, the same one for each attempt. `unsubscribe`: the address of
        RFC 8058, which takes a POST; "" where there is nothing to unsubscribe from.
        """
        message = EmailMessage(policy=SMTP)
        message["From"], message["To"] = self.sender, to
        message["Subject"] = header_text(subject)
        message["Date"] = format_datetime(localtime())
        message["Message-ID"] = f"<{identifier}@{self.sender.rpartition('@')[2]}>"
        message["Auto-Submitted"] = "auto-generated"
        if unsubscribe:
            message["List-Unsubscribe"] = f"<{unsubscribe}>"
            message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
        message.set_content(body, cte="base64")
        return message

    def _connected(self) -> smtplib.SMTP:
        parts = urlsplit(self.url)
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
        connection: smtplib.SMTP
        if parts.scheme == "smtps":
            connection = smtplib.SMTP_SSL(host, port, timeout=SECONDS, context=ssl.create_default_context())
        else:
            connection = smtplib.SMTP(host, port, timeout=SECONDS)
        try:
            connection.ehlo_or_helo_if_needed()
            if parts.scheme == "smtp" and (connection.has_extn("starttls") or not is_loopback(host)):
                connection.starttls(context=ssl.create_default_context())
            if parts.username:
                connection.login(unquote(parts.username), unquote(parts.password or ""))
        except BaseException:
            connection.close()
            raise
        return connection


def _answered(code: int) -> MailRefused | MailDelayed:
    """Return what an answer of the server means."""
    kind = MailRefused if 500 <= code < 600 else MailDelayed
    return kind(f"the mail server answered {code}")
