"""Matching of rows to items, and detection of the revision that a file covers.

In this order: the item key; the texts (narrowed by id, then by row number, where several pairs have the same ones); the
id. An id that names several items of a revision means, in a file whose ids are in the row order of that revision, the
item at that row; otherwise its k-th row is the k-th such item, with a notice.

Which stored response a choice means follows from the texts; where only one of a row's two is known, from that one.
Where texts are given and none is that of the item, the order is never guessed: it is a problem, except where a rule of
the tool's own gives it (``ParsedFile.order_by_rule``).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from vlrb.benchmarks.items import Item, ItemTable, response_fingerprint
from vlrb.common.messages import _
from vlrb.readers.base import UNKNOWN, ParsedFile, PredictionRow, flip

OpenRows = dict[int, tuple[int, ...]]
"""Row index -> the items with its texts; none where the texts do not tell."""

_POSITIONS_TRUSTED = 0.9  # share of rows whose row number must fit before a row number alone names an item


@dataclass(slots=True)
class _Matched:
    """The items of all rows within one revision. ``ids``, ``places``: how many rows have the id, and the row number,
    that their item has in it."""

    revision: str
    items: list[int]
    ids: int
    places: int
    by_order: list[tuple[int, ...]] = field(default_factory=list)  # items that their order distinguished


def match(parsed: ParsedFile) -> None:
    """Find the item of every row, within the revision that fits best; rows about no known item stay UNKNOWN."""
    rows, table = parsed.rows, parsed.table
    open_rows = _by_content(rows, table)
    hints = Counter((row.id, row.item, row.position) for row in rows)
    tries = []
    for revision in table.revisions:
        ids, places = _evidence(hints, table, revision=revision)
        tries.append(_Matched(revision, [row.item for row in rows], ids=ids, places=places))
        _by_id_and_order(rows, table, matched=tries[-1], open_rows=open_rows)
    best = max(tries, key=lambda one: _closeness(parsed, one))  # the first of equals
    parsed.revision = best.revision
    for items in best.by_order:
        parsed.by_order += sorted(set(map(parsed.label, items)).difference(parsed.by_order))
    for row, item in zip(rows, best.items, strict=True):
        row.item = item
    _orient(parsed, open_rows)


def _closeness(parsed: ParsedFile, matched: _Matched) -> tuple[bool, int, int, int, int, int]:
    """Return how well a file fits a revision: best, with exactly its items; else with the fewest rows that it lacks, or
    names otherwise; then with the most ids, row numbers and row order in common; then with the fewest missing items,
    since an interrupted run misses many of its own.
    """
    table, revision = parsed.table, matched.revision
    held, given = table.in_revision(revision), list(dict.fromkeys(matched.items))
    known, wanted = set(held), set(given)
    pairs = {(item, row.id) for row, item in zip(parsed.rows, matched.items, strict=True)}
    foreign = sum(item not in known or name not in (None, table.items[item].ids[revision]) for item, name in pairs)
    missing, twice = len(known - wanted), 0 if parsed.one_vote_a_row else len(parsed.rows) - len(pairs)
    in_order = 2 if given == list(held[: len(given)]) else int(given == [item for item in held if item in wanted])
    exact = not missing and not twice and wanted == known
    return exact, -foreign - twice, matched.ids, matched.places, in_order, -missing


def _evidence(
    hints: Mapping[tuple[str | None, int, int | None], int], table: ItemTable, *, revision: str
) -> tuple[int, int]:
    """Return how many rows have the id, and the row number, that their item has in a revision.

    ``hints``: how many rows have an id, an item by content, and a row number.
    """
    ids = places = 0
    for (name, item, position), count in hints.items():
        indices = (item,) if item != UNKNOWN else table.by_id(name or "", revision)
        held = [table.items[index] for index in indices]
        ids += count * any(one.ids.get(revision, "") == name for one in held)
        places += count * any(one.rows.get(revision, UNKNOWN) == position for one in held)
    return ids, places


def _by_content(rows: Sequence[PredictionRow], table: ItemTable) -> OpenRows:
    """Match rows by key or texts. Returns the others: row index -> items with the same texts, or none."""
    result: dict[tuple[str | None, ...], tuple[tuple[int, ...], int | None]] = {}
    open_rows: OpenRows = {}
    for index, row in enumerate(rows):
        texts = row.responses
        if texts is None and row.key is None:
            open_rows[index] = ()
            continue
        hint = (row.id, row.query, *texts) if texts else (row.id, row.key)
        known = result.get(hint)
        if known is None:
            known = result[hint] = _by_texts(row, table) if texts else (_by_key(row, table), None)
        candidates, row.turned = known
        if len(candidates) == 1:
            row.item = candidates[0]
        elif candidates or row.key is None:  # a key that no item has is never overruled by the id
            open_rows[index] = candidates
    return open_rows


def _by_key(row: PredictionRow, table: ItemTable) -> tuple[int, ...]:
    key = row.key or ""
    candidates = table.by_fingerprint(key[:64])
    exact = tuple(i for i in candidates if table.items[i].key == key)
    return exact if len(key) > 64 or len(candidates) == 1 else _narrowed(candidates, row.id, table=table)


def _by_texts(row: PredictionRow, table: ItemTable) -> tuple[tuple[int, ...], int | None]:
    """Return the items with a row's texts, and whether its responses are in reverse.

    The two responses come first: where only one item has both, neither the query nor the id can name another.
    """
    assert row.responses is not None
    first, second = (response_fingerprint(text) for text in row.responses)
    candidates = tuple(i for i in table.by_response(first) if set(table.items[i].responses) == {first, second})
    if not candidates:
        return (), None
    if len(candidates) > 1:
        exact = table.by_fingerprint(table.fingerprint(row.query or "", row.responses))
        candidates = _narrowed(exact or candidates, row.id, table=table)
        in_order = tuple(i for i in candidates if table.items[i].responses[0] == first)
        candidates = in_order or candidates
    return candidates, int(table.items[candidates[0]].responses[0] != first)


def _narrowed(candidates: tuple[int, ...], name: str | None, *, table: ItemTable) -> tuple[int, ...]:
    """Return those with the id, if there is one."""
    if len(candidates) < 2 or name is None:
        return candidates
    named = tuple(i for i in candidates if name in table.items[i].ids.values())
    return named or candidates


def _by_id_and_order(
    rows: Sequence[PredictionRow], table: ItemTable, *, matched: _Matched, open_rows: OpenRows
) -> None:
    """Match the rows that content left open, within the revision."""
    revision, places = matched.revision, matched.places
    in_order = [row.id for row in rows] == [table.items[i].ids[revision] for i in table.in_revision(revision)]
    positioned = sum(row.position is not None for row in rows)
    trusted = positioned > 0 and places + len(open_rows) >= positioned and places >= _POSITIONS_TRUSTED * positioned
    waiting: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for index, same_texts in open_rows.items():
        row = rows[index]
        candidates = same_texts or _with_a_text(row, _named(row, table, revision=revision), table=table)
        if len(candidates) != 1 and row.position is not None and (candidates or trusted):
            held = table.in_revision(revision)
            here = held[row.position] if row.position < len(held) else UNKNOWN
            if here in candidates or (trusted and here != UNKNOWN and not candidates):
                candidates = (here,)
        if len(candidates) == 1:
            matched.items[index] = candidates[0]
        elif candidates:
            waiting[candidates].append(index)
    for candidates, indices in waiting.items():
        if _by_position(candidates, indices, table=table, matched=matched) and not in_order:
            matched.by_order.append(candidates)


def _named(row: PredictionRow, table: ItemTable, *, revision: str) -> tuple[int, ...]:
    """Return the items of an id in the revision, else the one item that it names in any other."""
    if row.id is None:
        return ()
    anywhere = table.by_id(row.id)
    return table.by_id(row.id, revision) or (anywhere if len(anywhere) == 1 else ())


def _with_a_text(row: PredictionRow, candidates: tuple[int, ...], *, table: ItemTable) -> tuple[int, ...]:
    """Return those of several items of one id that have one of the row's texts; all, where none has."""
    if len(candidates) < 2 or row.responses is None:
        return candidates
    given = {response_fingerprint(text) for text in row.responses}
    return tuple(i for i in candidates if given & set(table.items[i].responses)) or candidates


