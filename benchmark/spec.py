"""Definition of a benchmark as data: categories, item rules, protocols, overall numbers, published splits.

One folder below ``benchmark/definitions/`` holds one benchmark; ``load_spec(id)`` reads its ``spec.toml``. What the
fields mean and how to add a folder: docs/benchmarks.md.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DEFINITIONS = Path(__file__).parent / "definitions"
TIE = 2
"""The label, and the verdict, that neither response is better."""
VERDICT_FORMATS = ("official-sentence", "double-brackets", "answer-tag")
UNREADABLE_RULES = ("wrong", "excluded", "half", "first")
VOTE_RULES = ("majority", "first")
_OPTIONS: Mapping[str, int] = {"first": 0, "second": 1, "tie": TIE}


class SpecError(ValueError):
    """A definition of a benchmark cannot be used; the message names the file and the entry."""


class UnknownCategory(ValueError):
    """An item belongs to no category of its benchmark; the message names the value that was seen."""


@dataclass(frozen=True, slots=True)
class Category:
    """A category of a benchmark. ``tagged``: whether its pairs carry error tags."""

    key: str
    title: str
    colour: str
    tagged: bool


@dataclass(frozen=True, slots=True)
class CategoryRule:
    """One way to tell an item's category; the first rule that fits decides.

    ``equals``: the field is exactly this text. ``id_prefix``: the id begins with it, ignoring case. ``path_keyword``:
    the field (a path) contains it. All conditions that are given must hold.
    """

    category: str
    equals: str | None
    id_prefix: str | None
    path_keyword: str | None

    def matches(self, value: str, item_id: str) -> bool:
        """Return whether the rule fits an item with this field value and id."""
        return (
            (self.equals is None or value == self.equals)
            and (self.id_prefix is None or item_id.lower().startswith(self.id_prefix.lower()))
            and (self.path_keyword is None or self.path_keyword in value)
        )


@dataclass(frozen=True, slots=True)
class ItemFields:
    """Where an item stands in the benchmark's own file. Field names may be dotted paths (``answer1.answer``).

    ``category``: the fields of which the first non-empty one is held against the rules.
    ``label``: the field with the preferred response, and ``label_values`` what its values mean (0, 1 or TIE); None
    where the first response is the preferred one by name.
    """

    id: str
    question: str
    responses: tuple[str, str]
    category: tuple[str, ...]
    label: str | None
    label_values: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ProtocolSpec:
    """A named rule that turns verdicts into right and wrong.

    ``unreadable``: what a verdict that cannot be read counts as: wrong, excluded from the denominator, one half (the
    expectation of a random choice), or a verdict for the first response. ``votes``: the majority of all votes of a
    pair, or the first vote alone.
    """

    key: str
    title: str
    unreadable: str
    votes: str


@dataclass(frozen=True, slots=True)
class Overall:
    """A named overall number. ``kind``: ``micro`` over pairs or ``mean`` of categories.

    ``categories``: which take part. ``pairs``: the number that must be there, else the number is not given.
    ``without_ties``: pairs with the label TIE are left out.
    """

    key: str
    title: str
    kind: str
    categories: tuple[str, ...]
    pairs: int | None
    without_ties: bool


@dataclass(frozen=True, slots=True)
class Grouped:
    """The second metric of a benchmark whose pairs come in groups of one id: all pairs of a group right."""

    key: str
    title: str


@dataclass(frozen=True, slots=True)
class ItemEdition:
    """A released set of items: pairs per category, as far as they are known, and their sum."""

    key: str
    title: str
    pairs: int
    sizes: Mapping[str, int]
    groups: Mapping[str, int]

    def fits(self, pairs: int, sizes: Mapping[str, int]) -> bool:
        """Return whether a set of items has this edition's number of pairs, in all and per category where known."""
        return pairs == self.pairs and all(sizes.get(key, 0) == size for key, size in self.sizes.items())


@dataclass(frozen=True, slots=True)
class Source:
    """A data set that items come from, known by the beginning of their ids."""

    key: str
    category: str
    id_prefixes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BenchmarkSpec:
    """All that distinguishes one benchmark from another.

    ``fields`` None: its items and labels are read by the code of VL-RewardBench (revisions, item manifest).
    ``filtered_by``: judges whose errors chose the pairs, so that they score below chance by construction.
    """

    id: str
    title: str
    citation: str
    dataset: str
    licence: str
    synthetic: bool
    public_labels: bool
    ties: bool
    verdict_format: str
    categories: tuple[Category, ...]
    fields: ItemFields | None
    rules: tuple[CategoryRule, ...]
    protocols: tuple[ProtocolSpec, ...]
    overalls: tuple[Overall, ...]
    headline: str
    grouped: Grouped | None
    editions: tuple[ItemEdition, ...]
    sources: tuple[Source, ...]
    groupings: Mapping[str, Mapping[str, tuple[str, ...]]]
    tags: tuple[str, ...]
    drop_from_questions: tuple[str, ...]
    filtered_by: tuple[str, ...] = ()

    @property
    def category_keys(self) -> tuple[str, ...]:
        """The keys of the categories, in order."""
        return tuple(category.key for category in self.categories)

    def category_of(self, value: str, item_id: str) -> str:
        """Return the category of an item, from the value of its category field and its id.

        Raises:
            UnknownCategory: no rule fits; the message names the value.
        """
        for rule in self.rules:
            if rule.matches(value, item_id):
                return rule.category
        known = ", ".join(dict.fromkeys(rule.equals or rule.path_keyword or "" for rule in self.rules))
        raise UnknownCategory(f"{value!r} is no category of {self.title}; known: {known}")

    def edition(self, key: str) -> ItemEdition:
        """Return the edition of this key.

        Raises:
            SpecError: the benchmark has no such edition.
        """
        for edition in self.editions:
            if edition.key == key:
                return edition
        known = ", ".join(edition.key for edition in self.editions) or "none"
        raise SpecError(f"{self.title} has no edition {key!r}; known: {known}")


