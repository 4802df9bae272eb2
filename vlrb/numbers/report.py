"""Number check for published percentages, for the page, the API and the command line.

Imports nothing but the core, so that the command starts at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import urlencode

from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _, joined, ngettext
from vlrb.numbers.answer import Explanation, Plausibility
from vlrb.numbers.check import check_numbers
from vlrb.numbers.counts import right_range
from vlrb.numbers.definition_check import figure_names
from vlrb.numbers.figures import MOST_LETTERS, Figures, Reading, read_figures
from vlrb.numbers.figures import BadFigures as BadFigures

_NO_FIGURES = ("benchmark", "lang")  # that every address may have
_KEPT = 2048  # answers, of a few kilobytes each

_READING_NAMES: Mapping[Reading, str] = {"rounded": _("rounded"), "cut off": _("cut off"), "either": _("either")}
_READINGS: Mapping[Reading, str] = {
    "rounded": "",
    "cut off": _(", if they were cut off instead of rounded"),
    "either": _(", if some were cut off instead of rounded"),
}


class NumberCheckQuery(NamedTuple):
    """The figures as typed, in the order of the scores, without outer white space; "" where none was."""

    spec: BenchmarkSpec
    texts: tuple[str, ...]

    @property
    def by_name(self) -> dict[str, str]:
        """The figures by the name of the score."""
        return dict(zip(self.spec.score_names, self.texts, strict=True))


@dataclass(frozen=True, slots=True)
class ExplanationLine:
    """One way to explain the figures, as a row of the table."""

    sizes: str
    grouping: str
    revisions: str
    categories: tuple[tuple[str, str], ...]  # (name, "k/n"), with "–" where the figures leave it open
    overall: str  # "k/n"; "k–m/n" or "–/n" where the figures leave it open
    overall_percent: str
    macro_percent: str
    how: str  # under which reading


def read(parameters: Mapping[str, str], spec: BenchmarkSpec) -> NumberCheckQuery:
    """Return the figures of a query string or of a command line."""
    texts = (parameters.get(name, "").strip()[: MOST_LETTERS + 1] for name in spec.score_names)
    return NumberCheckQuery(spec, tuple(texts))


def refuse_unknown(given: Iterable[str], spec: BenchmarkSpec) -> None:
    """Check the names of a query string.

    Raises:
        BadFigures: one is no figure of the benchmark.
    """
    known = figure_names(spec)
    for name in given:
        if name not in known and name not in _NO_FIGURES:
            message = _(
                "“{name}” is not one of the figures. The figures are {names}.", name=name[:60], names=", ".join(known)
            )
            raise BadFigures(name[:60], message, known=known)


def url(values: Mapping[str, float | str | None] | Mapping[str, str], path: str = "/check-numbers") -> str:
    """Return the address at which figures are checked."""
    given = [(name, str(value)) for name, value in values.items() if value not in (None, "")]
    return f"{path}?{urlencode(given)}" if given else path


@lru_cache(_KEPT)
def answer(asked: NumberCheckQuery) -> Plausibility:
    """Return what arithmetic says about the figures; up to two thirds of a second for figures without decimals.

    Raises:
        BadFigures: one is no percentage, none is given, or all are fractions.
    """
    return check_numbers(read_figures(asked.by_name, asked.spec))


def headline(plausibility: Plausibility) -> str:
    """Return the verdict in one sentence."""
    if plausibility.verdict == "impossible":
        return _("These figures cannot all be right, whatever was left out.")
    if plausibility.verdict == "not found":
        return _("No counts were found that give these figures.")
    if plausibility.verdict == "only with dropped items":
        left_out = items(plausibility.dropped[0].dropped)
        return _("These figures fit no categories in circulation; with {left_out} left out they do.", left_out=left_out)
    if not any(plausibility.figures.categories):
        return _("An overall alone says how many were right, not under which categories.")
    plain = [fit for fit in plausibility.fits if not fit.exchanged]
    if not plain:
        return _(
            "These figures fit {fits} only with {spec}.",
            fits=_sizes(plausibility.fits),
            spec=_exchanged(plausibility.figures.spec),
        )
    official = [implied for implied in plain if implied.split.grouping == plausibility.figures.spec.official]
    how = _READINGS[plain[0].reading]
    if official and len(official) < len(plain):
        return _(
            "These figures fit the official categories{how}, and others too: they do not show which were used.", how=how
        )
    if official:
        return _("These figures fit the official categories{how}.", how=how)
    return _("These figures fit {plain}, not the official categories{how}.", plain=_sizes(plain), how=how)


def finding(plausibility: Plausibility) -> str:
    """Return the verdict in one sentence that names groupings by their words, where ``headline`` names their sizes."""
    spec = plausibility.figures.spec
    plain = [fit for fit in plausibility.fits if not fit.exchanged]
    groupings = dict.fromkeys(fit.split.grouping for fit in plain)
    if plausibility.verdict != "fits" or not plain or spec.official in groupings:
        return headline(plausibility)
    if not any(plausibility.figures.categories):
        return headline(plausibility)
    counted = joined([spec.grouping_text(grouping).words for grouping in groupings], _(" or from "))
    sizes, how = _sizes(plain), _READINGS[plain[0].reading]
    return _(
        "These figures come from {counted} ({sizes}), not from the official categories{how}.",
        counted=counted,
        sizes=sizes,
        how=how,
    )


def _exchanged(spec: BenchmarkSpec) -> str:
    return _("{exchanged} exchanged", exchanged=joined(spec.exchanged, _(" and ")))


def _sizes(explanations: Sequence[Explanation]) -> str:
    return joined(dict.fromkeys(explanation.split.label for explanation in explanations), _(" or "))


def items(count: int) -> str:
    """Return a number of pairs in words."""
    return ngettext("{n:,} pair", "{n:,} pairs", count)


def shown_sentences(plausibility: Plausibility) -> list[str]:
    """Return the sentences for the page: of many ways to fit the first alone, for the table lists them all."""
    listed = [text for text in plausibility.sentences if text.startswith(_LISTED)]
    return [text for text in plausibility.sentences if len(listed) < 3 or text not in listed[1:]]


_LISTED = ("Fits ", "Without overall and macro")


def lines(explanations: Sequence[Explanation], stated: Figures) -> list[ExplanationLine]:
    """Explanations of the stated figures as rows of a table."""
    return [_line(explanation, stated) for explanation in explanations]


def _line(explanation: Explanation, stated: Figures) -> ExplanationLine:
    pairs = list(zip(explanation.right, explanation.denominators, strict=True))
    known = [(k, n) for k, n in pairs if k is not None]
    complete, total = len(known) == len(pairs), sum(explanation.denominators)
    low, high = (
        [sum(k for k, _ in known)] * 2 if complete else right_range(stated.pooled, total, reading=explanation.reading)
    )
    macro = sum((Fraction(k, n) for k, n in known), start=Fraction(0)) / len(pairs)
    notes = [_READING_NAMES[explanation.reading]] + [_exchanged(stated.spec)] * explanation.exchanged
    return ExplanationLine(
        explanation.split.label,
        stated.spec.grouping_text(explanation.split.grouping).title,
        revisions=", ".join(explanation.split.revisions),
        categories=tuple(
            (name, "–" if k is None else f"{k}/{n}")
            for name, (k, n) in zip(stated.spec.category_keys, pairs, strict=True)
        ),
        overall=f"{'–' if high - low == total else _span(low, high)}/{total:,}",
        overall_percent=f"{100 * low / total:.2f}" if low == high else "–",
        macro_percent=f"{float(100 * macro):.2f}" if complete else "–",
        how=joined(notes),
    )


def _span(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def to_json(plausibility: Plausibility) -> dict[str, Any]:
    """Return the whole answer for programs; figures stay as they were printed, percentages are percent."""
    return {
        "verdict": plausibility.verdict,
        "headline": headline(plausibility),
        "sentences": list(plausibility.sentences),
        "figures": {name: None if value is None else str(value) for name, value in plausibility.figures.values.items()},
        "fits": [_explanation_json(fit) for fit in plausibility.fits],
        "dropped": [_explanation_json(explanation) for explanation in plausibility.dropped],
        "categories_alone": [_explanation_json(explanation) for explanation in plausibility.categories_alone],
        "implied_overall": [
            {**_split_json(explanation.split), "low": round(explanation.low, 4), "high": round(explanation.high, 4)}
            for explanation in plausibility.implied
        ],
        "impossible": list(plausibility.impossible),
    }


def _split_json(split: Any) -> dict[str, Any]:
    return {"grouping": split.grouping, "revisions": list(split.revisions), "sizes": list(split.sizes)}


def _explanation_json(explanation: Explanation) -> dict[str, Any]:
    return {
        **_split_json(explanation.split),
        "reading": explanation.reading,
        "right": list(explanation.right),
        "denominators": list(explanation.denominators),
        "dropped": explanation.dropped,
        "solutions": explanation.solutions,
        "exchanged": explanation.exchanged,
    }
