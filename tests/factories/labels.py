"""Small invented benchmarks, labels and votes for tests."""

from typing import Any

import numpy as np

from tests.factories.specs import INVENTED, SOURCES, TAGS
from vlrb.behaviour import Behaviour
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.labels import LabelSet, make_label_set
from vlrb.benchmarks.pairs import build_table
from vlrb.scoring import Tally, tally
from vlrb.votes import Matrix, Votes

SIZES = {
    "VLFeedback": 10,
    "WildVision": 173,
    "POVID": 448,
    "RLAIF-V": 233,
    "RLHF-V": 68,
    "MathVerse": 167,
    "MMMU-Pro": 151,
}


def pairs(per_source: int | dict[str, int] = 3) -> list[dict[str, Any]]:
    """Dataset rows with distinct texts, sources in the order of SOURCES."""
    sizes = per_source if isinstance(per_source, dict) else dict.fromkeys(SOURCES, per_source)
    return [
        {
            "id": f"{source}-{number}",
            "source": source,
            "query": f"What does picture {number} of {source} show?",
            "response": [f"A {source} thing." + " Indeed." * (number % 3), f"No {source} thing {number} at all."],
        }
        for source in SOURCES
        for number in range(sizes[source])
    ]


def table(per_source: int | dict[str, int] = 3) -> ItemTable:
    """Return a table of one revision, r1."""
    return build_table(INVENTED, {"r1": pairs(per_source)})


def labels(
    items: ItemTable, preferred: list[int] | None = None, *, tags: bool = True, revision: str = "r1"
) -> LabelSet:
    """Return labels for every item: given, or alternating 0, 1; tags go round among non-reasoning items."""
    wanted = preferred or [i % 2 for i in range(len(items))]
    tagged = {i: frozenset({TAGS[i % len(TAGS)]}) for i, item in enumerate(items.items) if item.category != "reasoning"}
    return make_label_set(revision, items, preferred=dict(enumerate(wanted)), tags=tagged if tags else None)


def random_matrix(items: int, k: int, *, seed: int) -> Matrix:
    """Return items x K votes."""
    return np.random.default_rng(seed).choice(np.array((-1, 0, 1), dtype=np.int8), size=(items, k))


def random_tally(items: ItemTable, k: int = 5) -> Tally:
    """Return the tally of a judge that guesses, and sometimes does not decide."""
    return tally(Votes(random_matrix(len(items), k, seed=0)), labels(items), table=items)


BEHAVIOUR = Behaviour(parse_rate=0.9, first_shown_rate=0.5, self_consistency=0.8)
