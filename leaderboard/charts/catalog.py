"""Charts that can be chosen: every function declared with `registry.chart` in a module of this package, by place."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module

from leaderboard import charts
from leaderboard.charts.registry import DECLARED, ChartKind
from vlrb.benchmarks.spec import BenchmarkSpec


def _declared() -> Mapping[str, ChartKind]:
    for module in pkgutil.iter_modules(charts.__path__):
        if module.name != "catalog":
            import_module(f"{charts.__name__}.{module.name}")
    return dict(sorted(DECLARED.items(), key=lambda item: item[1].place))


CHARTS: Mapping[str, ChartKind] = _declared()


@cache
def charts_of(spec: BenchmarkSpec) -> Mapping[str, ChartKind]:
    """Return the charts that a benchmark can have."""
    return {key: kind for key, kind in CHARTS.items() if kind.about is None or kind.about(spec)}
