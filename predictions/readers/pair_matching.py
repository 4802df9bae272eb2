"""Matching of predictions to pairs: by id and both responses; without responses, in the order of the edition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from benchmark.items import response_fingerprint
from benchmark.pairs.labelled_pairs import PairSet
from benchmark.pairs.pair_scoring import UNREADABLE, Verdicts
from predictions.problems import ProblemCollector
from predictions.readers.pair_predictions import PairPrediction, flip

_LISTED = 5


def match_predictions(predictions: Sequence[PairPrediction], pairs: PairSet, findings: ProblemCollector) -> Verdicts:
    """Return the verdicts of every pair of the edition, in its order.

    A problem is added for each prediction about no pair, for each about a pair that has one, and for missing pairs.
    """
    k = len(predictions[0].votes) if predictions else 1
    verdicts = np.full((len(pairs.pairs), k), UNREADABLE, dtype=np.int8)
    finder = _PairFinder(pairs)
    for prediction in _in_order(predictions):
        try:
            index = finder.find(prediction)
        except UnmatchedPrediction as error:
            findings.add(error.code, str(error), line=prediction.line, id=prediction.id, field=error.field)
            continue
        if len(prediction.votes) == k:
            verdicts[index] = _as_stored(prediction, pairs, index)
    finder.report_missing(findings)
    return verdicts


def _in_order(predictions: Iterable[PairPrediction]) -> list[PairPrediction]:
    """Return those with responses first, since only these tell rows of one id apart; then by row of the data set."""
    return sorted(
        predictions,
        key=lambda one: (one.responses is None and one.key is None, -1 if one.position is None else one.position),
    )


def _as_stored(prediction: PairPrediction, pairs: PairSet, index: int) -> list[int]:
    """Return the votes about the responses in the order of the edition."""
    pair = pairs.pairs[index]
    if prediction.preferred_first:
        return [flip(vote) if pair.label == 1 else vote for vote in prediction.votes]
    if prediction.responses is not None and _fingerprints(prediction.responses) != pair.responses:
        return [flip(vote) for vote in prediction.votes]
    return list(prediction.votes)


def _fingerprints(responses: tuple[str, str]) -> tuple[str, str]:
    return response_fingerprint(responses[0]), response_fingerprint(responses[1])


class UnmatchedPrediction(Exception):
    """A prediction is about no pair of the edition, or about one that has a prediction already."""

    def __init__(self, field: str, code: str, message: str) -> None:
        super().__init__(message)
        self.field, self.code = field, code


class _PairFinder:
    """Finds the pair of each prediction, every pair once."""

    def __init__(self, pairs: PairSet) -> None:
        self._pairs = pairs
        self._free = [True] * len(pairs.pairs)
        self._by_id: dict[str, list[int]] = defaultdict(list)
        self._by_key: dict[str, list[int]] = defaultdict(list)
        for index, pair in enumerate(pairs.pairs):
            self._by_id[pair.id].append(index)
            self._by_key[pair.key].append(index)

    def find(self, prediction: PairPrediction) -> int:
        """Return the position of the prediction's pair. Raises UnmatchedPrediction where it has none."""
        known, field = self._named(prediction)
        title = self._pairs.spec.title
        if not known:
            message = f"{prediction.key or prediction.id!r} is no pair of this edition of {title}"
            raise UnmatchedPrediction(field, "unknown-item", message)
        if prediction.key is None and prediction.responses is not None:
            given = _fingerprints(prediction.responses)
            known = [index for index in known if self._pairs.pairs[index].responses in (given, given[::-1])]
            known.sort(key=lambda index: self._pairs.pairs[index].responses != given)  # the same order first
            if not known:
                message = "the responses are those of no pair with this id; give them as the benchmark has them"
                raise UnmatchedPrediction("responses", "unknown-responses", message)
        for index in known:
            if self._free[index]:
                self._free[index] = False
                return index
        message = f"the edition has {len(known)} such pair(s), the file has more; remove the repeated record"
        raise UnmatchedPrediction(field, "repeated-item", message)

    def _named(self, prediction: PairPrediction) -> tuple[list[int], str]:
        """Return the pairs that a prediction names, in order, and the field by which it names them."""
        if prediction.key is not None:
            return self._by_key.get(prediction.key, []), "item"
        return self._by_id.get(prediction.id or "", []), "id"

    def report_missing(self, findings: ProblemCollector) -> None:
        """Add a problem if pairs of the edition have no prediction, beyond what unread records explain."""
        missing = [pair.id for pair, free in zip(self._pairs.pairs, self._free, strict=True) if free]
        if missing and not findings.problem_count:
            named = ", ".join(missing[:_LISTED]) + (", ..." if len(missing) > _LISTED else "")
            message = f"{len(missing)} of {len(self._free)} pairs have no prediction: {named}. Run the judge on these."
            findings.add("missing-items", message)
