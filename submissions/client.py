"""Command-line client `python -m submissions submit|status|publish|anonymity` over the REST routes of a running
service."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from storage.metadata import FIELDS
from vlrb.commands.text_output import sample_lines, score_title
from vlrb.common.command_line import columns, complain, say, translated
from vlrb.common.file_limit import too_large
from vlrb.common.messages import _
from vlrb.common.rounding import percent
from vlrb.common.text import printable
from vlrb.predictions.problems import votes_phrase

if TYPE_CHECKING:
    import httpx

DEFAULT_SERVER = "http://127.0.0.1:7860"
_STATES: Mapping[str, str] = {
    "awaiting-approval": _("waiting for approval"),
    "queued": _("queued"),
    "scoring": _("scoring"),
    "scored": _("scored"),
    "failed": _("failed"),
    "withdrawn": _("withdrawn"),
}
_ENDED = ("scored", "failed", "withdrawn")
_AWAITING = "awaiting-approval"  # it may take days
_RANGES_WITHIN = 20.0  # seconds after the score; hidden labels may have none
_PACKED = (".gz", ".zip", ".xlsx", ".eval", ".parquet")
TOKEN_NAME = "VLRB_TOKEN"  # noqa: S105 (the variable's name)
TOKEN_FILE = Path("~/.config/vl-rewardbench/token")


class ServiceError(Exception):
    """The service refused, or does not answer; the message quotes it."""


def add_commands(commands: Any, environ: Mapping[str, str]) -> None:
    """Add `submit` and `status` to the subparsers of a command line; each sets `run`. `environ`: may hold a token."""
    submit = commands.add_parser("submit", help=_("upload predictions to a server"))
    submit.add_argument("file", type=Path)
    for name, field in FIELDS.items():
        flag, about, limits = "--" + name.replace("_", "-"), _(field.help), field.limits
        optional = _("{help} ({limits})", help=about, limits=limits)
        text = _("{help} (required; {limits})", help=about, limits=limits) if field.required else optional
        submit.add_argument(flag, dest=name, metavar="TEXT", required=field.required, help=text)
    submit.add_argument(
        "--anonymous-until", metavar="DAY", help=_("name no owner, organisation, link before: 2027-01-31")
    )
    submit.add_argument("--benchmark", default="", metavar="ID", help=_("id of the benchmark (the server's first)"))
    submit.add_argument(
        "--unpublished", action="store_true", help=_("keep the entry off the board until you publish it")
    )
    submit.add_argument("--wait", action="store_true", help=_("until the entry is scored"))
    submit.add_argument(
        "--accept-unreadable",
        action="store_true",
        help=_("submit although most votes cannot be read (they count as wrong)"),
    )
    submit.add_argument(
        "--receipt", metavar="PATH", help=_("where to write the receipt (receipt-ID.jws); - for nowhere")
    )
    status = commands.add_parser("status", help=_("state, position and result of a submission"))
    status.add_argument("id")
    status.add_argument("--wait", action="store_true", help=_("until it is scored"))
    publish = commands.add_parser("publish", help=_("put an entry of yours on the board, for good"))
    publish.add_argument("id")
    anonymity = commands.add_parser("anonymity", help=_("move or end the time in which an entry does not name you"))
    anonymity.add_argument("id")
    when = anonymity.add_mutually_exclusive_group(required=True)
    when.add_argument("--until", metavar="DAY", help="2027-01-31")
    when.add_argument("--end", action="store_true", help=_("show your name now"))
    for command, run in (
        (submit, submit_command),
        (status, status_command),
        (publish, publish_command),
        (anonymity, anonymity_command),
    ):
        command.add_argument(
            "--server",
            default=DEFAULT_SERVER,
            help=_("address of the service ({default_server})", default_server=DEFAULT_SERVER),
        )
        command.add_argument(
            "--timeout", type=float, default=300.0, metavar="SECONDS", help=_("how long to wait (300)")
        )
        command.add_argument("--json", action="store_true", help=_("print JSON only"))
        command.add_argument(
            "--token-file",
            type=Path,
            metavar="PATH",
            help=_(
                "an API token, in a file that only you can read ({token_file}; {token_name} comes before it)",
                token_file=TOKEN_FILE,
                token_name=TOKEN_NAME,
            ),
        )
        command.set_defaults(run=run, token=environ.get(TOKEN_NAME, "").strip())


def submit_command(arguments: argparse.Namespace) -> int:
    """Upload a file, save the receipt; with --wait, tell the result too. Returns the exit code."""
    names = (*FIELDS, "anonymous_until")
    fields = {name: value for name in names if (value := getattr(arguments, name)) is not None}
    fields |= {"published": "false"} if arguments.unpublished else {}
    fields |= {"accept_unreadable": "true"} if arguments.accept_unreadable else {}
    if not arguments.file.is_file():
        return _complain(_("There is no file {file}.", file=arguments.file), 2)
    try:
        with _connection(arguments) as http:
            wanted = {"benchmark": arguments.benchmark} if arguments.benchmark else {}
            with _file_to_send(http, arguments.file).open("rb") as file:
                files = {"file": (Path(file.name).name, file, "application/octet-stream")}
                taken = _answer(http.post("/api/v1/submissions", params=wanted, data=fields, files=files))
            if not arguments.json:
                say(_accepted(taken), flush=True)
            if arguments.receipt or not arguments.json:
                _keep_receipt(taken, arguments.receipt)
            if arguments.wait or not arguments.json:
                return _report(
                    http, taken["id"], arguments=arguments, receipt=taken["receipt"], duplicate=taken.get("duplicate")
                )
            print(json.dumps(taken))
            return 0
    except ServiceError as error:
        return _complain(str(error))


def _file_to_send(http: httpx.Client, path: Path) -> Path:
    """Return the file itself; where the server takes none of its size, one beside it that is compressed."""
    limit = _answer(http.get("/api/v1/policy")).get("upload_limit_bytes")
    if not limit or path.stat().st_size <= limit or path.suffix in _PACKED:
        return path
    packed = path.with_name(f"{path.name}.gz")
    try:
        with (
            path.open("rb") as file,
            packed.open("wb") as target,
            gzip.GzipFile("", "wb", fileobj=target, mtime=0) as content,  # the same bytes whenever it is sent
        ):
            shutil.copyfileobj(file, content)
    except OSError:
        raise ServiceError(too_large(limit)) from None
    size = limit / 2**20
    complain(_("The server takes at most {size:g} MB. Keep {packed}: it is what is sent.", size=size, packed=packed))
    return packed


def _accepted(taken: Mapping[str, Any]) -> str:
    from receipts.jws import event_of  # the signature library, for which no other command need wait

    accepted = event_of(taken["receipt"])
    pairs, votes = accepted["items"], votes_phrase(accepted["votes_per_item"])
    if taken.get("duplicate"):
        return _(
            "Already submitted as {id}  ({pairs:,} pairs, {votes}); nothing changed.",
            id=taken["id"],
            pairs=pairs,
            votes=votes,
        )
    return _line(_("Accepted"), _("{id}  ({pairs:,} pairs, {votes})", id=taken["id"], pairs=pairs, votes=votes))


def _keep_receipt(taken: Mapping[str, Any], wanted: str | None) -> None:
    """Write the receipt to a file; where that fails, print it: the submission is made all the same."""
    if wanted == "-":
        return
    text = f"{taken['receipt']}\n"
    path = Path(wanted or f"receipt-{Path(taken['id']).name}.jws")
    try:
        path.write_text(text)
    except OSError as error:
        _complain(
            _(
                "The receipt cannot be written to {path} ({strerror}). Keep what follows:\n{text}",
                path=path,
                strerror=error.strerror,
                text=text,
            )
        )
    else:
        print(_line(_("Receipt"), _("written to {path}", path=path)))


def _line(title: str, text: str) -> str:
    """Return a line of a report as the terminal shows it."""
    title = translated(title)
    return title + " " * max(10 - columns(title), 1) + translated(text)


def status_command(arguments: argparse.Namespace) -> int:
    """Print where a submission is. Returns the exit code."""
    try:
        with _connection(arguments) as http:
            return _report(http, arguments.id, arguments=arguments)
    except ServiceError as error:
        return _complain(str(error))


def publish_command(arguments: argparse.Namespace) -> int:
    """Publish an entry. Returns the exit code."""
    done = _("Entry {id} is on the board in a moment.", id=arguments.id)
    return _ask(
        arguments,
        "POST",
        what="publish",
        body=None,
        done=done,
        already=_("Entry {id} is on the board already.", id=arguments.id),
    )


def anonymity_command(arguments: argparse.Namespace) -> int:
    """Move or end an entry's anonymity. Returns the exit code."""
    until = None if arguments.end else arguments.until
    entry = arguments.id
    until_day = _("Entry {id} names nobody until {day}.", id=entry, day=until)
    done = until_day if until else _("Entry {id} names its owner in a moment.", id=entry)
    already = _("No change: entry {id} is set like this already.", id=entry)
    return _ask(arguments, "PUT", what="anonymity", body={"until": until}, done=done, already=already)


