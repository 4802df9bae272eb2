"""URL state of the board: search, filters, order, columns and page.

Filtering never changes a rank.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from urllib.parse import urlencode

from leaderboard.ranking.columns import ALWAYS, Column, by_key, columns_of, usual
from leaderboard.ranking.rows import Board, BoardRow, Tier
from leaderboard.ranking.search import asked_column, term, words
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.judges import TYPES
from vlrb.protocols import protocols

PAGE = 30
SECTIONS: tuple[Tier, ...] = ("scored", "reported", "baseline")
TIERS = ("all", "scored", "reported", "baseline")
MAX_QUERY = 400  # holds five ids
MOST_COMPARED = 5


@dataclass(frozen=True, slots=True)
class Filter:
    """One control of the panel: its value completes ``term`` to a word of the search."""

    key: str
    label: str
    term: str
    pattern: str  # what a value has to look like
    kind: Literal["select", "number", "date", "text"] = "select"
    choices: tuple[tuple[str, str], ...] = ()


_NUMBER = r"[0-9]{1,6}(\.[0-9]{1,3})?"
FILTERS: tuple[Filter, ...] = (
    Filter("type", "Type", "type:", "|".join(TYPES), choices=tuple(TYPES.items())),
    Filter("open", "Weights", "open:", "yes|no", choices=(("yes", "open weights"), ("no", "closed weights"))),
    Filter(
        "k",
        "Votes per pair",
        "k:",
        r"(<=|>=|<|>)?[0-9]{1,2}|[0-9]{1,2}\.\.[0-9]{1,2}",
        choices=(("1", "one vote"), (">1", "several"), (">=5", "five or more")),
    ),
    Filter("coverage", "Answered", "decided:>=", _NUMBER, choices=(("95", "95% or more"), ("99", "99% or more"))),
    Filter(
        "figures",
        "Published figures",
        "figures:",
        "follow|differ",
        choices=(("follow", "follow from the official categories"), ("differ", "do not")),
    ),
    Filter("min_size", "Size from, billion", term="size:>=", kind="number", pattern=_NUMBER),
    Filter("max_size", "Size to, billion", term="size:<=", kind="number", pattern=_NUMBER),
    Filter("max_price", "Price to, US $ a run", term="price:<=", kind="number", pattern=_NUMBER),
    Filter("since", "From date", term="date:>=", kind="date", pattern=r"[0-9]{4}(-[0-9]{2}){0,2}"),
    Filter("until", "To date", term="date:<=", kind="date", pattern=r"[0-9]{4}(-[0-9]{2}){0,2}"),
)
_IDENTIFIER = re.compile(r"[A-Za-z0-9._-]{1,80}")


@dataclass(frozen=True, slots=True)
class BoardQuery:
    """The state of the page. ``revision`` "" is the board's current one, ``as_of`` "" the current board.

    What is usual for the benchmark is where "" is given as protocol, grouping, order or columns.
    """

    spec: BenchmarkSpec
    protocol: str = ""
    grouping: str = ""
    revision: str = ""
    tier: str = "all"
    search: str = ""
    sort: str = ""
    descending: bool = True
    page: int = 1
    as_of: str = ""
    filters: tuple[tuple[str, str], ...] = ()  # (key, value), in the order of FILTERS
    columns: tuple[str, ...] = ()
    compare: tuple[str, ...] = ()  # chosen to be compared; changes nothing in the table
    embed: bool = False  # within another site's page: without header and footer

    def __post_init__(self) -> None:
        spec = self.spec
        given = (
            ("protocol", self.protocol or spec.ranking),
            ("grouping", self.grouping or spec.official),
            ("sort", self.sort or spec.headline),
            ("columns", self.columns or usual(spec)),
        )
        for name, value in given:
            object.__setattr__(self, name, value)

    def with_sort(self, key: str) -> BoardQuery:
        """Return the view after a click on a column: its first direction, or the other one if it is sorted by
        already."""
        descending = not self.descending if key == self.sort else by_key(self.spec)[key].descending
        return replace(self, sort=key, descending=descending, page=1)

    @property
    def is_narrowed(self) -> bool:
        """Whether rows are searched for or filtered: what was asked for is not folded below another row."""
        return bool(self.search or self.filters)

    def filter(self, key: str) -> str:
        """Return the value of a filter; "" if it is not used."""
        return dict(self.filters).get(key, "")

    def shown(self, board: Board) -> tuple[Column, ...]:
        """Return the columns of the table, with that which orders it; none that the labels' level leaves out."""
        return tuple(column for column in board.columns if column.key in (*self.columns, self.sort))

    def ranked_by(self, board: Board) -> str:
        """Return the score that the ranks follow."""
        return self.sort if self.sort in board.values else board.headline

    def on(self, board: Board) -> BoardQuery:
        """Return the view with an order that the board knows, where it is ordered by an accuracy that is not shown."""
        if self.sort in {column.key for column in board.columns}:
            return self
        return replace(self, sort=board.headline, descending=True)

    def parameters(self, *without: str) -> list[tuple[str, str]]:
        """Return the view as the parameters of an address; what is usual is left out."""
        moved = (self.sort, self.descending) != (self.spec.headline, True)
        pairs = [
            ("q", self.search),
            ("tier", "" if self.tier == "all" else self.tier),
            ("protocol", "" if self.protocol == self.spec.ranking else self.protocol),
            ("grouping", "" if self.grouping == self.spec.official else self.grouping),
            ("revision", self.revision),
            ("as_of", self.as_of),
            *self.filters,
            ("cols", "" if self.columns == usual(self.spec) else ",".join(self.columns)),
            ("compare", ",".join(self.compare)),
            ("sort", self.sort if moved else ""),
            ("dir", ("desc" if self.descending else "asc") if moved else ""),
            ("page", str(self.page) if self.page > 1 else ""),
            ("embed", "1" if self.embed else ""),
        ]
        return [(name, value) for name, value in pairs if value and name not in without]

    def url(self, **changes: Any) -> str:
        """Return the address of this view, with changes."""
        return address("/", dict(replace(self, **changes).parameters()))

    @property
    def only_compared(self) -> str:
        """The address of this view with those rows alone that are chosen to be compared."""
        search = "id:" + ",".join(self.compare)
        return self.url(search=search, tier="all", filters=(), page=1)

    @property
    def taken(self) -> str:
        """The query of the files that the page offers: of the chosen rows where there are some, or else of all."""
        return replace(self, embed=False).only_compared[1:] if self.compare else self.url(page=1, embed=False)[1:]

    @property
    def comparison(self) -> str:
        """The address that compares what is chosen, under the same labels and categories."""
        grouping = "" if self.grouping == self.spec.official else self.grouping
        return compare_url(self.compare, grouping, revision=self.revision, as_of=self.as_of)


