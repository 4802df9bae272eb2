"""The official script: its scoring rule, restated from its behaviour, none of its code, and files in its shape.

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

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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


def _number(row: OfficialRow) -> str | None:
    match = PATTERN.search(row["meta"]["filter_choice"].replace("\n", "").replace("*", ""))
    return match[1] if match else None


FILLER = (
    "Answer {n} names the objects in the picture more carefully and leaves out nothing that the question asks about. "
    "The other one adds a detail that cannot be seen, and its order of events is hard to follow. "
)
ENDINGS = (
    "Overall Judgment: Answer {n} is better.",
    "**Overall Judgment**: **Answer {n} is slightly better**.",
    "Therefore, Answer {n} is the better one: Answer {n} is better.",
    "Both answers are fine and I cannot choose.",
    "Overall Judgment: Answer 3 is better.",
)
WEIGHTS = (40, 30, 20, 6, 4)


def official_lines(rows: Sequence[dict[str, Any]], k: int, *, seed: int, sentences: int = 4) -> Iterator[str]:
    """K lines per row; the judge guesses, and now and then decides nothing or names an answer that is not there."""
    source = random.Random(seed)
    for row in rows:
        for _ in range(k):
            position, swapped = source.randint(1, 2), source.randint(0, 1)
            ending = source.choices(ENDINGS, WEIGHTS)[0]
            text = (FILLER * sentences + "\n" + ending).format(n=position)
            meta = {
                "filtering model": "invented/judge",
                "filter_choice": text,
                "filter_prompt": "Which answer is better?",
                "filter_number": -1,
                "random_number": swapped,
                "flag_status": "agree",
            }
            record = {
                "id": row["id"],
                "query": row["query"],
                "response": row["response"],
                "ranking": row["human_ranking"],
                "models": row.get("models"),
                "judge": row.get("judge"),
                "rationale": "",
                "meta": meta,
                "query_source": row.get("query_source") or "",
            }
            yield json.dumps(record, separators=(",", ":")).replace("/", "\\/") + "\n"