def _ask(arguments: argparse.Namespace, method: str, *, what: str, body: Any, done: str, already: str) -> int:
    try:
        with _connection(arguments) as http:
            changed = _answer(http.request(method, f"/api/v1/submissions/{arguments.id}/{what}", json=body))["changed"]
    except ServiceError as error:
        return _complain(str(error))
    if arguments.json:
        print(json.dumps({"changed": changed}))
    else:
        say(done if changed else already)
    return 0


def _report(http: httpx.Client, submission: str, *, arguments: argparse.Namespace, **more: Any) -> int:
    deadline = time.monotonic() + arguments.timeout
    state: dict[str, Any] = {}
    message = ""
    while True:
        state = _answer(http.get(f"/api/v1/submissions/{submission}"))
        if not arguments.json and state["state"] != "scored" and (line := _sentence(state)) != message:
            message = line
            say(message, flush=True)
        if not arguments.wait or state["state"] in (*_ENDED, _AWAITING) or time.monotonic() > deadline:
            break
        time.sleep(0.3)
    scored = state["state"] == "scored" and state["entry_url"]  # not while it is unpublished
    card = _scorecard(http, submission, deadline=deadline if arguments.wait else 0) if scored else None
    if arguments.json:
        print(json.dumps({**more, **state, "scorecard": card}))
    elif state["state"] == "scored":
        entry = f"{str(http.base_url).rstrip('/')}{state['entry_url']}" if state["entry_url"] else None
        until = min(deadline, time.monotonic() + _RANGES_WITHIN) if arguments.wait else 0
        print(
            _result(
                card, _row(http, submission, benchmark=card["benchmark"], until=until) if card else None, entry=entry
            )
        )
    if arguments.wait and state["state"] not in (*_ENDED, _AWAITING):
        return _complain(
            _(
                "Not scored after {timeout:g} seconds; ask again: status {submission}",
                timeout=arguments.timeout,
                submission=submission,
            )
        )
    return 1 if state["state"] == "failed" else 0


