"""Reader of definitions: one folder below ``vlrb/benchmarks/`` holds one benchmark, in its ``spec.toml``.

How to add a folder: docs/benchmarks.md.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from vlrb.benchmarks.spec import (
    DEFINITIONS,
    GROUPS,
    MEAN,
    MICRO,
    TIE,
    BenchmarkSpec,
    Category,
    CategoryRule,
    CombinedCategories,
    ErrorChoice,
    Grouped,
    GroupingText,
    ItemEdition,
    ItemFields,
    Overall,
    ProtocolSpec,
    Source,
    SpecError,
    Split,
)
from vlrb.common.messages import Message

SPEC = "spec.toml"
"""The definition in its folder."""
OFFICIAL = "official"
"""The grouping of a definition that states none."""
VERDICT_FORMATS = ("official-sentence", "double-brackets", "answer-tag")
UNREADABLE_RULES = ("wrong", "excluded", "half", "first")
VOTE_RULES = ("majority", "first")
_OPTIONS: Mapping[str, int] = {"first": 0, "second": 1, "tie": TIE}
_MICRO = {"key": "micro", "title": "All pairs alike", "kind": MICRO}
_STRICT = {
    "key": "strict",
    "title": "A pair counts if more than half of its votes are for the preferred response",
    "summary": "ranks this board",
    "text": (
        "ranks. A pair is right if more than half of all K votes are for the preferred response; where exactly half of "
        "an even K are, it counts one half, which is what K - 1 of the votes count on average. An undecided, "
        "unreadable or missing answer is wrong, so abstaining never pays."
    ),
    "unreadable": "wrong",
    "votes": "majority",
}

T = TypeVar("T")


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


@cache
def _load(path: Path) -> BenchmarkSpec:
    """Return the definition of a file, always the same object, so that what is derived from it is computed once."""
    try:
        spec = spec_from_mapping(_entries(path), path.parent)
        _check(spec, path.parent.name)
    except KeyError as error:
        raise SpecError(f"{path}: the entry {error} is missing") from error
    except (TypeError, ValueError) as error:
        raise SpecError(f"{path}: {error}") from error
    return spec


def _entries(path: Path) -> dict[str, Any]:
    """Return the entries of a file; those that it lacks are of the definition that it imitates."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    if "imitates" not in data:
        return data
    imitated = (root / data["imitates"] / SPEC for root in (path.parent.parent, DEFINITIONS))
    entries_file = next((file for file in imitated if file.is_file()), None)
    if entries_file is None:
        return data
    entries = tomllib.loads(entries_file.read_text(encoding="utf-8"))
    if "tags" in data:
        entries = {name: entry for name, entry in entries.items() if name not in ("errors", "tag_names")}  # of others
    return {**entries, **data}


def spec_from_mapping(data: Mapping[str, Any], folder: Path | None = None) -> BenchmarkSpec:
    """Return the definition that a parsed ``spec.toml`` holds. Raises KeyError for an entry that is missing."""
    categories = tuple(_tables(data, "categories", read=_category))
    keys = tuple(category.key for category in categories)
    grouped = Grouped(**data["grouped"]) if "grouped" in data else None
    given = {"overalls": [_MICRO], **data}
    overalls = (*_tables(given, "overalls", read=lambda row: _overall(row, keys)), *_of_groups(grouped, keys))
    sources = _sources(data, keys)
    return BenchmarkSpec(
        id=data["id"],
        title=data["title"],
        citation=data["citation"],
        dataset=data["dataset"],
        licence=data.get("licence", "unconfirmed"),
        synthetic=data.get("synthetic", False),
        public_labels=data.get("public_labels", False),
        label_digests=frozenset(data.get("label_digests", ())),
        ties=data.get("ties", False),
        verdict_format=data["verdict_format"],
        categories=categories,
        fields=_item_fields(data["items"]) if "items" in data else None,
        rules=tuple(
            _rule(row) for row in data.get("category_rules", [{"category": key, "equals": key} for key in keys])
        ),
        protocols=tuple(ProtocolSpec(**_with_texts(row, "title", "summary", "text")) for row in _protocols(data)),
        overalls=overalls,
        headline=data.get("headline", overalls[0].key),
        grouped=grouped,
        editions=tuple(_tables({"editions": (), **data}, "editions", read=_edition)),
        sources=sources,
        groupings=_groupings(data, keys, sources=sources),
        tags=tuple(data.get("tags", ())),
        drop_from_questions=tuple(data.get("drop_from_questions", ())),
        brand=data.get("brand", data["title"]),
        paper=data.get("paper", ""),
        homepage=data.get("homepage") or data["dataset"],
        has_sources="sources" in data,
        tag_names=data.get("tag_names", {}),
        tag_titles={key: _shown(title) for key, title in data.get("tag_titles", {}).items()},
        errors=tuple(
            _tables({"errors": [{"key": tag} for tag in data.get("tags", ())], **data}, "errors", read=_error)
        ),
        grouping_texts={
            key: GroupingText(**_with_texts(row, "title", "words"))
            for key, row in data.get("grouping_texts", {}).items()
        },
        splits=tuple(
            Split(row["grouping"], tuple(row["revisions"]), sizes=tuple(row["sizes"])) for row in data.get("splits", ())
        ),
        exchanged=tuple(data.get("exchanged", ())),
        examples={key: _shown(text) for key, text in data.get("number_check_examples", {}).items()},
        imitates=data.get("imitates", ""),
        filtered_by=tuple(data.get("filtered_by", ())),
        videos=data.get("videos", False),
        combined=tuple(
            CombinedCategories(row["key"], _shown(row["title"]), categories=tuple(row["categories"]))
            for row in data.get("combined", ())
        ),
        folder=folder,
    )


