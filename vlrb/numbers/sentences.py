"""Answer to published figures of a benchmark whose sizes in circulation are known: its sentences, and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from vlrb.benchmarks.spec import Split, capital
from vlrb.common.messages import _, in_words, joined
from vlrb.numbers.figures import Figures, PublishedFigure, Reading, points
from vlrb.numbers.splits import Explanation, Plausibility, mean_of_figures_prints

_READING_WORDS: Mapping[Reading, str] = {
    "rounded": "",
    "cut off": _(", if the figures were cut off instead of rounded"),
    "either": _(", if some figures were rounded and some cut off"),
}


def headline(answer: Plausibility) -> str:
    """Return the verdict in one sentence."""
    spec = answer.figures.spec
    if answer.verdict == "impossible":
        return _("These figures cannot all be right, whatever was left out.")
    if answer.verdict == "not found":
        return _("These figures fit no categories in circulation. Perhaps pairs were left out.")
    if not any(answer.figures.categories):
        return _("Without the categories the grouping cannot be determined.")
    plain = [fit for fit in answer.fits if not fit.exchanged]
    if not plain:
        exchanged = _("{exchanged} exchanged", exchanged=joined(spec.exchanged, _(" and ")))
        return _("These figures fit {fits} only with {spec}.", fits=_sizes(answer.fits), spec=exchanged)
    how = _READING_WORDS[plain[0].reading]
    groupings = dict.fromkeys(fit.split.grouping for fit in plain)
    if spec.official in groupings and any(fit.split.grouping != spec.official for fit in plain):
        return _(
            "These figures fit the official categories{how}, and others too: they do not show which were used.", how=how
        )
    if spec.official in groupings:
        return _("These figures fit the official categories{how}.", how=how)
    counted = joined([spec.grouping_text(grouping).words for grouping in groupings], _(" or from "))
    return _(
        "These figures come from {counted} ({sizes}), not from the official categories{how}.",
        counted=counted,
        sizes=_sizes(plain),
        how=how,
    )


def _sizes(explanations: Sequence[Explanation]) -> str:
    return joined(dict.fromkeys(explanation.split.label for explanation in explanations), _(" or "))


def sentences(answer: Plausibility) -> Iterator[str]:
    """Yield what an answer says, sentence by sentence."""
    figures, splits = answer.figures, answer.figures.spec.splits
    official = figures.spec.official
    yield from answer.impossible
    if not any(figures.categories):
        if figures.pooled is not None:
            yield from _overall_alone(figures.pooled, splits, title=_(figures.spec.title_of(figures.spec.pooled)))
        return
    for explanation in answer.fits:
        yield capital(_describe(explanation, figures))
    if not answer.fits:
        yield from _without_fit(answer)
    if not any(fit.split.grouping == official and not fit.exchanged for fit in answer.fits):
        yield from _official_misfits(figures, splits)
        implied = [known for known in answer.implied if known[0].grouping == official]
        if implied and figures.pooled is not None:
            split, low, high = implied[0]
            yield _(
                "Under the official {label} the {categories} categories imply an overall of {low:.2f} to {high:.2f}; "
                "{pooled} was reported.",
                label=split.label,
                categories=in_words(len(figures.categories)),
                low=low,
                high=high,
                pooled=figures.pooled,
            )


def _without_fit(answer: Plausibility) -> Iterator[str]:
    yield _("No whole numbers of right answers over all pairs give these figures, under any grouping in circulation.")
    for explanation in answer.categories_alone:
        fit = _describe(explanation, answer.figures)
        yield capital(_("without overall and macro, the categories' figures alone: {figures}", figures=fit))


def _describe(explanation: Explanation, figures: Figures) -> str:
    """Return one explanation as a sentence, with its counts."""
    spec = figures.spec
    pairs = list(zip(spec.category_keys, explanation.right, explanation.split.sizes, strict=True))
    counts = joined([_count(_(spec.category_text(name)), f"{k}/{n}") for name, k, n in pairs if k is not None])
    right = [k for k in explanation.right if k is not None]
    if len(right) == len(pairs):
        shares = (Fraction(k, n) for k, n in zip(right, explanation.split.sizes, strict=True))
        macro = sum(shares, start=Fraction(0)) / len(right)
        total = sum(explanation.split.sizes)
        pooled = _count(_(spec.name_of(spec.pooled)), f"{sum(right)}/{total} = {100 * sum(right) / total:.2f}")
        mean = [_count(_(spec.name_of(spec.mean)), points(macro))] if spec.mean else []
        counts = joined((counts, joined([pooled, *mean])), _("; "))
        stated = figures.mean
        exact = stated is None or stated.prints(macro, explanation.reading)
        if not exact and mean_of_figures_prints(figures, explanation.reading):
            counts = _("{counts} ({stated} is the mean of the rounded figures)", counts=counts, stated=stated)
    split = explanation.split
    where = _(
        "{sizes} ({grouping}, {revisions})",
        sizes=split.label,
        grouping=spec.grouping_text(split.grouping).words,
        revisions=joined(split.revisions, _(" and ")),
    )
    named = _("{names} figure", names=joined([_("the {name}", name=_(name)) for name in spec.exchanged], _(" and ")))
    swapped = _(" with {exchanged} exchanged", exchanged=named) if explanation.exchanged else ""
    reading = _READING_WORDS[explanation.reading]
    fit = _("fits {where}{swapped}{reading}", where=where, swapped=swapped, reading=reading)
    if not right:
        return _("{text}.", text=fit)
    example = _(" for example") if explanation.solutions > 1 else ""
    return _("{fit}:{example} {counts}.", fit=fit, example=example, counts=counts)


def _count(name: str, figure: str) -> str:
    return joined((name, figure), " ")


def _overall_alone(overall: PublishedFigure, splits: Sequence[Split], *, title: str) -> Iterator[str]:
    """Yield what an overall says without any category: the counts behind it."""
    for total in sorted({sum(split.sizes) for split in splits}, reverse=True):
        names = dict.fromkeys(name for split in splits if sum(split.sizes) == total for name in split.revisions)
        low, high = overall.counts(total, "rounded")
        verb = _("is not a whole number of pairs out of {total}", total=total)
        if low <= high:
            counts = f"{low}" if low == high else _("{low} to {high}", low=low, high=high)
            verb = _("is {counts} right out of {total}", counts=counts, total=total)
        revisions = joined(names, _(" and "))
        yield _("{title} {figure} {verb} ({revisions}).", title=title, figure=overall, verb=verb, revisions=revisions)


def _official_misfits(figures: Figures, splits: Sequence[Split]) -> Iterator[str]:
    """Category figures that no count over the official sizes gives, with the nearest count that there is."""
    spec = figures.spec
    for position, (name, printed) in enumerate(zip(spec.category_keys, figures.categories, strict=True)):
        sizes = [split.sizes[position] for split in splits if split.grouping == spec.official]
        ends = [printed.counts(n, "either") for n in sizes] if printed is not None else []
        if printed is None or not ends or any(low <= high for low, high in ends):
            continue
        n = max(sizes)
        k = round(printed.share * n)
        yield _(
            "{name} {value} is not a whole number of pairs out of {n}; the nearest is {k}/{n} = {n2:.2f}.",
            name=_(spec.title_of(name)),
            value=printed,
            n=n,
            k=k,
            n2=100 * k / n,
        )


def to_json(answer: Plausibility) -> dict[str, Any]:
    """Return the whole answer for programs; figures stay as they were printed, percentages are percent."""
    return {
        "verdict": answer.verdict,
        "headline": headline(answer),
        "sentences": list(sentences(answer)),
        "figures": {name: None if value is None else str(value) for name, value in answer.figures.values.items()},
        "fits": [_explanation_json(fit) for fit in answer.fits],
        "categories_alone": [_explanation_json(explanation) for explanation in answer.categories_alone],
        "implied_overall": [
            {**asdict(split), "low": round(low, 4), "high": round(high, 4)} for split, low, high in answer.implied
        ],
        "impossible": list(answer.impossible),
    }


def _explanation_json(explanation: Explanation) -> dict[str, Any]:
    facts = asdict(explanation)
    return {**facts.pop("split"), **facts}
