"""Offline verification of a receipt: signature, file, commitment, and position in the public audit chain. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from receipts.signing import SIGNATURE, verify_signature
from storage.integrity.row_commitments import of_score
from vlrb.benchmarks.items import ItemTable, load_table
from vlrb.commitments import commit
from vlrb.common.canonical_json import GENESIS, body_sha256, canonical_json, link_of
from vlrb.common.messages import _, joined
from vlrb.predictions.parse import Predictions, UploadRejected, parse_predictions
from vlrb.predictions.problems import votes_phrase

_DIGITS = set("0123456789abcdef")
_BESIDE_THE_BODY = frozenset({"chain_seq", "chain_hash", "body", "key_id", SIGNATURE})
_RECORDED_BY = ("submission.scored", "scores.recorded")


class CheckOutcome(StrEnum):
    """Result of one check."""

    OK = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check. `code`: stable, names what failed."""

    check: str  # receipt, signature, file, counts, votes, labels, event, chain, head
    outcome: CheckOutcome
    code: str
    message: str

    def to_json(self) -> dict[str, str]:
        """Return the fields by name."""
        return asdict(self)


class NoReceipt(ValueError):
    """This is no receipt; the message says why."""


def read_receipts(data: bytes) -> list[dict[str, Any]]:
    """Return the receipts in a file: one, a list under `receipts`, or an answer of the service with a `receipt`.

    Raises:
        NoReceipt: it is cut off, or something else.
    """
    try:
        result = json.loads(data)
    except (ValueError, RecursionError):
        raise NoReceipt(_("The file is not JSON, or was cut off.")) from None
    if isinstance(result, dict) and SIGNATURE not in result:
        result = result.get("receipts", [result["receipt"]] if "receipt" in result else None)
    listed = result if isinstance(result, list) else [result]
    if not listed or not all(
        isinstance(receipt, dict) and SIGNATURE in receipt and "kind" in receipt for receipt in listed
    ):
        raise NoReceipt(_("The file holds no signed receipt."))
    return listed


def check_signature(receipt: Mapping[str, Any], keys: Mapping[str, bytes]) -> Finding:
    """Return whether one of the keys signed exactly this."""
    name = receipt.get("key_id")
    if not isinstance(name, str) or name not in keys:
        known = ", ".join(sorted(keys)) or _("none")
        message = _("Signed with key {key}, which is not among those given: {known}.", key=str(name)[:40], known=known)
        return _failed("signature", "unknown-key", message=message)
    if not verify_signature(receipt, keys[name]):
        message = _(
            "The signature is not by key {key} over what the receipt says: it was changed, or is forged.", key=name
        )
        return _failed("signature", "bad-signature", message=message)
    return _ok("signature", _("Signed with key {key}.", key=name))


def check_file(receipt: Mapping[str, Any], data: bytes, *, table: ItemTable) -> list[Finding]:
    """Return whether this is the file of the receipt, and whether it holds what the receipt counts."""
    digest = hashlib.sha256(data).hexdigest()
    if digest != receipt.get("content_sha256"):
        return [_failed("file", "file-differs", message=_other_file(digest, len(data), expected=receipt.get("bytes")))]
    findings = [_ok("file", _("The file has the receipt's SHA-256, {digest}.", digest=digest))]
    if receipt["kind"] != "acceptance":
        return findings
    if table.benchmark != receipt.get("benchmark"):
        benchmark = str(receipt.get("benchmark"))[:60]
        message = _(
            "Not checked: the receipt is about {benchmark}; name its item manifest with --items.", benchmark=benchmark
        )
        return [*findings, Finding("counts", CheckOutcome.SKIPPED, code="other-benchmark", message=message)]
    try:
        return [*findings, *_check_counts(receipt, len(data), upload=parse_predictions(data, table))]
    except UploadRejected as rejected:
        problem = rejected.problems[0].message
        message = _("The file cannot be read as predictions: {problem}", problem=problem)
        return [*findings, _failed("counts", "counts-differ", message=message)]


def _other_file(digest: str, size: int, *, expected: object) -> str:
    if not isinstance(expected, int):
        return _(
            "The file's SHA-256 is {digest}, not that of the receipt; it has {size:,} bytes.", digest=digest, size=size
        )
    return _(
        "The file's SHA-256 is {digest}, not that of the receipt; it has {size:,} bytes, the receipt is about "
        "{expected:,}.",
        digest=digest,
        size=size,
        expected=expected,
    )


