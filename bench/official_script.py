"""The official script's scoring rule, faults included; restated from its behaviour, none of its code.

For the red-team page alone. Nothing that is scored goes through this; the protocol `paper` (vlrb/protocols.py) is
the same rule without the faults, and tests hold it against a restatement of their own.

What the rule does (vl-rewardbench/VL_RewardBench, `cal.py` at 9b10abd):
* the label is the `ranking` of the uploaded line;
* the last "Answer N is better" after the first "Overall Judgment" or "Therefore" is the verdict, and every N that is
  not the number of the rejected answer agrees;
* lines are one item if id, query and the set of responses are the same text, white space included;
* an item agrees (rejects) if more than half of its lines do; all other items are left out of every denominator;
* the category follows from the id's beginning; a category without a decided item divides by zero;
* with re-parsing switched off, the uploaded `flag_status` is taken as it is.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from vlrb.benchmarks.spec import DEFAULT_BENCHMARK
from vlrb.benchmarks.spec_file import load_spec

PATTERN = re.compile(
    r"(?:Overall Judgment|Therefore)\s*.*\s*-*\s*Answer\s*(\d+)\s*is\s*(?:the\s*)?(?:slightly\s*)?better", re.IGNORECASE
)
"""The pattern itself is a fact about the format: every reader of these files has to know what it accepts."""


@dataclass(frozen=True, slots=True)
class Reported:
    """What the script prints: accuracies as fractions, and how many items it took the file for."""

    pooled: float
    mean: float
    items: int


def reported(rows: Iterable[Mapping[str, Any]], category_of: Mapping[str, str], *, reparse: bool = True) -> Reported:
    """``rows``: parsed lines. ``category_of``: id -> category, as the ids of the real benchmark tell it.

    Raises:
        ZeroDivisionError: a category has no decided item.
    """
    votes: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for row in rows:
        votes[row["id"], row["query"], "\t".join(sorted(row["response"]))].append(
            status(row) if reparse else row["meta"]["flag_status"]
        )
    counts = {name: Counter[str]() for name in load_spec(DEFAULT_BENCHMARK).category_keys}
    for (name, _, _), statuses in votes.items():
        most, number = Counter(statuses).most_common(1)[0]
        counts[category_of[name.strip()]][most if 2 * number > len(statuses) else "other"] += 1
    shares = [count["agree"] / (count["agree"] + count["reject"]) for count in counts.values()]
    agree, reject = (sum(count[word] for count in counts.values()) for word in ("agree", "reject"))
    return Reported(agree / (agree + reject), sum(shares) / len(shares), items=len(votes))


def status(row: Mapping[str, Any]) -> str:
    """agree, reject or doesntMatch."""
    meta = row["meta"]
    match = PATTERN.search(meta["filter_choice"].replace("\n", "").replace("*", ""))
    if not match:
        return "doesntMatch"
    rejected = row["ranking"].index(1) ^ meta["random_number"]  # of the two as shown, from 0
    return "reject" if int(match.group(1)) == rejected + 1 else "agree"
