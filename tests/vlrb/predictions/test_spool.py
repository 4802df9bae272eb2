"""Files that are removed from the spool, and those that are not."""

from __future__ import annotations

import os
import time
from pathlib import Path

from storage.files.spool import Spool


def test_a_second_process_leaves_an_upload_in_flight_alone(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool", limit=100)
    spool.sweep()
    left = spool.folder / "left"
    left.write_bytes(b"x")
    os.utime(left, (time.time() - 7200,) * 2)
    with spool.incoming() as incoming:
        incoming.write(b"in flight")
        assert Spool(spool.folder, limit=100).sweep() == 1
        assert incoming.finish("x").path.read_bytes() == b"in flight"
    assert not left.exists()
