"""Registered maintainer actions of the installation. The web process and the command line share the list.

Every module of `maintenance/actions/` and `review/actions/` takes part: what it declares is registered.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from importlib import import_module

import maintenance.actions
import review.actions
from maintenance.registry import ActionRegistry

AREAS: Mapping[str, str] = {
    "entries": "decide about entries",
    "labels": "label revisions",
    "rescore": "score entries under another label revision",
    "audit": "the audit chain",
    "approvals": "first submissions that wait for a maintainer",
    "reported": "results published elsewhere",
    "service": "",
    "jobs": "what could not be scored",
    "tasks": "what workers were asked",
    "accounts": "who has signed in here",
    "disputes": "labels that somebody disputes",
    "verification": "labels that people verify by hand",
}
"""Area -> help of its commands, in order; "" has none of its own. Areas that are not named come last."""


def find_actions() -> ActionRegistry:
    """Return every action that a module of the packages of actions declares."""
    modules = [
        import_module(f"{package.__name__}.{module.name}")
        for package in (maintenance.actions, review.actions)
        for module in pkgutil.iter_modules(package.__path__)
    ]
    return ActionRegistry.of(modules, AREAS)


ACTIONS = find_actions()
