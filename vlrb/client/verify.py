"""Command `vlrb verify`: its options, its input and its output."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from vlrb.benchmarks.items import load_table
from vlrb.client import receipt_checks
from vlrb.client.jws import KeyUnusable, NoReceipt, read, read_keys
from vlrb.client.receipt_checks import BrokenChain, Evidence, Finding, finding
from vlrb.common.command_line import CommandError, translated
from vlrb.common.json_files import read_object
from vlrb.common.messages import _
from vlrb.common.text import printable
from vlrb.predictions.parse import UploadRejected

HOLDS, FAILED = 0, 1

_Checked = tuple[str, str, list[Finding]]  # a receipt, what it is about, and its checks


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add = parser.add_argument
    add("receipt", type=Path, metavar="RECEIPT", help=_("the receipt, or an answer that holds it"))
    add("file", type=Path, nargs="?", metavar="FILE", help=_("the file that was submitted"))
    add("--key", type=Path, required=True, metavar="PATH", help=_("the published keys, saved from /api/v1/keys"))
    add("--chain", type=Path, metavar="PATH", help=_("the exported audit chain, saved from /api/v1/chain"))
    add("--head", type=Path, metavar="PATH", help=_("a published head that the chain must pass through"))
    add("--items", type=Path, metavar="PATH", help=_("manifest of another benchmark (the demo's)"))
    add("--labels", metavar="PATH", help=_("public labels, to count the score of FILE again"))
    add("--json", action="store_true", help=_("print JSON only"))


def run(options: argparse.Namespace) -> int:
    """Print everything that can be checked with what was given. Returns the exit code."""
    each: list[_Checked] = []
    try:
        chain, findings = _chain(options)
        evidence = Evidence(
            _keys(options.key),
            load_table(options.items) if options.items else None,
            file=options.file.read_bytes() if options.file else None,
            chain=chain,
            labels=options.labels,
        )
        receipts = receipt_checks.read_receipts(options.receipt.read_bytes())
        each = [
            (receipt, receipt_checks.title(receipt), receipt_checks.check_all(receipt, evidence))
            for receipt in receipts
        ]
    except BrokenChain as broken:
        findings = [finding("chain", "chain-broken", seq=broken.args[0])]
    except UploadRejected as wrong:
        raise CommandError(wrong) from None
    except NoReceipt as none:
        findings = [Finding("failed", "receipt", "not-a-receipt", message=str(none)), *findings]
    every = [*findings, *(one for _receipt, _about, checks in each for one in checks)]
    good = not any(one.outcome == "failed" for one in every)
    print((_as_json if options.json else _as_text)(each, findings, good=good))
    return HOLDS if good else FAILED


def _as_json(each: list[_Checked], findings: list[Finding], *, good: bool) -> str:
    parts = [{"receipt": read(receipt), "checks": [*map(Finding._asdict, checks)]} for receipt, _about, checks in each]
    return json.dumps({"ok": good, "receipts": parts, "checks": [*map(Finding._asdict, findings)]})


def _as_text(each: list[_Checked], findings: list[Finding], *, good: bool) -> str:
    lines = [translated(_("OK: everything that was checked holds.") if good else _("FAILED: something does not hold."))]
    for _receipt, about, checks in each:
        lines += [translated(about), *map(_line, checks)]
    return "\n".join(map(printable, [*lines, *map(_line, findings)]))


def _line(one: Finding) -> str:
    result = "" if one.outcome == "ok" else f" {one.outcome} ({one.code})"
    return f"  {one.check}{result}: {translated(one.message)}"


def _keys(path: Path) -> Any:
    try:
        return read_keys(read_object(path, "keys"))
    except KeyUnusable as error:
        raise CommandError(_("{file} cannot be used as keys: {error}.", file=path, error=str(error))) from None


def _chain(options: argparse.Namespace) -> tuple[list[str] | None, list[Finding]]:
    """Return the chain where one was given, and what is to be said of its head. Raises BrokenChain."""
    head = read_object(options.head) if options.head else None
    if options.chain is None:
        if head is not None:
            raise CommandError(_("--head needs --chain: a head is checked against a chain."))
        return None, []
    with options.chain.open("rb") as lines:
        chain = receipt_checks.read_chain(lines)
    if head is None:
        return chain, [finding("head", "no-head")]
    return chain, [receipt_checks.check_place(chain, head, what=_("head"), check="head")]
