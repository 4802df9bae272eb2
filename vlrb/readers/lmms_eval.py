"""lmms-eval ``--log_samples`` of the task vl_rewardbench: one line an item, one vote.

`filtered_resps` is what the tool scores: a text now, a list with one text up to 0.6, beside the record's `doc` in 0.3.
The order shown is not recorded. It follows from `doc` by the parity rule, or is in the prompt (`input`), or follows
from the item found by id and row number (`doc_id`), again by the parity rule.
"""

from __future__ import annotations

from typing import Any

from vlrb.common.messages import _
from vlrb.predictions.problems import ProblemCollector
from vlrb.readers.base import (
    FieldReader,
    FileGuide,
    ParsedFile,
    PredictionRow,
    Records,
    choice_of,
    failed_remark,
    objects,
    text_mark,
)
from vlrb.readers.samples import Samples
from vlrb.votes import UNDECIDED

FORMAT = "lmms-eval"
GUIDE = FileGuide(
    tool="lmms-eval",
    upload="run with `--tasks vl_rewardbench --log_samples`; the `..._samples_vl_rewardbench.jsonl` file",
    command=(
        "python -m lmms_eval --model MODEL --tasks vl_rewardbench --batch_size 1 --log_samples --output_path logs"
    ),
    note=(
        "Upload `logs/…/…_samples_vl_rewardbench.jsonl`. It keeps one vote for each pair, whatever `--repeats` says."
    ),
)
_QUESTION, _FIRST, _SECOND = "\n\nQuestion: ", "\n\nAnswer 1: ", "\n\nAnswer 2: "
_AFTER = "\n\nPlease evaluate both answers"
# Prefix of a reply whose call failed, and how to name it; the server's error follows the first.
_FAILED = {
    "[LMMS_EVAL_REQUEST_FAILED": "[LMMS_EVAL_REQUEST_FAILED ...]",
    "[LMMS_EVAL_BUDGET_EXCEEDED]": "[LMMS_EVAL_BUDGET_EXCEEDED]",
}


def matches_format(record: dict[str, Any]) -> bool:
    """Return whether a record has a row number and the tool's list of replies."""
    return "doc_id" in record and ("filtered_resps" in record or "resps" in record)


def read(records: Records, findings: ProblemCollector) -> ParsedFile:
    """Return the rows of a samples file."""
    rows: list[PredictionRow] = []
    samples = Samples()
    failed: dict[str, list[int]] = {marker: [] for marker in _FAILED}
    in_doc = False
    for line, record in objects(records, findings):
        fields = FieldReader(record, line, findings=findings)
        text = _text(fields)
        position = record.get("doc_id")
        if type(position) is not int or position < 0:
            fields.fault(
                "doc_id", "bad-field", message=_("the field `doc_id` must be the row number in the dataset, from 0")
            )
            position = None
        name, texts = _item(record)
        in_doc = in_doc or "doc" in record
        fields.id = fields.id or name
        if fields.finish():
            query, responses = texts or (None, None)
            by_parity = responses is None or isinstance(record.get("doc"), dict)
            marker = next((failure for failure in _FAILED if text.startswith(failure)), None)
            if marker is not None:
                failed[marker].append(len(rows))
            choice = choice_of(text) if marker is None else UNDECIDED
            samples.see(len(rows), 0, choice=choice, reply=text)
            mark = (text_mark(text),)
            rows.append(
                PredictionRow(
                    line,
                    (choice,),
                    shown=(0,),
                    id=name,
                    query=query,
                    responses=responses,
                    key=None,
                    position=position,
                    by_parity=by_parity,
                    texts=mark,
                )
            )
    remarks = [remark for marker, label in _FAILED.items() for remark in failed_remark(label, failed[marker])]
    field = "doc" if in_doc else "input"
    return ParsedFile(FORMAT, rows, text_field=field, remarks=remarks, samples=samples, reply_field="filtered_resps")


def _text(fields: FieldReader) -> str:
    """Return the reply that the tool scored."""
    value = fields.record.get("filtered_resps")
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str):
        return fields.bounded(value, "filtered_resps")
    code = "bad-field" if "filtered_resps" in fields.record else "missing-field"
    fields.fault(
        "filtered_resps", code, message=_("`filtered_resps` must be the judge's text, or a list with that one text")
    )
    return ""


def _item(record: dict[str, Any]) -> tuple[str | None, tuple[str, tuple[str, str]] | None]:
    """Return the id, and the query with its responses, as far as the record tells: as stored from a doc, else as
    shown."""
    doc = record.get("doc")
    if isinstance(doc, dict) and isinstance(doc.get("query"), str):
        name, responses = doc.get("id"), doc.get("response")
        if isinstance(responses, list) and len(responses) == 2 and all(isinstance(text, str) for text in responses):
            return name if isinstance(name, str) else None, (doc["query"], (responses[0], responses[1]))
    score = record.get("vlreward_score")
    name = score.get("question_id") if isinstance(score, dict) else None
    prompt = None if isinstance(doc, dict) else record.get("input")
    return name if isinstance(name, str) else None, prompted(prompt) if isinstance(prompt, str) else None


def prompted(prompt: str) -> tuple[str, tuple[str, str]] | None:
    """Return the query and the two answers of the prompt."""
    _, result, rest = prompt.partition(_QUESTION)
    body, end, _ = rest.rpartition(_AFTER)
    query, first_marker, answers = body.partition(_FIRST)
    first, two, second = answers.partition(_SECOND)
    return (query, (first, second)) if result and end and first_marker and two else None
