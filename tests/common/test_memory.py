"""Heaps of a process with many threads, as glibc itself tells them."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import ctypes, sys, threading
from common.memory import share_arenas
if sys.argv[1] == "shared":
    share_arenas()
together = threading.Barrier(8)
def work():
    together.wait()
    held = [bytearray(50_000) for _ in range(20)]
    together.wait()
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
libc.malloc_info.argtypes = [ctypes.c_int, ctypes.c_void_p]
libc.fclose.argtypes = [ctypes.c_void_p]
file = libc.fopen(sys.argv[2].encode(), b"w")
libc.malloc_info(0, file)
libc.fclose(file)
"""


def heaps(how: str, path: str) -> int:
    """Return how many heaps a process has in which eight threads have allocated something."""
    subprocess.run([sys.executable, "-c", PROGRAM, how, path], check=True)
    return Path(path).read_text(encoding="ascii").count("<heap nr=")


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_info"), reason="another C library than glibc")
def test_all_threads_share_two_heaps_where_each_would_keep_one(tmp_path: Path) -> None:
    assert heaps("own", f"{tmp_path}/own.xml") > 2
    assert heaps("shared", f"{tmp_path}/shared.xml") <= 2
