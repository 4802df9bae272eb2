"""Files in the shape that the official inference_hf.py writes, about any dataset rows."""

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

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
