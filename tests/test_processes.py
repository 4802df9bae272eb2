"""Distribution of the suite over processes: what shares fixtures is in one."""

from __future__ import annotations

import pytest
from xdist.scheduler import LoadGroupScheduling

from tests.conftest import put_into_group


@pytest.mark.parametrize("name", ["test_a", "test_a[x-y]", "test_a[mail@example.org]"])
def test_the_scheduler_reads_the_group_from_the_id_of_a_test(request: pytest.FixtureRequest, name: str) -> None:
    item = pytest.Function.from_parent(request.node.parent, name=name, callobj=lambda: None)
    assert LoadGroupScheduling._split_scope(None, item.nodeid) == item.nodeid  # type: ignore[arg-type]
    put_into_group(item, "folder/test_file.py")
    assert LoadGroupScheduling._split_scope(None, item.nodeid) == "folder/test_file.py"  # type: ignore[arg-type]


def test_this_test_is_in_a_group_where_the_suite_runs_in_groups(request: pytest.FixtureRequest) -> None:
    in_groups = bool(request.config.getoption("loadgroup", False))
    assert request.node.nodeid.endswith("@test_processes.py") == in_groups
