"""Durability of an acknowledged submission: on this machine's disk, or in the replica too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vlrb.common.messages import _

LOCAL, REPLICATED = "local", "replicated"
WAIT_SECONDS = 10.0


class NotReplicated(ValueError):
    """The submission is stored here, and the replica did not confirm it in time."""

    def __init__(self) -> None:
        super().__init__(
            _(
                "The submission is stored here, and the replica did not confirm it in time. Nothing is wrong with your "
                "file: send it again in a minute, and you get the receipt of the same submission."
            )
        )


class ReplicaLost(ValueError):
    """Nothing is copied to the replica any more, until an operator has acted."""

    def __init__(self) -> None:
        super().__init__(
            _(
                "This service takes no files until its operator has acted: it has lost its replica. Nothing is wrong "
                "with your file. Send it again when the service takes files; nothing is done twice."
            )
        )


@dataclass(frozen=True, slots=True)
class Durability:
    """What a receipt states, and what is waited for before it.

    `wait`: whether everything so far is in the replica. `is_lost`: whether no waiting helps any more.
    """

    name: str = LOCAL
    wait: Callable[[float], bool] | None = None
    is_lost: Callable[[], bool] = lambda: False

    def require_replica(self) -> None:
        """Raise ReplicaLost where what is stored now could not be confirmed."""
        if self.is_lost():
            raise ReplicaLost

    def confirm(self) -> None:
        """Wait until what was committed is as durable as the receipt says. Raises NotReplicated and ReplicaLost."""
        if self.wait is not None and not self.wait(WAIT_SECONDS):
            self.require_replica()
            raise NotReplicated