def _sentence(state: Mapping[str, Any]) -> str:
    if state["state"] == "queued" and state["position"]:
        position, seconds = state["position"], state["eta_seconds"]
        if not seconds:
            return _("queued, number {position} in line", position=position)
        return _("queued, number {position} in line, about {seconds:.0f} s", position=position, seconds=seconds)
    name = _STATES.get(state["state"], str(state["state"]))
    return f"{translated(name)}: {translated(state['reason'])}" if state["reason"] else name


def _scorecard(http: httpx.Client, submission: str, *, deadline: float) -> dict[str, Any] | None:
    """Return the entry's scorecard; it follows the score by up to a second or two, so a waiting caller asks again."""
    while True:
        reply = http.get(f"/api/v1/entries/{submission}")
        if reply.status_code == 200:
            card: dict[str, Any] = reply.json()
            return card
        if time.monotonic() > deadline:
            return None
        time.sleep(0.3)


def _row(http: httpx.Client, submission: str, *, benchmark: str, until: float) -> dict[str, Any] | None:
    """Return the entry's row of its benchmark's board, with `of`: how many have a rank; None where it is not there.

    Its range of ranks follows the score by some seconds: until then it is asked for again.
    """
    while True:
        reply = http.get("/api/v1/leaderboard", params={"benchmark": benchmark})
        board = reply.json() if reply.status_code == 200 else {"entries": [], "sizes": {}}
        row = next((row for row in board["entries"] if row["id"] == submission), None)
        complete = row is not None and (row["rank"] is None or row["rank_range"] is not None)
        if complete or time.monotonic() > until:
            break
        time.sleep(0.3)
    ranked = sum(row["rank"] is not None for row in board["entries"])
    return row and {**row, "of": ranked, "headline": board.get("headline"), "sizes": board["sizes"]}


