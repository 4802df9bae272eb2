"""Whatever can be done or seen here by anyone who asks, a use case decides by itself, before it looks at anything."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import maintenance
import review
from auth import ANONYMOUS, Forbidden, Identity, Unauthenticated
from maintenance.action_context import ActionContext
from maintenance.registry import Action
from maintenance.types import require_maintainer
from tests.factories.accounts import OPEN, OWNER_OF_IT, STRANGER, SUBMIT_TOKEN

OF_OWNERS = {"edit", "history", "look", "withdraw"}
"""In maintenance.actions.entries: of an entry, whose owner has to be known first. Who is refused there test_entries
tells."""
OF_ACCOUNTS = {"answer", "dispute", "image_of", "own", "sheet", "sheets", "show"}
"""What everybody with an account may do."""


class Untouched:
    """A database, or anything else that is given, which nobody has looked at."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was looked at before it was asked who that is")


def use_cases() -> Iterator[Callable[..., object]]:
    """Yield every public function that is told of a database and of who asks."""
    packages = (
        *pkgutil.walk_packages(maintenance.__path__, "maintenance."),
        *pkgutil.walk_packages(review.__path__, "review."),
    )
    for module in packages:
        if module.name.rpartition(".")[2] in ("page", "tab", "__main__") or ".tabs" in module.name:
            continue
        for name, found in inspect.getmembers(importlib.import_module(module.name)):
            function = plain(found)
            if not inspect.isfunction(function):
                continue
            of_it = function.__module__ == module.name and not name.startswith("_")
            parameters = inspect.signature(function).parameters
            asked = "ctx" in parameters and "session" not in parameters
            of_owners = module.name == "maintenance.actions.entries" and name in OF_OWNERS
            if of_it and asked and not of_owners:
                yield found


def plain(found: Any) -> Any:
    return found.function if isinstance(found, Action) else found


USE_CASES = list(use_cases())


def call(use_case: Callable[..., object], user: Any) -> object:
    given = {
        name: Untouched()
        for name, parameter in inspect.signature(plain(use_case)).parameters.items()
        if parameter.default is parameter.empty
    }
    services = {field.name: Untouched() for field in dataclasses.fields(ActionContext)}
    return use_case(**{**given, "ctx": ActionContext(**{**services, "user": user, "identity": None})})


@pytest.mark.parametrize(
    "use_case",
    USE_CASES,
    ids=lambda one: f"{plain(one).__module__.removeprefix('maintenance.')}.{plain(one).__name__}",
)
def test_every_use_case_asks_who_it_is_before_it_looks_at_anything(use_case: Callable[..., object]) -> None:
    with pytest.raises(Unauthenticated):
        call(use_case, ANONYMOUS)
    if plain(use_case).__name__ not in OF_ACCOUNTS:
        with pytest.raises(Forbidden):
            call(use_case, STRANGER)


@pytest.mark.parametrize("who", [OWNER_OF_IT, STRANGER, SUBMIT_TOKEN, OPEN], ids=lambda user: user.account)
def test_neither_an_owner_nor_a_token_for_submitting_nor_an_open_door_makes_a_maintainer(who: Identity) -> None:
    with pytest.raises((Unauthenticated, Forbidden)):
        require_maintainer(who)


def test_the_use_cases_are_found() -> None:
    assert len(USE_CASES) > 50
    assert {plain(one).__name__ for one in USE_CASES} >= OF_ACCOUNTS
