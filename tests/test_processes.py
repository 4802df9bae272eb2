"""Distribution of the suite over processes: what shares fixtures is in one. What a failed test leaves to others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from xdist.scheduler import LoadGroupScheduling

from tests.conftest import put_into_group
from tests.factories.services.service import ROOT


@pytest.mark.parametrize("name", ["test_a", "test_a[x-y]", "test_a[mail@example.org]"])
def test_the_scheduler_reads_the_group_from_the_id_of_a_test(request: pytest.FixtureRequest, name: str) -> None:
    item = pytest.Function.from_parent(request.node.parent, name=name, callobj=lambda: None)
    assert LoadGroupScheduling._split_scope(None, item.nodeid) == item.nodeid  # type: ignore[arg-type]
    put_into_group(item, "folder/test_file.py")
    assert LoadGroupScheduling._split_scope(None, item.nodeid) == "folder/test_file.py"  # type: ignore[arg-type]


def test_this_test_is_in_a_group_where_the_suite_runs_in_groups(request: pytest.FixtureRequest) -> None:
    in_groups = bool(request.config.getoption("loadgroup", False))
    assert request.node.nodeid.endswith("@test_processes.py") == in_groups


_SHARING = """
import pytest
from itertools import count

numbers, ended = count(), []

@pytest.fixture(scope="module")
def shared():
    made = [next(numbers)]
    yield made
    ended.append(made)

def test_that_fails_once(shared):
    shared.append("half done")
    assert shared[0] == 1, "the first run"

def test_after_it(shared):
    assert (shared, ended) == ([1, "half done"], [[0, "half done"]])

def test_that_fails_once_too(shared):
    assert (shared[0], len(ended)) == (2, 2)
"""


def test_a_second_run_and_the_test_after_a_failed_one_share_nothing_with_it(tmp_path: Path) -> None:
    (tmp_path / "test_sharing.py").write_text(_SHARING)
    command = [sys.executable, "-m", "pytest", "-p", "tests.factories.suite.after_failure", "-p", "no:cacheprovider"]
    ran = subprocess.run([*command, "--reruns=1", tmp_path], capture_output=True, text=True, cwd=ROOT)
    assert "3 passed, 2 rerun" in ran.stdout, ran.stdout
