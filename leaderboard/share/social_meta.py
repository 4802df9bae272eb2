"""Meta descriptions for search engines and link previews. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard.board.rows import Board
from vlrb.common.messages import _


@dataclass(frozen=True, slots=True)
class SocialPreview:
    """Plain text; the template escapes it. ``base`` "" leaves out what needs a whole address: the picture."""

    title: str
    description: str
    path: str
    image: str
    base: str


def of_board(board: Board, base: str) -> SocialPreview:
    """Return the front page."""
    demo = " (demo)" if board.spec.synthetic else ""
    message = _(
        "Which AI judges of answers about images agree with people? Scores with intervals, from uploaded predictions."
    )
    return SocialPreview(f"{board.spec.brand} leaderboard{demo}", message, path="/", image="/og.png", base=base)
