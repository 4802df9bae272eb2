"""The service's own JSONL: votes, judgements or scores, one line an item."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from vlrb.benchmarks.spec import TIE, BenchmarkSpec
from vlrb.common.messages import _
from vlrb.readers.base import FieldReader, ParsedFile, PredictionFormat, PredictionRow, as_vote, flip, preferred
from vlrb.verdicts import read_verdict

_KINDS = ("votes", "judgements", "scores")


def read(records: Iterable[FieldReader], parsed: ParsedFile) -> None:
    """Add the rows of a native file."""
    spec, numbers = parsed.spec, set[int]()
    for fields in records:
        record, key = fields.record, _item_key(fields)
        kinds = [kind for kind in _KINDS if kind in record]
        choices: list[int] = []
        shown: list[int] | None = None
        replies: list[Any] = []
        if len(kinds) != 1:
            given = _("none of them") if not kinds else " and ".join(f"`{kind}`" for kind in kinds)
            message = _(
                "a line needs exactly one of `votes`, `judgements` and `scores`; this one has {given}", given=given
            )
            fields.fault(kinds[-1] if kinds else "votes", "bad-kind" if kinds else "missing-field", message=message)
        elif kinds[0] == "votes":
            choices, replies = _votes(fields, spec), record["votes"]
            if isinstance(replies, list):
                numbers.update(vote for vote in replies if type(vote) is int)
        elif kinds[0] == "scores":
            replies = fields.score_pairs("scores")
            choices = [preferred(pair) for pair in replies]
        else:
            replies, shown = _judgements(fields)
            choices = [flip(read_verdict(text, spec), turned) for text, turned in zip(replies, shown, strict=True)]
            parsed.reply_field = "judgements.text"
        if fields.ok:
            parsed.add(PredictionRow(fields.line, choices, shown, fields.id, key=key), replies)
    if numbers == {1, 2} and not spec.ties:
        parsed.findings.clear()
        message = _(
            "The votes are 1 and 2, and no vote is 0. Subtract 1 from each: 0 is the response that the dataset has "
            "first, 1 the other."
        )
        raise parsed.findings.reject("bad-vote", message)


def _item_key(fields: FieldReader) -> str | None:
    """Return the item key; checks that there is one or an id."""
    record = fields.record
    for name in ("id", "item"):
        if record.get(name) is not None and not isinstance(record[name], str):
            fields.wrong(name, record[name], wanted=_("a text, as the dataset has it"))
    key = record.get("item")
    if record.get("id") is None and key is None:
        message = _("the field `id` is missing; give the pair's id, or its fingerprint as `item`")
        fields.fault("id", "missing-field", message=message)
    return key if isinstance(key, str) else None


def _votes(fields: FieldReader, spec: BenchmarkSpec) -> list[int]:
    choices = []
    wanted = _("0 or 1 (the preferred stored response) or null (undecided)")
    if spec.ties:
        wanted = _("0, 1, 2 (a tie) or null (undecided)")
    for i, vote in enumerate(fields.votes(fields.record["votes"], "votes")):
        choice = TIE if spec.ties and type(vote) is int and vote == TIE else as_vote(vote)
        if choice is None:
            fields.wrong(f"votes[{i}]", vote, wanted=wanted, code="bad-vote")
        else:
            choices.append(choice)
    return choices


def _judgements(fields: FieldReader) -> tuple[list[str], list[int]]:
    """Return per vote the judge's text, and the response that was shown first."""
    texts, shown_first = [], []
    for i, judgement in enumerate(fields.votes(fields.record["judgements"], "judgements")):
        path = f"judgements[{i}]"
        if not isinstance(judgement, dict):
            fields.wrong(path, judgement, wanted='{"text": ..., "swapped": true | false}')
            continue
        texts.append(fields.text("text", f"{path}.text", where=judgement))
        swapped, wanted = judgement.get("swapped"), _("true (stored response 1 was shown first) or false")
        shown_first.append(fields.order_flag(swapped, f"{path}.swapped", wanted=wanted, types=(bool,)))
    return texts, shown_first


NATIVE = PredictionFormat(
    key="native",
    read=read,
    fields=(("id", "item"), ("votes", "judgements", "scores")),
    name="native JSONL",
    tool="Your own code: native JSONL",
    upload="native JSONL, below",
    command=('{"id": "…", "votes": [0, 1, null]}\n{"id": "…", "judgements": [{"text": "…", "swapped": true}]}'),
    note=(
        "One line for each pair. A vote is the index of the preferred response in the order of the dataset, "
        "null is undecided; `swapped` says that the second response was shown first. Every line has the same "
        "number of votes, 1 to 16. Where ids repeat, `item` holds the pair's key."
    ),
)
