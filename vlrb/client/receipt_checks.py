"""Offline verification of a receipt: signature, event, place in the public audit chain, file, score."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from joserfc.jwk import KeySet

from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.label_files import LabelsError, load_labels
from vlrb.benchmarks.spec_file import known_benchmarks, load_spec
from vlrb.client.jws import NoReceipt, event_of, is_signed, key_id_of, read
from vlrb.commitments import commit, joint, part
from vlrb.common.canonical_json import GENESIS, body_sha256, link_of
from vlrb.common.messages import _
from vlrb.disclosure import PUBLIC, shown_scores
from vlrb.predictions.parse import parse_predictions
from vlrb.scorecard import SCORER_VERSION
from vlrb.scoring import Tally
from vlrb.scoring import tally as count

OK = "ok"
_SKIPPED = ("no-chain", "no-head", "other-benchmark", "not-comparable")
_DIGITS = set("0123456789abcdef")
_MALFORMED = (KeyError, TypeError, ValueError, AttributeError, RecursionError)


class Finding(NamedTuple):
    """One check: of receipt, signature, event, chain, head, file, votes, score, labels, recount. `code`: stable, names
    what failed."""

    check: str
    code: str
    message: str

    @property
    def outcome(self) -> str:
        """Whether it holds, or was not checked."""
        return "ok" if self.code == OK else "skipped" if self.code in _SKIPPED else "failed"


class BrokenInput(ValueError):
    """What was given holds nothing that can be checked; the finding says why."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


def read_receipts(data: bytes) -> list[str]:
    """Return the receipts in a file: one, or those in an answer of the service under `receipt` or `receipts`.

    Raises:
        NoReceipt: it is cut off, or something else.
    """
    text = data.decode("utf-8", "replace").strip()
    try:
        held = json.loads(text)
    except (ValueError, RecursionError):
        held = text
    if isinstance(held, dict):
        held = held.get("receipts", held.get("receipt"))
    listed = held if isinstance(held, list) and held else [held]
    for receipt in listed:
        event_of(receipt if isinstance(receipt, str) else "")
    return listed


def check_place(hashes: Sequence[str], facts: Mapping[str, Any], *, what: str, check: str) -> Finding:
    """Return whether an event has this number and hash in a chain: hashes[i] is that of event i + 1."""
    seq, digest, end = facts.get("seq"), facts.get("hash"), len(hashes)
    if not isinstance(seq, int) or isinstance(seq, bool) or seq < 1 or not _is_digest(digest):
        return Finding(check, "no-place", message=_("The {what} names no place in a chain.", what=what))
    if seq > end:
        message = _(
            "This {what} is newer than the copy: it names event {seq}, and the chain file ends at event {end}. "
            "Save the chain again.",
            what=what,
            seq=seq,
            end=end,
        )
        return Finding(check, "chain-too-short", message=message)
    if hashes[seq - 1] != digest:
        message = _("Event {seq} of the chain is another one than the {what} names.", seq=seq, what=what)
        return Finding(check, "not-in-chain", message=message)
    return Finding(
        check, OK, message=_("The {what} is event {seq} of {number} of the chain.", what=what, seq=seq, number=end)
    )


def read_chain(lines: Iterable[bytes]) -> list[str]:
    """Return the hashes of an exported chain, from its first event; every link is recomputed. Raises BrokenInput."""
    hashes = [GENESIS]
    for number, line in enumerate((line for line in lines if line.strip()), start=1):
        try:
            event = json.loads(line)
            holds = _follows(event, number, previous=hashes[-1])
        except _MALFORMED:
            holds = False
        if not holds:
            message = _(
                "The chain file is broken at event {seq}: no such event follows the one before it, or its hash is "
                "not SHA-256 of prev and body_sha256.",
                seq=number,
            )
            raise BrokenInput(Finding("chain", "chain-broken", message=message))
        hashes.append(event["hash"])
    return hashes[1:]


