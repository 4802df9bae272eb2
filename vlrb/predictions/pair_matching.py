"""Matching of predictions to pairs: by id and both responses; without responses, in the order of the edition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vlrb.benchmarks.items import ItemTable, response_fingerprint
from vlrb.common.messages import _
from vlrb.pairs.pair_table import PairFinder, preferred_is_named
from vlrb.predictions.problems import ProblemCollector
from vlrb.readers.pair_predictions import PairPrediction, flip
from vlrb.votes import ABSENT, OTHER, PREFERRED, Matrix

_LISTED = 5


@dataclass(frozen=True, slots=True)
class MatchedPairs:
    """Votes over the items of a table, the edition that they cover, and the item of each prediction (None: none).

    ``orders``: the votes had each been for the response that the record names first.
    """

    matrix: Matrix
    orders: Matrix
    revision: str
    items: tuple[int | None, ...]


def match_predictions(
    predictions: Sequence[PairPrediction], table: ItemTable, *, findings: ProblemCollector
) -> MatchedPairs:
    """Return the votes of a file about the items of an edition.

    A problem is added for each prediction about no pair, for each about a pair that has one, and for missing pairs.
    """
    k = len(predictions[0].votes) if predictions else 1
    matrix, orders = (np.full((len(table), k), ABSENT, dtype=np.int8) for _of in range(2))
    revision = _revision(predictions, table)
    finder = PairFinder(table, revision)
    items: list[int | None] = [None] * len(predictions)
    for place in _in_order(predictions):
        prediction = predictions[place]
        try:
            items[place] = index = _find(prediction, finder, table=table)
            votes = _as_stored(prediction, table, index=index)
            orders[index] = _as_stored(replace(prediction, votes=(0,) * k), table, index=index)
        except UnmatchedPrediction as error:
            findings.add(error.code, str(error), line=prediction.line, id=prediction.id, field=error.field)
            continue
        if len(votes) == k:
            matrix[index] = votes
    _report_missing(finder, table, revision=revision, findings=findings)
    return MatchedPairs(matrix, orders, revision=revision, items=tuple(items))


def _revision(predictions: Sequence[PairPrediction], table: ItemTable) -> str:
    """Return the edition whose ids the file has; else the one with the fewest ids too many or too few."""
    if len(table.revisions) == 1:
        return table.revisions[0]
    given = Counter(prediction.id for prediction in predictions)

    def different(revision: str) -> int:
        held = table.in_revision(revision)
        if None in given:  # of files that name pairs by key alone
            return abs(len(held) - len(predictions))
        names: Counter[str | None] = Counter(table.items[index].ids[revision] for index in held)
        return (given - names).total() + (names - given).total()

    return min(table.revisions, key=different)


def _in_order(predictions: Sequence[PairPrediction]) -> list[int]:
    """Return those with responses first, since only these tell rows of one id apart; then by row of the data set."""

    def key(place: int) -> tuple[bool, int]:
        prediction = predictions[place]
        position = -1 if prediction.position is None else prediction.position
        return prediction.responses is None and prediction.key is None, position

    return sorted(range(len(predictions)), key=key)


def _as_stored(prediction: PairPrediction, table: ItemTable, *, index: int) -> Sequence[int]:
    """Return the votes about the responses in the order of the table, or about the preferred one.

    Raises:
        UnmatchedPrediction: the file takes a label for known that is hidden.
    """
    about_label = prediction.responses is None and preferred_is_named(table.spec)
    if (prediction.preferred_first or about_label) and not table.spec.public_labels:
        message = _("the record does not state which response was shown first; repeat both responses, or the prompt")
        raise UnmatchedPrediction("responses" if about_label else "rewards", "order-unclear", message=message)
    if prediction.preferred_first or about_label:
        return [(PREFERRED, OTHER)[vote] if vote in (0, 1) else vote for vote in prediction.votes]
    turned = prediction.responses is not None and _fingerprints(prediction.responses) != table.items[index].responses
    return [flip(vote) for vote in prediction.votes] if turned else prediction.votes


def _fingerprints(responses: tuple[str, str]) -> tuple[str, str]:
    return response_fingerprint(responses[0]), response_fingerprint(responses[1])


class UnmatchedPrediction(Exception):
    """A prediction is about no pair of the edition, or about one that has a prediction already."""

    def __init__(self, field: str, code: str, *, message: str) -> None:
        super().__init__(message)
        self.field, self.code = field, code


def _find(prediction: PairPrediction, finder: PairFinder, *, table: ItemTable) -> int:
    """Return the item of a prediction. Raises UnmatchedPrediction where it has none."""
    by_key = prediction.key is not None
    field = "item" if by_key else "id"
    known = finder.keyed(prediction.key or "") if by_key else finder.named(prediction.id or "")
    if not known:
        message = _(
            "{id!r} is not a pair of this edition of {title}",
            id=prediction.key or prediction.id,
            title=table.spec.title,
        )
        raise UnmatchedPrediction(field, "unknown-item", message=message)
    if not by_key and prediction.responses is not None:
        known = finder.with_responses(known, _fingerprints(prediction.responses))
        if not known:
            message = _("the responses are those of no pair with this id; give them as the benchmark has them")
            raise UnmatchedPrediction("responses", "unknown-responses", message=message)
    index = finder.take(known)
    if index is None:
        message = _(
            "the edition has {known} such pair(s), the file has more; remove the repeated record", known=len(known)
        )
        raise UnmatchedPrediction(field, "repeated-item", message=message)
    return index


def _report_missing(finder: PairFinder, table: ItemTable, *, revision: str, findings: ProblemCollector) -> None:
    """Add a problem if pairs of the edition have no prediction, beyond what unread records explain."""
    held = table.in_revision(revision)
    missing = [table.items[index].ids[revision] for index in held if index in finder.free]
    if missing and not findings.problem_count:
        named = ", ".join(missing[:_LISTED]) + (", ..." if len(missing) > _LISTED else "")
        message = _(
            "{missing} of {held} pairs have no prediction: {named}. Run the judge on these.",
            missing=len(missing),
            held=len(held),
            named=named,
        )
        findings.add("missing-items", message)
