"""A file and the benchmark's items become votes, or every problem at once with its line. No database, no label."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmark.behaviour import self_consistency
from benchmark.items import ItemTable
from benchmark.votes import ABSENT, MAX_VOTES_PER_ITEM, UNDECIDED, Behaviour, Votes
from submissions.matching import UNKNOWN, Matched, match, name_of, report_ids, report_texts, settle_order
from submissions.problems import Findings, Notice, Problem, UploadRejected
from submissions.readers import read_file
from submissions.readers.rows import Reading, Row

__all__ = ["Notice", "Problem", "Upload", "UploadRejected", "check_report", "read_upload"]

REAL_BENCHMARK = "vl-rewardbench"
_NAMED = 10  # of the items that a file lacks
_FOREIGN_SHARE = 0.5  # of the rows unknown here: ask whether the file belongs to another benchmark


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that can be scored."""

    format: str
    revision: str
    votes: Votes
    behaviour: Behaviour
    items: int  # of the file's revision
    warnings: tuple[Notice, ...]
    texts: Mapping[str, float | None] | None = None  # about the judge's texts; None in files without them. Not reported


def read_upload(data: bytes, table: ItemTable) -> Upload:
    """Read the votes of a file.

    Raises:
        UploadRejected: with every problem found (the first 100 listed).
    """
    findings = Findings()
    reading = read_file(data, findings, len(table))
    matched = match(reading, table)
    _refuse_other_benchmark(reading.rows, table, matched, findings)
    _report_unknown(reading.rows, table, matched, findings)
    per_item = _votes_per_item(reading, matched, table, findings)
    _report_coverage(per_item, reading.rows, table, matched, findings)
    report_texts(reading, table, matched, findings)
    settle_order(reading, matched, findings)
    if findings.problem_count:
        findings.problems.sort(key=lambda problem: (problem.line is None, problem.line or 0))
        raise findings.rejected()
    report_ids(reading.rows, table, matched, findings)
    for code, message, indices in reading.remarks:
        names = dict.fromkeys(name_of(matched.items[i], table, matched.revision) for i in indices)
        findings.note(code, message, names)
    return _upload(reading, table, matched, len(next(iter(per_item.values()))), findings)


def check_report(result: Upload | UploadRejected, benchmark: str) -> dict[str, Any]:
    """The check report that people, programs and the sandbox read; its keys are fixed."""
    read = result if isinstance(result, Upload) else None
    problems = () if isinstance(result, Upload) else result.problems
    return {
        "ok": read is not None,
        "format": result.format,
        "benchmark": benchmark,
        "revision": read and read.revision,
        "items": read and read.items,
        "votes_per_item": read and read.votes.k,
        "parse_rate": read and read.behaviour.parse_rate,
        "first_shown_rate": read and read.behaviour.first_shown_rate,
        "warnings": [{"code": w.code, "message": w.message, "ids": list(w.ids)} for w in result.warnings],
        "problems": [asdict(problem) for problem in problems],
        "problem_count": 0 if isinstance(result, Upload) else result.problem_count,
    }


def _refuse_other_benchmark(rows: Sequence[Row], table: ItemTable, matched: Matched, findings: Findings) -> None:
    """Refuse, in one sentence, a file about the real benchmark on the demo, or about the demo on the real one."""
    unknown = [row for row, item in zip(rows, matched.items, strict=True) if item == UNKNOWN]
    if not unknown or len(unknown) < _FOREIGN_SHARE * len(rows):
        return
    names = {row.id for row in unknown if row.id is not None}
    if table.benchmark != REAL_BENCHMARK:
        real = ItemTable.load(REAL_BENCHMARK)
        fitting = sum(bool(real.by_id(name)) for name in names)
        by_text = not names and any(item != UNKNOWN for item in match(Reading("", list(unknown[:100])), real).items)
        if by_text or (names and fitting >= _FOREIGN_SHARE * len(names)):
            message = (
                "This is a file about the real VL-RewardBench, and this service runs its synthetic demo benchmark; "
                "whoever runs it serves the real one by setting LABELS to the labels' file or Hub dataset."
            )
            findings.problems.clear()
            findings.problem_count = 0
            raise findings.reject("other-benchmark", message)
    elif names and sum(name.startswith("demo-") for name in names) >= _FOREIGN_SHARE * len(names):
        message = (
            "This is a file about the synthetic demo benchmark, and this service scores the real VL-RewardBench; "
            "run the judge on the real items, or serve the demo by leaving the setting LABELS empty."
        )
        findings.problems.clear()
        findings.problem_count = 0
        raise findings.reject("other-benchmark", message)


def _report_unknown(rows: Sequence[Row], table: ItemTable, matched: Matched, findings: Findings) -> None:
    """A problem for every row about no item of the benchmark."""
    for row, item in zip(rows, matched.items, strict=True):
        if item != UNKNOWN:
            continue
        name, near = row.id, None
        if name is not None:
            folded = {" ".join(unicodedata.normalize("NFKC", name).split()), name.strip()}
            near = next((f for f in sorted(folded) if table.by_id(f)), None)
        if row.key is not None:
            code, message = "unknown-item", "no item has this key; take `item` from the dataset's fingerprints"
        elif near:
            code, message = "unknown-item", f"no item has exactly this id; write {near!r}"
        elif name is None:
            code, message = "unknown-item", "neither texts nor row number are those of an item of this benchmark"
        else:
            code, message = "unknown-item", "no item of this benchmark has this id; take ids from the dataset unchanged"
        shown = name if name is not None else row.key
        findings.add(code, message, line=row.line, id=shown, field="item" if row.key is not None else "id")


