"""Behaviour of a judge: how many of its votes can be read, how consistent they are, and which place they favour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.labels import NOT_LABELLED
from vlrb.benchmarks.spec import TIE
from vlrb.statistics.calibration import Calibration, score_calibration, vote_calibration
from vlrb.statistics.position_bias import PositionBias, is_one_sided, position_bias
from vlrb.statistics.reliability import self_consistency
from vlrb.statistics.style_control import StyleControl, style_control
from vlrb.votes import ABSENT, UNDECIDED, Margins, Matrix, Votes, resolved, without_labels


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Statistics of a judge's votes; rates are fractions.

    ``position_bias``, ``calibration`` and ``style`` need labels. ``one_order``: whether the order is nearly always the
    same, of the preferred and the other response where labels are known, else of the responses as they are stored.
    """

    parse_rate: float  # votes that can be read / votes
    first_shown_rate: float | None  # votes for the response shown first / votes with a known order; None without one
    self_consistency: float | None  # mean over items of (votes for the more frequent verdict / K); None for K = 1
    position_bias: PositionBias | None = None
    one_order: bool | None = None  # None: the order is not known
    calibration: Calibration | None = None
    both_orders: float | None = None  # pairs asked once in each order with the same verdict / those pairs
    style: StyleControl | None = None  # place and length, each with the other and the category held equal

    def to_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Behaviour:
        """Return the behaviour of ``to_json``, also of its first fields alone, which need no label."""
        parts = {"position_bias": PositionBias, "calibration": Calibration, "style": StyleControl}
        return cls(**{**data, **{name: part(**data[name]) for name, part in parts.items() if data.get(name)}})


def behaviour_of(
    votes: Votes,
    orders: Votes | None,
    *,
    preferred: npt.NDArray[np.int8] | None = None,
    margins: Margins | None = None,
    table: ItemTable | None = None,
) -> Behaviour:
    """Return the behaviour on all pairs of a file, or on the pairs of a label revision.

    ``orders``: what the judge would have voted had it always chosen the response that it was shown first; UNDECIDED
    where nobody knows. ``preferred``: the labels of the revision, by item, of ``table``. ``margins``: of single votes
    that follow from scores.
    """
    present = votes.matrix[:, 0] != ABSENT
    if preferred is not None:
        present &= preferred != NOT_LABELLED
    matrix = votes.matrix[present]
    labels = None if preferred is None else preferred[present]
    behaviour = _without_order(matrix, labels)
    if labels is not None and margins is not None and votes.k == 1:
        verdict = resolved(matrix, labels[:, np.newaxis])[:, 0]
        sure = score_calibration(margins[present], verdict, label=labels)
        behaviour = replace(behaviour, calibration=sure)
    if orders is None or not len(matrix):
        return behaviour
    first = orders.matrix[present]
    known = (first != UNDECIDED) & (matrix != UNDECIDED)
    chosen = known & (matrix != TIE)
    return replace(
        behaviour,
        first_shown_rate=float((matrix == first)[chosen].mean()) if chosen.any() else None,
        position_bias=None if labels is None else _position_bias(matrix, first, labels=labels),
        one_order=_one_order(first, known, labels=labels) if known.any() else None,
        both_orders=_both_orders(matrix, first),
        style=None if preferred is None or table is None else _style(votes, orders, preferred=preferred, table=table),
    )


def _style(votes: Votes, orders: Votes, *, preferred: Matrix, table: ItemTable) -> StyleControl | None:
    label = preferred[:, np.newaxis]
    chosen, first = (resolved(one.matrix, label) for one in (votes, orders))
    known = np.isin(chosen, (0, 1)) & np.isin(first, (0, 1)) & np.isin(label, (0, 1))
    pair, best = np.nonzero(known)[0], np.broadcast_to(label, chosen.shape)[known]
    words, other = table.word_counts[pair, best], table.word_counts[pair, 1 - best]
    return style_control(
        (chosen == label)[known],
        pair=pair,
        category=np.array(table.spec.category_keys)[table.category_index[pair]],
        preferred_first=(first == label)[known],
        longer=(words - other) / np.maximum(words + other, 1),
    )


def _both_orders(matrix: Matrix, first: Matrix) -> float | None:
    """Return how often the verdict is the same whichever response is shown first; None unless each of two votes was."""
    if matrix.shape[1] != 2:
        return None
    asked = (first != UNDECIDED).all(axis=1) & (first[:, 0] != first[:, 1])
    same = (matrix[:, 0] == matrix[:, 1]) & (matrix[:, 0] != UNDECIDED)
    return float(same[asked].mean()) if asked.any() else None


def _without_order(matrix: Matrix, labels: npt.NDArray[np.int8] | None) -> Behaviour:
    if not len(matrix):
        return Behaviour(0.0, None, self_consistency=None)
    known = None if labels is None else vote_calibration(resolved(matrix, labels[:, np.newaxis]), labels)
    return Behaviour(
        float((matrix != UNDECIDED).mean()), None, self_consistency=self_consistency(matrix), calibration=known
    )


def _position_bias(matrix: Matrix, first: Matrix, *, labels: npt.NDArray[np.int8]) -> PositionBias | None:
    label = labels[:, np.newaxis]
    known = (first != UNDECIDED) & (matrix != UNDECIDED) & (label != TIE)
    right, in_front = resolved(matrix, label) == label, resolved(first, label) == label
    sides = (known & in_front, known & ~in_front)
    by_pair = [np.stack([(side & counted).sum(axis=1) for side in sides], axis=1) for counted in (right, known)]
    return position_bias(*by_pair, votes_per_pair=matrix.shape[1])


def _one_order(first: Matrix, known: npt.NDArray[np.bool_], *, labels: npt.NDArray[np.int8] | None) -> bool:
    """Return whether one response, the preferred or the first as stored, nearly always has one place."""
    if labels is None:
        placed = without_labels(first)[known] == 0
    else:
        label = labels[:, np.newaxis]
        placed = (resolved(first, label) == label)[known & (label != TIE)]
    return is_one_sided(float(placed.sum()), float((~placed).sum()))
