"""Several who do something at the same moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


def at_once(*actions: Callable[[], Any]) -> list[Any]:
    """Return what each returned, or the exception that it raised."""
    results: list[Any] = []
    barrier = threading.Barrier(len(actions))

    def run(action: Callable[[], Any]) -> None:
        barrier.wait()
        try:
            results.append(action())
        except Exception as error:
            results.append(error)

    threads = [threading.Thread(target=run, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
