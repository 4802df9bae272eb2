"""Charts that can be chosen: every function declared with `registry.chart` in a module of this package, by place."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module

from benchmark.spec import BenchmarkSpec
from leaderboard import charts
from leaderboard.charts.paper_reference import paper_figures
from leaderboard.charts.registry import DECLARED, Kind


def _declared() -> Mapping[str, Kind]:
    for module in pkgutil.iter_modules(charts.__path__):
        if module.name != "catalog":
            import_module(f"{charts.__name__}.{module.name}")
    return dict(sorted(DECLARED.items(), key=lambda item: item[1].place))


CHARTS: Mapping[str, Kind] = _declared()
_NEEDS: Mapping[str, Callable[[BenchmarkSpec], object]] = {
    "tags": lambda spec: spec.tags,
    "sources": lambda spec: spec.shown_sources,
    "best-of-n": lambda spec: paper_figures(spec).policies,
    "critics": lambda spec: paper_figures(spec).critics,
}
"""What a benchmark must have for a chart to say anything."""


@cache
def charts_of(spec: BenchmarkSpec) -> Mapping[str, Kind]:
    """Return the charts that a benchmark can have."""
    return {key: kind for key, kind in CHARTS.items() if key not in _NEEDS or _NEEDS[key](spec)}
