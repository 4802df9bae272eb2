"""Runs of a judge: from an endpoint or a scorer to a file of predictions."""

from typing import Any

from vlrb.common.command_line import CommandError
from vlrb.common.messages import _


class JudgeError(CommandError):
    """A run cannot go on; the sentence, with `{name}` for each value, says why and what to do."""

    def __init__(self, sentence: str, **values: Any) -> None:
        super().__init__(_(sentence, **values))
