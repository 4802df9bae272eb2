"""Flags of being right in the place of votes: a file that repeats `correct` as its choice says nothing of the choice.

An honest choice equals its flag where the second response is the preferred one, and is the opposite elsewhere. So the
opposite on every line is no sign: in VL-RewardBench nearly all preferred responses are stored first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from vlrb.common.messages import _
from vlrb.predictions.problems import ProblemCollector
from vlrb.readers.base import Records, as_vote
from vlrb.votes import UNDECIDED

_NAMES = ("correct", "is_correct")
_NEARLY_ALL = 0.95
_FEWEST = 20  # lines that tell anything
_WORDS = {"true": 1, "false": 0}  # as pandas writes them in a table


@dataclass(slots=True)
class Flags:
    """The flags of a file's records by line, seen while a reader takes the records."""

    by_line: dict[int, int] = field(default_factory=dict)
    name: str = _NAMES[0]

    def watched(self, records: Records) -> Iterator[tuple[int, Any]]:
        """Yield the records."""
        for line, record in records:
            name = next((name for name in _NAMES if name in record), None) if type(record) is dict else None
            if name is not None:
                self.name = name
                self._keep(line, record[name])
            yield line, record

    def _keep(self, line: int, value: Any) -> None:
        flag = _WORDS.get(value.strip().lower()) if isinstance(value, str) else None
        flag = as_vote(value) if flag is None else flag
        if flag is not None and flag != UNDECIDED:
            self.by_line[line] = flag

    def refuse_votes(self, rows: Iterable[tuple[int, Sequence[int]]], findings: ProblemCollector) -> None:
        """Refuse a file whose votes are its flags. ``rows``: (line, votes in stored order).

        Raises:
            UploadRejected: they are.
        """
        if not self.by_line:
            return
        pairs = [(vote, self.by_line[line]) for line, held in rows if line in self.by_line for vote in held]
        pairs = [pair for pair in pairs if pair[0] in (0, 1)]
        same = sum(vote == flag for vote, flag in pairs)
        if len(pairs) < _FEWEST or same < _NEARLY_ALL * len(pairs):
            return
        message = _(
            "{same:,} of {votes:,} votes are the same as the field `{field}` beside them: they seem to say whether the "
            "judge was right, not which response it chose. Write 0 where it chose the response that the dataset has "
            "first, 1 where it chose the other.",
            same=same,
            votes=len(pairs),
            field=self.name,
        )
        raise findings.reject("correctness-only", message)