def _votes_per_item(reading: Reading, matched: Matched, table: ItemTable, findings: Findings) -> dict[int, list[int]]:
    """Item index -> its rows, in file order; problems for repeated items and for different numbers of votes."""
    per_item: dict[int, list[int]] = {}
    for index, item in enumerate(matched.items):
        if item != UNKNOWN:
            per_item.setdefault(item, []).append(index)
    rows, name = reading.rows, partial(name_of, table=table, revision=matched.revision)
    if reading.one_vote_a_row:
        votes = {item: len(held) for item, held in per_item.items()}
    else:
        votes = {item: len(rows[held[0]].choices) for item, held in per_item.items()}
        for item, held in per_item.items():
            for index in held[1:]:
                message = f"the item was already answered on line {rows[held[0]].line}; give each item once"
                findings.add("duplicate-item", message, line=rows[index].line, id=name(item))
    usual = Counter(votes.values()).most_common(1)[0][0] if votes else 1
    if usual > MAX_VOTES_PER_ITEM:
        findings.add("votes-count", f"{usual} votes an item; at most {MAX_VOTES_PER_ITEM} count, remove the others")
    different = {item: count for item, count in votes.items() if count != usual}
    if reading.one_vote_a_row and len(different) <= findings.unread and max(different.values(), default=0) < usual:
        different = {}  # explained by lines that could not be read
    for item, count in different.items():
        message = f"has {count} votes where most items have {usual}; give the same number on every item"
        findings.add("votes-differ", message, line=rows[per_item[item][-1]].line, id=name(item), field="votes")
    return per_item


def _report_coverage(
    per_item: dict[int, list[int]], rows: Sequence[Row], table: ItemTable, matched: Matched, findings: Findings
) -> None:
    """One problem for all items that the file lacks of its revision, and one for every item that it has beyond."""
    revision = matched.revision
    held = table.in_revision(revision)
    extra = [item for item in per_item if revision not in table.items[item].rows]
    missing = [item for item in held if item not in per_item]
    for item in extra:
        message = f"revision {revision}, which the other rows fit, lacks this item; remove it or complete the file"
        findings.add("extra-item", message, line=rows[per_item[item][0]].line, id=name_of(item, table, revision))
    if len(missing) <= findings.unread or (not per_item and findings.problem_count):
        return
    names = [name_of(item, table, revision) for item in missing]
    shown = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else "")
    message = (
        f"the file has no votes for {len(names):,} of the {len(held):,} items of revision {revision}, and must cover "
        f"them all; missing: {shown}"
    )
    findings.add("missing-item", message, id=names[0] if len(names) == 1 else None)


def _upload(reading: Reading, table: ItemTable, matched: Matched, rows_per_item: int, findings: Findings) -> Upload:
    """The votes of a file without problems."""
    count = len(reading.rows)
    k = rows_per_item if reading.one_vote_a_row else len(reading.rows[0].choices)
    width = 1 if reading.one_vote_a_row else k
    choices = np.array([row.choices for row in reading.rows], dtype=np.int8).reshape(count, width)
    items = np.array(matched.items)
    shown, flips = _orders(reading, table, matched, width)
    stored = np.where(choices == UNDECIDED, choices, choices ^ flips[:, None])
    matrix = np.full((len(table), k), ABSENT, dtype=np.int8)
    # A stable sort keeps the votes of an item in file order.
    order = np.argsort(items, kind="stable")
    held = np.unique(items)
    matrix[held] = stored[order].reshape(len(held), k)
    decided = choices >= 0
    known = decided & (shown >= 0)
    behaviour = Behaviour(
        parse_rate=float(decided.mean()),
        first_shown_rate=float((choices == shown)[known].mean()) if known.any() else None,
        self_consistency=self_consistency(matrix),
    )
    texts = _about_texts(reading.rows, order, len(held), k)
    return Upload(reading.format, matched.revision, Votes(matrix), behaviour, len(held), tuple(findings.notices), texts)


def _about_texts(rows: Sequence[Row], order: Any, items: int, k: int) -> dict[str, float | None] | None:
    """Shares: items whose K texts are one and the same (None for K = 1), and texts that are empty."""
    marks = [row.texts for row in rows if row.texts is not None]
    if len(marks) < len(rows):
        return None
    table = np.array(marks, dtype=np.int64).reshape(len(rows), -1)[order].reshape(items, k)
    same = (table == table[:, :1]).all(axis=1) if k > 1 else None
    return {
        "identical_rate": None if same is None else float(same.mean()),
        "empty_rate": float((table == 0).mean()),
    }


def _orders(reading: Reading, table: ItemTable, matched: Matched, width: int) -> tuple[Any, Any]:
    """Rows x votes: the index (as in ``choices``) shown first, or -1; and per row whether to flip to stored order."""
    rows, none = reading.rows, (-1,) * width
    flips = np.array(
        [
            (flip or 0) ^ int(row.by_parity and table.items[item].swapped_by_parity)
            for row, item, flip in zip(rows, matched.items, matched.flips, strict=True)
        ],
        dtype=np.int8,
    )
    shown = np.array([row.shown or none for row in rows], dtype=np.int8).reshape(len(rows), width)
    return shown, flips
