"""`python -m workers score` and `commitment`: without a server, a database or a trace."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from benchmark.revisions import commitment
from benchmark.scorecard import scorecard
from benchmark.scoring import tally
from submissions.upload import UploadRejected, all_warnings, read_upload
from workers.labels import load_labels
from workers.scorecard_text import render
from workers.scorer import load_table


@dataclass(frozen=True, slots=True)
class Offline:
    """What there is to print: the scorecard (empty where the file was rejected), remarks, and whether it was scored."""

    scored: bool
    text: str
    remarks: tuple[str, ...]


def score(file: Path, labels: str, revision: str | None, items: Path | None, as_json: bool) -> Offline:
    """Scores a file. Raises LabelsError and OSError."""
    table = load_table(items)
    try:
        upload = read_upload(file.read_bytes(), table)
    except UploadRejected as rejected:
        remarks = [
            (f"line {problem.line}: " if problem.line is not None else "") + problem.message
            for problem in rejected.problems
        ]
        return Offline(False, "", (*remarks, f"error: {file} was rejected: {rejected.problem_count} problem(s)"))
    label_set = load_labels(labels, revision, table)
    counted = tally(upload.votes, label_set, table)
    card = scorecard(counted, upload.behaviour, benchmark=table.benchmark, label_revision=label_set.revision)
    text = json.dumps(card, indent=1) if as_json else render(card)
    return Offline(True, text, tuple(f"warning: {warning.message}" for warning in all_warnings(upload)))


def commitment_of(labels: str, revision: str, items: Path | None, salt: bytes) -> str:
    """The public commitment to a label file, 64 hex digits, for whoever has it and the salt. Raises LabelsError."""
    return commitment(load_labels(labels, revision, load_table(items)), salt)
