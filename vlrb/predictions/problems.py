"""Problems of an uploaded file (it is rejected) and warnings (it is accepted)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from vlrb.common.messages import _, ngettext
from vlrb.common.text import join_sentences

LISTED_PROBLEMS = 100
LISTED_IDS = 100
_LONGEST_ID = 200


@dataclass(frozen=True, slots=True)
class Problem:
    """A reason to reject a file. ``line`` counts from 1 (in a JSON document: the record, in a sheet: the row)."""

    line: int | None
    id: str | None
    field: str | None
    code: str
    message: str  # names the remedy


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


@dataclass(frozen=True, slots=True)
class BenchmarkName:
    """The benchmark that a file belongs to, where that is another one than the one asked.

    ``path``: where to submit it. In a service that does not serve that benchmark, its report has none.
    """

    id: str
    title: str
    path: str


class UploadRejected(Exception):
    """The file cannot be scored. ``other``: the benchmark that it belongs to, where that is known."""

    def __init__(
        self,
        problems: Iterable[Problem],
        problem_count: int | None = None,
        *,
        warnings: Iterable[FileWarning] = (),
        format: str | None = None,
        other: BenchmarkName | None = None,
    ) -> None:
        self.other = other
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
    """Collects problems and notices while a file is read; keeps the first LISTED_PROBLEMS and counts the rest."""

    format: str | None = None
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0
    notices: list[FileWarning] = field(default_factory=list)
    unscored: list[str] = field(default_factory=list)  # ids of pairs with a null in place of a score
    unread: int = 0  # records that were left out because of a problem: they explain as many missing votes

    def add(
        self, code: str, message: str, *, line: int | None = None, id: str | None = None, field: str | None = None
    ) -> None:
        """Record a problem."""
        self.problem_count += 1
        if len(self.problems) < LISTED_PROBLEMS:
            short_id = id if id is None or len(id) <= _LONGEST_ID else id[:_LONGEST_ID] + "…"
            self.problems.append(Problem(line, short_id, field=field, code=code, message=message))

    def note(self, code: str, message: str, *, ids: Iterable[str] = ()) -> None:
        """Record a notice."""
        self.notices.append(FileWarning(code, message, ids=tuple(ids)[:LISTED_IDS]))

    def note_unscored(self) -> None:
        """Record a notice about pairs without a score, if there are any."""
        if names := dict.fromkeys(self.unscored):
            message = _(
                "{n} pairs have null in place of a score. They are undecided, which counts as wrong.", n=len(names)
            )
            self.note("null-scores", message, ids=names)

    def rejected(self) -> UploadRejected:
        """Return all that was found, as the exception to raise."""
        return UploadRejected(self.problems, self.problem_count, warnings=self.notices, format=self.format)

    def reject(
        self, code: str, message: str, *, line: int | None = None, id: str | None = None, field: str | None = None
    ) -> UploadRejected:
        """Record a problem that ends the check, and return the exception to raise."""
        self.add(code, message, line=line, id=id, field=field)
        return self.rejected()
