"""R1-Reward, MM-RLHF and Proxy-GRM: `rewards`, a pair or a list of K pairs, of the responses in the order shown.

The preferred response (`chosen`) was shown first, unless the prompt was swapped (`reverse`, Proxy-GRM). Which response
that is follows from its text. A row of a benchmark without `chosen` has both texts under the benchmark's names; there
the prompt (`qs`) tells the order, else rewards are about the label.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from vlrb.common.messages import _
from vlrb.file_remarks import ORDER_TELLS_LABEL
from vlrb.readers.base import FieldReader, ParsedFile, PredictionFormat, PredictionRow, flip, own_responses, preferred

_FIRST_IN_PROMPT = "[Response 1]:\n"


def read(records: Iterable[FieldReader], parsed: ParsedFile) -> None:
    """Add the rows of a file of rewards."""
    judged, preferred_first = True, True
    for fields in records:
        record = fields.record
        fields.require_id()
        own, named = own_responses(record, parsed.spec), None
        if "chosen" in record or "rejected" in record:
            named = fields.text("chosen"), fields.text("rejected")
        rewards, wanted = fields.score_pairs("rewards"), _("true (rejected shown first) or false")
        swapped = fields.order_flag(record.get("reverse", False), "reverse", wanted=wanted, types=(bool, int))
        if "reverse" in record:
            parsed.format = "proxy-grm"
        if not fields.ok:
            continue
        choices = [preferred(pair) for pair in rewards]
        critic = record.get("critic")
        for choice, text in zip(choices, critic if isinstance(critic, list) else [critic], strict=False):
            parsed.compare(choice, text)
        first = _shown_first(record.get("qs"), named or own)
        turned = swapped if named or first is None else first
        shown = swapped if first is None else first
        # A scorer of single responses leaves neither a prompt nor a text about both, and no verdicts of 0 and 1.
        judged &= bool({"critic", "qs"} & record.keys()) or all(one in (0, 1) for pair in rewards for one in pair)
        preferred_first &= not shown and (named is not None or first is None)
        row = PredictionRow(
            fields.line,
            [flip(choice, turned) for choice in choices],
            [shown] * len(choices),
            fields.id,
            fields.optional_text("qs") or fields.optional_text("prompt") or "",
            named or own,
            about_label=named is None and first is None,
        )
        parsed.add(row, rewards)
    if not judged:
        for row in parsed.rows:
            row.shown = None
    elif parsed.rows and preferred_first:
        message = _(
            "R1-Reward's script shows the preferred response first in every prompt. The order gives the "
            "label away: a judge that always picks the first response scores 100%."
        )
        parsed.marks[ORDER_TELLS_LABEL, message, ""] = []  # of the file, not of rows


def _shown_first(prompt: Any, responses: tuple[str, str] | None) -> int | None:
    """Return which response R1-Reward's prompt shows as Response 1; None where it does not tell."""
    if not isinstance(prompt, str) or responses is None or responses[0] == responses[1]:
        return None
    _, marker, first_text = prompt.partition(_FIRST_IN_PROMPT)
    fitting = [index for index in (0, 1) if marker and first_text.startswith(responses[index])]
    return max(fitting, key=lambda index: len(responses[index])) if fitting else None


R1_REWARD = PredictionFormat(
    key="r1-reward",
    read=read,
    file={"text_field": "chosen"},
    fields=(("id", "ID"), ("rewards",)),
    name="R1-Reward",
    tool="R1-Reward, MM-RLHF, Proxy-GRM",
    command='{"id": "…", "chosen": "…", "rejected": "…", "rewards": [1, 0]}',
    note="The higher reward decides, not the text beside it. Equal rewards are a tie.",
)