def _check_counts(receipt: Mapping[str, Any], size: int, *, upload: Predictions) -> Iterator[Finding]:
    from receipts.payload import votes_sha256

    result = {
        "bytes": size,
        "format": upload.format,
        "revision": upload.revision,
        "items": upload.items,
        "votes_per_item": upload.votes.k,
        "votes": upload.items * upload.votes.k,
    }
    values = {name: receipt.get(name) for name in result}
    if wrong := [
        _("{name} {stated}, not {value}", name=name, stated=str(values[name])[:40], value=value)
        for name, value in result.items()
        if values[name] != value
    ]:
        yield _failed(
            "counts", "counts-differ", message=_("The receipt says {differences}.", differences=joined(wrong, "; "))
        )
    else:
        votes = votes_phrase(upload.votes.k)
        message = _("{number:,} pairs with {votes}, as the receipt says.", number=upload.items, votes=votes)
        yield _ok("counts", message)
    if "votes_sha256" in receipt:
        if receipt["votes_sha256"] == votes_sha256(upload.votes):
            yield _ok("votes", _("The votes are those of the receipt."))
        else:
            message = _("The votes that are read in the file are not those of the receipt.")
            yield _failed("votes", "votes-differ", message=message)


def check_labels(receipt: Mapping[str, Any]) -> Finding | None:
    """Return whether a revealed salt opens the commitment; None where the receipt reveals none."""
    digest, salt, commitment = (receipt.get(f"label_{name}") for name in ("digest", "salt", "commitment"))
    if not (_is_digest(digest) and _is_digest(salt)):
        return None
    if commit(str(digest), bytes.fromhex(str(salt))) != commitment:
        message = _("The revealed salt and digest are not those that the label revision was committed to.")
        return _failed("labels", "commitment-differs", message=message)
    revision = receipt.get("label_revision")
    message = _("The digest of label revision {revision} is the one that was committed to.", revision=revision)
    return _ok("labels", message)


def check_event(receipt: Mapping[str, Any]) -> Finding | None:
    """Return whether the event that a receipt carries says what the receipt says; None where it carries none."""
    body = receipt.get("body")
    if body is None:
        return None
    if not isinstance(body, dict) or body.get("seq") != receipt.get("chain_seq"):
        message = _("The event in the receipt is not the one that the receipt names.")
        return _failed("event", "event-differs", message=message)
    wrong = _event_of_acceptance(receipt, body) if receipt["kind"] == "acceptance" else _event_of_score(receipt, body)
    if wrong:
        message = _("The event in the receipt says something else: {fields}.", fields=wrong)
        return _failed("event", "event-differs", message=message)
    message = _("Event {seq}, which the receipt carries, says what the receipt says.", seq=body["seq"])
    return _ok("event", message)


def _event_of_acceptance(receipt: Mapping[str, Any], body: Mapping[str, Any]) -> str:
    """Return the facts in which the two differ; empty where they agree."""
    names = [name for name in receipt if name not in _BESIDE_THE_BODY]
    differing = [name for name in names if name not in body or body[name] != receipt[name]]
    return ", ".join(differing if body.get("ev") == "submission.accepted" else ["ev"])


def _event_of_score(receipt: Mapping[str, Any], body: Mapping[str, Any]) -> str:
    """Return the fields that differ from the event: whose score, its labels and rules, and whether it was recorded."""
    named = ("submission", "label_revision", "scorer_version", "tally_sha256")
    differing = [name for name in named if name in body and body[name] != receipt.get(name)]
    commitments = body.get("commitments")
    committed = receipt.get("score_commitment")
    if not isinstance(commitments, list) or committed not in commitments or committed != _commitment(receipt):
        differing.append("score_commitment")
    return ", ".join(differing if body.get("ev") in _RECORDED_BY else ["ev"])


