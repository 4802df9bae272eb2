"""Data of the about page: number and length of pairs, and a sample file."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from statistics import median, quantiles
from typing import Any

from markupsafe import Markup

from leaderboard.cache import BoardVersion
from vlrb.benchmarks.items import Item, ItemTable
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _, joined
from vlrb.readers import READERS
from vlrb.readers.base import FileGuide
from vlrb.scoring import Tally
from vlrb.statistics.lengths import BESIDE
from vlrb.statistics.lengths import BIN as SIGNED_BIN

BIN, BINS = 10, 13  # words; the last bin holds everything longer
_FAR = BIN * (BINS - 1)
_BAR, _GAP, _HEIGHT = 20, 2, 96  # of the drawing
_SECTION = re.compile(r"<!-- ([a-z]+) -->")
_VOTES = 3  # per item in the sample file


@dataclass(frozen=True, slots=True)
class SourceCount:
    """A line of the table of sizes: a category (``source`` "") or one of its sources; _("Total") for all."""

    category: str
    source: str
    counts: tuple[int, ...]  # by revision
    query_words: float  # medians over the pairs of the first revision
    response_words: float


@dataclass(frozen=True, slots=True)
class TagCount:
    """An error tag and how many pairs carry it."""

    name: str
    pairs: int


@dataclass(frozen=True, slots=True)
class HistogramBar:
    """One bar of a histogram, in the coordinates of its drawing."""

    x: int
    y: float
    height: float
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Histogram:
    """Pairs of a category by how many words one response has more than the other."""

    category: str
    n: int
    middle: float  # the median difference
    bars: tuple[HistogramBar, ...]
    ticks: tuple[tuple[int, str], ...]
    width: int
    height: int

    @property
    def words(self) -> str:
        """The counts as a sentence, for readers who do not see the bars."""
        return joined(_("{label} words: {count}", label=bar.label, count=bar.count) for bar in self.bars if bar.count)


_NOTHING = Markup()


@dataclass(frozen=True, slots=True)
class AboutTexts:
    """What a definition says for the about page; markup of the project, "" where it says nothing."""

    pairs: Markup = _NOTHING
    quartiles: Markup = _NOTHING
    tags: Markup = _NOTHING
    lengths: Markup = _NOTHING
    scores: Markup = _NOTHING
    groupings: Markup = _NOTHING
    reported: Markup = _NOTHING


@cache
def texts(spec: BenchmarkSpec) -> AboutTexts:
    """Return the sections of `about.html` in a definition: each follows a comment with its name."""
    parts = _SECTION.split((spec.read("about.html") or b"").decode())
    known = {field.name for field in fields(AboutTexts)}
    named = zip(parts[1::2], parts[2::2], strict=True)
    return AboutTexts(**{name: Markup(text.strip()) for name, text in named if name in known})  # noqa: S704 (ours)


def sizes(table: ItemTable) -> list[SourceCount]:
    """Return the benchmark's own Table 1, counted from its items: categories, each with its sources, then all."""
    lines, spec = [], table.spec
    for category in spec.category_keys:
        inside = [item for item in table.items if item.category == category]
        if not inside:
            continue
        lines.append(_size(table, inside, category=spec.title_of(category), source=""))
        by_source = {source: [item for item in inside if item.source == source] for source in spec.shown_sources}
        lines += [_size(table, held, category=category, source=source) for source, held in by_source.items() if held]
    return [*lines, _size(table, table.items, category=_("Total"), source="")]


def explained(spec: BenchmarkSpec, name: str) -> str:
    """Return what an overall number is, in a sentence."""
    overall = spec.overall(name)
    assert overall is not None
    return overall.about or _("{title}.", title=overall.title)


def _size(table: ItemTable, items: Sequence[Item], *, category: str, source: str) -> SourceCount:
    counts = tuple(sum(revision in item.rows for item in items) for revision in table.revisions)
    queries = [item.query_words for item in items]
    responses = [words for item in items for words in item.words]
    return SourceCount(
        category, source, counts=counts, query_words=median(queries or [0]), response_words=median(responses or [0])
    )


def quartiles(table: ItemTable) -> tuple[tuple[str, list[float]], ...]:
    """Return words of questions and responses in the first revision: a quarter, half, and three quarters are
    shorter."""
    held = [table.items[index] for index in table.in_revision(table.revisions[0])]
    lengths = (
        (_("questions"), [item.query_words for item in held]),
        (_("responses"), [words for item in held for words in item.words]),
    )
    return tuple((what, quantiles(words, n=4, method="inclusive")) for what, words in lengths)


