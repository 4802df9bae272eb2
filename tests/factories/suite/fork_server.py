"""Processes of multiprocessing that begin with what they need imported."""

from __future__ import annotations

from multiprocessing import forkserver


def import_once(*modules: str) -> None:
    """Have processes of the fork server begin with these modules.

    A server that runs already, for another test of this process, takes no list: without the first line each process
    imports for seconds what it needs.
    """
    forkserver._forkserver._stop()  # type: ignore[attr-defined]
    forkserver.set_forkserver_preload(list(modules))