def _result(card: Mapping[str, Any] | None, row: Mapping[str, Any] | None, *, entry: str | None) -> str:
    """Return what a scored submission comes to, for people."""
    waits, hidden = _("Its page follows in a moment."), _("It is not published.")
    lines = [_line(_("Scored"), hidden if entry is None else waits)]
    if card is not None:
        strict = card["protocols"]["strict"]
        counted = list((row or {}).get("sizes") or ())  # means, which are no counts of pairs, come first
        ranked = (row or {}).get("headline") or {}  # what the rank is by, and how people call it
        names = sorted(
            (name for name in strict if isinstance(strict[name], float)),
            key=lambda name: (name != ranked.get("key"), _place(counted, name)),
        )
        head, *rest = names
        titles = {name: translated(_(score_title(card["benchmark"], name))) for name in names}
        lines = [_line(_("Scored"), f"{_with_interval(strict, head, called=titles[head])}{_rank(row)}")]
        if rest:
            lines.append(_line("", "   ".join(f"{titles[name]} {percent(strict[name])}" for name in rest)))
    return "\n".join([*lines, *([_line(_("Entry"), entry)] if entry else [])])


def _place(counted: Sequence[str], name: str) -> int:
    return counted.index(name) if name in counted else -1


def _with_interval(strict: Mapping[str, Any], name: str, *, called: str) -> str:
    bounds = (strict.get("interval") or {}).get(name)
    interval = f" ({percent(bounds[0])}-{percent(bounds[1])})" if bounds else ""
    return f"{called} {percent(strict[name])}{interval}"


def _rank(row: Mapping[str, Any] | None) -> str:
    """Return the rank with its range, or why one of them is missing."""
    if row is None:
        return ""
    if row["rank"] is None:
        best = row["version_of"]
        return f"   {_('no rank: entry {id} is the ranked version of this judge', id=best)}" if best else ""
    text, possible = _("rank {rank} of {ranked}", rank=row["rank"], ranked=row["of"]), row["rank_range"]
    if possible:
        return f"   {text} ({possible[0]}-{possible[1]})"
    return f"   {_('{rank}; its range is not computed yet, or the labels are hidden', rank=text)}"


def read_token(arguments: argparse.Namespace) -> str:
    """Return the API token to send; "" where there is none.

    Raises:
        ServiceError: the file is missing, is not text, or others may read it.
    """
    given: Path | None = arguments.token_file
    if given is None and arguments.token:
        return str(arguments.token)
    path = (given or TOKEN_FILE).expanduser()
    try:
        with path.open("rb") as file:
            shared = os.fstat(file.fileno()).st_mode & 0o077
            text = file.read(1000).decode("ascii").strip()
    except FileNotFoundError:
        if given is None:
            return ""
        raise ServiceError(_("There is no file {path}.", path=path)) from None
    except (OSError, UnicodeDecodeError):
        raise ServiceError(_("{path} cannot be read as a token.", path=path)) from None
    if shared:
        raise ServiceError(_("Others may read {path}. Make it yours alone: chmod 600 {path}", path=path))
    return text


def _token_headers(arguments: argparse.Namespace) -> dict[str, str]:
    token = read_token(arguments)
    if not token:
        return {}
    address = urlsplit(arguments.server)
    if address.scheme != "https" and address.hostname not in ("localhost", "127.0.0.1", "::1"):
        raise ServiceError(
            _("The token is not sent to {server}: without https others could read it.", server=arguments.server)
        )
    if not token.isascii() or not token.isprintable():
        raise ServiceError(_("The token holds characters that no token has."))
    return {"Authorization": f"Bearer {token}"}


@contextmanager
def _connection(arguments: argparse.Namespace) -> Iterator[httpx.Client]:
    import httpx  # 0.2 s that `check` need not pay

    server, headers = arguments.server, _token_headers(arguments)
    try:
        with httpx.Client(base_url=server, headers=headers, timeout=httpx.Timeout(120, connect=10)) as client:
            yield client
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ServiceError(
            _("{server} does not answer ({error}). Is it running, and is --server right?", server=server, error=error)
        ) from None


def _answer(reply: httpx.Response) -> dict[str, Any]:
    try:
        body: dict[str, Any] = reply.json()
    except ValueError:
        raise ServiceError(
            _("The server answered {status_code} with something that is not JSON.", status_code=reply.status_code)
        ) from None
    if reply.is_success:
        return body
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
    lines += [printable(translated(line)) for line in sample_lines(body)]
    raise ServiceError("\n".join(map(translated, lines)))


def _problem_line(problem: Mapping[str, Any]) -> str:
    place = [translated(_("line {line}", line=problem["line"])) if problem.get("line") else None, problem.get("id")]
    where, message = ", ".join(filter(None, place)), translated(problem["message"])
    return f"  {where}: {message}" if where else f"  {message}"


def _complain(message: str, code: int = 1) -> int:
    complain(message)
    return code