def _follows(event: Mapping[str, Any], number: int, *, previous: str) -> bool:
    """Return whether an event has this number, and links to the one before it."""
    return (
        all(_is_digest(event[name]) for name in ("prev", "body_sha256", "hash"))
        and (event["seq"], type(event["seq"]), event["prev"]) == (number, int, previous)
        and link_of(previous, event["body_sha256"]) == event["hash"]
    )


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a receipt is checked against. `named`: the pairs of a manifest. `labels`: their source, for a recount.
    `chain`: hashes, as read_chain returns them; None where none was given."""

    keys: KeySet
    named: ItemTable | None = None
    file: bytes | None = None
    chain: Sequence[str] | None = None
    labels: str | None = None

    def table_of(self, benchmark: object) -> ItemTable | None:
        """Return the pairs of a benchmark; None where they are not here."""
        if self.named is not None:
            return self.named if self.named.benchmark == benchmark else None
        known = benchmark in known_benchmarks() and load_spec(str(benchmark)).has_items
        return ItemTable.load(load_spec(str(benchmark))) if known else None


def check_all(receipt: str, evidence: Evidence) -> list[Finding]:
    """Return every check for which there is something to check with. Raises NoReceipt."""
    facts, event = read(receipt), event_of(receipt)
    findings = [_check_signature(receipt, evidence.keys), *_check_event(facts, event, chain=evidence.chain)]
    checks = _check_score(facts, event, evidence=evidence) if "score" in facts else _check_file(event, evidence)
    try:
        return findings + list(checks)
    except LabelsError:
        raise  # a ValueError, but no fault of the receipt
    except _MALFORMED:
        return [*findings, Finding("event", "event-differs", message=_("The receipt is not about its event."))]


def _check_signature(receipt: str, keys: KeySet) -> Finding:
    name = key_id_of(receipt)
    if is_signed(receipt, keys):
        return Finding("signature", OK, message=_("Signed with key {key}.", key=name))
    if name in (known := [str(key.kid) for key in keys.keys]):
        message = _(
            "The signature is not by key {key} over what the receipt says: it was changed, or forged.", key=name
        )
        return Finding("signature", "bad-signature", message=message)
    listed = ", ".join(known) or _("none")
    message = _("Signed with key {key}, which is not among those given: {known}.", key=name[:60], known=listed)
    return Finding("signature", "unknown-key", message=message)


def _check_event(
    facts: Mapping[str, Any], event: Mapping[str, Any], *, chain: Sequence[str] | None
) -> Iterator[Finding]:
    """Yield whether the event has the hash that the receipt names, and whether the chain has this event."""
    try:
        holds = link_of(facts["prev"], body_sha256(facts["event"])) == facts["hash"]
    except _MALFORMED:
        holds = False
    seq, kind = event.get("seq"), event.get("ev")
    if holds:
        yield Finding(
            "event", OK, message=_("The receipt carries event {seq}, {kind}, with its hash.", seq=seq, kind=kind)
        )
    else:
        yield Finding("event", "event-differs", message=_("The hash is not that of the event in the receipt."))
    if chain is None:
        message = _("Not checked: without --chain nothing shows that the event was recorded; who has the key can sign.")
        yield Finding("chain", "no-chain", message=message)
    else:
        yield check_place(chain, {"seq": seq, "hash": facts.get("hash")}, what=_("receipt"), check="chain")


def _check_file(event: Mapping[str, Any], evidence: Evidence) -> Iterator[Finding]:
    """Yield whether the file is the one of an acceptance, and whether its votes are those that were read."""
    if event.get("ev") != "submission.accepted":
        yield Finding("event", "event-differs", message=_("The event is about no submission."))
        return
    if evidence.file is None:
        return
    yield (same := _same_file(evidence.file, event["content_sha256"]))
    if same.code != OK:
        return
    if (table := evidence.table_of(event["benchmark"])) is None:
        yield _other_benchmark("votes", event["benchmark"])
        return
    votes = parse_predictions(evidence.file, table).votes.sha256
    if votes == event["votes_sha256"]:
        yield Finding("votes", OK, message=_("The votes are those of the receipt."))
    else:
        message = _("The votes that are read in the file are not those of the receipt.")
        yield Finding("votes", "votes-differ", message=message)


def _check_score(receipt: Mapping[str, Any], event: Mapping[str, Any], *, evidence: Evidence) -> Iterator[Finding]:
    """Yield whether the event committed to this score, and whether it is that of the file."""
    score, facts = receipt["score"], json.loads(receipt["score"]["facts"])
    opened = "tally" in score
    tally = part(score["tally"], score["tally_salt"]) if opened else score["tally_commitment"]
    same = all(event[name] == facts[name] for name in ("label_revision", "scorer_version"))
    if not same or joint(part(score["facts"], score["facts_salt"]), tally) not in event["commitments"]:
        message = _("The event committed to no such score.")
        yield Finding("score", "score-differs", message=message)
        return
    closed = _("The event committed to a score of this submission, which is not opened: its labels are not public.")
    yield Finding(
        "score", OK, message=_opened(score["tally"], evidence.table_of(facts["benchmark"])) if opened else closed
    )
    if "labels" in receipt:
        yield _check_labels(receipt["labels"], event["label_commitment"], revision=facts["label_revision"])
    if evidence.file is not None:
        yield (same_file := _same_file(evidence.file, facts["content_sha256"]))
        if same_file.code == OK and evidence.labels is not None:
            yield _recount(json.loads(score["tally"]) if opened else None, facts, evidence=evidence)


def _opened(tally: str, table: ItemTable | None) -> str:
    if table is None:
        return _("The event committed to this score; name the item manifest with --items to see it.")
    shown = shown_scores(Tally.from_json(json.loads(tally), table.spec), PUBLIC)
    scores = ", ".join(f"{name} {value:.4f}" for name, value in shown.items() if value is not None)
    return _("The event committed to this score: {scores}.", scores=scores)


def _check_labels(labels: Mapping[str, Any], commitment: object, *, revision: str) -> Finding:
    if commit(labels["digest"], bytes.fromhex(labels["salt"])) != commitment:
        message = _("The revealed salt and digest are not those that the label revision was committed to.")
        return Finding("labels", "commitment-differs", message=message)
    message = _("The digest of label revision {revision} is the one that was committed to.", revision=revision)
    return Finding("labels", OK, message=message)


def _recount(tally: Mapping[str, Any] | None, facts: Mapping[str, Any], *, evidence: Evidence) -> Finding:
    """Return whether file and labels give the score."""
    assert evidence.labels is not None and evidence.file is not None
    if tally is None or facts["scorer_version"] != SCORER_VERSION:
        message = _("Not counted again: the score is not opened, or was counted by another scorer version.")
        return Finding("recount", "not-comparable", message=message)
    if (table := evidence.table_of(facts["benchmark"])) is None:
        return _other_benchmark("recount", facts["benchmark"])
    labels = load_labels(evidence.labels, facts["label_revision"], table=table)
    counted = count(parse_predictions(evidence.file, table).votes, labels, table=table).to_json()
    if counted != {name: tally[name] for name in counted}:
        message = _("File and labels give another score than the receipt says.")
        return Finding("recount", "recount-differs", message=message)
    return Finding("recount", OK, message=_("File and labels give the score again."))


def _same_file(data: bytes, expected: object) -> Finding:
    digest = hashlib.sha256(data).hexdigest()
    if digest == expected:
        return Finding("file", OK, message=_("The file has the receipt's SHA-256, {digest}.", digest=digest))
    message = _(
        "The file's SHA-256 is {digest}, not that of the receipt; it has {size:,} bytes.", digest=digest, size=len(data)
    )
    return Finding("file", "file-differs", message=message)


def _other_benchmark(check: str, benchmark: object) -> Finding:
    name = str(benchmark)[:60]
    message = _("Not checked: the receipt is about {benchmark}; name its item manifest with --items.", benchmark=name)
    return Finding(check, "other-benchmark", message=message)


def title(receipt: str) -> str:
    """Return what a receipt is about, in a line. Raises NoReceipt."""
    facts, event = read(receipt), event_of(receipt)
    try:
        if "score" in facts:
            values = {**json.loads(facts["score"]["facts"]), "at": event["at"]}
            names = ("submission", "benchmark", "label_revision", "scorer_version", "at")
            return _(
                "Score of submission {submission} on {benchmark} under label revision {label_revision}, scorer "
                "{scorer_version} at {at}",
                **{name: values[name] for name in names},
            )
        values = {name: event[name] for name in ("submission", "benchmark", "owner", "accepted_at")}
    except _MALFORMED:
        raise NoReceipt(_("The receipt names no event.")) from None
    return _("Acceptance of submission {submission} on {benchmark} from {owner} at {accepted_at}", **values)


def _is_digest(text: object) -> bool:
    return isinstance(text, str) and len(text) == 64 and set(text) <= _DIGITS
