"""Parsing of a prediction file: votes over the benchmark's items, or every problem at once with its line. No
database, no label."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from vlrb.behaviour import Behaviour, behaviour_of
from vlrb.benchmarks.items import ItemTable
from vlrb.common.messages import _, joined
from vlrb.file_remarks import (
    BASELINE_VOTES,
    ONE_SIDED_VOTES,
    SAME_SHARE,
    is_one_sided,
    same_as_baseline,
)
from vlrb.predictions import readability
from vlrb.predictions.matching import (
    UNKNOWN,
    Matched,
    item_label,
    match,
    report_ids,
    report_text_differences,
    resolve_orientation,
)
from vlrb.predictions.other_benchmark import other_benchmark, refused_for
from vlrb.readers import read_file
from vlrb.readers.base import ParsedFile, PredictionRow, is_bare_verdict
from vlrb.readers.problems import FileWarning, Problem, ProblemCollector, Sample, UploadRejected
from vlrb.votes import ABSENT, MAX_VOTES_PER_ITEM, PREFERRED, UNDECIDED, Margins, Matrix, Votes

__all__ = [
    "FileWarning",
    "Predictions",
    "Problem",
    "UploadRejected",
    "all_warnings",
    "build_report",
    "parse_predictions",
]

_NAMED = 10  # of the items that a file lacks
_FOREIGN_SHARE = 0.5  # of the rows unknown here: the file belongs to another benchmark
_EXAMPLES = 3
_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Predictions:
    """A file that can be scored."""

    format: str
    revision: str
    votes: Votes
    behaviour: Behaviour
    items: int  # of the file's revision
    warnings: tuple[FileWarning, ...]
    samples: tuple[Sample, ...] = ()
    reply_field: str | None = None  # where the file has its judge's texts; None in a file of votes or scores
    example: str = readability.EXAMPLES["official-sentence"]  # the end of a reply that can be read
    orders: Votes | None = None  # those of a judge that always chose the response shown first; None: no order is known
    margins: Margins | None = None  # of two scores; None of files without, and of several votes


def parse_predictions(data: bytes, table: ItemTable) -> Predictions:
    """Read the votes of a file.

    Raises:
        UploadRejected: with every problem found (the first 100 listed), or with the benchmark that the file belongs to.
    """
    try:
        return _parse(data, table)
    except UploadRejected as rejected:
        other = other_benchmark(data, table.spec)
        if other is None:
            raise
        raise refused_for(other, table.spec, rejected=rejected) from None


def _parse(data: bytes, table: ItemTable) -> Predictions:
    findings = ProblemCollector()
    reading = read_file(data, findings, table=table)
    matched = match(reading, table)
    _refuse_other_benchmark(reading.rows, table, matched=matched, findings=findings)
    _report_unknown(reading.rows, table, matched=matched, findings=findings)
    per_item = _votes_per_item(reading, matched, table=table, findings=findings)
    _refuse_votes_about_labels(reading, table, findings=findings)
    _report_coverage(per_item, reading.rows, table=table, matched=matched, findings=findings)
    report_text_differences(reading, table, matched=matched, findings=findings)
    resolve_orientation(reading, matched, findings=findings)
    if findings.problem_count:
        raise findings.rejected()
    report_ids(reading.rows, table, matched=matched, findings=findings)
    findings.note_unscored()
    for code, message, indices in reading.remarks:
        names = dict.fromkeys(item_label(matched.items[i], table, revision=matched.revision) for i in indices)
        findings.note(code, message, ids=names)
    return _upload(reading, table, matched=matched, rows_per_item=len(next(iter(per_item.values()))), findings=findings)


def _note_no_judge(votes: Matrix, matrix: Matrix, *, table: ItemTable, findings: ProblemCollector) -> None:
    """Warn of votes that need no judge: those of a baseline, or all the same.

    ``votes``: (records, K) in the order of the file; ``matrix``: (items, K) in the order of the table.
    """
    then = _("Where people sign in, such a file waits for a maintainer. Its entry has a remark and no rank.")
    if (baseline := same_as_baseline(matrix, table)) is not None:
        sentence = _(
            "The votes are those of the baseline “{baseline}” on {share:g}% or more of the pairs that both decide.",
            baseline=baseline.name,
            share=100 * SAME_SHARE,
        )
        findings.note(BASELINE_VOTES, joined((sentence, then), " "))
    elif is_one_sided(votes):
        sentence = _("{share:g}% or more of the votes are the same.", share=100 * SAME_SHARE)
        findings.note(ONE_SIDED_VOTES, joined((sentence, then), " "))


def build_report(result: Predictions | UploadRejected, benchmark: str) -> dict[str, Any]:
    """Return the check report that people, programs and the sandbox read; its keys are fixed.

    Only of a file that belongs to another benchmark it also has ``other_benchmark``: id, title, path.
    """
    read = result if isinstance(result, Predictions) else None
    problems = _unreadable(result) if isinstance(result, Predictions) else result.problems
    warnings = all_warnings(result) if isinstance(result, Predictions) and not problems else result.warnings
    other = None if isinstance(result, Predictions) else result.other
    return {
        "ok": not problems,
        "format": result.format,
        "benchmark": benchmark,
        "revision": read and read.revision,
        "items": read and read.items,
        "votes_per_item": read and read.votes.k,
        "parse_rate": read and read.behaviour.parse_rate,
        "first_shown_rate": read and read.behaviour.first_shown_rate,
        "one_order": read and read.behaviour.one_order,
        "warnings": [{"code": w.code, "message": w.message, "ids": list(w.ids)} for w in warnings],
        "problems": [asdict(problem) for problem in problems],
        "problem_count": len(problems) if isinstance(result, Predictions) else result.problem_count,
        "samples": [asdict(sample) for sample in read.samples] if read else [],
        **({"other_benchmark": asdict(other)} if other else {}),
    }


def all_warnings(upload: Predictions) -> tuple[FileWarning, ...]:
    """Return those of the file, and one about the votes that could not be read."""
    low = readability.warning(upload.behaviour.parse_rate, upload.reply_field, example=upload.example)
    return (*upload.warnings, low) if low else upload.warnings


def _unreadable(upload: Predictions) -> tuple[Problem, ...]:
    votes = upload.items * upload.votes.k
    result = readability.refusal(
        upload.behaviour.parse_rate,
        votes,
        reply_field=upload.reply_field,
        example=upload.example,
        bare=any(is_bare_verdict(sample.reply) for sample in upload.samples),
    )
    return (result,) if result else ()


def _refuse_other_benchmark(
    rows: Sequence[PredictionRow], table: ItemTable, *, matched: Matched, findings: ProblemCollector
) -> None:
    """Refuse, in one sentence, a file of which most rows are about no item of this benchmark."""
    unknown = [row for row, item in zip(rows, matched.items, strict=True) if item == UNKNOWN]
    most = len(unknown) > max(_EXAMPLES, _FOREIGN_SHARE * len(rows))
    if most and not any(_near(row, table) for row in unknown[:_EXAMPLES]):
        findings.clear()
        raise findings.reject("other-benchmark", _about_another(unknown, len(rows), table=table))


def _about_another(unknown: Sequence[PredictionRow], rows: int, *, table: ItemTable) -> str:
    """Return what to say of a file about some other benchmark, with its first rows."""
    name = table.spec.title
    if table.spec.synthetic:
        name = _("the synthetic demo (the operator serves the real pairs with the setting LABELS)")
    examples = ", ".join(_("{row} on line {line}", row=_called(row), line=row.line) for row in unknown[:_EXAMPLES])
    return _(
        "{unknown:,} of the {rows:,} rows are no pairs of {name}. Take ids from the dataset unchanged; a file of "
        "another benchmark belongs there. The first ones are {examples}.",
        unknown=len(unknown),
        rows=rows,
        name=name,
        examples=examples,
    )


def _called(row: PredictionRow) -> str:
    """Return a row by its id, key, question or number, cut."""
    text = (
        row.id or row.key or (row.query and " ".join(row.query.split())) or _("row {position}", position=row.position)
    )
    return f"“{text[:_LONGEST_NAME]}…”" if len(text) > _LONGEST_NAME else f"“{text}”"


def _near(row: PredictionRow, table: ItemTable) -> str | None:
    """Return an id of the benchmark that only looks different from the row's."""
    if row.id is None or row.key is not None:
        return None
    folded = {" ".join(unicodedata.normalize("NFKC", row.id).split()), row.id.strip()}
    return next((candidate for candidate in sorted(folded) if table.by_id(candidate)), None)


