"""Command `vlrb verify`: its options, its input and its output."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from joserfc.jwk import KeySet

from vlrb.benchmarks.label_files import LabelsError, load_table
from vlrb.client.jws import KeyUnusable, NoReceipt, read, read_keys
from vlrb.client.receipt_checks import (
    Chain,
    ChainBroken,
    CheckOutcome,
    Evidence,
    Finding,
    check_all,
    read_chain,
    read_receipts,
    title,
)
from vlrb.common.command_line import CommandParser, complain, translated
from vlrb.common.messages import _
from vlrb.common.text import printable
from vlrb.predictions.parse import UploadRejected

OK, FAILED, USAGE = 0, 1, 2
_WITHOUT_HEAD = _("Not checked: without --head, a published one, nothing shows that later events were cut off.")


_Checked = tuple[str, str, list[Finding]]  # a receipt, what it is about, and its checks


class UnusableInput(Exception):
    """A given file or address cannot be used; the message is a sentence."""


def command_line() -> argparse.ArgumentParser:
    """Return the options of the command."""
    parser = CommandParser(
        prog="vlrb verify", description=_("check a receipt offline: signature, file, place in the audit chain")
    )
    parser.add_argument("receipt", type=Path, metavar="RECEIPT", help=_("the receipt, or an answer that holds it"))
    parser.add_argument("file", type=Path, nargs="?", metavar="FILE", help=_("the file that was submitted"))
    parser.add_argument("--key", type=Path, metavar="PATH", help=_("the published keys, saved from /api/v1/keys"))
    parser.add_argument("--server", metavar="URL", help=_("fetch the published keys from this service instead"))
    parser.add_argument(
        "--chain", type=Path, metavar="PATH", help=_("the exported audit chain, saved from /api/v1/chain")
    )
    parser.add_argument(
        "--head", type=Path, metavar="PATH", help=_("a published head that the chain must pass through")
    )
    parser.add_argument("--items", type=Path, metavar="PATH", help=_("manifest of another benchmark (the demo's)"))
    parser.add_argument("--labels", metavar="PATH", help=_("public labels, to count the score of FILE again"))
    parser.add_argument("--json", action="store_true", help=_("print JSON"))
    return parser


def run(arguments: list[str]) -> int:
    """Run `vlrb verify`: print everything that can be checked with what was given. Returns the exit code."""
    options = command_line().parse_args(arguments)
    try:
        return _verify(options)
    except OSError as error:
        complain(_("{file} cannot be read: {error}.", file=error.filename, error=error.strerror))
    except (UnusableInput, LabelsError, UploadRejected) as wrong:
        complain(str(wrong))
    return USAGE


def _verify(options: argparse.Namespace) -> int:
    data, (chain, findings) = options.receipt.read_bytes(), _chain(options)
    evidence = Evidence(
        _keys(options),
        load_table(options.items) if options.items else None,
        file=options.file.read_bytes() if options.file else None,
        chain=chain,
        labels=options.labels,
    )
    each: list[_Checked] = []
    try:
        each = [(receipt, title(receipt), check_all(receipt, evidence)) for receipt in read_receipts(data)]
    except NoReceipt as none:
        findings = [Finding("receipt", CheckOutcome.FAILED, code="not-a-receipt", message=str(none)), *findings]
    every = [*findings, *(finding for _, _, checks in each for finding in checks)]
    good = not any(finding.outcome is CheckOutcome.FAILED for finding in every)
    print((_as_json if options.json else _as_text)(each, findings, good=good))
    return OK if good else FAILED


def _as_json(each: list[_Checked], findings: list[Finding], *, good: bool) -> str:
    parts = [{"receipt": read(receipt), "checks": [asdict(one) for one in checks]} for receipt, _, checks in each]
    return json.dumps({"ok": good, "receipts": parts, "checks": [asdict(one) for one in findings]})


def _as_text(each: list[_Checked], findings: list[Finding], *, good: bool) -> str:
    lines = [translated(_("OK: everything that was checked holds.") if good else _("FAILED: something does not hold."))]
    for _receipt, about, checks in each:
        lines += [translated(about), *map(_line, checks)]
    return "\n".join(map(printable, [*lines, *map(_line, findings)]))


def _line(finding: Finding) -> str:
    name = (
        finding.check if finding.outcome is CheckOutcome.OK else f"{finding.check} {finding.outcome} ({finding.code})"
    )
    return f"  {name}: {translated(finding.message)}"


def _keys(options: argparse.Namespace) -> KeySet:
    if options.key is None and options.server is None:
        raise UnusableInput(
            _(
                "A receipt is checked with the service's published keys. Save them once (curl .../api/v1/keys > "
                "keys.json) and name the file with --key, or fetch them with --server."
            )
        )
    published = _fetched(options.server) if options.key is None else _json(options.key)
    try:
        return read_keys(published)
    except KeyUnusable as error:
        place = options.key or options.server
        raise UnusableInput(_("{file} cannot be used as keys: {error}.", file=place, error=str(error))) from None


def _fetched(server: str) -> Any:
    import httpx  # 0.2 s that nobody else need pay

    try:
        return httpx.get(f"{server.rstrip('/')}/api/v1/keys", timeout=30).raise_for_status().json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise UnusableInput(_("{server} does not give its keys ({error}).", server=server, error=str(error))) from None


def _chain(options: argparse.Namespace) -> tuple[Chain | ChainBroken | None, list[Finding]]:
    """Return the chain where one was given, or what is wrong with it, and what is to be said of its head."""
    head = _json(options.head) if options.head else None
    if options.chain is None:
        if head is not None:
            raise UnusableInput(_("--head needs --chain: a head is checked against a chain."))
        return None, []
    try:
        with options.chain.open("rb") as lines:
            chain = read_chain(lines)
    except ChainBroken as broken:
        return broken, []
    if head is None:
        return chain, [Finding("head", CheckOutcome.SKIPPED, code="no-head", message=_WITHOUT_HEAD)]
    named = head if isinstance(head, dict) else {}
    return chain, [chain.check(named.get("seq"), named.get("hash"), what=_("head"), check="head")]


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except ValueError:
        raise UnusableInput(_("{file} is not JSON.", file=path)) from None