def tags(board_version: BoardVersion) -> list[TagCount]:
    """Return the tags of the board's labels, the most frequent first, as scores count them; none where labels are
    not public, have no tags, or nothing is scored yet."""
    revision = board_version.snapshot["label_revision"]
    stored = next(
        (entry["tallies"][revision] for entry in board_version.snapshot["entries"] if revision in entry["tallies"]),
        None,
    )
    if stored is None or board_version.is_redacted(revision):
        return []
    tally = Tally.from_json(stored, board_version.spec)
    tag_counts = [TagCount(name, tally.cell(name)["n"]) for name in board_version.spec.tags] if tally.has_tags else []
    return sorted(tag_counts, key=lambda tag: -tag.pairs)


def preferred_lengths(board_version: BoardVersion) -> Mapping[str, Any]:
    """Return by category how many more words preferred responses have, of the board's labels; {} where these are not
    public, or nothing has been compared yet."""
    snapshot = board_version.snapshot
    known: Mapping[str, Any] = (snapshot.get("relations") or {}).get(snapshot["label_revision"]) or {}
    return {} if board_version.is_redacted(snapshot["label_revision"]) else known.get("lengths") or {}


def signed_histograms(lengths: Mapping[str, Any]) -> list[Histogram]:
    """Return one per category, of the preferred response less the other one."""
    near = SIGNED_BIN // 2
    starts = [near + SIGNED_BIN * step for step in range(BESIDE)]
    between = [(low, low + SIGNED_BIN - 1) for low in starts[:-1]]
    labels = (
        _("−{bin} or less", bin=starts[-1]),
        *(_("{bin} to {bin2}", bin=f"−{high}", bin2=f"−{low}") for low, high in reversed(between)),
        _("{bin} to {bin2}", bin=f"−{near - 1}", bin2=near - 1),
        *(_("{bin} to {bin2}", bin=low, bin2=high) for low, high in between),
        _("{bin} or more", bin=starts[-1]),
    )
    ticks = {0: f"≤−{starts[-1]}", BESIDE: "0", 2 * BESIDE: f"{starts[-1]}+"}
    return [
        _histogram(category, known["counts"], middle=known["median"], labels=labels, ticks=ticks)
        for category, known in lengths.items()
    ]


def histograms(table: ItemTable) -> list[Histogram]:
    """Return one per category. Which response people prefer plays no part, so it needs no label."""
    ends = ((place * BIN, place * BIN + BIN - 1) for place in range(BINS - 1))
    labels = (*(_("{bin} to {bin2}", bin=low, bin2=high) for low, high in ends), _("{bin} or more", bin=_FAR))
    ticks = {place: str(place * BIN) for place in (0, 3, 6, 9)} | {BINS - 1: f"{_FAR}+"}
    results = []
    for category in table.spec.category_keys:
        apart = [abs(item.words[0] - item.words[1]) for item in table.items if item.category == category]
        if apart:
            counted = Counter(min(words // BIN, BINS - 1) for words in apart)
            counts = [counted[place] for place in range(BINS)]
            results.append(_histogram(category, counts, middle=median(apart), labels=labels, ticks=ticks))
    return results


def _histogram(
    category: str, counts: Sequence[int], *, middle: float, labels: Sequence[str], ticks: Mapping[int, str]
) -> Histogram:
    heights = [round(_HEIGHT * count / max(counts), 1) for count in counts]
    step = _BAR + _GAP
    return Histogram(
        category,
        sum(counts),
        middle=middle,
        bars=tuple(
            HistogramBar(place * step, round(_HEIGHT - height, 1), height=height, label=label, count=count)
            for place, (height, label, count) in enumerate(zip(heights, labels, counts, strict=True))
        ),
        ticks=tuple((place * step, text) for place, text in ticks.items()),
        width=len(counts) * step,
        height=_HEIGHT,
    )


def guides(spec: BenchmarkSpec) -> tuple[FileGuide, ...]:
    """Return the formats of files that are read, the service's own last."""
    own, *others = (
        reader.GUIDE
        for reader in READERS
        if not reader.GUIDE.verdict_formats or spec.verdict_format in reader.GUIDE.verdict_formats
    )
    return (*others, own)


def sample_file(table: ItemTable, revision: str) -> bytes:
    """Return a complete file in the native format: every pair of a revision with votes drawn at random, always the
    same."""
    wanted = revision if revision in table.revisions else table.revisions[0]
    dice = random.Random(0)  # noqa: S311 (nothing is secret about it)
    return b"".join(json.dumps(row).encode() + b"\n" for row in _sample_rows(table, wanted, dice=dice))


def _sample_rows(table: ItemTable, revision: str, *, dice: random.Random) -> Iterable[dict[str, Any]]:
    for index in table.in_revision(revision):
        item = table.items[index]
        name = item.ids[revision]
        alone = table.by_id(name, revision) == (index,)
        yield {
            "id": name,
            **({} if alone else {"item": item.key}),
            "votes": [dice.randint(0, 1) for _ in range(_VOTES)],
        }
