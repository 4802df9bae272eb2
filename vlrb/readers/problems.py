"""Problems of an uploaded file (it is rejected) and warnings (it is accepted)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from vlrb.common.messages import _, joined, ngettext
from vlrb.common.text import join_sentences

LISTED_PROBLEMS = 100
LISTED_IDS = 100
_ALIKE = 20  # of one kind are told one by one; more are one mistake, made again and again
_EXAMPLES = 3
_LONGEST_ID = 200
_PLACE = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True)
class Problem:
    """A reason to reject a file. ``line`` counts from 1 (in a JSON document: the record, in a sheet: the row)."""

    line: int | None
    id: str | None
    field: str | None
    code: str
    message: str  # names the remedy

    @property
    def kind(self) -> tuple[str, str | None, str]:
        """The code, the field without its place in a list, and the sentence without its values."""
        return self.code, self.field and _PLACE.sub("[]", self.field), getattr(self.message, "msgid", self.message)


@dataclass(frozen=True, slots=True)
class Sample:
    """One vote of the file, for its sender: an excerpt of the reply, what was read, and the vote that this is."""

    id: str
    reply: str
    read: str
    vote: int | None  # the preferred response in stored order; None: undecided


@dataclass(frozen=True, slots=True)
class FileWarning:
    """Something the submitter should know about a file that was read."""

    code: str
    message: str
    ids: tuple[str, ...] = ()


class UploadRejected(Exception):
    """The file cannot be scored."""

    def __init__(
        self,
        problems: Iterable[Problem],
        problem_count: int | None = None,
        *,
        warnings: Iterable[FileWarning] = (),
        format: str | None = None,
    ) -> None:
        self.problems = tuple(problems)[:LISTED_PROBLEMS]
        self.problem_count = len(self.problems) if problem_count is None else problem_count
        self.warnings = tuple(warnings)
        self.format = format
        super().__init__(join_sentences(*(problem.message for problem in self.problems[:3])) or type(self).__doc__)


def votes_phrase(k: int) -> str:
    """Return how many votes a file holds on each item, in words."""
    return ngettext("one vote each", "{n} votes each", k)


@dataclass(slots=True)
class ProblemCollector:
    """Collects problems and notices while a file is read. Many of one kind become one, with a count and examples."""

    format: str | None = None
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0
    kinds: Counter[tuple[str, str | None, str]] = field(default_factory=Counter)
    notices: list[FileWarning] = field(default_factory=list)
    flags: dict[int, int] = field(default_factory=dict)  # by line, what the file says of being right
    unread: int = 0  # records that were left out because of a problem: they explain as many missing votes

    def add(
        self, code: str, message: str, *, line: int | None = None, id: str | None = None, field: str | None = None
    ) -> None:
        """Record a problem."""
        short_id = id if id is None or len(id) <= _LONGEST_ID else id[:_LONGEST_ID] + "…"
        problem = Problem(line, short_id, field=field, code=code, message=message)
        self.problem_count += 1
        self.kinds[problem.kind] += 1
        if self.kinds[problem.kind] <= _ALIKE:
            self.problems.append(problem)

    def clear(self) -> None:
        """Forget all problems: one sentence about the file takes their place."""
        self.problems.clear()
        self.kinds.clear()
        self.problem_count = 0

    def note(self, code: str, message: str, *, ids: Iterable[str] = ()) -> None:
        """Record a notice."""
        self.notices.append(FileWarning(code, message, ids=tuple(ids)[:LISTED_IDS]))

    def rejected(self) -> UploadRejected:
        """Return all that was found, as the exception to raise."""
        repeated = {kind: count for kind, count in self.kinds.items() if count > _ALIKE}
        told = [problem for problem in self.problems if problem.kind not in repeated]
        told += [self._as_one(kind, count) for kind, count in repeated.items()]
        told.sort(key=lambda problem: (problem.line is None, problem.line or 0))
        count = self.problem_count - sum(repeated.values()) + len(repeated)
        return UploadRejected(told, count, warnings=self.notices, format=self.format)

    def _as_one(self, kind: tuple[str, str | None, str], count: int) -> Problem:
        """Return the first problem of a kind, with how often it stands in the file, and where."""
        alike = [problem for problem in self.problems if problem.kind == kind]
        by_line, first = alike[0].line is not None, alike[0].message
        places = dict.fromkeys(str(problem.line if by_line else problem.id) for problem in alike)
        named = joined([*places][:_EXAMPLES])
        if by_line:
            message = _(
                "{count:,} times, for instance on lines {lines}: {first}", count=count, lines=named, first=first
            )
        else:
            message = _("{count:,} times, for instance for {names}: {first}", count=count, names=named, first=first)
        return replace(alike[0], message=message)

    def reject(self, code: str, message: str, *, line: int | None = None) -> UploadRejected:
        """Record a problem that ends the check, and return the exception to raise."""
        self.add(code, message, line=line)
        return self.rejected()