def _orient(parsed: ParsedFile, open_rows: Iterable[int]) -> None:
    """Derive the order of rows from the one text that is their item's. Rows whose texts are not their item's are a
    problem where the order stays unknown, and a notice together where it does not."""
    ordered = []
    for row in (parsed.rows[index] for index in open_rows):
        if row.item == UNKNOWN or row.responses is None or row.turned is not None:
            continue
        if not parsed.order_by_rule:
            row.turned = _order_by_one_text(row, parsed.table.items[row.item])
        if parsed.order_by_rule or row.turned is not None:
            ordered.append(row)
            continue
        message = _(
            "the texts of this row are not those of its pair, and do not tell their order; upload the file unchanged"
        )
        parsed.findings.add("text-unknown", message, line=row.line, id=row.id, field=parsed.text_field)
    if ordered:
        message = _(
            "The texts of {known} rows are not those of the dataset; pair and order follow from what else the rows "
            "hold. Upload files as written.",
            known=len(ordered),
        )
        parsed.findings.note("text-unknown", message, ids=parsed.labels(ordered))


def _order_by_one_text(row: PredictionRow, item: Item) -> int | None:
    """Return 1 where the one text of a row that is its item's is in the other place, 0 where it is in its own."""
    assert row.responses is not None
    places = {
        place ^ item.responses.index(text)
        for place, text in enumerate(map(response_fingerprint, row.responses))
        if text in item.responses
    }
    # Whether a text was altered before or after the tool applied its parity rule is not known.
    odd = sum(map(len, row.responses)) % 2 == 1
    return None if len(places) != 1 or (row.by_parity and odd != item.swapped_by_parity) else places.pop()


