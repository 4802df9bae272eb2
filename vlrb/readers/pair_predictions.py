"""Prediction files about pairs of any benchmark with a definition: five formats, recognised by content.

* ``official``: ``{"ID", "Label", "output", "Meta"}`` of Multimodal RewardBench.
* ``omni-rrm``: the same with a JSON verdict in ``output``, and what the tool has read from it in ``PredBetter``.
* ``r1-reward``: rows of the benchmark with ``rewards``, the preferred response shown first; ``rewards`` decide.
* ``lmms-eval``: samples of its task multimodal_rewardbench.
* ``native``: ``votes``, ``judgements`` or ``scores``.

No label of a file is used, nor its categories.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from vlrb.benchmarks.spec import TIE, BenchmarkSpec
from vlrb.common.messages import _
from vlrb.pairs.labelled_pairs import field as field_at
from vlrb.pairs.verdict_formats import (
    holds_json_verdict,
    read_json_verdict,
    read_stated_verdict,
    read_verdict,
)
from vlrb.predictions.containers import opened
from vlrb.predictions.problems import ProblemCollector, UploadRejected
from vlrb.predictions.strict_json import JsonFault, loads
from vlrb.predictions.tables import as_record, column_names, table_records
from vlrb.readers.base import FieldReader, FileGuide, as_vote, failed_remark, objects, shorten
from vlrb.readers.lines import records_of
from vlrb.readers.unsuitable import Flags, is_by_column, refusal
from vlrb.votes import UNDECIDED as UNREADABLE

GUIDES = (
    FileGuide(
        tool="The official script",
        upload="the file as written",
        command='{"ID": "…", "Label": "A", "output": "… [[A]]", "Meta": {}}',
        note=(
            "`[[A]]` in the text is for the response stored first, else `[[B]]` is for the other. `Label` is not read."
        ),
    ),
    FileGuide(
        tool="R1-Reward, MM-RLHF",
        upload="the file as written",
        command='{"id": "…", "chosen": "…", "rejected": "…", "rewards": [1, 0]}',
        note="The higher reward decides, not the text beside it. Equal rewards are a tie.",
    ),
    FileGuide(
        tool="Your own code: native JSONL",
        upload="native JSONL",
        command='{"id": "…", "votes": [0, 1, null]}\n{"id": "…", "scores": [[0.71, 0.64]]}',
        note=(
            "One line for each pair. A vote is the index of the preferred response in the order of the benchmark's "
            "file, null is undecided. Where ids repeat, `item` holds the pair's key."
        ),
    ),
    FileGuide(tool="Omni-RRM", upload="the file as written"),
    FileGuide(tool="lmms-eval", upload="the samples as written"),
)
_ASKED = 20  # records that are asked for their format before it counts as unknown
_BEGINNING = 2**20  # bytes in which these are
_BRACKETS = re.compile(r"\[\[[ABC]\]\]")
_FIRST_IN_PROMPT = "[Response 1]:\n"
_PROMPT_PARTS = ("[The Start of Assistant A's Answer]\n", "\n[The End of Assistant A's Answer]",
                 "[The Start of Assistant B's Answer]\n", "\n[The End of Assistant B's Answer]")  # fmt: skip


@dataclass(frozen=True, slots=True)
class PairPrediction:
    """What one record says about one pair.

    ``votes``: per vote 0, 1, TIE or UNREADABLE; 0 is the first of ``responses`` (texts) where the record has them,
    else the response stored first; with ``preferred_first`` the preferred one, whichever that is.
    ``label_shown_first``: the judge was shown the preferred one first, as far as the record tells.
    ``saw_both``: both responses were in one prompt, as far as the record tells.
    ``key``: fingerprint of the pair's texts, in native files. ``position``: row number in the data set.
    ``replies``: per vote the judge's text, or the value in its place.
    """

    line: int
    id: str | None
    votes: tuple[int, ...]
    responses: tuple[str, str] | None = None
    preferred_first: bool = False
    label_shown_first: bool = False
    saw_both: bool = True
    key: str | None = None
    position: int | None = None
    replies: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class PredictionFile:
    """All predictions of a file, and what its sender should know about its format.

    ``first_shown``: whether the vote 0 is for the response that was shown first. ``reply_field``: the field of the
    judge's texts; None in a file of votes or scores.
    """

    format: str
    predictions: tuple[PairPrediction, ...]
    notes: tuple[str, ...]
    first_shown: bool
    reply_field: str | None


RecordReader = Callable[[FieldReader, BenchmarkSpec], PairPrediction | None]


def read_predictions(data: bytes, spec: BenchmarkSpec, *, findings: ProblemCollector) -> PredictionFile:
    """Return the predictions of a file.

    Raises:
        UploadRejected: nothing of the file can be read. Problems of single records are added to ``findings``.
    """
    records = list(_records(data, findings))
    if all(detect_format(record) is None for _, record in records[:_ASKED]):
        records = [(line, as_record(record) if type(record) is dict else record) for line, record in records]
    if not records and findings.problem_count == 0:
        raise findings.reject("empty-file", _("The file is empty. Give the predictions that your tool wrote."))
    if records and type(records[0][1]) is dict and is_by_column(records[0][1]) and (known := refusal(records[0][1])):
        raise findings.reject(*known)
    format = _format_of([record for _, record in records[:_ASKED]])
    if format is None:
        message = _("no known format: expected records with `output`, `rewards`, `filtered_resps`, `votes` or `scores`")
        raise findings.reject("unknown-format", message, line=records[0][0] if records else None)
    findings.format = format
    read = _READERS[format]
    flags = Flags()
    results = [
        read(FieldReader(record, line, findings=findings, id_field=_id_field(record)), spec)
        for line, record in objects(flags.watched(records), findings)
    ]
    predictions = tuple(prediction for prediction in results if prediction is not None)
    if format == "native":
        flags.refuse_votes(((prediction.line, prediction.votes) for prediction in predictions), findings)
    _check_votes(predictions, findings)
    if format in _REPLY_FIELDS:
        _note_failed(predictions, findings)
    return PredictionFile(
        format,
        predictions,
        notes=_notes(predictions),
        first_shown=format in _REPLY_FIELDS,
        reply_field=_REPLY_FIELDS.get(format),
    )


def _format_of(records: Iterable[Any]) -> str | None:
    """Return the format of the first record that tells one.

    A reply without a verdict tells nothing: official files and those of Omni-RRM differ in their verdicts alone.
    """
    known = [(name, record) for record in records if (name := detect_format(record)) is not None]
    telling = [
        name
        for name, record in known
        if name != "official" or _BRACKETS.search(str(record.get("output", record.get("outputs"))))
    ]
    return next(iter(telling), known[0][0] if known else None)


def first_records(data: bytes) -> list[Any]:
    """Return the first records of a file, of those that can be read."""
    try:
        data = opened(data, ProblemCollector())
        if data.lstrip()[:1] != b"[":
            data = b"\n".join(data[:_BEGINNING].split(b"\n")[:_ASKED])
        return [record for _, record in islice(_records(data, ProblemCollector()), _ASKED)]
    except UploadRejected:
        return []


def detect_format(record: Any) -> str | None:
    """Return the name of a record's format, or None."""
    if type(record) is not dict:
        return None
    if "rewards" in record:
        return "r1-reward"
    if "doc_id" in record and ("filtered_resps" in record or "resps" in record):
        return "lmms-eval"
    if "output" in record and "PredBetter" in record:
        return "omni-rrm"
    if isinstance(record.get("output"), str):
        return "omni-rrm" if holds_json_verdict(record["output"]) else "official"
    if "ID" in record and ("output" in record or isinstance(record.get("outputs"), list)):
        return "official"
    return "native" if any(name in record for name in ("votes", "judgements", "scores")) else None


