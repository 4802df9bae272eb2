"""Scores of an entry for its model repository on the Hugging Face Hub (.eval_results/*.yaml)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from common.rounding import tenths
from leaderboard.board.columns import VALUES
from leaderboard.board.rows import Board, BoardRow
from leaderboard.render import GROUPING_NAMES, RULES
from leaderboard.share.escape import one_line

DATASET = "MMInstruction/VL-RewardBench"
TASKS = VALUES
"""The ids of the benchmark's tasks; the dataset's eval.yaml has to declare the same."""


def eval_results(entry: Mapping[str, Any], row: BoardRow, board: Board, address: str) -> bytes:
    """YAML in the format of https://huggingface.co/docs/hub/eval-results; values are percent with one decimal.

    The dataset's Git revision is left out: label revisions here have names, and not all of them were ever a commit.
    """
    import yaml
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml  # a tenth of a second for those who ask

    how = f"rule {RULES[board.protocol]}, categories {GROUPING_NAMES[board.grouping]}, labels {board.label_revision}"
    votes = row.votes_per_item
    notes = f"{row.version or row.model}: {how}, {votes} {'vote' if votes == 1 else 'votes'} per pair"
    made = [
        EvalResultEntry(
            dataset_id=DATASET,
            task_id=task,
            value=tenths(value) / 10,
            date=entry["submitted_at"],
            source_url=address,
            source_name="VL-RewardBench leaderboard",
            notes=one_line(notes),
        )
        for task in TASKS
        if (value := row.value(task)) is not None
    ]
    text: str = yaml.safe_dump(eval_result_entries_to_yaml(made), sort_keys=False, allow_unicode=True)
    return text.encode()


def refusal(row: BoardRow, board: Board) -> str | None:
    """Return why there is no such file for a row; None if there is one."""
    if row.tier != "scored":
        return "This result is reported from elsewhere; only what was counted here is written for the Hub."
    if board.benchmark == "demo":
        return f"A simulated judge on synthetic pairs has no score on {DATASET}."
    return None
