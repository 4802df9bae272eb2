"""Gradio pages without the web applications that nobody asks: Gradio makes one at the end of each page and one for the
queue, but mounted pages answer through the one that their mount makes. Each takes a tenth of a second.
"""

from __future__ import annotations

from types import SimpleNamespace

from gradio import blocks


def make_one_application() -> None:
    """Have only the mount make an application."""
    blocks.App = SimpleNamespace(create_app=lambda *_, **__: None)  # type: ignore[assignment,misc]