def _records(data: bytes, findings: ProblemCollector) -> Iterator[tuple[int, Any]]:
    """Yield (line, value): the lines of JSONL, the parts of a JSON list or of an object's ``logs``, rows of a table."""
    data = opened(data, findings)
    if _is_table(data):
        yield from table_records(data, findings)
        return
    document = _document(data, findings)
    if document is not None:
        yield from enumerate(document, start=1)
        return
    for line, text in enumerate(data.split(b"\n"), start=1):
        if text.strip():
            try:
                yield line, loads(text)
            except JsonFault as fault:
                findings.unread += 1
                findings.add(fault.code, fault.message, line=line)


def _is_table(data: bytes) -> bool:
    """Return whether the first line names the columns of a table that tells votes."""
    header = data[:_BEGINNING].lstrip().split(b"\n", 1)[0]
    if header[:1] in (b"{", b"["):
        return False
    names = column_names(header.decode("utf-8", "replace").strip())
    return len(names) > 1 and detect_format(as_record(dict.fromkeys(names, ""))) is not None


def _document(data: bytes, findings: ProblemCollector) -> list[Any] | None:
    start = data.lstrip()[:2]
    if start[:1] != b"[" and start not in (b"{\n", b"{\r"):
        return None
    try:
        value = loads(data)
    except JsonFault as fault:
        raise findings.reject(fault.code, fault.message, line=fault.line) from None
    return records_of(value)


