"""Check of published figures: the counts, grouping and revision behind them, or what would be needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from vlrb.benchmarks.spec import Split
from vlrb.common.messages import _
from vlrb.numbers.answer import Explanation, FitOutcome, Implied, Plausibility
from vlrb.numbers.contradictions import contradictions, contradictions_of_mean
from vlrb.numbers.counts import full_fits
from vlrb.numbers.dropped_items import fewest_dropped
from vlrb.numbers.figures import Figures
from vlrb.numbers.sentences import sentences_about


def check_numbers(figures: Figures, splits: Sequence[Split] | None = None) -> Plausibility:
    """Return which counts, grouping and revision are behind published percentages; what would be needed if none are.

    A macro that cannot be the mean of the categories is said to be impossible and then set aside, so that the
    other figures still get their explanation. Dropped items are only sought if nothing fits the full items, and for
    figures that were rounded: some tens of milliseconds. ``splits`` None: those that the definition states.

    Raises:
        ValueError: no split is known.
    """
    spec = figures.spec
    splits = spec.splits if splits is None else splits
    if not splits:
        raise ValueError(_("the sizes of {title} are not known: there is nothing to check against", title=spec.title))
    impossible = tuple(contradictions(figures, splits))
    rest = figures.without_mean() if any(contradictions_of_mean(figures)) else figures
    fits = full_fits(rest, splits, readings=("rounded", "cut off", "either"))
    if not fits and spec.exchanged and None not in (*figures.categories, figures.pooled):
        exchanged = rest.with_values(dict(zip(spec.exchanged, map(rest.values.get, spec.exchanged[::-1]), strict=True)))
        fits = full_fits(exchanged, splits, readings=("rounded",), exchanged=True)
    dropped: tuple[Explanation, ...] = ()
    alone: tuple[Explanation, ...] = ()
    if not fits:
        dropped = tuple(sorted(fewest_dropped(rest, splits), key=lambda explanation: explanation.dropped))
        if None not in figures.categories:
            alone = full_fits(rest.without_mean().with_values({spec.pooled: None}), splits, readings=("rounded",))
    verdict: FitOutcome = "fits" if fits else "only with dropped items" if dropped else "not found"
    verdict = "impossible" if impossible else verdict
    answer = Plausibility(
        figures,
        verdict,
        fits=fits,
        dropped=dropped,
        categories_alone=alone,
        implied=tuple(_implied(figures, splits)),
        impossible=impossible,
        sentences=(),
    )
    return replace(answer, sentences=tuple(sentences_about(answer, splits)))


def _implied(figures: Figures, splits: Sequence[Split]) -> Iterator[Implied]:
    ranges = [category.range("rounded") for category in figures.categories if category is not None]
    if len(ranges) < len(figures.categories):
        return
    for split in splits:
        low, high = (
            sum((n * share for n, share in zip(split.sizes, ends, strict=True)), start=Fraction(0)) / sum(split.sizes)
            for ends in zip(*ranges, strict=True)
        )
        yield Implied(split, float(100 * low), high=float(100 * high))
