"""Memory that freed objects leave behind."""

from __future__ import annotations

import ctypes
from contextlib import suppress

_ARENA_MAX = -8  # of glibc's malloc.h
_ARENAS = 2


def share_arenas() -> None:
    """Let all threads of this process share two heaps; harmless where the C library is not glibc.

    Otherwise glibc gives each thread its own, up to eight for each core, and each keeps what was freed in it: 40
    uploads of 20 MB by eight clients leave 44 MB.
    """
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, _ARENAS)
