"""Rules of a board: what of a definition decides its order. A board keeps its own when the definition changes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from vlrb.benchmarks.spec import BenchmarkSpec, Protocol
from vlrb.benchmarks.spec_file import texts_of_rule


def rules_of(spec: BenchmarkSpec) -> str:
    """Return the headline, the rules of votes and the groupings of a definition, in order, as one text."""
    rules = [[rule.key, rule.rule, rule.unreadable, rule.votes, rule.rereads] for rule in spec.protocols]
    groupings = [[name, {key: list(keys) for key, keys in members.items()}] for name, members in spec.groupings.items()]
    return json.dumps({"headline": spec.headline, "rules": rules, "groupings": groupings})


@lru_cache(256)
def under(spec: BenchmarkSpec, rules: str) -> BenchmarkSpec:
    """Return the definition with the rules of a board; the definition itself where they are its own, or "".

    So it is where it has the headline, a source or a category of the rules no more.
    """
    if rules in ("", rules_of(spec)):
        return spec
    kept = json.loads(rules)
    groupings = {name: {key: tuple(keys) for key, keys in members.items()} for name, members in kept["groupings"]}
    official = next(iter(groupings.values()))
    category = {source: key for key, sources in official.items() for source in sources}
    if kept["headline"] not in spec.score_names or category.keys() != {*spec.source_keys}:
        return spec
    if any(members.keys() != {*spec.category_keys} for members in groupings.values()):
        return spec
    return replace(
        spec,
        headline=kept["headline"],
        groupings=groupings,
        sources=tuple(replace(source, category=category[source.key]) for source in spec.sources),
        protocols=tuple(_rule(spec, *row) for row in kept["rules"]),
    )


def _rule(spec: BenchmarkSpec, key: str, *stored: Any) -> Protocol:
    rule, unreadable, votes, rereads = stored
    known = next((protocol for protocol in spec.protocols if protocol.key == key), None)
    if known is not None and (known.unreadable, known.votes) == (unreadable, votes):
        return replace(known, rereads=rereads)
    title = known.title if known is not None else key  # the other texts say what the rule is now
    return Protocol(key, title, rule, unreadable, votes, **texts_of_rule(rule), rereads=rereads)


def decision(before: str, after: str) -> dict[str, Any]:
    """Return what the record of a change of rules says: what differs, and both in full; nothing where nothing does."""
    old, new = changes(before, after)
    return {"before": old, "after": new, "rules": [before, after]} if old or new else {}


def changes(before: str, after: str) -> tuple[dict[str, str | None], dict[str, str | None]]:
    """Return what differs between the rules of two boards, by what it is: before, and after."""
    old, new = _described(before), _described(after)
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return {name: old.get(name) for name in names}, {name: new.get(name) for name in names}


def _described(rules: str) -> Mapping[str, str]:
    kept: dict[str, Any] = json.loads(rules)
    return {
        "headline": kept["headline"],
        "rules": ", ".join(row[0] for row in kept["rules"]),
        "groupings": ", ".join(name for name, _ in kept["groupings"]),
        **{f"rule {key}": f"{votes} of votes, unreadable: {as_}" for key, _, as_, votes, _ in kept["rules"]},
        **{
            f"grouping {name}: {key}": ", ".join(sources)
            for name, members in kept["groupings"]
            for key, sources in members.items()
        },
    }
