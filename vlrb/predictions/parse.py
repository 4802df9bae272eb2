"""Parsing of a prediction file: votes over the benchmark's items, or every problem at once with its line. No
database, no label."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from vlrb.behaviour import behaviour_of
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.spec import BenchmarkSpec, value_at
from vlrb.benchmarks.spec_file import others_beside
from vlrb.common.messages import _, joined
from vlrb.file_remarks import BASELINE_VOTES, ONE_SIDED_VOTES, SAME_SHARE, is_one_sided, same_as_baseline
from vlrb.predictions import readability
from vlrb.predictions.matching import match, report_ids, resolve_orientation
from vlrb.predictions.readability import Predictions
from vlrb.readers import first_records, read_file
from vlrb.readers.base import UNKNOWN, ParsedFile, PredictionRow
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
    parsed = read_file(data, findings, table=table)
    match(parsed)
    _refuse_other_benchmark(parsed)
    _report_unknown(parsed)
    per_item = _votes_per_item(parsed)
    _refuse_votes_about_labels(parsed)
    _report_coverage(parsed, per_item)
    resolve_orientation(parsed)
    if findings.problem_count:
        raise findings.rejected()
    report_ids(parsed)
    parsed.note_marks()
    return _upload(parsed, votes_per_item=sum(len(row.choices) for row in next(iter(per_item.values()))))


def _note_no_judge(votes: Matrix, matrix: Matrix, *, table: ItemTable, findings: ProblemCollector) -> None:
    """Warn of votes that need no judge: those of a baseline, or all the same.

    ``votes``: (records, K) in the order of the file; ``matrix``: (items, K) in the order of the table.
    """
    waits = _("Where people sign in, such a file waits for a maintainer.")
    then = joined((waits, _("Its entry has a remark and no rank.")), " ")
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
    """Return the check report that people, programs and the sandbox read; its keys are fixed."""
    read = result if isinstance(result, Predictions) else None
    unreadable = readability.refusal(result) if isinstance(result, Predictions) else None
    problems = result.problems if isinstance(result, UploadRejected) else (unreadable,) if unreadable else ()
    warnings = all_warnings(result) if isinstance(result, Predictions) and not problems else result.warnings
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
    }


def all_warnings(upload: Predictions) -> tuple[FileWarning, ...]:
    """Return those of the file, and one about the votes that could not be read."""
    low = readability.warning(upload)
    return (*upload.warnings, low) if low else upload.warnings


def _refuse_other_benchmark(parsed: ParsedFile) -> None:
    """Refuse, in one sentence, a file of which most rows are about no item of this benchmark."""
    unknown = [row for row in parsed.rows if row.item == UNKNOWN]
    most = len(unknown) > max(_EXAMPLES, _FOREIGN_SHARE * len(parsed.rows))
    if most and not any(_near(row, parsed.table) for row in unknown[:_EXAMPLES]):
        parsed.findings.clear()
        message = _about_another(unknown, len(parsed.rows), spec=parsed.spec)
        raise parsed.findings.reject("other-benchmark", message)


def _about_another(unknown: Sequence[PredictionRow], rows: int, *, spec: BenchmarkSpec) -> str:
    """Return what to say of a file about some other benchmark, with its first rows."""
    name = spec.title
    if spec.synthetic:
        name = _("the synthetic demo (the operator serves the real pairs with the setting LABELS)")
    examples = joined(_("{row} on line {line}", row=_called(row), line=row.line) for row in unknown[:_EXAMPLES])
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
    return joined(("“", f"{text[:_LONGEST_NAME]}…" if len(text) > _LONGEST_NAME else text, "”"), "")


def _near(row: PredictionRow, table: ItemTable) -> str | None:
    """Return an id of the benchmark that only looks different from the row's."""
    if row.id is None or row.key is not None:
        return None
    folded = {" ".join(unicodedata.normalize("NFKC", row.id).split()), row.id.strip()}
    return next((candidate for candidate in sorted(folded) if table.by_id(candidate)), None)


def _report_unknown(parsed: ParsedFile) -> None:
    """Report every row about no item of the benchmark."""
    for row in parsed.rows:
        if row.item != UNKNOWN:
            continue
        field, name = ("id", row.id) if row.key is None else ("item", row.id or row.key)
        message = _("no pair known here has this `{field}`, or these texts", field=field)
        if near := _near(row, parsed.table):
            message = _("no pair has exactly this id; write {near!r}", near=near)
        parsed.findings.add("unknown-item", message, line=row.line, id=name, field=field)


