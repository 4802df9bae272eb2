"""Texts that are declared as data and shown to people: titles of the navigation, of benchmarks, of columns."""

from __future__ import annotations

from collections.abc import Iterator

from leaderboard.render import ACTION, NAVIGATION


def declared_texts() -> Iterator[tuple[str, str]]:
    """Yield the file of each text, and the text."""
    for title, _ in (*NAVIGATION, ACTION):
        yield "leaderboard/render.py", title
