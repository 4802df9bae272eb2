"""Actions as tests use them: who does it, on the command line; and what the logs then say. The page: maintain_page."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from auth import Identity
from maintenance.action_context import ActionContext, ItemLookup
from maintenance.cli import CliResult, add_actions
from maintenance.decision_log import LoggedDecision
from maintenance.decision_log import decisions as public_decisions
from maintenance.registry import ActionRegistry
from operation.alarms import service_alarms
from storage.database import Database
from submissions.activity import ActivityItem, ActivityRules, list_activity
from tests.factories.specs import spec_of
from vlrb.benchmarks.items import ItemTable, load_table
from web.actions import ACTIONS

PUBLIC_EVENTS = ACTIONS.public_events()


@dataclass(frozen=True)
class TableOnly:
    """Pairs without texts."""

    table: ItemTable
    texts: None = None

    def image(self, name: str) -> Path | None:
        return None


def by(
    database: Database,
    user: Identity,
    *,
    benchmark: str = "demo",
    table: ItemTable | None = None,
    items: ItemLookup | None = None,
    **services: Any,
) -> ActionContext:
    """Return the context of an action by somebody. `services`: parse, shipped, identity, paths of an ActionContext."""
    lookup = items or TableOnly(load_table() if table is None else table)
    shipped: Iterable[Mapping[str, Any]] = services.pop("shipped", ())
    alarms = partial(service_alarms, paths=services.get("paths", ()), benchmarks={benchmark: benchmark})
    services = {"public_events": PUBLIC_EVENTS, "alarms": alarms, **services}
    return ActionContext(database, lookup, user, benchmark=benchmark, shipped=lambda: shipped, **services)


def run_command(ctx: ActionContext, *words: str, registry: ActionRegistry = ACTIONS) -> CliResult:
    """Run a command as `python -m maintenance` does. Raises SystemExit for wrong arguments."""
    options = command_line(registry).parse_args(list(words))
    answer: CliResult = options.command(ctx, options)
    return answer


@cache
def command_line(registry: ActionRegistry = ACTIONS) -> argparse.ArgumentParser:
    """Return the parser with all commands; it keeps nothing of what it parsed."""
    parser = argparse.ArgumentParser(prog="maintenance")
    add_actions(parser.add_subparsers(required=True), registry)
    return parser


def decisions(database: Database, **span: Any) -> list[LoggedDecision]:
    """Return the public decision log."""
    return public_decisions(database, PUBLIC_EVENTS, **span)


def activity_of(database: Database, user: Identity, **span: Any) -> list[ActivityItem]:
    """Return the activity list of an account."""
    rules = ActivityRules(spec_of("demo"), ACTIONS.owner_sentences())
    return list_activity(database, user, rules=rules, **span)
