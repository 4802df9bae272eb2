"""Invented pairs and the prediction files that official tools would write about them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

CATEGORY_STRINGS = (
    "open_generation/correctness_task",
    "open_generation/preference_task",
    "knowledge",
    "reasoning",
    "safety",
    "vqa",
)
REPLIES = {
    "first": ("The first is right. [[A]]", "[[A]]", "[[B]] would be harsh, so [[A]]", "[[A]] rather than [[B]]"),
    "second": ("The second is right. [[B]]", "verdict: [[B]]", "not [A], but [[B]]"),
    "unreadable": ("", "I cannot tell.", "[[C]]", "[A]", "[[a]]", "[[ B ]]"),
}


def mmrb_items(count: int, seed: int) -> list[dict[str, Any]]:
    """Rows of ``all_data.json``: repeated ids, one full duplicate, responses of equal length."""
    dice = random.Random(seed)
    prefixes = {"reasoning": ("MathVista_", "mathvista_", "EMMA-Coding_"), "safety": ("PAIRS_", "pairs_", "hateful_")}
    rows = []
    for number in range(count):
        category = CATEGORY_STRINGS[number % len(CATEGORY_STRINGS)]
        prefix = dice.choice(prefixes.get(category, ("item_",)))
        first, second = (f"answer {number} " + "word " * dice.randint(1, 6) + side for side in ("left", "right"))
        rows.append(
            {
                "ID": f"{prefix}{number // 12}",  # several rows of a category share an id
                "Text": f"question {number}",
                "Image": f"images/{number}.jpg",
                "Output1": first,
                "Output2": second,
                "Better": dice.choice(("Output1", "Output2")),
                "Category": category,
            }
        )
    return [*rows, dict(rows[0])]


def mmrb_predictions(items: list[dict[str, Any]], seed: int) -> list[dict[str, Any]]:
    """Lines of the official script, one per item, in the order of the items."""
    dice = random.Random(seed)
    lines = []
    for item in items:
        reply = dice.choice(REPLIES[dice.choice(("first", "first", "second", "second", "unreadable"))])
        label = "A" if item["Better"] == "Output1" else "B"
        lines.append({"ID": item["ID"], "Label": label, "output": reply, "Meta": {"Category": item["Category"]}})
    return lines


def mm_rlhf_items(seed: int) -> list[dict[str, Any]]:
    """Rows of ``mm_reward_bench.jsonl``: 20 questions with 2 to 6 pairs; a path may hold two keywords."""
    dice = random.Random(seed)
    rows = []
    for number in range(20):
        category = ("mcq", "long", "short", "safety", "video")[number % 5]
        path = f"{category}/shortcut_{number}.png" if category in ("mcq", "long") else f"{category}/{number}.png"
        for pair in range(dice.randint(2, 6)):
            texts = {"chosen": f"good {number} {pair}", "rejected": f"bad {number} {pair} " + "word " * pair}
            media = "video" if category == "video" else "image"
            rows.append({"id": f"question-{number}", media: path, "prompt": f"question {number}", **texts})
    return rows


def mm_rlhf_predictions(items: list[dict[str, Any]], seed: int) -> list[dict[str, Any]]:
    """Lines with ``rewards``: right, wrong and tied."""
    dice = random.Random(seed)
    rewards = ([1, 0], [0.7, 0.2], [1, 0], [3.5, -1], [0, 1], [0.5, 0.5])
    return [{**item, "rewards": dice.choice(rewards)} for item in items]


def write_json_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_json(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write rows as one JSON list."""
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path