def address(path: str, named: Mapping[str, str]) -> str:
    """Return an address with the parameters that have a value; commas stay readable."""
    known = {name: value for name, value in named.items() if value}
    return f"{path}?{urlencode(known, safe=',')}" if known else path


def compare_url(
    ids: Sequence[str],
    grouping: str = "",
    *,
    revision: str = "",
    as_of: str = "",
    q: str = "",
) -> str:
    """Return the address of a comparison; "" is what is usual."""
    named = {"entries": ",".join(ids), "grouping": grouping, "revision": revision, "as_of": as_of, "q": q}
    return address("/compare", named)


@dataclass(frozen=True, slots=True)
class SelectedRows:
    """The rows of one page, and how many there are in all: first those scored here, then reported ones, of each judge
    the one that leads; its ``others`` are on no page. Baselines stand below every page."""

    rows: tuple[BoardRow, ...]
    total: int
    page: int
    pages: int
    baselines: tuple[BoardRow, ...] = ()
    others: Mapping[str, tuple[BoardRow, ...]] = field(
        default_factory=dict
    )  # id of a leading row -> others of its judge

    def of(self, tier: Tier) -> list[BoardRow]:
        """Return the rows of a section."""
        return [row for row in self.rows if row.tier == tier]


def read_query(parameters: Mapping[str, str], revisions: Sequence[str], *, spec: BenchmarkSpec) -> BoardQuery:
    """Return the view of a query string. A value that means nothing is as good as none: a link never breaks."""
    key, _, direction = parameters.get("sort", "").partition(":")
    columns = by_key(spec)
    column = columns.get(key, columns[spec.headline])
    direction = direction or parameters.get("dir", "")
    return BoardQuery(
        spec,
        protocol=one_of(parameters, "protocol", protocols(spec)) or spec.ranking,
        grouping=one_of(parameters, "grouping", spec.groupings) or spec.official,
        revision=one_of(parameters, "revision", revisions),
        tier=next((tier for tier in TIERS if tier == parameters.get("tier")), "all"),
        search=parameters.get("q", "").strip()[:MAX_QUERY],
        sort=column.key,
        descending=direction == "desc" if direction in ("asc", "desc") else column.descending,
        page=page_number(parameters),
        as_of=read_as_of(parameters),
        filters=tuple(
            (choice.key, value)
            for choice in FILTERS
            if re.fullmatch(choice.pattern, value := parameters.get(choice.key, "").strip())
        ),
        columns=_columns(listed(parameters, "cols"), spec),
        compare=_toggled(listed(parameters, "compare"))[:MOST_COMPARED],
        embed=parameters.get("embed") == "1",
    )