def _votes_per_item(parsed: ParsedFile) -> dict[int, list[PredictionRow]]:
    """Return item index -> its rows, in file order; problems for repeated items and for different numbers of votes."""
    findings, per_item = parsed.findings, dict[int, list[PredictionRow]]()
    for row in parsed.rows:
        if row.item != UNKNOWN:
            per_item.setdefault(row.item, []).append(row)
    votes = {item: len(held[0].choices) for item, held in per_item.items()}
    if parsed.one_vote_a_row:
        votes = {item: len(held) for item, held in per_item.items()}
    else:
        for item, (first, *others) in per_item.items():
            for row in others:
                message = _("this pair was already answered on line {line}; give each pair once", line=first.line)
                findings.add("duplicate-item", message, line=row.line, id=parsed.label(item))
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
    if parsed.one_vote_a_row and len(different) <= findings.unread and max(different.values(), default=0) < usual:
        different = {}  # explained by lines that could not be read
    for item, count in different.items():
        message = _(
            "has {count} votes where most pairs have {usual}; give every pair the same number",
            count=count,
            usual=usual,
        )
        findings.add("votes-differ", message, line=per_item[item][-1].line, id=parsed.label(item), field="votes")
    return per_item


def _report_coverage(parsed: ParsedFile, per_item: dict[int, list[PredictionRow]]) -> None:
    """Report one problem for all items of its revision that the file lacks, and one for every item beyond it."""
    revision, findings = parsed.revision, parsed.findings
    held = parsed.table.in_revision(revision)
    extra = [item for item in per_item if revision not in parsed.table.items[item].rows]
    missing = [item for item in held if item not in per_item]
    for item in extra:
        message = _(
            "revision {revision}, which the other rows fit, lacks this pair; remove it or complete the file",
            revision=revision,
        )
        findings.add("extra-item", message, line=per_item[item][0].line, id=parsed.label(item))
    if len(missing) <= findings.unread or (not per_item and findings.problem_count):
        return
    names = list(map(parsed.label, missing))
    shown = joined(names[:_NAMED])
    if len(names) > _NAMED:
        shown = _("{names} and {more:,} more", names=shown, more=len(names) - _NAMED)
    message = _(
        "the file has votes for {voted:,} of the {held:,} pairs of revision {revision}, and must cover them all: run "
        "the judge on the others; missing: {shown}",
        voted=len(held) - len(missing),
        held=len(held),
        revision=revision,
        shown=shown,
    )
    findings.add("missing-item", message, id=names[0] if len(names) == 1 else None)


def _upload(parsed: ParsedFile, *, votes_per_item: int) -> Predictions:
    """Return the votes of a file without problems."""
    rows, table, findings = parsed.rows, parsed.table, parsed.findings
    k, width = votes_per_item, 1 if parsed.one_vote_a_row else votes_per_item
    none = (UNDECIDED,) * width
    choices = np.array([row.choices for row in rows], dtype=np.int8).reshape(len(rows), width)
    shown_first = np.array([row.shown or none for row in rows], dtype=np.int8).reshape(len(rows), width)
    items = np.array([row.item for row in rows])
    stored, stored_first = (_as_stored(named, parsed) for named in (choices, shown_first))
    # A stable sort keeps the votes of an item in file order.
    order = np.argsort(items, kind="stable")
    held = np.unique(items)
    matrix, orders = (np.full((len(table), k), ABSENT, dtype=np.int8) for _of in range(2))
    matrix[held], orders[held] = (values[order].reshape(len(held), k) for values in (stored, stored_first))
    _note_no_judge(choices, matrix, table=table, findings=findings)
    known = Votes(orders) if (orders >= 0).any() else None
    behaviour = behaviour_of(Votes(matrix), known)
    if parsed.spec.fields.shuffled:
        behaviour = replace(behaviour, one_order=None)
    return Predictions(
        parsed.format,
        parsed.revision,
        votes=Votes(matrix),
        behaviour=behaviour,
        items=len(held),
        warnings=tuple(findings.notices),
        samples=_samples(parsed, stored),
        reply_field=parsed.reply_field,
        example=readability.EXAMPLES[parsed.spec.verdict_format],
        orders=known,
        margins=_margins(rows, len(table)) if k == 1 else None,
    )