def _report_unknown(
    rows: Sequence[PredictionRow], table: ItemTable, *, matched: Matched, findings: ProblemCollector
) -> None:
    """Report every row about no item of the benchmark."""
    for row, item in zip(rows, matched.items, strict=True):
        if item != UNKNOWN:
            continue
        field, name = ("id", row.id) if row.key is None else ("item", row.id or row.key)
        message = _("no pair of this benchmark has this `{field}`, or these texts", field=field)
        if near := _near(row, table):
            message = _("no pair has exactly this id; write {near!r}", near=near)
        findings.add("unknown-item", message, line=row.line, id=name, field=field)


def _votes_per_item(
    reading: ParsedFile, matched: Matched, *, table: ItemTable, findings: ProblemCollector
) -> dict[int, list[int]]:
    """Return item index -> its rows, in file order; problems for repeated items and for different numbers of votes."""
    per_item: dict[int, list[int]] = {}
    for index, item in enumerate(matched.items):
        if item != UNKNOWN:
            per_item.setdefault(item, []).append(index)
    rows, name = reading.rows, partial(item_label, table=table, revision=matched.revision)
    if reading.one_vote_a_row:
        votes = {item: len(held) for item, held in per_item.items()}
    else:
        votes = {item: len(rows[held[0]].choices) for item, held in per_item.items()}
        for item, held in per_item.items():
            for index in held[1:]:
                message = _(
                    "this pair was already answered on line {line}; give each pair once", line=rows[held[0]].line
                )
                findings.add("duplicate-item", message, line=rows[index].line, id=name(item))
    usual = Counter(votes.values()).most_common(1)[0][0] if votes else 1
    if usual > MAX_VOTES_PER_ITEM:
        findings.add(
            "votes-count",
            _(
                "{usual} votes per pair; at most {max_votes_per_item} count, remove the others",
                usual=usual,
                max_votes_per_item=MAX_VOTES_PER_ITEM,
            ),
        )
    different = {item: count for item, count in votes.items() if count != usual}
    if reading.one_vote_a_row and len(different) <= findings.unread and max(different.values(), default=0) < usual:
        different = {}  # explained by lines that could not be read
    for item, count in different.items():
        message = _(
            "has {count} votes where most pairs have {usual}; give every pair the same number",
            count=count,
            usual=usual,
        )
        findings.add("votes-differ", message, line=rows[per_item[item][-1]].line, id=name(item), field="votes")
    return per_item