def _id_field(record: dict[str, Any]) -> str:
    return "ID" if "ID" in record else "id"


def _named(fields: FieldReader) -> str:
    """Return the record's id, or add a problem."""
    return fields.text(_id_field(fields.record))


def _official(fields: FieldReader, spec: BenchmarkSpec) -> PairPrediction | None:
    return _replied(fields, spec, parse=read_verdict)


def _omni_rrm(fields: FieldReader, spec: BenchmarkSpec) -> PairPrediction | None:
    """Read the judge's JSON; where its text says nothing, what the tool has read from it."""
    result = _replied(fields, spec, parse=read_json_verdict)
    if result is None or result.votes != (UNREADABLE,):
        return result
    return replace(result, votes=(read_stated_verdict(fields.record.get("PredBetter")),))


def _replied(
    fields: FieldReader, spec: BenchmarkSpec, *, parse: Callable[[str, BenchmarkSpec], int]
) -> PairPrediction | None:
    """Read a record with the judge's text in ``output``, or K texts in ``outputs``; A shown first.

    No text (null) is an unreadable one.
    """
    record = fields.record
    several = "outputs" in record and "output" not in record
    holders = [{"output": text} for text in fields.votes(record["outputs"], "outputs")] if several else [record]
    item_id = _named(fields)
    texts = tuple("" if holder.get("output", "") is None else fields.text("output", where=holder) for holder in holders)
    responses = _responses(fields.record.get("Meta"), spec) or _responses(fields.record, spec)
    if not fields.finish():
        return None
    votes = tuple(parse(text, spec) for text in texts)
    return PairPrediction(fields.line, item_id, votes=votes, responses=responses, replies=texts)


def _rewards(fields: FieldReader, spec: BenchmarkSpec) -> PairPrediction | None:
    """Read rewards of the responses as shown: the preferred one first, unless the prompt tells otherwise."""
    item_id = _named(fields)
    value = fields.record.get("rewards")
    if isinstance(value, list) and value and not any(isinstance(part, list) for part in value):
        value = [value]
    pairs = [fields.scores(pair, f"rewards[{i}]") for i, pair in enumerate(fields.votes(value, "rewards"))]
    votes = tuple(_higher(pair) for pair in pairs)
    preferred_votes = votes
    if fields.record.get("reverse") in (True, 1):  # Proxy-GRM: the rejected response was shown first
        preferred_votes = tuple(flip(vote) for vote in votes)
    if not fields.finish():
        return None
    texts = _responses(fields.record, spec)
    responses = texts or _named_responses(fields.record)
    named = PairPrediction(fields.line, item_id, votes=preferred_votes, responses=responses, replies=tuple(pairs))
    first = _shown_first(fields.record.get("qs"), responses)
    # A scorer of single responses leaves neither a prompt nor a text about both, and no verdicts of 0 and 1.
    judged = bool({"critic", "qs"} & fields.record.keys()) or all(reward in (0, 1) for pair in pairs for reward in pair)
    named_by_label = spec.fields is None or spec.fields.label is None
    if named_by_label or (texts is None and responses is not None):  # the fields' names say which is which
        return replace(named, label_shown_first=judged and first != 1 and preferred_votes is votes)
    if first is None and not judged:
        return replace(named, preferred_first=True, saw_both=False)
    if first is None:
        return replace(named, preferred_first=True)
    return replace(named, votes=tuple(flip(vote) for vote in votes) if first == 1 else votes)