def _protocols(data: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the rules of a benchmark; strict, which ranks every board, comes first where they do not say it."""
    rows = data.get("protocols", ())
    return rows if any(row["key"] == _STRICT["key"] for row in rows) else (_STRICT, *rows)


def _tables(data: Mapping[str, Any], name: str, *, read: Callable[[Any], T]) -> Iterator[T]:
    """Yield what each table of that name says. Raises KeyError for an entry that is missing, with its table."""
    for number, row in enumerate(data[name], start=1):
        try:
            yield read(row)
        except KeyError as missing:
            raise KeyError(f"{name}[{number}].{missing.args[0]}") from None


def _shown(text: str) -> str:
    """Return a text of a definition as one that pages may translate (scripts/declared_texts.py lists them)."""
    return Message(text, {}) if text else ""


def _with_texts(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {key: _shown(value) if key in names else value for key, value in row.items()}


def _sources(data: Mapping[str, Any], keys: tuple[str, ...]) -> tuple[Source, ...]:
    """Return the sources; without any, each category is its own."""
    rows = data.get("sources", ({"key": key, "category": key} for key in keys))
    return tuple(Source(row["key"], row["category"], id_prefixes=tuple(row.get("id_prefixes", ()))) for row in rows)


def _groupings(
    data: Mapping[str, Any], keys: tuple[str, ...], *, sources: tuple[Source, ...]
) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the groupings; without any, the official one follows from the sources."""
    official = {key: tuple(source.key for source in sources if source.category == key) for key in keys}
    rows: Mapping[str, Mapping[str, Iterable[str]]] = data.get("groupings", {OFFICIAL: official})
    return {name: {key: tuple(row[key]) for key in keys} for name, row in rows.items()}


def _category(row: Mapping[str, Any]) -> Category:
    texts = (_shown(row.get(name, "")) for name in ("dark", "about", "short", "hyphenated"))
    return Category(row["key"], _shown(row["title"]), row["colour"], row.get("tagged", False), *texts)


def _error(row: Mapping[str, Any]) -> ErrorChoice:
    return ErrorChoice(row["key"], row.get("tag", row["key"]), title=row.get("title", row["key"]))


def _rule(row: Mapping[str, Any]) -> CategoryRule:
    return CategoryRule(
        row["category"], row.get("equals"), id_prefix=row.get("id_prefix"), path_keyword=row.get("path_keyword")
    )


def _item_fields(row: Mapping[str, Any]) -> ItemFields:
    first, second = row["responses"]
    meanings = row.get("label_values", {})
    _check_known("label_values", meanings.values(), known=_OPTIONS)
    values = {value: _OPTIONS[option] for value, option in meanings.items()}
    return ItemFields(
        row["id"],
        row["question"],
        responses=(first, second),
        category=tuple(row["category"]),
        label=row.get("label"),
        label_values=values,
    )


def _overall(row: Mapping[str, Any], keys: tuple[str, ...]) -> Overall:
    return Overall(
        key=row["key"],
        title=_shown(row["title"]),
        kind=row["kind"],
        categories=tuple(row.get("categories", keys)),
        pairs=row.get("pairs"),
        without_ties=row.get("without_ties", False),
        subtitle=_shown(row.get("subtitle", "")),
        about=_shown(row.get("about", "")),
        name=_shown(row.get("name", "")),
    )


def _of_groups(grouped: Grouped | None, keys: tuple[str, ...]) -> tuple[Overall, ...]:
    """Return the overall number of a benchmark's groups; none without groups."""
    if grouped is None:
        return ()
    texts = (_shown(grouped.subtitle), _shown(grouped.about), _shown(grouped.name))
    return (Overall(grouped.key, _shown(grouped.title), GROUPS, keys, None, False, *texts),)


def _edition(row: Mapping[str, Any]) -> ItemEdition:
    sizes, groups, inferred = (row.get(name, {}) for name in ("sizes", "groups", "inferred"))
    return ItemEdition(
        row["key"], _shown(row["title"]), pairs=row["pairs"], sizes=sizes, groups=groups, inferred=inferred
    )


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
    named = [rule.category for rule in spec.rules] + [source.category for source in spec.sources]
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
    if spec.fields is not None and not spec.rules:
        raise ValueError("items are described, but no category_rules")
    _check_counting(spec)


def _check_counting(spec: BenchmarkSpec) -> None:
    """Raise ValueError where the rules ask for counts that are not kept."""
    if spec.fields is None and (spec.ties or spec.grouped is not None):
        raise ValueError("ties and groups need [items]: they are counted pair by pair")
    if spec.grouped is not None and any(protocol.unreadable != "wrong" for protocol in spec.protocols):
        raise ValueError("where pairs come in groups, an unreadable verdict is wrong under every protocol")
    if any(overall.kind == MEAN and (overall.without_ties or overall.pairs is not None) for overall in spec.overalls):
        raise ValueError("pairs and without_ties are of overall numbers of kind micro")


def _check_known(name: str, values: Iterable[str], *, known: Iterable[str]) -> None:
    allowed = tuple(known)
    for value in values:
        if value not in allowed:
            raise ValueError(f"{name} {value!r} is not one of {', '.join(allowed)}")
