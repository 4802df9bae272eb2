"""The data card of an edition as a page, in English as the card itself. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vlrb.editions.folder.data_card import FILTER_TELLS
from vlrb.editions.report_page import ReportPart, bars, heading, page, paragraph, table

Card = Mapping[str, Any]


def card_page(card: Card) -> str:
    """Return the card as a self-contained page; it says what the card in Markdown says."""
    return page(card["title"], _parts(card))


def _parts(card: Card) -> Iterator[ReportPart]:
    yield paragraph(card["canary"])
    yield paragraph(
        f"{card['pairs']:,} pairs about {card['images']:,} images: {card['public']:,} with public labels, "
        f"{card['hidden']:,} with hidden ones."
    )
    columns = ("category", "source", "pairs", "public")
    yield table(("category", "source", "pairs", "public labels"), [[row[name] for name in columns]
                for row in card["table"]])  # fmt: skip
    yield from _balance(card)
    yield heading("Lengths")
    yield bars("Questions by number of words", card["query_histogram"])
    yield bars("Responses by number of words", card["response_histogram"])
    yield from _filter(card)
    yield from _verification(card)
    yield heading("Licences of the sources")
    yield table(("source and licence", "pairs"), list(card["licences"].items()))
    if card["retire"]:
        yield paragraph(f"This edition retires on {card['retire']}; its labels are published then.")
    yield heading("Digests")
    yield table(("file", "SHA-256"), list(card["sha256"].items()))
    yield paragraph(f"Commitment to the labels (HMAC-SHA256 of the digest of labels.jsonl): {card['label_commitment']}")


def _balance(card: Card) -> Iterator[ReportPart]:
    rows = [
        [row["trait"], *(f"{row[part]:.2f}" for part in ("public", "hidden")), f"{row['standardised']:+.2f}"]
        for row in card["balance"]
    ]
    if rows:
        yield heading("Public and hidden part")
        yield table(("trait", "mean, public", "mean, hidden", "difference in standard deviations"), rows)
    tags = list(card["tags_public"].items())
    if tags:
        yield table(("error tag", "pairs of the public part"), tags)


def _filter(card: Card) -> Iterator[ReportPart]:
    if (report := card["filter"]) is None:
        return
    pairs, judges = report["pairs"], ", ".join(judge["judge"] for judge in report["judges"])
    yield heading("Filter")
    yield paragraph(
        f"{report['rule_in_words'].capitalize()}: {pairs['kept']:,} of {pairs['considered']:,} pairs stayed. "
        f"Judges: {judges}. They score below chance here by construction."
    )
    yield paragraph(FILTER_TELLS, note=True)


def _verification(card: Card) -> Iterator[ReportPart]:
    report = card["agreement"]
    alpha, kappa = ("undefined" if value is None else f"{value:.2f}" for value in (
        report["alpha"], report["mean_kappa"]))  # fmt: skip
    yield heading("Verification")
    yield paragraph(
        f"{report['annotators']:,} annotators gave {report['answers']:,} answers. Krippendorff's alpha {alpha}, "
        f"mean Cohen's kappa {kappa}."
    )
