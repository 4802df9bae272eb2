"""Command `python -m submissions verify`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from receipts.signing import KeyUnusable, read_keys
from receipts.verify import (
    Chain,
    ChainBroken,
    CheckOutcome,
    Finding,
    NoReceipt,
    check_all,
    read_chain,
    read_receipts,
    title,
)
from vlrb.common.command_line import translated
from vlrb.common.messages import _
from vlrb.common.text import printable

OK, FAILED, USAGE = 0, 1, 2
_WITHOUT_HEAD = _("Not checked: without --head, a published one, nothing shows that later events were cut off.")


class CommandOutput(NamedTuple):
    """Text to print, and the exit code."""

    text: str
    code: int


class _UnusableInput(Exception):
    """A given file or address cannot be used; the message is a sentence."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("receipt", type=Path, metavar="RECEIPT", help=_("the receipt, or an answer that holds it"))
    parser.add_argument("file", type=Path, nargs="?", metavar="FILE", help=_("the file that was submitted"))
    parser.add_argument("--key", type=Path, metavar="PATH", help=_("the published keys, saved: /api/v1/keys, or PEM"))
    parser.add_argument("--server", metavar="URL", help=_("fetch the published keys from this service instead"))
    parser.add_argument(
        "--chain", type=Path, metavar="PATH", help=_("the exported audit chain, saved from /api/v1/chain")
    )
    parser.add_argument(
        "--head", type=Path, metavar="PATH", help=_("a published head that the chain must pass through")
    )
    parser.add_argument("--items", type=Path, metavar="PATH", help=_("manifest of another benchmark (the demo's)"))
    parser.add_argument("--json", action="store_true", help=_("print JSON"))


def run(options: argparse.Namespace) -> CommandOutput:
    """Return everything that can be checked with what was given."""
    try:
        keys = _keys(options)
        receipt, file = _bytes(options.receipt), _bytes(options.file) if options.file else None
        head = _json(options.head) if options.head else None
        if options.chain is None and head is not None:
            raise _UnusableInput(_("--head needs --chain: a head is checked against a chain."))
        table = _table(options)
        chain, about_chain = _chain(options, head)
    except _UnusableInput as wrong:
        return CommandOutput(translated(str(wrong)), USAGE)
    try:
        receipts = read_receipts(receipt)
    except NoReceipt as none:
        return _report(
            options, [], besides=[Finding("receipt", CheckOutcome.FAILED, code="not-a-receipt", message=str(none))]
        )
    each = [(receipt, check_all(receipt, keys, file=file, table=table, chain=chain)) for receipt in receipts]
    return _report(options, each, besides=about_chain)


def _report(
    options: argparse.Namespace, each: list[tuple[dict[str, Any], list[Finding]]], *, besides: list[Finding]
) -> CommandOutput:
    findings = [finding for _, checks in each for finding in checks] + besides
    good = not any(finding.outcome is CheckOutcome.FAILED for finding in findings)
    if options.json:
        parts = [{"receipt": receipt, "checks": [check.to_json() for check in checks]} for receipt, checks in each]
        text = json.dumps({"ok": good, "receipts": parts, "checks": [beside.to_json() for beside in besides]})
    else:
        holds, fails = _("OK: everything that was checked holds."), _("FAILED: something does not hold.")
        lines = [translated(holds if good else fails)]
        for receipt, result in each:
            lines += [translated(title(receipt)), *map(_line, result)]
        text = "\n".join(map(printable, [*lines, *map(_line, besides)]))
    return CommandOutput(text, OK if good else FAILED)


def _line(finding: Finding) -> str:
    name = (
        finding.check if finding.outcome is CheckOutcome.OK else f"{finding.check} {finding.outcome} ({finding.code})"
    )
    return f"  {name}: {translated(finding.message)}"


def _keys(options: argparse.Namespace) -> Mapping[str, bytes]:
    if options.key is None and options.server is None:
        raise _UnusableInput(
            _(
                "A receipt is checked with the service's published keys. Save them once (curl .../api/v1/keys > "
                "keys.json) and name the file with --key, or fetch them with --server."
            )
        )
    if options.key is None:
        return _fetched(options.server)
    text = _bytes(options.key).decode("utf-8", "replace")
    try:
        return read_keys(text if "-----BEGIN" in text and not text.lstrip().startswith("{") else _json(options.key))
    except KeyUnusable as error:
        raise _UnusableInput(_("{file} cannot be used as keys: {error}.", file=options.key, error=str(error))) from None


def _fetched(server: str) -> Mapping[str, bytes]:
    import httpx  # 0.2 s that nobody else need pay

    try:
        reply = httpx.get(f"{server.rstrip('/')}/api/v1/keys", timeout=30)
        return read_keys(reply.raise_for_status().json())
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise _UnusableInput(_("{server} does not give its keys ({error}).", server=server, error=str(error))) from None


def _chain(options: argparse.Namespace, head: Any) -> tuple[Chain | None, list[Finding]]:
    """Return the chain where one was given and holds, and what is to be said about it by itself."""
    if options.chain is None:
        return None, []
    try:
        with options.chain.open("rb") as lines:
            chain = read_chain(lines)
    except ChainBroken as broken:
        return None, [Finding("chain", CheckOutcome.FAILED, code="chain-broken", message=str(broken))]
    except OSError as error:
        raise _UnusableInput(_("{file} cannot be read: {error}.", file=options.chain, error=error.strerror)) from None
    if head is None:
        return chain, [Finding("head", CheckOutcome.SKIPPED, code="no-head", message=_WITHOUT_HEAD)]
    named = head if isinstance(head, dict) else {}
    return chain, [chain.check(named.get("seq"), named.get("hash"), what=_("head"), check="head")]


def _table(options: argparse.Namespace) -> Any:
    from vlrb.benchmarks.items import load_table

    if options.items is None:
        return load_table
    try:
        table = load_table(options.items)
    except (OSError, ValueError, KeyError) as error:
        raise _UnusableInput(
            _("{file} cannot be read as an item manifest: {error}", file=options.items, error=str(error))
        ) from None
    return lambda: table


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _UnusableInput(_("{file} cannot be read: {error}.", file=path, error=error.strerror)) from None


def _json(path: Path) -> Any:
    try:
        return json.loads(_bytes(path))
    except ValueError:
        raise _UnusableInput(_("{file} is not JSON.", file=path)) from None
