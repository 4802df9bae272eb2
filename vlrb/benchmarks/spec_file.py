"""Reader of definitions: one folder below ``vlrb/benchmarks/`` holds one benchmark, in its ``spec.toml``.

How to add a folder: docs/benchmarks.md.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from vlrb.benchmarks.spec import DEFINITIONS, GROUPS, MEAN, MICRO, SENTENCE, TIE, BenchmarkSpec, Shown, SpecError
from vlrb.common.messages import Message

SPEC = "spec.toml"
"""The definition in its folder."""
OFFICIAL = "official"
"""The grouping of a definition that states none."""
VERDICT_FORMATS = (SENTENCE, "double-brackets", "answer-tag")
UNREADABLE_RULES = ("wrong", "excluded", "half", "first")
VOTE_RULES = ("majority", "first")
_OPTIONS: Mapping[str, int] = {"first": 0, "second": 1, "tie": TIE}
_MICRO = {"key": "micro", "title": "All pairs alike", "kind": MICRO}
_STRICT = {
    "key": "strict",
    "rule": "A pair counts if more than half of its votes are for the preferred response",
    "summary": "ranks this board",
    "text": (
        "ranks. A pair is right if more than half of all K votes are for the preferred response; where exactly half of "
        "an even K are, it counts one half, which is what K - 1 of the votes count on average. An undecided, "
        "unreadable or missing answer is wrong, so abstaining never pays."
    ),
    "unreadable": "wrong",
    "votes": "majority",
}


def definitions_folder(environ: Mapping[str, str]) -> Path:
    """Return the directory of definitions that BENCHMARK_DEFINITIONS names; without one that of the project."""
    named = environ.get("BENCHMARK_DEFINITIONS", "").strip()
    return Path(named).absolute() if named else DEFINITIONS


def known_benchmarks(definitions: Path = DEFINITIONS) -> tuple[str, ...]:
    """Return the ids of all benchmarks that have a folder, there or among those of the project."""
    return tuple(sorted({path.parent.name for root in (definitions, DEFINITIONS) for path in root.glob(f"*/{SPEC}")}))


def load_spec(benchmark: str, definitions: Path = DEFINITIONS) -> BenchmarkSpec:
    """Return the definition of a benchmark: that of a folder of one's own, else that of the project.

    Raises:
        SpecError: there is no such benchmark, or its definition contradicts itself.
    """
    if benchmark not in known_benchmarks(definitions):
        known = ", ".join(known_benchmarks(definitions))
        raise SpecError(f"there is no benchmark {benchmark!r}; known: {known}")
    own = definitions / benchmark / SPEC
    return _load(own if own.is_file() else DEFINITIONS / benchmark / SPEC)


def others_beside(spec: BenchmarkSpec) -> Iterator[BenchmarkSpec]:
    """Yield the other benchmarks beside a definition. One that cannot be used must not keep files of this one away."""
    definitions = spec.folder.parent if spec.folder is not None else DEFINITIONS
    for name in known_benchmarks(definitions):
        if name != spec.id:
            with suppress(SpecError):
                yield load_spec(name, definitions)


@cache
def _load(path: Path) -> BenchmarkSpec:
    """Return the definition of a file, always the same object, so that what is derived from it is computed once."""
    try:
        spec = spec_from_mapping(_entries(path), path.parent)
        _check(spec, path.parent.name)
    except KeyError as error:
        raise SpecError(f"{path}: the entry {error} is missing") from error
    except (TypeError, ValueError, OSError) as error:
        raise SpecError(f"{path}: {error}") from error
    return spec


def _entries(path: Path) -> dict[str, Any]:
    """Return the entries of a file; those that it lacks are of the definition that it imitates."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    if "imitates" not in data:
        return data
    entries = tomllib.loads((DEFINITIONS / data["imitates"] / SPEC).read_text(encoding="utf-8"))
    if "tags" in data:
        entries = {name: entry for name, entry in entries.items() if name not in ("errors", "tag_names")}  # of others
    return {**entries, **data}


def spec_from_mapping(data: Mapping[str, Any], folder: Path | None = None) -> BenchmarkSpec:
    """Return the definition that a parsed ``spec.toml`` holds. Raises KeyError for an entry that is missing."""
    keys = [row.get("key", "") for row in data["categories"]]
    sources = data.get("sources") or [{"key": key, "category": key} for key in keys]
    overalls = [{"categories": keys, **row} for row in data.get("overalls", [_MICRO])]
    errors = data.get("errors") or [{"key": tag} for tag in data.get("tags", ())]
    official = {key: [row["key"] for row in sources if row["category"] == key] for key in keys}
    groupings = data.get("groupings", {OFFICIAL: official})
    given = {
        "source_rules": [{"source": key, "equals": key} for key in keys],
        "brand": data["title"],
        "homepage": data["dataset"],
        "headline": overalls[0].get("key", ""),
        **data,
        "protocols": _protocols(data),
        "overalls": overalls,
        "sources": sources,
        "groupings": {name: {key: row[key] for key in keys} for name, row in groupings.items()},
        "errors": [{"tag": row.get("key"), "title": row.get("key"), **row} for row in errors],
        "folder": folder,
    }
    if meanings := given.get("fields", {}).get("label_values"):
        _check_known("label_values", meanings.values(), known=_OPTIONS)
        given["fields"] = {**given["fields"], "label_values": {key: _OPTIONS[said] for key, said in meanings.items()}}
    built: BenchmarkSpec = _built(BenchmarkSpec, given, "")
    return built


