"""Pools, filter reports and editions as plain text for a terminal. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from storage.annotation.pools import PoolView
from storage.clock import iso
from vlrb.common import rounding
from vlrb.common.messages import Message, _, joined, ngettext

BELOW_CHANCE = _("These judges score below chance on what stays, by construction.")


def pool_list(pools: Sequence[PoolView]) -> str:
    """Return a pool a paragraph."""
    return joined((_pool(pool) for pool in pools), "\n") or _("No pool is imported.")


def _pool(pool: PoolView) -> str:
    lines: list[str] = [
        _(
            "{id}  {name}: {count}, {at}, {folder}: {reason}",
            id=pool.id,
            name=pool.name,
            count=ngettext("{n:,} pair", "{n:,} pairs", pool.pairs),
            at=iso(pool.imported_at),
            folder=pool.folder,
            reason=pool.reason,
        )
    ]
    lines += [f"  {sources(pool.facts)}"]
    lines += ["  " + drafts(pool.facts)] if drafts(pool.facts) else []
    lines += ["  " + filtered(pool.report)] if pool.report else []
    return joined(lines, "\n")


def sources(facts: Mapping[str, Any]) -> str:
    """Return how many pairs come from where."""
    return ", ".join(f"{name} {number:,}" for name, number in facts["sources"].items())


def drafts(facts: Mapping[str, Any]) -> str:
    """Return how many pairs have a draft label, and how many test annotators."""
    labels, gold = facts["drafts"], facts["gold"]
    parts = [ngettext("{n:,} draft label", "{n:,} draft labels", labels)] if labels else []
    return joined([*parts, *([ngettext("{n:,} gold pair", "{n:,} gold pairs", gold)] if gold else [])])


def filtered(report: Mapping[str, Any]) -> str:
    """Return what the filter did, in a sentence."""
    pairs, judges = report["pairs"], ", ".join(judge["judge"] for judge in report["judges"])
    return _(
        "Filtered by {judges}: {kept:,} of {considered:,} stay, {rule_in_words}.",
        judges=judges,
        kept=pairs["kept"],
        considered=pairs["considered"],
        rule_in_words=Message(report["rule_in_words"], {}),
    )


def filter_report(report: Mapping[str, Any]) -> str:
    """Return what each judge and each combination removes, by source, and the expected share of wrong labels."""
    lines = [filtered(report), BELOW_CHANCE, "", _("Judges")]
    lines += [
        _(
            "  {judge}: {runs} runs, right on {share}, removes {removes_alone:,} alone; without it "
            "{stay_without_it:,} stay",
            judge=judge["judge"],
            runs=judge["runs"],
            share=percent(judge["accuracy"]),
            removes_alone=judge["removes_alone"],
            stay_without_it=judge["stay_without_it"],
        )
        for judge in report["judges"]
    ]
    lines += ["", _("Combinations")]
    lines += [
        _("  {judges}: {kept:,} stay", judges=" + ".join(combination["judges"]), kept=combination["kept"])
        for combination in report["combinations"]
    ]
    lines += ["", _("Sources")]
    lines += [
        _(
            "  {source}: {kept:,} of {considered:,} stay",
            source=row["source"],
            kept=row["kept"],
            considered=row["considered"],
        )
        for row in report["by_source"]
    ]
    return joined([*lines, "", *wrong_labels(report)], "\n")


def wrong_labels(report: Mapping[str, Any]) -> Iterable[str]:
    """Yield which share of labels to expect to be wrong among what stays."""
    for row in report["wrong_labels"]["rows"]:
        low, high = sorted((row["runs_independent"] or 0, row["runs_agree"] or 0))
        share = percent(row["in_pool"])
        yield _(
            "Of labels wrong in {share} of the pool: {low} to {high} among what stays.",
            share=share,
            low=percent(low),
            high=percent(high),
        )


def percent(share: float | None) -> str:
    """Return a share as percent; a dash for none."""
    return "–" if share is None else f"{rounding.percent(share)}%"


def editions(result: Sequence[Mapping[str, Any]]) -> str:
    """Return an edition a paragraph."""
    return joined((_edition(item) for item in result), "\n") or _("No edition was made here.")


def _edition(item: Mapping[str, Any]) -> str:
    lines = [f"{item['edition']}: {item['title']}, {item['version']}, " + edition_size(item)]
    lines += [
        _("  public folder: {public_folder}", public_folder=item["public_folder"]),
        _("  labels: {private_folder}", private_folder=item["private_folder"]),
    ]
    lines += [_("  filtered by {names}", names=", ".join(item["filtered_by"]))] if item["filtered_by"] else []
    return joined([*lines, _("  label commitment {label_commitment}", label_commitment=item["label_commitment"])], "\n")


def edition_size(item: Mapping[str, Any]) -> str:
    """Return how many pairs an edition has, and how far its annotators agree."""
    alpha = _("undefined") if item["alpha"] is None else f"{item['alpha']:.2f}"
    return _(
        "{count} ({public:,} public, {hidden:,} hidden), alpha {alpha}",
        count=ngettext("{n:,} pair", "{n:,} pairs", item["pairs"]),
        public=item["public"],
        hidden=item["hidden"],
        alpha=alpha,
    )