def _report_coverage(
    per_item: dict[int, list[int]],
    rows: Sequence[PredictionRow],
    *,
    table: ItemTable,
    matched: Matched,
    findings: ProblemCollector,
) -> None:
    """Report one problem for all items of its revision that the file lacks, and one for every item beyond it."""
    revision = matched.revision
    held = table.in_revision(revision)
    extra = [item for item in per_item if revision not in table.items[item].rows]
    missing = [item for item in held if item not in per_item]
    for item in extra:
        message = _(
            "revision {revision}, which the other rows fit, lacks this pair; remove it or complete the file",
            revision=revision,
        )
        findings.add(
            "extra-item", message, line=rows[per_item[item][0]].line, id=item_label(item, table, revision=revision)
        )
    if len(missing) <= findings.unread or (not per_item and findings.problem_count):
        return
    names = [item_label(item, table, revision=revision) for item in missing]
    examples = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else "")
    message = _(
        "the file has votes for {voted:,} of the {held:,} pairs of revision {revision}, and must cover them all: run "
        "the judge on the others; missing: {shown}",
        voted=len(held) - len(missing),
        held=len(held),
        revision=revision,
        shown=examples,
    )
    findings.add("missing-item", message, id=names[0] if len(names) == 1 else None)


def _upload(
    reading: ParsedFile, table: ItemTable, *, matched: Matched, rows_per_item: int, findings: ProblemCollector
) -> Predictions:
    """Return the votes of a file without problems."""
    rows, spec = reading.rows, table.spec
    k = rows_per_item if reading.one_vote_a_row else len(rows[0].choices)
    width = 1 if reading.one_vote_a_row else k
    none = (UNDECIDED,) * width
    choices = np.array([row.choices for row in rows], dtype=np.int8).reshape(len(rows), width)
    shown_first = np.array([row.shown or none for row in rows], dtype=np.int8).reshape(len(rows), width)
    items = np.array(matched.items)
    stored, stored_first = (
        _as_stored(named, reading, table=table, matched=matched) for named in (choices, shown_first)
    )
    # A stable sort keeps the votes of an item in file order.
    order = np.argsort(items, kind="stable")
    held = np.array(sorted(set(matched.items)))
    matrix, orders = (np.full((len(table), k), ABSENT, dtype=np.int8) for _of in range(2))
    matrix[held], orders[held] = (values[order].reshape(len(held), k) for values in (stored, stored_first))
    _note_no_judge(choices, matrix, table=table, findings=findings)
    known = Votes(orders) if (orders >= 0).any() else None
    behaviour = behaviour_of(Votes(matrix), known)
    if spec.fields.shuffled:
        behaviour = replace(behaviour, one_order=None)
    return Predictions(
        reading.format,
        matched.revision,
        votes=Votes(matrix),
        behaviour=behaviour,
        items=len(held),
        warnings=tuple(findings.notices),
        samples=_samples(reading, matched, table=table, stored=stored),
        reply_field=reading.reply_field,
        example=readability.EXAMPLES[spec.verdict_format],
        orders=known,
        margins=_margins(rows, matched, items=len(table)) if k == 1 else None,
    )


