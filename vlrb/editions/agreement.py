"""Agreement of annotators with missing answers: Krippendorff's alpha, mean kappa with the others, gold and time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from vlrb.label_quality.annotation import GOLD_MINIMUM, PREFERENCES, agreement, preference_of, tags_of


def krippendorff_alpha(units: Sequence[Any], values: Sequence[Any]) -> float | None:
    """Nominal alpha of answers (Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", part C).

    ``units``, ``values``: of each answer what it is about, and what it says. Units with fewer than two answers do not
    count. None where nothing can be compared, or all answers are the same.
    """
    if not len(units):
        return None
    counts = pd.crosstab(pd.Series(units, dtype=object), pd.Series(values, dtype=object)).to_numpy(dtype=float)
    counts = counts[counts.sum(axis=1) > 1]
    totals, number = counts.sum(axis=1), counts.sum()
    expected = number**2 - (counts.sum(axis=0) ** 2).sum()
    observed = ((totals**2 - (counts**2).sum(axis=1)) / (totals - 1)).sum()
    return float(1 - (number - 1) * observed / expected) if expected else None


def agreement_report(
    answers: Sequence[Mapping[str, Any]], gold: Mapping[str, str], *, tag_of: Mapping[str, str]
) -> dict[str, Any]:
    """Return kappa, alpha, gold accuracy and time of annotators.

    ``answers``: item, annotator, verdict, errors, seconds (None where nobody measured) and shown_first (the response,
    a or b, that stood first; "" where nobody recorded that). ``gold``: item -> the right verdict. ``tag_of``: error ->
    tag of the benchmark.
    """
    columns = ["item", "annotator", "verdict", "errors", "seconds", "shown_first"]
    frame = pd.DataFrame(answers, columns=columns).astype({"seconds": float})
    frame["preference"] = frame["verdict"].map(preference_of)
    by_person = {str(name): own for name, own in frame.groupby("annotator")}
    verdicts = {name: dict(zip(own["item"], own["verdict"], strict=True)) for name, own in by_person.items()}
    shared = agreement(verdicts, [*frame["item"].unique()])
    same, both = sum(two.same for two in shared), sum(two.items for two in shared)
    people = {
        name: {
            "answers": len(own),
            "mean_kappa": _weighted([(two.kappa, two.items) for two in shared if name in (two.first, two.second)]),
            **_person(own, gold),
        }
        for name, own in by_person.items()
    }
    kappas = [person["mean_kappa"] for person in people.values() if person["mean_kappa"] is not None]
    return {
        "answers": len(frame),
        "shared_pairs": int((frame.groupby("item")["annotator"].nunique() > 1).sum()),
        "agreement": same / both if both else None,
        "alpha": krippendorff_alpha([*frame["item"]], [*frame["preference"]]),
        "mean_kappa": sum(kappas) / len(kappas) if kappas else None,
        "tags": {tag: _tag(frame, tag, tag_of=tag_of) for tag in sorted(set(tag_of.values()))},
        "annotators": people,
    }


def _weighted(kappas: Sequence[tuple[float | None, int]]) -> float | None:
    """Return the mean of the defined kappas with all others, weighted by the items that two annotators share."""
    known = [(kappa, items) for kappa, items in kappas if kappa is not None]
    return sum(kappa * items for kappa, items in known) / sum(items for _, items in known) if known else None


def _tag(frame: pd.DataFrame, tag: str, *, tag_of: Mapping[str, str]) -> dict[str, Any]:
    """Return alpha of whether annotators give a tag, over pairs for which they prefer the same response."""
    here = frame[frame["verdict"].isin(PREFERENCES)]
    given = [tag in tags_of(errors, tag_of) for errors in here["errors"]]
    return {"given": sum(given), "alpha": krippendorff_alpha([*(here["item"] + " " + here["verdict"])], given)}


def _person(own: pd.DataFrame, gold: Mapping[str, str]) -> dict[str, Any]:
    tested = own[own["item"].isin(gold)]
    right = [
        preference_of(gold[item]) == given for item, given in zip(tested["item"], tested["preference"], strict=True)
    ]
    placed = own[own["shown_first"].isin(PREFERENCES) & own["verdict"].isin(PREFERENCES)]
    times = own["seconds"].dropna()
    share = sum(right) / len(right) if right else None
    return {
        "gold": len(right),
        "gold_right": share,
        "below_gold_minimum": share is not None and share < GOLD_MINIMUM,
        "median_seconds": float(times.median()) if len(times) else None,
        "picked_shown_first": float((placed["verdict"] == placed["shown_first"]).mean()) if len(placed) else None,
    }
