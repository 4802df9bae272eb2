"""Durability of an acknowledged submission: on this machine's disk, or in the replica too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

LOCAL, REPLICATED = "local", "replicated"
WAIT_SECONDS = 10.0


class NotReplicated(ValueError):
    """The submission is stored here, and the replica did not confirm it in time. Nothing is wrong with your file: send
    it again in a minute, and you get the receipt of the same submission."""

    def __init__(self) -> None:
        super().__init__(" ".join((NotReplicated.__doc__ or "").split()))


@dataclass(frozen=True, slots=True)
class Durability:
    """What a receipt states, and what is waited for before it. `wait`: whether everything so far is in the replica."""

    name: str = LOCAL
    wait: Callable[[float], bool] | None = None

    def confirm(self) -> None:
        """Wait until what was committed is as durable as the receipt says. Raises NotReplicated."""
        if self.wait is not None and not self.wait(WAIT_SECONDS):
            raise NotReplicated
