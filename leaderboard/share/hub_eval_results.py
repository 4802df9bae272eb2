"""Scores of an entry for its model repository on the Hugging Face Hub (.eval_results/*.yaml)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leaderboard.board.rows import Board, BoardRow
from leaderboard.share.escape import one_line
from vlrb.common.messages import _
from vlrb.common.rounding import tenths
from vlrb.protocols import protocols


def dataset_definition(board: Board) -> bytes:
    """Return the eval.yaml of the dataset: it makes the Hub show `.eval_results` with the task ids used here.

    The Hub has a list of frameworks; ours has to be added to it (huggingface.js, packages/tasks/src/eval.ts).
    """
    import yaml

    spec = board.spec
    tasks = [{"id": name, "config": "default", "split": "test"} for name in board.counted_values]
    about = "Pairs of responses to a question: which one is better, and does a judge agree with people?"
    content = {"name": spec.title, "description": about, "evaluation_framework": spec.id, "tasks": tasks}
    text: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
    return text.encode()


def eval_results(entry: Mapping[str, Any], row: BoardRow, *, board: Board, address: str) -> bytes:
    """YAML in the format of https://huggingface.co/docs/hub/eval-results; values are percent with one decimal.

    The dataset's Git revision is left out: label revisions here have names, and not all of them were ever a commit.
    """
    import yaml
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml  # a tenth of a second for those who ask

    rule, categories = protocols(board.spec)[board.protocol].title, board.spec.grouping_text(board.grouping).title
    how = f"rule {rule}, categories {categories}, labels {board.label_revision}"
    votes = row.votes_per_item
    notes = f"{row.version or row.model}: {how}, {votes} {'vote' if votes == 1 else 'votes'} per pair"
    notes += f"; no rank: {row.remark}" if row.remark else ""
    results = [
        EvalResultEntry(
            dataset_id=board.spec.hub_dataset,
            task_id=task,
            value=tenths(value) / 10,
            date=entry["submitted_at"],
            source_url=address,
            source_name=f"{board.spec.brand} leaderboard",
            notes=one_line(notes),
        )
        for task in board.counted_values  # eval.yaml declares the same
        if (value := row.value(task)) is not None
    ]
    text: str = yaml.safe_dump(eval_result_entries_to_yaml(results), sort_keys=False, allow_unicode=True)
    return text.encode()


def not_counted(row: BoardRow, board: Board) -> str | None:
    """Return why a row has no record for another site; None if it has one."""
    if row.tier != "scored":
        return _("This result is reported from elsewhere; only what was counted here is written for the Hub.")
    if board.spec.synthetic:
        return _("A simulated judge on synthetic pairs has no score on {dataset}.", dataset=board.spec.hub_dataset)
    return None


def refusal(row: BoardRow, board: Board) -> str | None:
    """Return why there is no such file for a row; None if there is one."""
    if (reason := not_counted(row, board)) is not None:
        return reason
    return None if board.spec.hub_dataset else _("{title} is not a dataset on the Hub.", title=board.spec.title)
