"""The data card of an edition: what it holds, how it was made, and what to be careful about. Pure.

What depends on labels is shown for the public part alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from vlrb.editions.markdown_report import ReportPart
from vlrb.editions.pool import PoolPair
from vlrb.statistics.power import DISCORDANT, smallest_gap

PUBLIC, HIDDEN = "public", "hidden"
BIN = 25  # words
LAST_BIN = 300
FILTER_TELLS = (
    "A rule that keeps what named judges get wrong reveals the labels to everybody who runs these judges on the "
    "questions: the response that they reject is the preferred one. Hidden labels of this edition are hidden from "
    "everybody else only."
)


def describe(pairs: Sequence[PoolPair]) -> dict[str, Any]:
    """Return the counts of a card. Each pair has its part as ``split``."""
    frame = pd.DataFrame(pairs)
    frame["public"] = frame["split"] == PUBLIC
    table = frame.groupby(["category", "source"])["public"].agg(pairs="size", public="sum").reset_index()
    public = [pair for pair in pairs if pair["split"] == PUBLIC]
    words = [tuple(len(text.split()) for text in pair["response"]) for pair in pairs]
    queries, responses = frame["query"].map(lambda text: len(text.split())), pd.Series(words).explode().astype(int)
    # Of preferred responses less the others, as in the paper's Figure 3.
    longer = pd.Series(
        [both[pair["preferred"]] - both[1 - pair["preferred"]] for pair, both in zip(pairs, words, strict=True)]
    )[frame["public"]]
    return {
        "pairs": len(pairs),
        "public": len(public),
        "hidden": len(pairs) - len(public),
        "table": table.to_dict("records"),
        "tags_public": dict(Counter(tag for pair in public for tag in pair.get("tags", ())).most_common()),
        "query_words": queries.quantile([0.25, 0.5, 0.75]).tolist(),
        "response_words": responses.quantile([0.25, 0.5, 0.75]).tolist(),
        "difference_histogram_public": _histogram(longer),
        "licences": (frame["source"] + ": " + frame["licence"]).value_counts().sort_index().to_dict(),
        "images": int(frame["image_sha256"].nunique()),
    }


def _histogram(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Return (first number of the bin, texts) in bins of 25; the outer ones are open."""
    bins = Counter(max(-LAST_BIN, min(number, LAST_BIN)) // BIN for number in numbers)
    return [(number * BIN, bins[number]) for number in range(min([*bins, 0]), max([*bins, 0]) + 1)]


def card_parts(card: Mapping[str, Any]) -> Iterator[ReportPart]:
    """Yield what the card says."""
    yield card["canary"]
    yield (
        f"{card['pairs']:,} pairs about {card['images']:,} images: {card['public']:,} with public labels, "
        f"{card['hidden']:,} with hidden ones."
    )
    yield pd.DataFrame(card["table"])
    yield from _separated(card["pairs"])
    yield "## Funnel"
    yield _funnel(card)
    if card["filter"] is not None:
        judges = ", ".join(judge["judge"] for judge in card["filter"]["judges"])
        yield (
            f"Pairs stayed by the rule “{card['filter']['rule']}”, about shares of runs or judges that are wrong. "
            f"Judges: {judges}. They score below chance here by construction."
        )
        yield FILTER_TELLS
    agreement = card["agreement"]
    alpha, kappa = (
        "undefined" if value is None else f"{value:.2f}" for value in (agreement["alpha"], agreement["mean_kappa"])
    )
    yield (
        f"{agreement['annotators']:,} annotators gave {agreement['answers']:,} answers. Krippendorff's alpha {alpha}, "
        f"mean Cohen's kappa {kappa}."
    )
    for row in card["balance"]:
        yield f"Means of the {row['part']} part: {row['difficulty']:.1%} of runs wrong, {row['words']:.1f} words."
    if card["tags_public"]:
        tags = ", ".join(f"{name} {number:,}" for name, number in card["tags_public"].items())
        yield f"Error tags of the public part: {tags}."
    yield "## Lengths"
    for name in ("query", "response"):
        low, middle, high = card[f"{name}_words"]
        yield f"Words of a {name}: median {middle:g}, quartiles {low:g} and {high:g}."
    yield "Words by which preferred responses are longer than the others, public part:"
    bins = [(f"{first} to {first + BIN - 1}", number) for first, number in card["difference_histogram_public"]]
    yield pd.DataFrame(bins, columns=["words", "pairs"])
    yield "## Licences of the sources"
    yield pd.DataFrame(card["licences"].items(), columns=["source and licence", "pairs"])
    if card["retire"]:
        yield f"This edition retires on {card['retire']}; its labels are published then."
    yield "## Digests"
    yield pd.DataFrame(card["sha256"].items(), columns=["file", "SHA-256"])
    yield f"Commitment to the labels (HMAC-SHA256 of the digest of labels.jsonl): {card['label_commitment']}"


def _separated(pairs: int) -> Iterator[ReportPart]:
    """Yield the smallest gap between two judges that an edition separates."""
    for share in DISCORDANT:
        if (gap := smallest_gap(pairs, discordant=share)) is not None:
            yield (
                f"Two judges of whom exactly one is right on {share:.0%} of the pairs separate from "
                f"{100 * gap:.1f} points on (McNemar's test, power 80%)."
            )


def _funnel(card: Mapping[str, Any]) -> pd.DataFrame:
    """Return how many pairs each step left."""
    steps: list[tuple[str, int]] = []
    if card["filter"] is not None:
        pairs = card["filter"]["pairs"]
        steps += [("considered by the filter", pairs["considered"]), ("kept by the filter", pairs["kept"])]
    states = card["agreement"]["pairs"]
    steps += [("shown to people", sum(states.values())), ("in this edition", card["pairs"])]
    return pd.DataFrame(steps, columns=["step", "pairs"])
