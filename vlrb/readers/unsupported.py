"""Known formats that cannot be scored, each with the format that is needed instead."""

from __future__ import annotations

from typing import Any

from vlrb.common.messages import _

_NATIVE = _(
    "Write one line for each pair: its `id`, and `votes` (or `judgements`, or `scores`) as the documentation shows."
)


def refusal(value: Any) -> tuple[str, str] | None:
    """(code, sentence) for a record or a document that no reader can score; None if it is not known either."""
    if isinstance(value, list):
        value = value[0] if value and isinstance(value[0], dict) else {}
    if not isinstance(value, dict):
        return None
    keys = value.keys()
    results = value.get("results")
    if "out_all" in keys or "out_general" in keys:
        return (
            "correctness-only",
            _(
                "This is the results.json of IXC-2.5-Reward: right or wrong per pair, no choice, no id. {native}",
                native=_NATIVE,
            ),
        )
    if "swap_pred" in keys or "pair_acc" in keys:
        return "no-item-reference", _(
            "This looks like a file of LWE, but lacks `Output1`, `Output2` or `response`, which tell pair and order. "
            "Upload the file as LWE wrote it, or give the `id` of each pair: {native}",
            native=_NATIVE,
        )
    if "pred" in keys and "id" not in keys:
        return (
            "no-item-reference",
            _("This is a file of mmr: `text` and `pred` without an id, one vote a file. {native}", native=_NATIVE),
        )
    if isinstance(results, dict) or {"Macro Accuracy", "Overall Consistency"} & keys:
        return (
            "summary-only",
            _("This is a tool's summary of scores. Upload the file of single predictions that it wrote beside it."),
        )
    if "correct" in keys or "score" in keys or "flag_status" in keys:
        return "correctness-only", _(
            "This file says which pairs were right, not which response was chosen. {native}", native=_NATIVE
        )
    if "human_ranking" in keys or "query" in keys:
        return "no-votes", _("These are pairs of a dataset without a judge's votes. {native}", native=_NATIVE)
    return None