def _by_position(candidates: tuple[int, ...], indices: list[int], *, table: ItemTable, matched: _Matched) -> bool:
    """Assign the k-th of equal rows, or the k-th equal share of them, to the k-th candidate that no other row has.

    Return whether there was more than one such candidate, so that the order in the file decided.
    """
    revision = matched.revision
    taken = set(matched.items)
    free = [i for i in candidates if i not in taken and revision in table.items[i].rows] or list(candidates)
    free.sort(key=lambda i: table.items[i].rows.get(revision, len(table)))
    share = max(1, len(indices) // len(free))
    for place, index in enumerate(indices):
        matched.items[index] = free[min(place // share, len(free) - 1)]
    return len(free) > 1


def resolve_orientation(parsed: ParsedFile) -> None:
    """Find out whether a file stores responses as shown or as in the dataset, and refer its choices to the records.

    The readers take them as in the dataset. They are as shown if exactly those shown swapped are in reverse.
    """
    if not parsed.responses_as_shown or not any(row.turned for row in parsed.rows):
        return
    for row in parsed.rows:
        assert row.shown is not None
        swapped = row.shown[0]
        same_texts = row.responses is not None and row.responses[0] == row.responses[1]
        if row.turned not in (None, swapped) and not same_texts:
            message = _("the responses are neither in the dataset's order nor in the order shown; write them unchanged")
            parsed.findings.add("order-unclear", message, line=row.line, id=row.id, field="response")
        row.choices, row.shown = [flip(choice, swapped) for choice in row.choices], (0,)


def report_ids(parsed: ParsedFile) -> None:
    """Notices about ids: distinguished by order, of several revisions, or unknown although the text is known."""
    table, findings = parsed.table, parsed.findings
    if parsed.by_order:
        message = _(
            "{by_order} ids name several pairs, or have the same texts as others; they were distinguished "
            "by their order in the file. If that is not the dataset's order, give the fingerprint as "
            "`item`.",
            by_order=len(parsed.by_order),
        )
        findings.note("repeated-id-by-order", message, ids=parsed.by_order)
    foreign: dict[str, list[str]] = defaultdict(list)
    unknown: list[str] = []
    for name, item in dict.fromkeys((row.id, row.item) for row in parsed.rows):
        if name is None or item == UNKNOWN or name == table.items[item].ids.get(parsed.revision):
            continue
        others = [revision for revision in table.revisions if table.items[item].ids.get(revision) == name]
        (foreign[others[0]] if others else unknown).append(name)
    for revision, names in foreign.items():
        message = _(
            "Mixed revisions: the file is read as revision {revision}, but {names} of its ids are those "
            "of revision {revision2}. The pairs are the same; see that all rows come from one run.",
            revision=parsed.revision,
            names=len(names),
            revision2=revision,
        )
        findings.note("mixed-revisions", message, ids=names)
    if unknown:
        message = _(
            "{unknown} ids are not those of the pairs whose texts are beside them; the texts count.",
            unknown=len(unknown),
        )
        findings.note("id-differs-from-text", message, ids=unknown)
