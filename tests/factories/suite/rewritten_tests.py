"""Test modules compiled with pytest's assertions once, before the processes of a run start."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.assertion.rewrite import PYC_TAIL, _rewrite_test, _write_pyc, assertstate_key, get_cache_dir


def rewrite_once(config: pytest.Config, folder: Path) -> None:
    """Write what pytest would write for each test module of a folder when it imports it, unless it is there.

    Processes that begin at the same time would each do this work for all of them. They read these files only where
    these fit the source, so a failure here costs time alone.
    """
    missing = [path for path in _test_modules(folder) if not _cached(path).exists()]
    if sys.dont_write_bytecode or config.getoption("assertmode") != "rewrite" or len(missing) < 10:
        return
    cores = os.cpu_count() or 1
    for child in [_in_a_child(config, missing[first::cores]) for first in range(cores)]:
        os.waitpid(child, 0)


def _test_modules(folder: Path) -> Iterator[Path]:
    for pattern in ("test_*.py", "conftest.py"):
        yield from sorted(folder.rglob(pattern))


def _cached(path: Path) -> Path:
    return get_cache_dir(path) / (path.stem + PYC_TAIL)


def _in_a_child(config: pytest.Config, paths: list[Path]) -> int:
    """Return the number of a process that works through the paths."""
    child = os.fork()
    if child:
        return child
    try:
        for path in paths:
            source_hash, code = _rewrite_test(path, config)
            _cached(path).parent.mkdir(parents=True, exist_ok=True)
            _write_pyc(config.stash[assertstate_key], code, source_hash, _cached(path))
    finally:
        os._exit(0)
