"""lmms-eval ``--log_samples`` of the task vl_rewardbench: one line an item, one vote.

`filtered_resps` is what the tool scores: a text now, a list with one text up to 0.6, beside the record's `doc` in 0.3.
The order shown is not recorded. It follows from `doc` by the parity rule, or is in the prompt (`input`), or follows
from the item found by id and row number (`doc_id`), again by the parity rule.
"""

from __future__ import annotations

from collections.abc import Iterable

from vlrb.benchmarks.spec import BenchmarkSpec, value_at
from vlrb.common.messages import _
from vlrb.readers.base import FieldReader, ParsedFile, PredictionFormat, PredictionRow, own_responses, two_texts
from vlrb.verdicts import read_verdict
from vlrb.votes import UNDECIDED

_OFFICIAL_PARTS = ("\n\nQuestion: ", "\n\nAnswer 1: ", "\n\nAnswer 2: ", "\n\nPlease evaluate both answers")
_PROMPT_PARTS = ("[The Start of Assistant A's Answer]\n", "\n[The End of Assistant A's Answer]",
                 "[The Start of Assistant B's Answer]\n", "\n[The End of Assistant B's Answer]")  # fmt: skip
_METRIC = "multimodal_rewardbench_accuracy"
# Prefix of a reply whose call failed, and how to name it; the server's error follows the first.
_FAILED = {
    "[LMMS_EVAL_REQUEST_FAILED": "[LMMS_EVAL_REQUEST_FAILED ...]",
    "[LMMS_EVAL_BUDGET_EXCEEDED]": "[LMMS_EVAL_BUDGET_EXCEEDED]",
}


def read(records: Iterable[FieldReader], parsed: ParsedFile) -> None:
    """Add the rows of a samples file."""
    for fields in records:
        text, position, row = _text(fields), fields.row_number("doc_id"), _row(fields, parsed.spec)
        if "doc" in fields.record:
            parsed.text_field = "doc"
        fields.id = fields.id or row.id
        if fields.ok:
            marker = next((shown for prefix, shown in _FAILED.items() if text.startswith(prefix)), None)
            if marker is not None:
                parsed.mark_failed(marker)
            row.choices, row.position = (read_verdict(text, parsed.spec) if marker is None else UNDECIDED,), position
            parsed.add(row, (text,))


def _text(fields: FieldReader) -> str:
    """Return the reply that the tool scored."""
    value = fields.record.get("filtered_resps", fields.record.get("resps"))
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str):
        return fields.bounded(value, "filtered_resps")
    wanted, missing = _("the judge's text, or a list with that one text"), "filtered_resps" not in fields.record
    fields.wrong("filtered_resps", value, wanted=wanted, missing=missing)
    return ""


def _row(fields: FieldReader, spec: BenchmarkSpec) -> PredictionRow:
    """Return the row of a sample, without its vote: id and texts from the `doc`, or from prompt and score.

    The task multimodal_rewardbench shows the responses as stored, vl_rewardbench by the parity rule.
    """
    record, doc = fields.record, fields.record.get("doc")
    score, prompt, stored = record.get(_METRIC), record.get("input"), two_texts(value_at(doc, "response"))
    own = None if stored else own_responses(doc, spec)
    if score is not None or own:
        name = value_at(doc, spec.fields.id) or value_at(score, "question_id")
        responses = own or (_assistants(prompt) if isinstance(prompt, str) else None)
        return PredictionRow(fields.line, (), (0,), name if isinstance(name, str) else None, None, responses)
    name = value_at(record, "vlreward_score.question_id")
    texts = prompted(prompt) if isinstance(prompt, str) and not isinstance(doc, dict) else None
    if isinstance(doc, dict) and isinstance(doc.get("query"), str) and stored:
        name, texts = doc.get("id"), (doc["query"], stored)
    query, responses = texts or (None, None)
    by_parity = responses is None or isinstance(doc, dict)
    name = name if isinstance(name, str) else None
    return PredictionRow(fields.line, (), (0,), name, query, responses, by_parity=by_parity)


def _assistants(prompt: str) -> tuple[str, str] | None:
    """Return both answers from the prompt of Multimodal RewardBench, in the order shown."""
    parts = _parts(prompt, _PROMPT_PARTS)
    return (parts[1], parts[3]) if parts else None


def prompted(prompt: str) -> tuple[str, tuple[str, str]] | None:
    """Return the query and the two answers of the prompt."""
    parts = _parts(prompt, _OFFICIAL_PARTS)
    return (parts[1], (parts[2], parts[3])) if parts else None


def _parts(text: str, marks: tuple[str, ...]) -> list[str] | None:
    """Return what stands before each mark, where they follow one another; the last mark is the last one in the text."""
    parts, rest = [], text.rpartition(marks[-1])[0]
    for mark in marks[:-1]:
        part, found, rest = rest.partition(mark)
        if not found:
            return None
        parts.append(part)
    return [*parts, rest]


LMMS_EVAL = PredictionFormat(
    key="lmms-eval",
    read=read,
    file={"text_field": "input", "reply_field": "filtered_resps"},
    fields=(("doc_id",), ("filtered_resps", "resps")),
    tool="lmms-eval",
    upload="run with `--tasks vl_rewardbench --log_samples`; the `..._samples_vl_rewardbench.jsonl` file",
    command="python -m lmms_eval --model MODEL --tasks TASK --batch_size 1 --log_samples --output_path logs",
    note=(
        "TASK is `vl_rewardbench` or `multimodal_rewardbench`. Upload `logs/…/…_samples_TASK.jsonl`. It keeps one vote "
        "for each pair, whatever `--repeats` says."
    ),
)
