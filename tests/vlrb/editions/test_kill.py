"""A command that is killed leaves whole files; the same command then does the rest."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.factories.suite.programs import edition_main as main
from tests.vlrb.editions.synthetic import picture
from vlrb.editions.errors import CurateError
from vlrb.editions.pools.pool import locked, read_pool

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
def test_a_killed_import_leaves_no_half_and_goes_on(tmp_path: Path) -> None:
    with (tmp_path / "pairs.jsonl").open("w") as out:
        for number in range(300):
            (tmp_path / f"{number}.png").write_bytes(picture(number))
            row = {"id": str(number), "query": f"Q{number}?", "chosen": f"Yes {number}.", "rejected": f"No {number}."}
            out.write(json.dumps({**row, "image": f"{number}.png"}) + "\n")
    pool = tmp_path / "pool"
    given = ["pool", "import", str(tmp_path / "pairs.jsonl"), "--source", "S", "--licence", "x", "--into", str(pool)]
    started = subprocess.Popen([sys.executable, "-m", "vlrb", "edition", *given], cwd=ROOT, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not list(pool.glob("images/*/*.png")) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(started.pid, signal.SIGKILL)
    assert started.wait() == -signal.SIGKILL
    assert not (pool / "pairs.jsonl").exists()
    assert main(given) == 0
    assert len(read_pool(pool)) == 300
    assert not list(pool.rglob(".incoming-*.png"))
    assert len([path for path in pool.glob("images/*/*") if path.name[0] != "."]) == 300


def test_two_processes_do_not_change_one_directory(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(CurateError, match="Another process"), locked(tmp_path):
        pass