def _named_responses(record: dict[str, Any]) -> tuple[str, str] | None:
    """Return both responses where a row has them under R1-Reward's names, that of the first reward first."""
    chosen, rejected = record.get("chosen"), record.get("rejected")
    return (chosen, rejected) if isinstance(chosen, str) and isinstance(rejected, str) else None


def _shown_first(prompt: Any, responses: tuple[str, str] | None) -> int | None:
    """Return which response R1-Reward's prompt shows as Response 1; None where it does not tell."""
    if not isinstance(prompt, str) or responses is None or responses[0] == responses[1]:
        return None
    _, result, first_text = prompt.partition(_FIRST_IN_PROMPT)
    fitting = [index for index in (0, 1) if result and first_text.startswith(responses[index])]
    return max(fitting, key=lambda index: len(responses[index])) if fitting else None


def _lmms_eval(fields: FieldReader, spec: BenchmarkSpec) -> PairPrediction | None:
    """Read a sample: the reply that the tool scored; the item from its ``doc``, its prompt, or its id."""
    replies = fields.record.get("filtered_resps", fields.record.get("resps"))
    while isinstance(replies, list) and len(replies) == 1:
        replies = replies[0]
    if not isinstance(replies, str):
        message = _("must be the judge's text, or a list with that one text, not {replies}", replies=shorten(replies))
        fields.fault("filtered_resps", "bad-field", message=message)
        replies = ""
    doc, score = fields.record.get("doc"), fields.record.get(_LMMS_METRIC)
    item_id = field_at(doc, spec.fields.id if spec.fields else "id") or field_at(score, "question_id")
    if not isinstance(item_id, str):
        message = _(
            "no id: expected `doc.{fields}` or `{lmms_metric}.question_id`",
            fields=spec.fields.id if spec.fields else "id",
            lmms_metric=_LMMS_METRIC,
        )
        fields.fault(_LMMS_METRIC, "missing-field", message=message)
    position = fields.record.get("doc_id")
    responses = _responses(doc, spec) or _prompted(fields.record.get("input"))
    if not fields.finish():
        return None
    votes = (UNREADABLE if replies.startswith(_LMMS_FAILED) else read_verdict(replies, spec),)
    position = position if isinstance(position, int) else None
    return PairPrediction(fields.line, item_id, votes=votes, responses=responses, position=position, replies=(replies,))


_LMMS_METRIC = "multimodal_rewardbench_accuracy"
_NO_REPLY = "None"  # Multimodal RewardBench's script writes it after nine tries
_LMMS_FAILED = ("[LMMS_EVAL_REQUEST_FAILED", "[LMMS_EVAL_BUDGET_EXCEEDED]")  # the call failed, whatever is behind


_FAILED = (_NO_REPLY, *_LMMS_FAILED)


def _native(fields: FieldReader, spec: BenchmarkSpec) -> PairPrediction | None:
    """Read votes, judgements or scores about the responses as stored."""
    record = fields.record
    key = record.get("item") if isinstance(record.get("item"), str) else None
    item_id = fields.id if key is not None else _named(fields)
    given = [name for name in ("votes", "judgements", "scores") if name in record]
    if len(given) != 1:
        message = _(
            "give exactly one of `votes`, `judgements` and `scores`, not {given}", given=" and ".join(given) or "none"
        )
        fields.fault(given[0] if given else "votes", "votes-fields", message=message)
        fields.finish()
        return None
    parts = fields.score_pairs() if given[0] == "scores" else fields.votes(record[given[0]], given[0])
    votes = tuple(_NATIVE[given[0]](fields, spec, part, f"{given[0]}[{i}]") for i, part in enumerate(parts))
    return PairPrediction(fields.line, item_id, votes=votes, key=key, replies=tuple(parts)) if fields.finish() else None


def _native_vote(fields: FieldReader, spec: BenchmarkSpec, part: Any, path: str) -> int:
    vote = TIE if spec.ties and type(part) is int and part == TIE else as_vote(part)
    if vote is not None:
        return vote
    known = _("0, 1, 2 (tie) or null") if spec.ties else _("0, 1 or null")
    fields.fault(
        path, "bad-vote", message=_("`{path}` must be {known}, not {part}", path=path, known=known, part=shorten(part))
    )
    return UNREADABLE


