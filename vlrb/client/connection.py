"""Requests of the commands to a service: its address, who asks, and what it answers."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from vlrb.commands.text_output import sample_lines
from vlrb.common.command_line import complain, language_of, translated
from vlrb.common.messages import _, joined
from vlrb.common.text import printable

API_VERSION, VERSION_HEADER = "1", "API-Version"
"""Of the REST interface: a service states its own in every answer."""
DEFAULT_SERVER = "http://127.0.0.1:7860"
TOKEN_NAME = "VLRB_TOKEN"  # noqa: S105 (the variable's name)
TOKEN_FILE = Path("~/.config/vl-rewardbench/token")
_FIELDS = Path(__file__).with_name("fields.json")


class ServiceError(Exception):
    """The service refused, or does not answer; the message quotes it."""


def add_server(parser: argparse.ArgumentParser) -> None:
    """Add the options of every command that asks a service."""
    address = _("address of the service ({default_server})", default_server=DEFAULT_SERVER)
    parser.add_argument("--server", default=DEFAULT_SERVER, metavar="URL", help=address)
    parser.add_argument("--json", action="store_true", help=_("print JSON only"))


def add_fields(parser: argparse.ArgumentParser, *, required: tuple[str, ...] = ()) -> None:
    """Add an option for each field of a submission."""
    for name, about in json.loads(_FIELDS.read_bytes()).items():
        flag, help_text = "--" + name.replace("_", "-"), _(about)
        parser.add_argument(flag, dest=name, metavar="TEXT", required=name in required, help=help_text)


def stated_fields(options: argparse.Namespace) -> dict[str, str]:
    """Return the fields that the options state."""
    names = json.loads(_FIELDS.read_bytes())
    return {name: value for name in names if (value := getattr(options, name)) is not None}


def asks_service(command: Callable[[httpx.Client, argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """Give a command a connection. Its exit code is 1 where the service refuses or does not answer."""

    def run(options: argparse.Namespace) -> int:
        server, seconds = options.server, httpx.Timeout(120, connect=10)
        try:
            headers = {"Accept-Language": language_of(os.environ), **_token_headers(server)}
            with httpx.Client(base_url=server, headers=headers, timeout=seconds) as http:
                return command(http, options)
        except ServiceError as error:
            complain(str(error))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            values = {"server": server, "error": error}
            complain(_("{server} does not answer ({error}). Is it running, and is --server right?", **values))
        return 1

    return run


def answer(reply: httpx.Response) -> dict[str, Any]:
    """Return the JSON of an answer. Raises ServiceError where it is a refusal, or of another version."""
    accepted(reply)
    return _json(reply)


def accepted(reply: httpx.Response) -> httpx.Response:
    """Return an answer that is no refusal. Raises ServiceError."""
    theirs = reply.headers.get(VERSION_HEADER, API_VERSION)
    if theirs != API_VERSION:
        raise ServiceError(
            _(
                "The server speaks version {theirs} of the interface, this program version {ours}: "
                "update the older one.",
                theirs=printable(theirs[:20]),
                ours=API_VERSION,
            )
        )
    if reply.is_success:
        return reply
    body = _json(reply)
    lines = [body.get("detail", _("The server answered {status}.", status=reply.status_code))]
    if reply.status_code == 401:
        place, file = reply.url.join("/account"), TOKEN_FILE
        lines.append(
            _("Make a token at {place} and put it into {name} or {file}.", place=place, name=TOKEN_NAME, file=file)
        )
    # Of a field's problem the detail says all there is; of a file's it only says that there are some.
    lines += [_problem_line(problem) for problem in body.get("problems", []) if problem["message"] not in lines[0]]
    if body.get("problem_count", 0) > len(body.get("problems", [])):
        lines.append(_("... {n} problems in all", n=body["problem_count"]))
    lines += sample_lines(body)
    raise ServiceError("\n".join(printable(translated(line)) for line in lines))  # they repeat what the file holds


def _json(reply: httpx.Response) -> dict[str, Any]:
    try:
        body: dict[str, Any] = reply.json()
    except ValueError:
        raise ServiceError(
            _("The server answered {status_code} with something that is not JSON.", status_code=reply.status_code)
        ) from None
    return body


def _problem_line(problem: Mapping[str, Any]) -> str:
    place = [_("line {line}", line=problem["line"]) if problem.get("line") else None, problem.get("id")]
    where = translated(joined(filter(None, place)))
    return f"  {where}: {problem['message']}" if where else f"  {problem['message']}"


def _token_headers(server: str) -> dict[str, str]:
    token = os.environ.get(TOKEN_NAME, "").strip() or _saved_token(TOKEN_FILE.expanduser())
    if not token:
        return {}
    address = urlsplit(server)
    if address.scheme != "https" and address.hostname not in ("localhost", "127.0.0.1", "::1"):
        raise ServiceError(_("The token is not sent to {server}: without https others could read it.", server=server))
    if not token.isascii() or not token.isprintable():
        raise ServiceError(_("The token holds characters that no token has."))
    return {"Authorization": f"Bearer {token}"}


def _saved_token(path: Path) -> str:
    """Return the API token in a file; "" where there is none. Raises ServiceError where others may read it."""
    try:
        with path.open("rb") as file:
            shared = os.fstat(file.fileno()).st_mode & 0o077
            text = file.read(1000).decode("ascii").strip()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError):
        raise ServiceError(_("{path} cannot be read as a token.", path=path)) from None
    if shared:
        raise ServiceError(_("Others may read {path}. Make it yours alone: chmod 600 {path}", path=path))
    return text