def _margins(rows: Sequence[PredictionRow], items: int) -> Margins | None:
    known = {row.item: row.margin for row in rows if row.margin is not None}
    if not known:
        return None
    values = np.full(items, np.nan, dtype=np.float32)
    values[list(known)] = np.minimum(list(known.values()), np.finfo(np.float32).max)
    return values


def _as_stored(named: Matrix, parsed: ParsedFile) -> Matrix:
    """Return choices (rows, votes) about the record's responses as choices about the item's, or about its label."""
    items, rows = parsed.table.items, parsed.rows
    turned = [(row.turned or 0) ^ int(row.by_parity and items[row.item].swapped_by_parity) for row in rows]
    about = np.array([_is_about_label(row, parsed.spec) for row in rows])[:, np.newaxis]
    other = np.where(about, named + PREFERRED, named ^ np.array(turned, dtype=np.int8)[:, np.newaxis])
    return np.where((named == 0) | (named == 1), other, named).astype(np.int8)


def _is_about_label(row: PredictionRow, spec: BenchmarkSpec) -> bool:
    """Return whether a row's choices name the preferred response: it says so, or has no texts and the benchmark's own
    file has that response first."""
    return row.about_label or (row.responses is None and spec.preferred_is_named)


def _refuse_votes_about_labels(parsed: ParsedFile) -> None:
    """Report every row that takes a label for known that is hidden."""
    if parsed.spec.public_labels:
        return
    for row in parsed.rows:
        if _is_about_label(row, parsed.spec):
            message = _(
                "the record does not state which response was shown first; repeat both responses, or the prompt"
            )
            parsed.findings.add("order-unclear", message, line=row.line, id=row.id, field=parsed.text_field)


def _samples(parsed: ParsedFile, stored: Matrix) -> tuple[Sample, ...]:
    """Return a few replies with what was read from each. ``stored``: rows x votes, in stored order."""
    samples = []
    for seen in parsed.samples.chosen():
        vote = int(stored[seen.row, seen.vote])
        name = parsed.label(parsed.rows[seen.row].item)
        samples.append(Sample(name, seen.reply, read=seen.read, vote=vote if vote in (0, 1) else None))
    return tuple(samples)


# --- files of another benchmark ---------------------------------------------------------------------------------------


def other_benchmark(data: bytes, spec: BenchmarkSpec) -> BenchmarkSpec | None:
    """Return the benchmark that the first records of a file belong to; None where one is of this one, or none is known.

    The demo is nobody's other benchmark: its pairs imitate those of a real one.
    """
    if spec.synthetic:
        return None
    others = [other for other in others_beside(spec) if not other.synthetic]
    results = [benchmark_of_record(record, [spec, *others]) for record in first_records(data)]
    named = {other.id: other for other in results if other is not None}
    return next(iter(named.values())) if len(named) == 1 and spec.id not in named else None


def benchmark_of_record(record: Any, specs: Iterable[BenchmarkSpec]) -> BenchmarkSpec | None:
    """Return the first benchmark whose ids or categories the record has; None where it tells nothing."""
    if not isinstance(record, Mapping):
        return None
    return next((spec for spec in specs if _belongs(record, spec)), None)


def _belongs(record: Mapping[str, Any], spec: BenchmarkSpec) -> bool:
    item_id = value_at(record, spec.fields.id)
    if not isinstance(item_id, str):
        return False
    places = [path for name in spec.fields.category for path in (name, f"Meta.{name}", f"doc.{name}")]
    values = [value if isinstance(value, str) else "" for value in (value_at(record, path) for path in places)]
    return any(rule.matches(value, item_id) for rule in spec.source_rules for value in values)


def refused_for(other: BenchmarkSpec, spec: BenchmarkSpec, *, rejected: UploadRejected) -> UploadRejected:
    """Return the refusal that names the benchmark of the file in one sentence."""
    message = _(
        "This is a file of {title}, and here {title2} is scored. Submit it to {title}.",
        title=other.title,
        title2=spec.title,
    )
    problem = Problem(None, None, field=None, code="other-benchmark", message=message)
    return UploadRejected([problem], format=rejected.format)