def _margins(rows: Sequence[PredictionRow], matched: Matched, *, items: int) -> Margins | None:
    values = np.full(items, np.nan, dtype=np.float32)
    known = {item: row.margin for row, item in zip(rows, matched.items, strict=True) if row.margin is not None}
    if not known:
        return None
    values[list(known)] = np.minimum(list(known.values()), np.finfo(np.float32).max)
    return values


def _as_stored(named: Matrix, reading: ParsedFile, *, table: ItemTable, matched: Matched) -> Matrix:
    """Return choices (rows, votes) about the record's responses as choices about the item's, or about its label."""
    turned = [
        (flip or 0) ^ int(row.by_parity and table.items[item].swapped_by_parity)
        for row, item, flip in zip(reading.rows, matched.items, matched.flips, strict=True)
    ]
    about = np.array([_is_about_label(row, table) for row in reading.rows])[:, np.newaxis]
    other = np.where(about, named + PREFERRED, named ^ np.array(turned, dtype=np.int8)[:, np.newaxis])
    return np.where((named == 0) | (named == 1), other, named).astype(np.int8)


def _is_about_label(row: PredictionRow, table: ItemTable) -> bool:
    """Return whether a row's choices name the preferred response: it says so, or has no texts and the benchmark's own
    file has that response first."""
    return row.about_label or (row.responses is None and table.spec.preferred_is_named)


def _refuse_votes_about_labels(reading: ParsedFile, table: ItemTable, *, findings: ProblemCollector) -> None:
    """Report every row that takes a label for known that is hidden."""
    if table.spec.public_labels:
        return
    for row in reading.rows:
        if _is_about_label(row, table):
            message = _(
                "the record does not state which response was shown first; repeat both responses, or the prompt"
            )
            findings.add("order-unclear", message, line=row.line, id=row.id, field=reading.text_field)


def _samples(reading: ParsedFile, matched: Matched, *, table: ItemTable, stored: Any) -> tuple[Sample, ...]:
    """Return a few replies with what was read from each. ``stored``: rows x votes, in stored order."""
    chosen = [(sample, int(stored[sample.row, sample.vote])) for sample in reading.samples.chosen()]
    return tuple(
        Sample(
            item_label(matched.items[sample.row], table, revision=matched.revision),
            sample.reply,
            read=sample.read,
            vote=vote if vote in (0, 1) else None,
        )
        for sample, vote in chosen
    )
