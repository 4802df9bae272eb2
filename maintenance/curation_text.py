"""Pools, filter reports and editions as plain text for a terminal. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from common.text import pluralize
from storage.annotation.pools import PoolView
from storage.clock import iso

BELOW_CHANCE = "These judges score below chance on what stays, by construction."


def pool_list(pools: Sequence[PoolView]) -> str:
    """Return a pool a paragraph."""
    return "\n".join(_pool(pool) for pool in pools) or "No pool is imported."


def _pool(pool: PoolView) -> str:
    lines = [
        f"{pool.id}  {pool.name}: {pluralize(pool.pairs, 'pair')}, {iso(pool.imported_at)}, "
        f"{pool.folder}: {pool.reason}"
    ]
    lines += [f"  {sources(pool.facts)}"]
    lines += [f"  {drafts(pool.facts)}"] if drafts(pool.facts) else []
    lines += [f"  {filtered(pool.report)}"] if pool.report else []
    return "\n".join(lines)


def sources(facts: Mapping[str, Any]) -> str:
    """Return how many pairs come from where."""
    return ", ".join(f"{name} {number:,}" for name, number in facts["sources"].items())


def drafts(facts: Mapping[str, Any]) -> str:
    """Return how many pairs have a draft label, and how many test annotators."""
    parts = [(facts["drafts"], "draft label"), (facts["gold"], "gold pair")]
    return ", ".join(pluralize(number, word) for number, word in parts if number)


def filtered(report: Mapping[str, Any]) -> str:
    """Return what the filter did, in a sentence."""
    pairs, judges = report["pairs"], ", ".join(one["judge"] for one in report["judges"])
    return f"Filtered by {judges}: {pairs['kept']:,} of {pairs['considered']:,} stay, {report['rule_in_words']}."


def filter_report(report: Mapping[str, Any]) -> str:
    """Return what each judge and each combination removes, by source, and the expected share of wrong labels."""
    lines = [filtered(report), BELOW_CHANCE, "", "Judges"]
    lines += [
        f"  {one['judge']}: {one['runs']} runs, right on {percent(one['accuracy'])}, removes {one['removes_alone']:,} "
        f"alone; without it {one['stay_without_it']:,} stay"
        for one in report["judges"]
    ]
    lines += ["", "Combinations"]
    lines += [f"  {' + '.join(one['judges'])}: {one['kept']:,} stay" for one in report["combinations"]]
    lines += ["", "Sources"]
    lines += [f"  {one['source']}: {one['kept']:,} of {one['considered']:,} stay" for one in report["by_source"]]
    return "\n".join([*lines, "", *wrong_labels(report)])


def wrong_labels(report: Mapping[str, Any]) -> Iterable[str]:
    """Yield which share of labels to expect to be wrong among what stays."""
    for one in report["wrong_labels"]["rows"]:
        low, high = sorted((one["runs_independent"] or 0, one["runs_agree"] or 0))
        share = percent(one["in_pool"])
        yield f"Of labels wrong in {share} of the pool: {percent(low)} to {percent(high)} among what stays."


def percent(share: float | None) -> str:
    """Return a share as percent; a dash for none."""
    return "–" if share is None else f"{100 * share:.1f}%"


def editions(result: Sequence[Mapping[str, Any]]) -> str:
    """Return an edition a paragraph."""
    return "\n".join(_edition(one) for one in result) or "No edition was made here."


def _edition(one: Mapping[str, Any]) -> str:
    lines = [f"{one['edition']}: {one['title']}, {one['version']}, {edition_size(one)}"]
    lines += [f"  public folder: {one['public_folder']}", f"  labels: {one['private_folder']}"]
    lines += [f"  filtered by {', '.join(one['filtered_by'])}"] if one["filtered_by"] else []
    return "\n".join([*lines, f"  label commitment {one['label_commitment']}"])


def edition_size(one: Mapping[str, Any]) -> str:
    """Return how many pairs an edition has, and how far its annotators agree."""
    alpha = "undefined" if one["alpha"] is None else f"{one['alpha']:.2f}"
    return f"{pluralize(one['pairs'], 'pair')} ({one['public']:,} public, {one['hidden']:,} hidden), alpha {alpha}"
