"""Behaviour of a judge: how many of its votes can be read, how consistent they are, and which place they favour."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.labels import NOT_LABELLED
from vlrb.benchmarks.spec import TIE
from vlrb.statistics.calibration import Calibration, score_calibration, vote_calibrations
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
    """Return the behaviour of one judge."""
    matrix = votes.matrix[np.newaxis]
    return behaviours_of(matrix, [orders], preferred=preferred, margins=[margins], table=table)[0]


def behaviours_of(
    matrix: Matrix,
    orders: Sequence[Votes | None],
    *,
    preferred: npt.NDArray[np.int8] | None,
    margins: Sequence[Margins | None],
    table: ItemTable | None,
) -> list[Behaviour]:
    """Return the behaviour of judges with the same K on all pairs of their files, or on those of a label revision.

    ``matrix``: judges x items x K. ``orders``: what each would have voted had it always chosen the response that it was
    shown first; UNDECIDED where nobody knows. ``preferred``: the labels of the revision, by item, of ``table``.
    ``margins``: of single votes that follow from scores.
    """
    if preferred is not None and (preferred == NOT_LABELLED).any():
        matrix = np.where((preferred == NOT_LABELLED)[:, np.newaxis], np.int8(ABSENT), matrix)
    return [
        _with_scores_and_orders(behaviour, votes, order, preferred=preferred, margins=margin, table=table)
        for behaviour, votes, order, margin in zip(_of_votes(matrix, preferred), matrix, orders, margins, strict=True)
    ]


def _of_votes(matrix: Matrix, preferred: npt.NDArray[np.int8] | None) -> Iterator[Behaviour]:
    """Yield what follows from the votes alone."""
    calibrations: Sequence[Calibration | None] = [None] * len(matrix)
    if preferred is not None:
        calibrations = vote_calibrations(resolved(matrix, preferred[:, np.newaxis]), preferred)
    consistency = self_consistency(matrix)
    votes = (matrix != ABSENT).sum(axis=(1, 2))
    undecided = (matrix == UNDECIDED).sum(axis=(1, 2))
    for judge, known in enumerate(calibrations):
        if not votes[judge]:
            yield Behaviour(0.0, None, self_consistency=None)
            continue
        same = None if consistency is None else float(consistency[judge])
        readable = float((votes[judge] - undecided[judge]) / votes[judge])
        yield Behaviour(readable, None, self_consistency=same, calibration=known)


def _with_scores_and_orders(
    behaviour: Behaviour,
    votes: Matrix,
    orders: Votes | None,
    *,
    preferred: npt.NDArray[np.int8] | None,
    margins: Margins | None,
    table: ItemTable | None,
) -> Behaviour:
    """Return the behaviour with what the scores and the order of the responses add to it."""
    if orders is None and (margins is None or preferred is None):
        return behaviour
    present = votes[:, 0] != ABSENT
    matrix = votes[present]
    labels = None if preferred is None else preferred[present]
    if labels is not None and margins is not None and matrix.shape[1] == 1:
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
        style=None
        if preferred is None or table is None
        else _style(votes, orders.matrix, preferred=preferred, table=table),
    )


def _style(votes: Matrix, orders: Matrix, *, preferred: Matrix, table: ItemTable) -> StyleControl | None:
    label = preferred[:, np.newaxis]
    chosen, first = (resolved(one, label) for one in (votes, orders))
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
