"""The data card of an edition: what it holds, how it was made, and what to be careful about. Pure.

What depends on labels is shown for the public part alone. A card is published with its edition, so it is English
whatever the terminal speaks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import quantiles
from typing import Any

from vlrb.editions.splitting import PUBLIC, TraitBalance

BIN = 25  # words
LAST_BIN = 300
FILTER_TELLS = (
    "A rule that keeps what named judges get wrong reveals the labels to everybody who runs these judges on the "
    "questions: the response that they reject is the preferred one. Hidden labels of this edition are hidden from "
    "everybody else only."
)


def table_one(pairs: Sequence[Mapping[str, Any]], parts: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return pairs by category and source, with how many are public and hidden."""
    counts = Counter((pair["category"], pair["source"], parts[pair["id"]]) for pair in pairs)
    keys = sorted({key[:2] for key in counts})
    return [
        {
            "category": category,
            "source": source,
            "pairs": sum(n for key, n in counts.items() if key[:2] == (category, source)),
            "public": counts[category, source, PUBLIC],
        }
        for category, source in keys
    ]


def length_quartiles(texts: Iterable[str]) -> list[float] | None:
    """Return the quartiles of the numbers of words; None for fewer than two texts."""
    words = [len(text.split()) for text in texts]
    return quantiles(words, n=4, method="inclusive") if len(words) > 1 else None


def length_histogram(texts: Iterable[str]) -> list[tuple[str, int]]:
    """Return (words from-to, texts) in bins of 25; the last one is open."""
    bins = Counter(min(len(text.split()), LAST_BIN) // BIN for text in texts)
    return [(_bin_name(number), bins[number]) for number in range(max(bins, default=0) + 1)]


def _bin_name(number: int) -> str:
    first = number * BIN
    return f"{first}+" if first >= LAST_BIN else f"{first}-{first + BIN - 1}"


def longer_preferred(pairs: Iterable[Mapping[str, Any]]) -> float | None:
    """Return how often the longer response is preferred, of pairs with different lengths; None without any."""
    results = []
    for pair in pairs:
        first, second = (len(text.split()) for text in pair["response"])
        if first != second:
            results.append((second > first) == (pair["preferred"] == 1))
    return sum(results) / len(results) if results else None


def describe(
    pairs: Sequence[Mapping[str, Any]], parts: Mapping[str, str], *, balance: Sequence[TraitBalance]
) -> dict[str, Any]:
    """Return the counts of a card."""
    public = [pair for pair in pairs if parts[pair["id"]] == PUBLIC]
    responses = [text for pair in pairs for text in pair["response"]]
    return {
        "pairs": len(pairs),
        "public": len(public),
        "hidden": len(pairs) - len(public),
        "table": table_one(pairs, parts),
        "tags_public": dict(Counter(tag for pair in public for tag in pair.get("tags", ())).most_common()),
        "query_words": length_quartiles(pair["query"] for pair in pairs),
        "response_words": length_quartiles(responses),
        "query_histogram": length_histogram(pair["query"] for pair in pairs),
        "response_histogram": length_histogram(responses),
        "longer_preferred_public": longer_preferred(public),
        "licences": dict(sorted(Counter(f"{pair['source']}: {pair['licence']}" for pair in pairs).items())),
        "images": len({pair["image_sha256"] for pair in pairs}),
        "balance": [
            {"trait": trait.trait, "public": trait.public, "hidden": trait.hidden, "standardised": trait.standardised}
            for trait in balance
        ],
    }


def public_agreement(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a card tells of a verification: sums, and nobody's name."""
    kept = ("answers", "shared_pairs", "agreement", "alpha", "mean_kappa", "tags", "pairs", "labels_of_the_pool")
    return {**{name: report[name] for name in kept}, "annotators": len(report["annotators"])}


def card_text(card: Mapping[str, Any]) -> str:
    """Return the card in Markdown."""
    parts = [f"# {card['title']}", card["canary"], _what(card), _filtered(card), _verified(card)]
    parts += ["## Lengths", _histogram(card), "## Licences of the sources"]
    parts += ["\n".join(f"* {_plain(name)} ({number:,} pairs)" for name, number in card["licences"].items())]
    if card["retire"]:
        parts.append(f"This edition retires on {card['retire']}; its labels are published then.")
    parts += ["## Digests", "\n".join(f"* `{name}`: `{digest}`" for name, digest in card["sha256"].items())]
    parts.append(
        f"Commitment to the labels (HMAC-SHA256 of the digest of `labels.jsonl`): `{card['label_commitment']}`"
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def _what(card: Mapping[str, Any]) -> str:
    lines = [
        f"{card['pairs']:,} pairs about {card['images']:,} images: {card['public']:,} with public labels, "
        f"{card['hidden']:,} with hidden ones.",
        "",
        "| category | source | pairs | public labels |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {_plain(row['category'])} | {_plain(row['source'])} | {row['pairs']:,} | {row['public']:,} |"
        for row in card["table"]
    ]
    for row in card["balance"]:
        lines += ["", f"{row['trait'].capitalize()}: mean {row['public']:.2f} public, {row['hidden']:.2f} hidden "
                  f"({row['standardised']:+.2f} standard deviations)."]  # fmt: skip
    tags = ", ".join(f"{_plain(name)} {number:,}" for name, number in card["tags_public"].items())
    return "\n".join([*lines, *(["", f"Error tags of the public part: {tags}."] if tags else [])])


def _filtered(card: Mapping[str, Any]) -> str:
    result = card["filter"]
    if result is None:
        return ""
    pairs, judges = result["pairs"], ", ".join(_plain(judge["judge"]) for judge in result["judges"])
    size = f"{pairs['kept']:,} of {pairs['considered']:,} pairs stayed"
    return (
        f"## Filter\n\n{result['rule_in_words'].capitalize()}: {size}. "
        f"Judges: {judges}. They score below chance here by construction.\n\n{FILTER_TELLS}"
    )


def _verified(card: Mapping[str, Any]) -> str:
    result = card["agreement"]

    def shown(value: float | None) -> str:
        return "undefined" if value is None else f"{value:.2f}"

    return (
        f"## Verification\n\n{result['annotators']:,} annotators gave {result['answers']:,} answers. Krippendorff's "
        f"alpha {shown(result['alpha'])}, mean Cohen's kappa {shown(result['mean_kappa'])}."
    )


def _histogram(card: Mapping[str, Any]) -> str:
    queries, responses = dict(card["query_histogram"]), dict(card["response_histogram"])
    lines = ["| words | questions | responses |", "|---|---|---|"]
    names = sorted({**queries, **responses}, key=lambda name: int(name.rstrip("+").partition("-")[0]))
    lines += [f"| {name} | {queries.get(name, 0):,} | {responses.get(name, 0):,} |" for name in names]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Return a text that is no Markdown and no HTML."""
    return "".join(
        f"\\{character}" if character in "\\`*_[]|#" else {"<": "&lt;", "&": "&amp;"}.get(character, character)
        for character in text
    )
