"""A plugin of pytest: after a failed test the fixtures that its file shares are set up anew.

A page, a service or a board that a test leaves half changed would fail its second run and the
tests after it.
"""

from __future__ import annotations

from collections.abc import Generator

import pytest

_FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note whether the test itself failed; a fixture that could not be set up is not tried again for every test."""
    report = yield
    if report.when == "call":
        item.stash[_FAILED] = report.failed
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)  # before pytest-rerunfailures keeps the shared fixtures for a second run
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """End the fixtures of the test's file too, if it failed."""
    file = item.getparent(pytest.Module)
    try:
        if item.stash.get(_FAILED, False) and file is not None:
            item.stash[_FAILED] = False
            item.session._setupstate.teardown_exact(file.parent)  # type: ignore[arg-type]  # down to its folder
    finally:
        yield
