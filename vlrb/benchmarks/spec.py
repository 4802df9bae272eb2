"""Definition of a benchmark as data: categories, item rules, protocols, overall numbers, published splits.

``vlrb/benchmarks/spec_file.py`` reads it. What the fields mean: docs/benchmarks.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from vlrb.common.command_line import CommandError
from vlrb.common.messages import Message

DEFINITIONS = Path(__file__).parent
DEFAULT_BENCHMARK = "vl-rewardbench"
"""The benchmark of commands and addresses that name none."""
DEMO = "demo"
"""The benchmark of invented pairs, and its only label revision."""
MANIFEST = "items.json"
"""The item manifest in the folder of a definition."""
MICRO, MEAN, GROUPS = "micro", "mean", "groups"
SENTENCE = "official-sentence"
"""The verdict format that names one of two answers."""
Shown = Annotated[str, "shown"]
"""A text of a definition that pages may translate (scripts/declared_texts.py lists them)."""
TIE = 2
"""The label, and the verdict, that neither response is better."""


class SpecError(CommandError, ValueError):
    """A definition of a benchmark cannot be used; the message names the file and the entry."""


@dataclass(frozen=True, slots=True)
class Category:
    """A category of a benchmark. ``tagged``: whether its pairs carry error tags. ``about``: ends "accuracy on ..."."""

    key: str
    title: Shown
    colour: str
    tagged: bool = False
    dark: str = ""  # the colour on a dark ground; "" is the same
    about: Shown = ""
    short: Shown = ""  # in the head of a narrow table; "" is the title


@dataclass(frozen=True, slots=True)
class CombinedCategories:
    """Categories of which papers also print one percentage, of all their pairs alike."""

    key: str
    title: Shown
    categories: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceRule:
    """One way to tell an item's source; the first rule that fits decides.

    ``equals``: the field is exactly this text. ``id_prefix``: the id begins with it, ignoring case. ``path_keyword``:
    the field (a path) contains it. All conditions that are given must hold.
    """

    source: str
    equals: str | None = None
    id_prefix: str | None = None
    path_keyword: str | None = None

    def matches(self, value: str, item_id: str) -> bool:
        """Return whether the rule fits an item with this field value and id."""
        return (
            (self.equals is None or value == self.equals)
            and (self.id_prefix is None or item_id.lower().startswith(self.id_prefix.lower()))
            and (self.path_keyword is None or self.path_keyword in value)
        )


@dataclass(frozen=True, slots=True)
class ItemFields:
    """Where an item is in the benchmark's own file. Field names may be dotted paths (``answer1.answer``, ``texts.0``).

    ``category``: the fields of which the first non-empty one is held against the rules.
    ``label``: the field with the preferred response, and ``label_values`` what its values (or their JSON) mean: 0, 1 or
    TIE; None where the first response is the preferred one by name.
    ``tags``: the field with the error tags. ``shuffled``: the order of the responses tells nothing of the label.
    """

    id: str
    question: str
    responses: tuple[str, str]
    category: tuple[str, ...]
    label: str | None = None
    label_values: Mapping[str, int] = field(default_factory=dict)
    tags: str = ""
    shuffled: bool = False


RANKED = ItemFields(
    "id", "query", ("response.0", "response.1"), ("category",),
    "human_ranking", {"[0, 1]": 0, "[1, 0]": 1}, tags="human_error_analysis",
)  # fmt: skip
"""The fields of a benchmark that states none: those of VL-RewardBench."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """A scoring rule, which turns verdicts into right and wrong.

    ``key`` is its name in URLs, JSON and stored scorecards, ``title`` how people call it, ``rule`` what it does.
    ``summary`` and ``text`` continue a sentence that begins with the title.

    ``unreadable``: what a verdict that cannot be read counts as: wrong, excluded from the denominator, one half (the
    expectation of a random choice), or a verdict for the first response. ``votes``: the majority of all votes of a
    pair, or the first vote alone. ``rereads``: the tool of that name has a language model read the replies that the
    benchmark's own pattern does not.
    """

    key: str
    title: str
    rule: Shown
    unreadable: str
    votes: str
    summary: Shown
    text: Shown
    rereads: bool = False


@dataclass(frozen=True, slots=True)
class Overall:
    """A named overall number. ``kind``: ``micro`` over pairs, ``mean`` of categories, or ``groups`` of pairs of one id
    that are wholly right.

    ``categories``: which take part. ``pairs``: the number that must be there, else the number is not given; 0 is an
    overall number of sources that do not say how it was made.
    ``without_ties``: pairs with the label TIE are left out.
    """

    key: str
    title: Shown
    kind: str
    categories: tuple[str, ...]
    pairs: int | None = None
    without_ties: bool = False
    subtitle: Shown = ""  # under the name, on the board
    about: Shown = ""  # a sentence
    name: Shown = ""  # in the head of a table; "" is the key

    def is_pool_of(self, categories: tuple[str, ...]) -> bool:
        """Return whether this is the share of all pairs of these categories alike, on any set of items."""
        return self.kind == MICRO and self.categories == categories and self.pairs is None and not self.without_ties


@dataclass(frozen=True, slots=True)
class ItemEdition:
    """A released set of items: pairs per category, as far as they are known, and their sum.

    ``inferred``: pairs of further categories, as arithmetic on published figures suggests; nobody has stated them.
    """

    key: str
    title: Shown
    pairs: int
    sizes: Mapping[str, int] = field(default_factory=dict)
    groups: Mapping[str, int] = field(default_factory=dict)
    inferred: Mapping[str, int] = field(default_factory=dict)

    @property
    def likely_sizes(self) -> Mapping[str, int]:
        """Pairs per category, those that are inferred too."""
        return {**self.sizes, **self.inferred}

    def fits(self, pairs: int, sizes: Mapping[str, int]) -> bool:
        """Return whether a set of items has this edition's number of pairs, in all and per category where known."""
        return pairs == self.pairs and all(sizes.get(key, 0) == size for key, size in self.sizes.items())