def _commitment(receipt: Mapping[str, Any]) -> str | None:
    """Return the commitment that the salt in a receipt opens; None if a field is missing or wrong."""
    try:
        return of_score(
            receipt["submission"],
            receipt["label_revision"],
            version=receipt["scorer_version"],
            tally_sha256=receipt["tally_sha256"],
            salt=receipt["score_salt"],
        )
    except (KeyError, TypeError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class Chain:
    """A public chain of which every link was recomputed: hashes[i] is that of event i + 1, bodies[i] its digest."""

    hashes: tuple[str, ...]
    bodies: tuple[str, ...]

    def check(self, seq: object, digest: object, *, what: str, check: str) -> Finding:
        """Return whether an event has this number and hash here."""
        if not isinstance(seq, int) or isinstance(seq, bool) or seq < 1 or not _is_digest(digest):
            return _failed(check, "no-place", message=_("The {what} names no place in a chain.", what=what))
        if seq > len(self.hashes):
            return _failed(check, "chain-too-short", message=self._too_short(seq, what))
        if self.hashes[seq - 1] != digest:
            message = _("Event {seq} of the chain is another one than the {what} names.", seq=seq, what=what)
            return _failed(check, "not-in-chain", message=message)
        number = len(self.hashes)
        return _ok(check, _("The {what} is event {seq} of {number} of the chain.", what=what, seq=seq, number=number))

    def check_receipt(self, receipt: Mapping[str, Any]) -> Finding:
        """Return whether the event that a receipt names is in the chain, with the body that the receipt carries or
        names."""
        finding = self.check(receipt.get("chain_seq"), receipt.get("chain_hash"), what=_("receipt"), check="chain")
        if finding.outcome is not CheckOutcome.OK:
            return finding
        seq, body, named = receipt["chain_seq"], receipt.get("body"), receipt.get("body_sha256")
        digests = {body_sha256(canonical_json(body))} if isinstance(body, dict) else set()
        digests |= set() if named is None else {named}
        if digests - {self.bodies[seq - 1]}:
            message = _("Event {seq} of the chain has another body than the receipt says.", seq=seq)
            return _failed("chain", "body-differs", message=message)
        return finding

    def _too_short(self, seq: int, what: str) -> str:
        return _(
            "This {what} is newer than the copy: it names event {seq}, and the chain file ends at event {end}. Save "
            "the chain again; if it still ends there, the service was restored from an older copy, or the end of its "
            "chain is gone.",
            what=what,
            seq=seq,
            end=len(self.hashes),
        )


class ChainBroken(ValueError):
    """A chain file does not hold together; the message names the first bad event."""


def read_chain(lines: Iterable[bytes]) -> Chain:
    """Return an exported chain, from its first event; every link is recomputed. Raises ChainBroken."""
    hashes, bodies = [GENESIS], []
    for number, line in enumerate((line for line in lines if line.strip()), start=1):
        try:
            event = json.loads(line)
            wrong = _wrong_link(event, number, previous=hashes[-1])
        except (ValueError, KeyError, TypeError, RecursionError):
            wrong = _("this line is not an event of a chain, with seq, prev, body_sha256 and hash")
        if wrong is not None:
            raise ChainBroken(_("The chain file is broken at event {seq}: {problem}.", seq=number, problem=wrong))
        hashes.append(event["hash"])
        bodies.append(event["body_sha256"])
    return Chain(tuple(hashes[1:]), tuple(bodies))


def _wrong_link(event: Mapping[str, Any], number: int, *, previous: str) -> str | None:
    """Return what is wrong with the event that should have this number; None where it is the next one."""
    if not all(_is_digest(event[name]) for name in ("prev", "body_sha256", "hash")):
        return _("prev, body_sha256 and hash are not all 64 lower-case hexadecimal digits")
    if event["seq"] != number or isinstance(event["seq"], bool):
        return _("its number is {seq}", seq=str(event["seq"])[:20])
    if event["prev"] != previous:
        return _("it does not follow the event before it")
    if link_of(previous, event["body_sha256"]) != event["hash"]:
        return _("its hash is not SHA-256 of prev and body_sha256")
    return None


def check_all(
    receipt: Mapping[str, Any],
    keys: Mapping[str, bytes],
    *,
    file: bytes | None = None,
    table: Callable[[], ItemTable] = load_table,
    chain: Chain | None = None,
) -> list[Finding]:
    """Return every check for which there is something to check with."""
    findings = [check_signature(receipt, keys)]
    if file is not None:
        findings += check_file(receipt, file, table=table())
    if (labels := check_labels(receipt)) is not None:
        findings.append(labels)
    if findings[0].outcome is CheckOutcome.OK and (event := check_event(receipt)) is not None:
        findings.append(event)
    if chain is not None:
        findings.append(chain.check_receipt(receipt))
    return findings


def title(receipt: Mapping[str, Any]) -> str:
    """Return what a receipt says, in a line."""
    submission, benchmark = receipt.get("submission"), receipt.get("benchmark")
    if receipt["kind"] == "score":
        values = receipt.get("scores")
        named = values.items() if isinstance(values, dict) else ()
        scores = ", ".join(f"{name} {value}" for name, value in named)
        return _(
            "Score of submission {submission} on {benchmark} under label revision {revision}, scorer {scorer} at "
            "{scored_at}: {scores}",
            submission=submission,
            benchmark=benchmark,
            revision=receipt.get("label_revision"),
            scorer=receipt.get("scorer_version"),
            scored_at=receipt.get("scored_at"),
            scores=scores or _("none"),
        )
    return _(
        "Acceptance of submission {submission} on {benchmark} from {owner} at {accepted_at}",
        submission=submission,
        benchmark=benchmark,
        owner=receipt.get("owner"),
        accepted_at=receipt.get("accepted_at"),
    )


def _is_digest(text: object) -> bool:
    return isinstance(text, str) and len(text) == 64 and set(text) <= _DIGITS


def _ok(check: str, message: str) -> Finding:
    return Finding(check, CheckOutcome.OK, code="ok", message=message)


def _failed(check: str, code: str, *, message: str) -> Finding:
    return Finding(check, CheckOutcome.FAILED, code=code, message=message)
