"""The official `cal.py` rule, plainly re-implemented: the oracle of the `paper` protocol and the peer in `bench/`.

Per item: agree / reject / doesntMatch if more than half of its votes are so, else other. A category's accuracy is
agree / (agree + reject). The one difference from the official script: a number that is neither 1 nor 2 matches nothing.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from vlrb.benchmarks.spec import DEFAULT_BENCHMARK
from vlrb.benchmarks.spec_file import load_spec

PATTERN = re.compile(
    r"(?:Overall Judgment|Therefore)\s*.*\s*-*\s*Answer\s*(\d+)\s*is\s*(?:the\s*)?(?:slightly\s*)?better", re.IGNORECASE
)
CATEGORIES = load_spec(DEFAULT_BENCHMARK).category_keys
_PREFIXES = dict.fromkeys(("RLAIF", "RLHF", CATEGORIES[1]), CATEGORIES[1]) | dict.fromkeys(
    ("mathverse", "mmmu"), CATEGORIES[2]
)


def category(item_id: str) -> str:
    """Return the category of an item by the prefix of its id up to the first underscore or hyphen."""
    prefix = re.split("[_-]", item_id)[0]
    return _PREFIXES.get(prefix, CATEGORIES[0])


def vote_status(row: dict[str, Any]) -> str:
    """Return whether one generation agrees with the ranking, rejects it, or matches nothing."""
    meta = row["meta"]
    match = PATTERN.search(meta["filter_choice"].replace("\n", "").replace("*", ""))
    if not match or match.group(1) not in ("1", "2"):
        return "doesntMatch"
    position = int(match.group(1)) - 1
    stored = 1 - position if meta["random_number"] else position
    return "agree" if row["ranking"][stored] == 0 else "reject"


def item_status(votes: list[str]) -> str:
    """Return the majority over all votes, doesntMatch included; other where there is none."""
    for status, count in Counter(votes).items():
        if count > len(votes) / 2:
            return status
    return "other"


def official_counts(lines: Iterable[str | bytes]) -> dict[str, Counter[str]]:
    """Per category: how many items agree, reject, match nothing, or are split."""
    votes: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for line in lines:
        row = json.loads(line)
        key = (row["id"], row["query"], "\t".join(sorted(row["response"])))
        votes[key].append(vote_status(row))
    counts: dict[str, Counter[str]] = {name: Counter() for name in CATEGORIES}
    for (item_id, _, _), statuses in votes.items():
        counts[category(item_id)][item_status(statuses)] += 1
    return counts