@dataclass(frozen=True, slots=True)
class Source:
    """A data set that items come from."""

    key: str
    category: str


@dataclass(frozen=True, slots=True)
class ErrorChoice:
    """An error that annotators choose from. ``tag``: the error tag that a label gets; another key is a kind of it."""

    key: str
    tag: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Split:
    """A grouping of the benchmark's items into its categories: the number of items in each, in their order."""

    grouping: str
    revisions: tuple[str, ...]
    sizes: tuple[int, ...]

    @property
    def label(self) -> str:
        """As people write it: 183/749/318."""
        return "/".join(str(n) for n in self.sizes)


@dataclass(frozen=True, slots=True)
class GroupingText:
    """How people call a grouping, and what they say of it in a sentence."""

    title: Shown
    words: Shown


@dataclass(frozen=True, eq=False)
class BenchmarkSpec:
    """All that distinguishes one benchmark from another. What is derived from it is computed once.

    ``filtered_by``: judges whose errors chose the pairs, so that they score below chance by construction.
    ``sources`` is never empty: where none are declared, each category is its own source.
    ``errors``: what annotators choose from; where none are declared, each tag is an error.
    """

    id: str
    title: str
    citation: str
    dataset: str
    verdict_format: str
    categories: tuple[Category, ...]
    source_rules: tuple[SourceRule, ...]
    protocols: tuple[Protocol, ...]
    overalls: tuple[Overall, ...]
    headline: str
    sources: tuple[Source, ...]
    groupings: Mapping[str, Mapping[str, tuple[str, ...]]]
    brand: str = ""  # the name on pages; "" is the title
    homepage: str = ""  # "" is the address of the dataset
    licence: str = "unconfirmed"
    synthetic: bool = False
    public_labels: bool = False
    label_digests: frozenset[str] = frozenset()  # of label revisions that anybody can have
    ties: bool = False
    fields: ItemFields = RANKED
    editions: tuple[ItemEdition, ...] = ()
    drop_from_questions: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    tag_names: Mapping[str, str] = field(default_factory=dict)  # as a label file writes a tag -> one of ``tags``
    tag_titles: Mapping[str, Shown] = field(default_factory=dict)
    errors: tuple[ErrorChoice, ...] = ()
    grouping_texts: Mapping[str, GroupingText] = field(default_factory=dict)
    splits: tuple[Split, ...] = ()
    number_check_examples: Mapping[str, Shown] = field(default_factory=dict)  # reported results -> what they show
    imitates: str = ""  # the benchmark of the project whose entries and files stand in for those that the folder lacks
    exchanged: tuple[str, ...] = ()  # two categories whose published figures are sometimes exchanged
    filtered_by: tuple[str, ...] = ()
    videos: bool = False  # whether some questions are about a video
    combined: tuple[CombinedCategories, ...] = ()
    folder: Path | None = None

    @cached_property
    def category_keys(self) -> tuple[str, ...]:
        """The keys of the categories, in order."""
        return tuple(category.key for category in self.categories)

    @cached_property
    def source_keys(self) -> tuple[str, ...]:
        """The keys of the sources, in order."""
        return tuple(source.key for source in self.sources)

    @property
    def shown_sources(self) -> tuple[str, ...]:
        """The sources that are shown beside the categories: none where each category is its own."""
        return () if self.source_keys == self.category_keys else self.source_keys

    @cached_property
    def source_category(self) -> Mapping[str, str]:
        """Source -> its category under the official grouping."""
        return {source.key: source.category for source in self.sources}

    @cached_property
    def pooled(self) -> str:
        """The key of the overall number over all pairs alike."""
        return next(overall.key for overall in self.overalls if overall.is_pool_of(self.category_keys))

    @cached_property
    def grouped(self) -> Overall | None:
        """The second metric of a benchmark whose pairs come in groups: the last of the overall numbers."""
        return next((overall for overall in self.overalls if overall.kind == GROUPS), None)

    @cached_property
    def mean(self) -> str | None:
        """The key of the first overall number that is a mean of categories; None without one."""
        return next((overall.key for overall in self.overalls if overall.kind == MEAN), None)

    @cached_property
    def overall_keys(self) -> tuple[str, ...]:
        """The keys of the overall numbers, in order."""
        return tuple(overall.key for overall in self.overalls)

    @property
    def tells_ties(self) -> bool:
        """Whether that neither response is better is a verdict of a judge; elsewhere it is none, as an unread reply."""
        return self.ties or self.verdict_format != SENTENCE

    @property
    def preferred_is_named(self) -> bool:
        """Whether the fields of the benchmark's own file say which response is the preferred one."""
        return self.fields.label is None

    @cached_property
    def has_items(self) -> bool:
        """Whether the folder of the definition has the items of the benchmark."""
        return self.read(MANIFEST) is not None

    @cached_property
    def counted_names(self) -> tuple[str, ...]:
        """The scores that are counts: the categories, then the overall numbers over pairs and over groups."""
        return (*self.category_keys, *(overall.key for overall in self.overalls if overall.kind != MEAN))

    @cached_property
    def score_names(self) -> tuple[str, ...]:
        """All scores in the order of arrays (..., scores): those that are counts, then the means."""
        return (*self.counted_names, *(overall.key for overall in self.overalls if overall.kind == MEAN))

    @cached_property
    def combined_keys(self) -> tuple[str, ...]:
        """The keys of combined categories, in order."""
        return tuple(combined.key for combined in self.combined)

    @cached_property
    def headline_first(self) -> tuple[str, ...]:
        """All scores in the order of the board: the headline, the other overall numbers, the categories."""
        others = (key for key in (self.pooled, *self.overall_keys) if key != self.headline)
        return (self.headline, *dict.fromkeys(others), *self.category_keys)

    @cached_property
    def overall_first(self) -> tuple[str, ...]:
        """All scores in the order of lists: the overall numbers, the categories."""
        return (*self.overall_keys, *self.category_keys)

    @cached_property
    def tie_breaks(self) -> tuple[str, ...]:
        """The scores that order the board: the headline, then the pooled one."""
        return tuple(dict.fromkeys((self.headline, self.pooled)))

    @cached_property
    def headline_text(self) -> str:
        """How sentences call the headline."""
        text = self.accuracy_text(self.headline)
        unnamed_mean = self.is_mean(self.headline) and text.endswith(" accuracy")
        return f"{self.headline} average" if unnamed_mean else text

    @cached_property
    def untagged(self) -> tuple[str, ...]:
        """The categories whose pairs carry no error tag, where others do: each is a bucket of errors itself."""
        return tuple(category.key for category in self.categories if not category.tagged) if self.tags else ()

    @cached_property
    def tag_of(self) -> Mapping[str, str]:
        """The key of an error that annotators choose from -> its tag."""
        return {error.key: error.tag for error in self.errors}

    @cached_property
    def ranking(self) -> str:
        """The key of the protocol that orders the board: the first."""
        return self.protocols[0].key

    @cached_property
    def official(self) -> str:
        """The key of the official grouping: the first."""
        return next(iter(self.groupings))

    def overall(self, key: str) -> Overall | None:
        """Return the overall number of this key; None for a category."""
        return next((overall for overall in self.overalls if overall.key == key), None)

    def index(self, name: str) -> int:
        """Return the place of a score in arrays (..., scores). Raises ValueError for an unknown one."""
        return self.score_names.index(name)

    def parts_of(self, name: str) -> tuple[str, ...]:
        """Return the categories that a score is made of."""
        overall = self.overall(name)
        return (name,) if overall is None else overall.categories

    def category_places(self, name: str) -> list[int]:
        """Return the places of the categories that a score is made of."""
        return [self.category_keys.index(key) for key in self.parts_of(name)]

    def title_of(self, name: str) -> str:
        """Return how people call a score: the title of a category, the name of an overall number, else the key."""
        titles = {overall.key: overall.name for overall in self.overalls}
        titles |= {combined.key: combined.title for combined in self.combined}
        titles |= {category.key: category.title for category in self.categories}
        return titles.get(name) or capital(name)

    def name_of(self, name: str) -> str:
        """Return how sentences call a score: the name of an overall number, else the key."""
        overall = self.overall(name)
        return overall.name if overall is not None and overall.name else name

    def accuracy_text(self, name: str) -> str:
        """Return how sentences call the value of a score: "macro accuracy", "ACC", "Mean of 7"."""
        called, overall = self.name_of(name), self.overall(name)
        if overall is not None and overall.name and (called.isupper() or self.is_mean(name)):
            return called
        return f"{called} accuracy"

    def category_text(self, name: str) -> str:
        """Return how sentences call a score among others: as ``name_of``, a category by its title in small letters."""
        category = next((category for category in self.categories if category.key == name), None)
        if category is None or category.title.casefold() == name.casefold():
            return self.name_of(name)
        return small(category.title)

    def chance(self, name: str) -> float:
        """Return the share that is right by random choice: of three answers where a tie is one, else of two."""
        return 1 / 2 if not self.ties or self.is_without_ties(name) else 1 / 3

    def chance_percent(self, name: str) -> str:
        """Return the same in percent, as pages write it: 50, 33.3."""
        return f"{100 * self.chance(name):.3g}"

    def counts_groups(self, name: str) -> bool:
        """Return whether a score counts whole groups instead of pairs."""
        overall = self.overall(name)
        return overall is not None and overall.kind == GROUPS

    def is_without_ties(self, name: str) -> bool:
        """Return whether a score leaves out the pairs whose label is a tie."""
        overall = self.overall(name)
        return overall is not None and overall.without_ties

    def is_mean(self, name: str) -> bool:
        """Return whether a score is a mean of categories, and so no count of pairs."""
        overall = self.overall(name)
        return overall is not None and overall.kind == MEAN

    def grouping_text(self, grouping: str) -> GroupingText:
        """Return how people call a grouping; without a text, its key."""
        return self.grouping_texts.get(grouping) or GroupingText(grouping, grouping)

    def read(self, name: str) -> bytes | None:
        """Return a file of the definition's folder, or of the one that it imitates; None where there is none."""
        if self.folder is None:
            return None
        folders = [self.folder, *([DEFINITIONS / self.imitates] if self.imitates else [])]
        return next((path.read_bytes() for folder in folders if (path := folder / name).is_file()), None)

    def source_of(self, value: str, item_id: str) -> str:
        """Return the source of an item, from the value of its category field and its id.

        Raises:
            ValueError: no rule fits; the message names the value.
        """
        for rule in self.source_rules:
            if rule.matches(value, item_id):
                return rule.source
        known = dict.fromkeys(rule.equals or rule.path_keyword or rule.id_prefix or "" for rule in self.source_rules)
        raise ValueError(f"{value or item_id!r} is no category of {self.title}; known: {', '.join(known)}")


def value_at(row: Any, path: str) -> Any:
    """Return the value at a dotted path of a row; None where there is none."""
    for name in path.split("."):
        if isinstance(row, list) and name.isdecimal():
            row = row[int(name)] if int(name) < len(row) else None
        else:
            row = row.get(name) if isinstance(row, Mapping) else None
    return row


def capital(text: str) -> str:
    """Return a text with a capital first letter."""
    english = text[:1].upper() + text[1:]
    return text.written(english) if isinstance(text, Message) else english


def small(text: str) -> str:
    """Return a text with a small first letter, unless it begins with an abbreviation."""
    english = text if text[1:2].isupper() else text[:1].lower() + text[1:]
    return text.written(english) if isinstance(text, Message) else english