def _native_judgement(fields: FieldReader, spec: BenchmarkSpec, part: Any, path: str) -> int:
    swapped = part.get("swapped", False) if isinstance(part, dict) else None
    if not isinstance(swapped, bool) or not isinstance(part.get("text"), str):
        wanted = '{"text": ..., "swapped": true or false}'
        fields.fault(
            path,
            "bad-field",
            message=_("`{path}` must be {wanted}, not {part}", path=path, wanted=wanted, part=shorten(part)),
        )
        return UNREADABLE
    vote = read_verdict(fields.bounded(part["text"], path), spec)
    return flip(vote) if swapped else vote


def _native_score(fields: FieldReader, spec: BenchmarkSpec, part: Any, path: str) -> int:
    return _higher(part)


_NATIVE = {"votes": _native_vote, "judgements": _native_judgement, "scores": _native_score}
_REPLY_FIELDS = {"official": "output", "omni-rrm": "output", "lmms-eval": "filtered_resps"}
_READERS: dict[str, RecordReader] = {
    "official": _official,
    "omni-rrm": _omni_rrm,
    "r1-reward": _rewards,
    "lmms-eval": _lmms_eval,
    "native": _native,
}


def flip(vote: int) -> int:
    """Return the vote with the two responses exchanged; ties and unreadable votes stay."""
    return 1 - vote if vote in (0, 1) else vote


def _higher(scores: tuple[float, float]) -> int:
    """Return the index of the higher score; equal scores are a TIE, a missing one is UNREADABLE."""
    if math.isnan(scores[0] + scores[1]):
        return UNREADABLE
    return 0 if scores[0] > scores[1] else 1 if scores[1] > scores[0] else TIE


def _responses(row: Any, spec: BenchmarkSpec) -> tuple[str, str] | None:
    """Return both responses where a row repeats them under the benchmark's own names."""
    if spec.fields is None:
        return None
    first, second = (field_at(row, name) for name in spec.fields.responses)
    return (first, second) if isinstance(first, str) and isinstance(second, str) else None


def _prompted(prompt: Any) -> tuple[str, str] | None:
    """Return both answers from the official prompt, in the order shown."""
    if not isinstance(prompt, str):
        return None
    start_first, end_first, start_second, end_second = _PROMPT_PARTS
    _, result, rest = prompt.partition(start_first)
    first, found_end, rest = rest.partition(end_first)
    _, found_second, rest = rest.partition(start_second)
    second, end, _ = rest.rpartition(end_second)
    return (first, second) if result and found_end and found_second and end else None


def _check_votes(predictions: tuple[PairPrediction, ...], findings: ProblemCollector) -> None:
    """Add a problem for each record with another number of votes than the first."""
    wanted: int | None = None
    for prediction in predictions:
        wanted = len(prediction.votes) if wanted is None else wanted
        if len(prediction.votes) != wanted:
            message = _(
                "holds {votes} votes, the first record {wanted}; give as many on every pair",
                votes=len(prediction.votes),
                wanted=wanted,
            )
            findings.add("votes-count", message, line=prediction.line, id=prediction.id, field="votes")


def _note_failed(predictions: tuple[PairPrediction, ...], findings: ProblemCollector) -> None:
    """Note the replies in whose place a tool wrote that the call failed."""
    for marker in _FAILED:
        failed = [
            p
            for p in predictions
            for reply in p.replies
            if reply == marker or (marker != _NO_REPLY and reply.startswith(marker))
        ]
        for code, message, held in failed_remark(marker, list(range(len(failed)))):
            findings.note(code, message, ids=[failed[i].id or "" for i in held])


def _notes(predictions: tuple[PairPrediction, ...]) -> tuple[str, ...]:
    notes = []
    certain = bool(predictions) and all(prediction.label_shown_first for prediction in predictions)
    if certain or any(prediction.preferred_first and prediction.saw_both for prediction in predictions):
        notes.append(
            _(
                "R1-Reward's script shows the preferred response first in every prompt. The order gives the "
                "label away: a judge that always picks the first response scores 100%."
            )
        )
    return tuple(notes)