def known_benchmarks(definitions: Path = DEFINITIONS) -> tuple[str, ...]:
    """Return the ids of all benchmarks that have a folder."""
    return tuple(sorted(path.parent.name for path in definitions.glob("*/spec.toml")))


def load_spec(benchmark: str, definitions: Path = DEFINITIONS) -> BenchmarkSpec:
    """Return the definition of a benchmark.

    Raises:
        SpecError: there is no such benchmark, or its definition contradicts itself.
    """
    if benchmark not in known_benchmarks(definitions):
        known = ", ".join(known_benchmarks(definitions))
        raise SpecError(f"there is no benchmark {benchmark!r}; known: {known}")
    path = definitions / benchmark / "spec.toml"
    try:
        spec = spec_from_mapping(tomllib.loads(path.read_text(encoding="utf-8")))
        _check(spec, benchmark)
    except KeyError as error:
        raise SpecError(f"{path}: the entry {error} is missing") from error
    except (TypeError, ValueError) as error:
        raise SpecError(f"{path}: {error}") from error
    return spec


def spec_from_mapping(data: Mapping[str, Any]) -> BenchmarkSpec:
    """Return the definition that a parsed ``spec.toml`` holds. Raises KeyError for an entry that is missing."""
    categories = tuple(_category(row) for row in data["categories"])
    keys = tuple(category.key for category in categories)
    overalls = tuple(_overall(row, keys) for row in data["overalls"])
    return BenchmarkSpec(
        id=data["id"],
        title=data["title"],
        citation=data["citation"],
        dataset=data["dataset"],
        licence=data.get("licence", "unconfirmed"),
        synthetic=data.get("synthetic", False),
        public_labels=data.get("public_labels", False),
        ties=data.get("ties", False),
        verdict_format=data["verdict_format"],
        categories=categories,
        fields=_item_fields(data["items"]) if "items" in data else None,
        rules=tuple(_rule(row) for row in data.get("category_rules", ())),
        protocols=tuple(ProtocolSpec(**row) for row in data["protocols"]),
        overalls=overalls,
        headline=data.get("headline", overalls[0].key),
        grouped=Grouped(**data["grouped"]) if "grouped" in data else None,
        editions=tuple(_edition(row) for row in data.get("editions", ())),
        sources=tuple(
            Source(row["key"], row["category"], tuple(row["id_prefixes"])) for row in data.get("sources", ())
        ),
        groupings={
            name: {key: tuple(sources) for key, sources in row.items()}
            for name, row in data.get("groupings", {}).items()
        },
        tags=tuple(data.get("tags", ())),
        drop_from_questions=tuple(data.get("drop_from_questions", ())),
        filtered_by=tuple(data.get("filtered_by", ())),
    )


def _category(row: Mapping[str, Any]) -> Category:
    return Category(row["key"], row["title"], row["colour"], row.get("tagged", False))


def _rule(row: Mapping[str, Any]) -> CategoryRule:
    return CategoryRule(row["category"], row.get("equals"), row.get("id_prefix"), row.get("path_keyword"))


def _item_fields(row: Mapping[str, Any]) -> ItemFields:
    first, second = row["responses"]
    values = {value: _OPTIONS[option] for value, option in row.get("label_values", {}).items()}
    return ItemFields(row["id"], row["question"], (first, second), tuple(row["category"]), row.get("label"), values)


def _overall(row: Mapping[str, Any], keys: tuple[str, ...]) -> Overall:
    return Overall(
        key=row["key"],
        title=row["title"],
        kind=row["kind"],
        categories=tuple(row.get("categories", keys)),
        pairs=row.get("pairs"),
        without_ties=row.get("without_ties", False),
    )


def _edition(row: Mapping[str, Any]) -> ItemEdition:
    return ItemEdition(row["key"], row["title"], row["pairs"], row.get("sizes", {}), row.get("groups", {}))


def _check(spec: BenchmarkSpec, folder: str) -> None:
    """Raise ValueError where the parts of a definition do not fit each other."""
    if spec.id != folder:
        raise ValueError(f"the id is {spec.id!r}, but the folder is {folder!r}")
    _check_known("verdict_format", [spec.verdict_format], VERDICT_FORMATS)
    _check_known("unreadable", (protocol.unreadable for protocol in spec.protocols), UNREADABLE_RULES)
    _check_known("votes", (protocol.votes for protocol in spec.protocols), VOTE_RULES)
    _check_known("kind", (overall.kind for overall in spec.overalls), ("micro", "mean"))
    _check_known("headline", [spec.headline], [overall.key for overall in spec.overalls])
    named = [rule.category for rule in spec.rules] + [source.category for source in spec.sources]
    named += [key for overall in spec.overalls for key in overall.categories]
    named += [key for edition in spec.editions for key in (*edition.sizes, *edition.groups)]
    _check_known("category", named, spec.category_keys)
    if len(set(spec.category_keys)) != len(spec.categories):
        raise ValueError("a category key occurs twice")
    if spec.fields is not None and not spec.rules:
        raise ValueError("items are described, but no category_rules")


def _check_known(name: str, values: Iterable[str], known: Iterable[str]) -> None:
    allowed = tuple(known)
    for value in values:
        if value not in allowed:
            raise ValueError(f"{name} {value!r} is not one of {', '.join(allowed)}")
