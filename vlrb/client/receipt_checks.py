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
_MALFORMED = (KeyError, TypeError, ValueError, AttributeError, RecursionError)
_PLACE = _("The {what} is event {seq} of {end} of the chain.")
_SENTENCES: Mapping[str, str] = {
    "signature": _("Signed with key {key}."),
    "bad-signature": _("The signature is not by key {key} over what the receipt says: it was changed, or forged."),
    "unknown-key": _("Signed with key {key}, which is not among those given: {known}."),
    "event": _("The receipt carries event {seq}, {kind}, with its hash."),
    "event-differs": _("The receipt is not about its event, or has not its hash."),
    "chain": _PLACE,
    "no-chain": _("Not checked: without --chain nothing shows that the event was recorded; who has the key can sign."),
    "chain-broken": _(
        "The chain file is broken at event {seq}: no such event follows the one before it, or its hash is not SHA-256 "
        "of prev and body_sha256."
    ),
    "chain-too-short": _(
        "This {what} is newer than the copy: it names event {seq}, and the chain file ends at event {end}. Save the "
        "chain again."
    ),
    "not-in-chain": _("Event {seq} of the chain is another one than the {what} names."),
    "head": _PLACE,
    "no-head": _("Not checked: without --head, a published one, nothing shows that later events were cut off."),
    "file": _("The file has the receipt's SHA-256, {digest}."),
    "file-differs": _("The file's SHA-256 is {digest}, not that of the receipt; it has {size:,} bytes."),
    "votes": _("The votes are those of the receipt."),
    "votes-differ": _("The votes that are read in the file are not those of the receipt."),
    "other-benchmark": _("Not checked: the receipt is about {benchmark}; name its item manifest with --items."),
    "score": _("The event committed to this score: {scores}."),
    "score-differs": _("The event committed to no such score."),
    "labels": _("The digest of label revision {revision} is the one that was committed to."),
    "commitment-differs": _("The revealed salt and digest are not those that the label revision was committed to."),
    "recount": _("File and labels give the score again."),
    "recount-differs": _("File and labels give another score than the receipt says."),
    "not-comparable": _("Not counted again: the score is not opened, or is of other labels or another scorer version."),
}
"""By the name of a check what is said if it holds; by code, what if not."""


class Finding(NamedTuple):
    """One check: of receipt, signature, event, chain, head, file, votes, score, labels, recount. `outcome`: ok, skipped
    or failed; `code`: stable, names what failed."""

    outcome: str
    check: str
    code: str
    message: str


def finding(check: str, code: str = OK, **values: object) -> Finding:
    """Return what a check found, in a sentence with these values."""
    outcome = OK if code == OK else "skipped" if code in _SKIPPED else "failed"
    return Finding(outcome, check, code=code, message=_(_SENTENCES[check if code == OK else code], **values))


class BrokenChain(ValueError):
    """The chain does not hold at this event."""


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


def read_chain(lines: Iterable[bytes]) -> list[str]:
    """Return the hashes of an exported chain, from its first event; every link is recomputed. Raises BrokenChain."""
    hashes = [GENESIS]
    for number, line in enumerate((line for line in lines if line.strip()), start=1):
        try:
            event = json.loads(line)
            follows = (event["seq"], event["prev"]) == (number, hashes[-1])
            holds = follows and link_of(hashes[-1], event["body_sha256"]) == event["hash"]
        except _MALFORMED:
            holds = False
        if not holds:
            raise BrokenChain(number)
        hashes.append(event["hash"])
    return hashes[1:]


def check_place(hashes: Sequence[str], facts: Mapping[str, Any], *, what: str, check: str) -> Finding:
    """Return whether an event has this number and hash in a chain: hashes[i] is that of event i + 1."""
    seq, end = facts.get("seq"), len(hashes)
    number = seq if isinstance(seq, int) else 0
    holds = 1 <= number <= end and hashes[number - 1] == facts.get("hash")
    code = OK if holds else "chain-too-short" if number > end else "not-in-chain"
    return finding(check, code, what=what, seq=seq, end=end)


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
    findings = [_check_signature(receipt, evidence.keys), _check_event(facts, event)]
    if evidence.chain is None:
        findings.append(finding("chain", "no-chain"))
    else:
        place = {"seq": event.get("seq"), "hash": facts.get("hash")}
        findings.append(check_place(evidence.chain, place, what=_("receipt"), check="chain"))
    checks = _check_score(facts, event, evidence=evidence) if "score" in facts else _check_file(event, evidence)
    try:
        return findings + list(checks)
    except LabelsError:
        raise  # a ValueError, but no fault of the receipt
    except _MALFORMED:
        return [*findings, finding("event", "event-differs")]


def _check_signature(receipt: str, keys: KeySet) -> Finding:
    name, known = key_id_of(receipt), [str(key.kid) for key in keys.keys]
    code = OK if is_signed(receipt, keys) else "bad-signature" if name in known else "unknown-key"
    return finding("signature", code, key=name[:60], known=", ".join(known) or _("none"))


