"""Charts that can be chosen: every function declared with `registry.chart` in a module of this package, by place."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from importlib import import_module

from leaderboard import charts
from leaderboard.charts.registry import DECLARED, Kind


def _declared() -> Mapping[str, Kind]:
    for module in pkgutil.iter_modules(charts.__path__):
        if module.name != "catalog":
            import_module(f"{charts.__name__}.{module.name}")
    return dict(sorted(DECLARED.items(), key=lambda one: one[1].place))


CHARTS: Mapping[str, Kind] = _declared()