def one_of(parameters: Mapping[str, str], name: str, known: Collection[str]) -> str:
    """Return the value of a parameter if it is a known one, else ""."""
    value = parameters.get(name, "")
    return value if value in known else ""


def page_number(parameters: Mapping[str, str]) -> int:
    """Return the page that is asked for, from 1."""
    page = parameters.get("page", "")
    return min(int(page), 10_000) if re.fullmatch(r"[1-9][0-9]{0,4}", page) else 1


def read_as_of(parameters: Mapping[str, str]) -> str:
    """Return a day, an instant or a snapshot's id, as it was asked for."""
    text = parameters.get("as_of", "").strip()[:64]
    # In a query a plus sign is a space: that of a time zone comes back.
    return re.sub(r"(T\S+) (\d{2}:?\d{2})$", r"\1+\2", text)


def listed(parameters: Mapping[str, str], name: str) -> list[str]:
    """Return a list that stands in one parameter, with commas, or in several of that name (as checkboxes send it)."""
    several = getattr(parameters, "getlist", None)
    texts: Iterable[str] = several(name) if several else [parameters.get(name, "")]
    return [part for text in texts for part in text.split(",") if part]


def _columns(asked: Sequence[str], spec: BenchmarkSpec) -> tuple[str, ...]:
    known = [column.key for column in columns_of(spec) if column.key in asked or column.key in ALWAYS]
    return tuple(known) if any(key in by_key(spec) for key in asked) else usual(spec)


def _toggled(asked: Sequence[str]) -> tuple[str, ...]:
    """Asking for an entry twice takes it off: that is what the button on a marked row does without a script."""
    times = Counter(name for name in asked if _IDENTIFIER.fullmatch(name))
    return tuple(name for name, count in times.items() if count % 2)