def _check_event(facts: Mapping[str, Any], event: Mapping[str, Any]) -> Finding:
    """Return whether the event has the hash that the receipt names."""
    try:
        holds = link_of(facts["prev"], body_sha256(facts["event"])) == facts["hash"]
    except _MALFORMED:
        holds = False
    return finding("event", OK if holds else "event-differs", seq=event.get("seq"), kind=event.get("ev"))


def _check_file(event: Mapping[str, Any], evidence: Evidence) -> Iterator[Finding]:
    """Yield whether the file is the one of an acceptance, and whether its votes are those that were read."""
    if event["ev"] != "submission.accepted":
        yield finding("event", "event-differs")
    elif evidence.file is not None:
        yield (same := _check_digest(evidence.file, event["content_sha256"]))
        if same.code == OK:
            yield _check_votes(evidence.file, event, table=evidence.table_of(event["benchmark"]))


def _check_digest(data: bytes, expected: object) -> Finding:
    digest = hashlib.sha256(data).hexdigest()
    return finding("file", OK if digest == expected else "file-differs", digest=digest, size=len(data))


def _check_votes(data: bytes, event: Mapping[str, Any], *, table: ItemTable | None) -> Finding:
    if table is None:
        return _other_benchmark("votes", event)
    same = parse_predictions(data, table).votes.sha256 == event["votes_sha256"]
    return finding("votes", OK if same else "votes-differ")


def _check_score(receipt: Mapping[str, Any], event: Mapping[str, Any], *, evidence: Evidence) -> Iterator[Finding]:
    """Yield whether the event committed to this score, and whether it is that of the file."""
    score, facts = receipt["score"], json.loads(receipt["score"]["facts"])
    opened = "tally" in score
    tally = part(score["tally"], score["tally_salt"]) if opened else score["tally_commitment"]
    same = all(event[name] == facts[name] for name in ("label_revision", "scorer_version"))
    if not same or joint(part(score["facts"], score["facts_salt"]), tally) not in event["commitments"]:
        yield finding("score", "score-differs")
        return
    table = evidence.table_of(facts["benchmark"])
    yield finding("score", scores=_opened(score["tally"], table) if opened else _("its labels are not public"))
    if "labels" in receipt:
        digest, salt = receipt["labels"]["digest"], bytes.fromhex(receipt["labels"]["salt"])
        code = OK if commit(digest, salt) == event["label_commitment"] else "commitment-differs"
        yield finding("labels", code, revision=facts["label_revision"])
    if evidence.file is not None:
        yield (same_file := _check_digest(evidence.file, facts["content_sha256"]))
        if same_file.code == OK and evidence.labels is not None:
            yield _recount(json.loads(score["tally"]) if opened else None, facts, evidence=evidence)


def _opened(tally: str, table: ItemTable | None) -> str:
    """Return the scores of a tally in words."""
    if table is None:
        return _("name the item manifest with --items to see it")
    shown = shown_scores(Tally.from_json(json.loads(tally), table.spec), PUBLIC)
    return ", ".join(f"{name} {value:.4f}" for name, value in shown.items() if value is not None)


def _recount(tally: Mapping[str, Any] | None, facts: Mapping[str, Any], *, evidence: Evidence) -> Finding:
    """Return whether file and labels give the score."""
    assert evidence.labels is not None and evidence.file is not None
    if tally is None or facts["scorer_version"] != SCORER_VERSION:
        return finding("recount", "not-comparable")
    if (table := evidence.table_of(facts["benchmark"])) is None:
        return _other_benchmark("recount", facts)
    revision = facts["label_revision"]
    labels = load_labels(evidence.labels, None if revision in table.revisions else revision, table=table)
    if labels.revision != revision:
        return finding("recount", "not-comparable")
    counted = count(parse_predictions(evidence.file, table).votes, labels, table=table).to_json()
    return finding("recount", OK if counted == {name: tally[name] for name in counted} else "recount-differs")


def _other_benchmark(check: str, facts: Mapping[str, Any]) -> Finding:
    return finding(check, "other-benchmark", benchmark=str(facts["benchmark"])[:60])


def title(receipt: str) -> str:
    """Return what a receipt is about, in a line. Raises NoReceipt."""
    facts, event = read(receipt), event_of(receipt)
    try:
        if "score" in facts:
            names = ("submission", "benchmark", "label_revision", "scorer_version")
            scored = json.loads(facts["score"]["facts"])
            return _(
                "Score of submission {submission} on {benchmark} under label revision {label_revision}, scorer "
                "{scorer_version} at {at}",
                **{name: scored[name] for name in names},
                at=event["at"],
            )
        values = {name: event[name] for name in ("submission", "benchmark", "owner", "accepted_at")}
    except _MALFORMED:
        raise NoReceipt(_("The receipt names no event.")) from None
    return _("Acceptance of submission {submission} on {benchmark} from {owner} at {accepted_at}", **values)
