"""The official script's scoring rule, restated from its behaviour, none of its code.

The oracle of the protocol `paper` (vlrb/protocols.py), the peer in `bench/`, and what the red-team page compares with.
Nothing that is scored goes through this.

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
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from vlrb.benchmarks.spec import DEFAULT_BENCHMARK
from vlrb.benchmarks.spec_file import load_spec

PATTERN = re.compile(
    r"(?:Overall Judgment|Therefore)\s*.*\s*-*\s*Answer\s*(\d+)\s*is\s*(?:the\s*)?(?:slightly\s*)?better", re.IGNORECASE
)
"""The pattern itself is a fact about the format: every reader of these files has to know what it accepts."""
CATEGORIES = load_spec(DEFAULT_BENCHMARK).category_keys
OfficialRow = Mapping[str, Any]
_PREFIXES = dict.fromkeys(("RLAIF", "RLHF", CATEGORIES[1]), CATEGORIES[1]) | dict.fromkeys(
    ("mathverse", "mmmu"), CATEGORIES[2]
)


def official_counts(
    rows: Iterable[OfficialRow],
    category_of: Callable[[str], str],
    *,
    status: Callable[[OfficialRow], str],
) -> dict[str, Counter[str]]:
    """Per category: how many items agree, reject, match nothing, or are split."""
    votes: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for row in rows:
        votes[row["id"], row["query"], "\t".join(sorted(row["response"]))].append(status(row))
    counts = {name: Counter[str]() for name in CATEGORIES}
    for (item_id, _, _), statuses in votes.items():
        most, number = Counter(statuses).most_common(1)[0]
        counts[category_of(item_id)][most if 2 * number > len(statuses) else "other"] += 1
    return counts


def category(item_id: str) -> str:
    """Return the category of an item by the prefix of its id up to the first underscore or hyphen."""
    return _PREFIXES.get(re.split("[_-]", item_id)[0], CATEGORIES[0])


def vote_status(row: OfficialRow) -> str:
    """Return whether one generation agrees with the ranking, rejects it, or matches nothing."""
    number = _number(row)
    if number is None:
        return "doesntMatch"
    rejected = row["ranking"].index(1) ^ bool(row["meta"]["random_number"])  # of the two as shown, from 0
    return "reject" if int(number) == rejected + 1 else "agree"


def faultless_status(row: OfficialRow) -> str:
    """Return the same, where a number that is neither 1 nor 2 matches nothing."""
    return vote_status(row) if _number(row) in ("1", "2") else "doesntMatch"


def stored_status(row: OfficialRow) -> str:
    """Return what the file says of itself."""
    return str(row["meta"]["flag_status"])


def _number(row: OfficialRow) -> str | None:
    match = PATTERN.search(row["meta"]["filter_choice"].replace("\n", "").replace("*", ""))
    return match[1] if match else None