def select(board: Board, view: BoardQuery) -> SelectedRows:
    """Filter, order and cut. A null is below every number and every text, in either direction."""
    if view.is_narrowed:
        asked, others = chosen(board, view), {}
    else:
        leading, others = board.kept(("leading", view.tier), lambda: fold(board, _matching(board, view)))
        order = ("order", view.tier, view.sort, view.descending)
        asked = board.kept(order, lambda: _in_sections(leading, view))
    baselines = tuple(row for row in asked if row.tier == "baseline")
    rows = asked[: len(asked) - len(baselines)]
    pages = max(1, -(-len(rows) // PAGE))
    page = min(view.page, pages)
    return SelectedRows(
        tuple(rows[(page - 1) * PAGE : page * PAGE]),
        len(rows),
        page=page,
        pages=pages,
        baselines=baselines,
        others=others,
    )


def fold(board: Board, rows: Sequence[BoardRow]) -> tuple[list[BoardRow], dict[str, tuple[BoardRow, ...]]]:
    """Return the rows with one of each judge in a section, and by its id the others, in the order they would lead."""
    asked = {row.id: row for row in rows}
    versions: dict[str, list[str]] = {}
    for row in board.rows:
        if row.tier == "scored":  # the ranked version is before the others
            versions.setdefault(row.version_of or row.id, []).append(row.id)
    others = {}
    for same in (*versions.values(), *board.reports.values()):
        results = [asked[name] for name in same if name in asked]
        if len(results) > 1:
            others[results[0].id] = tuple(results[1:])
    folded = {row.id for rest in others.values() for row in rest}
    return [row for row in rows if row.id not in folded], others


def chosen(board: Board, view: BoardQuery) -> list[BoardRow]:
    """Return the rows that a view asks for, in its order: those scored here, then reported ones, baselines last."""
    return _in_sections(_matching(board, view), view)


def _matching(board: Board, view: BoardQuery) -> list[BoardRow]:
    test = row_test(view)
    return [row for row in board.rows if test(row)]


def _in_sections(rows: Sequence[BoardRow], view: BoardQuery) -> list[BoardRow]:
    rows = ordered_as(rows, view)
    return [row for tier in SECTIONS for row in rows if row.tier == tier]


def asked_words(view: BoardQuery) -> list[str]:
    """Return the filters and the search as words that must all occur."""
    prefixes = {choice.key: choice.term for choice in FILTERS}
    return [prefixes[key] + value for key, value in view.filters] + (words(view.search) if view.search else [])


def row_test(view: BoardQuery) -> Callable[[BoardRow], bool]:
    """Return whether a row is one that the view asks for."""
    tests = [term(word, view.spec) for word in asked_words(view)]
    if view.tier != "all":
        tests.append(lambda row: row.tier == view.tier)
    return lambda row: all(test(row) for test in tests)


def leading(board: Board, view: BoardQuery) -> list[BoardRow]:
    """Return the rows of a view that have the score which it ranks by, and may be first."""
    key, test = view.ranked_by(board), row_test(view)
    return [row for row in board.rows if row.leads and row.value(key) is not None and test(row)]


def count_unstated(board: Board, view: BoardQuery) -> int:
    """Return how many judges scored here a view leaves out because they do not state what it asks for."""
    asked = [(term(word, view.spec), asked_column(word, view.spec)) for word in asked_words(view)]
    test = row_test(view)
    if not asked:
        return 0

    def is_unstated(row: BoardRow) -> bool:
        return all(passes(row) or (key and row.value(key) in (None, "")) for passes, key in asked)

    return sum(row.tier == "scored" and is_unstated(row) and not test(row) for row in board.rows)


def ordered_as(rows: Sequence[BoardRow], view: BoardQuery) -> list[BoardRow]:
    """Return rows in the order of the view. In the order of a score, what leads nothing is last."""
    if (view.sort, view.descending) == (view.spec.headline, True):
        return list(rows)
    if view.sort not in view.spec.score_names:
        return ordered(rows, view.sort, descending=view.descending)
    parts = ([row for row in rows if row.leads], [row for row in rows if not row.leads])
    return [row for part in parts for row in ordered(part, view.sort, descending=view.descending)]


def ordered(rows: Sequence[BoardRow], key: str, *, descending: bool) -> list[BoardRow]:
    """Return rows by one column; equals stay in display order."""

    def value(row: BoardRow) -> Any:
        result = row.value(key)
        return (result.lower() or None) if isinstance(result, str) else result

    pairs = [(value(row), row) for row in rows]
    known = [pair for pair in pairs if pair[0] is not None]
    known.sort(key=lambda pair: pair[0], reverse=descending)  # stable in both directions
    return [row for _, row in known] + [row for found, row in pairs if found is None]