def _built(kind: Any, row: Mapping[str, Any], place: str) -> Any:
    """Return what a table says, by the names of its entries. Raises KeyError with the place of one that is missing."""
    for one in fields(kind):
        if one.name not in row and one.default is one.default_factory is MISSING:
            raise KeyError(f"{place}{one.name}")
    hints = _hints(kind)
    return kind(**{name: _value(hints.get(name), value, f"{place}{name}") for name, value in row.items()})


def _value(hint: Any, value: Any, place: str) -> Any:
    """Return a value as the type of its field says: lists as tuples, tables as what they stand for."""
    if hint == Shown:
        return Message(value, {}) if value else ""
    if is_dataclass(hint):
        return _built(hint, value, f"{place}.")
    parts = get_args(hint)
    if isinstance(value, list | tuple) and parts:
        held = (_value(parts[0], part, f"{place}[{number}]") for number, part in enumerate(value, 1))
        return frozenset(held) if get_origin(hint) is frozenset else tuple(held)
    if isinstance(value, dict) and parts:
        return {key: _value(parts[1], part, f"{place}.{key}") for key, part in value.items()}
    return value


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _protocols(data: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the rules of a benchmark; strict, which ranks every board, comes first where they do not say it."""
    rows = data.get("protocols", ())
    rows = rows if any(row["key"] == _STRICT["key"] for row in rows) else (_STRICT, *rows)
    return [{"title": row["key"], **texts_of_rule(row["rule"]), **row} for row in rows]


def texts_of_rule(rule: str) -> dict[str, str]:
    """Return summary and text of a protocol that has none of its own."""
    return {"summary": rule, "text": f"is this rule: {rule}."}


def _check(spec: BenchmarkSpec, folder: str) -> None:
    """Raise ValueError where the parts of a definition do not fit each other."""
    if spec.id != folder:
        raise ValueError(f"the id is {spec.id!r}, but the folder is {folder!r}")
    _check_known("verdict_format", [spec.verdict_format], known=VERDICT_FORMATS)
    _check_known("unreadable", (protocol.unreadable for protocol in spec.protocols), known=UNREADABLE_RULES)
    _check_known("votes", (protocol.votes for protocol in spec.protocols), known=VOTE_RULES)
    _check_known("kind", (overall.kind for overall in spec.overalls), known=(MICRO, MEAN, GROUPS))
    _check_known("exchanged", spec.exchanged, known=spec.category_keys)
    _check_known("grouping", (split.grouping for split in spec.splits), known=spec.groupings)
    for grouping in spec.groupings.values():
        _check_known("source", (source for sources in grouping.values() for source in sources), known=spec.source_keys)
    if any(len(split.sizes) != len(spec.categories) for split in spec.splits):
        raise ValueError("a split has one size for each category")
    if not any(overall.is_pool_of(spec.category_keys) for overall in spec.overalls):
        raise ValueError("one overall must be of kind micro, over all pairs")
    _check_known("headline", [spec.headline], known=[overall.key for overall in spec.overalls])
    _check_known("source", (rule.source for rule in spec.source_rules), known=spec.source_keys)
    named = [source.category for source in spec.sources]
    named += [key for overall in spec.overalls for key in overall.categories]
    named += [key for combined in spec.combined for key in combined.categories]
    named += [key for edition in spec.editions for key in (*edition.likely_sizes, *edition.groups)]
    _check_known("category", named, known=spec.category_keys)
    if len(set(spec.category_keys)) != len(spec.categories):
        raise ValueError("a category key occurs twice")
    _check_known("tag of an error", spec.tag_of.values(), known=spec.tags)
    _check_known("tag of a tag name", spec.tag_names.values(), known=spec.tags)
    if len(spec.tag_of) != len(spec.errors):
        raise ValueError("the key of an error occurs twice")
    _check_counting(spec)


def _check_counting(spec: BenchmarkSpec) -> None:
    """Raise ValueError where the rules ask for counts that are not kept."""
    if spec.grouped is not None and any(protocol.unreadable != "wrong" for protocol in spec.protocols):
        raise ValueError("where pairs come in groups, an unreadable verdict is wrong under every protocol")
    if any(overall.kind == MEAN and (overall.without_ties or overall.pairs is not None) for overall in spec.overalls):
        raise ValueError("pairs and without_ties are of overall numbers of kind micro")


def _check_known(name: str, values: Iterable[str], *, known: Iterable[str]) -> None:
    allowed = tuple(known)
    for value in values:
        if value not in allowed:
            raise ValueError(f"{name} {value!r} is not one of {', '.join(allowed)}")
