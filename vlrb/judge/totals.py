"""Totals of a run: usage, budgets, and statistics of its answers. No label is involved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from vlrb.judge.journal import RecordedAnswer
from vlrb.judge.prompts import ANSWER_TAG
from vlrb.verdicts import choice_of, read_tag
from vlrb.votes import UNDECIDED

_REASONS = 3  # of failures, the most frequent ones


def read_reply(text: str, reading: str) -> int:
    """Return which of the answers shown a judgement prefers: 0, 1, or UNDECIDED of the votes."""
    if reading == ANSWER_TAG:
        tagged = read_tag(text)
        return UNDECIDED if tagged is None else tagged
    return choice_of(text)


@dataclass(slots=True)
class RunTotals:
    """Running sums over the answers of a run, those of earlier starts included."""

    answers: int = 0
    failed: int = 0
    empty: int = 0
    truncated: int = 0
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0  # of all requests together

    def add(self, answer: RecordedAnswer) -> None:
        """Count an answer."""
        self.answers += not answer.failed
        self.failed += answer.failed
        self.empty += answer.empty
        self.truncated += answer.finish_reason in ("length", "max_tokens")
        self.requests += answer.attempts
        self.prompt_tokens += answer.prompt_tokens or 0
        self.completion_tokens += answer.completion_tokens or 0
        self.seconds += answer.seconds

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class Prices:
    """Money for a million tokens."""

    prompt: float = 0.0
    completion: float = 0.0

    def cost(self, totals: RunTotals) -> float | None:
        """Return the money for the tokens of a run; None where nobody has named a price."""
        if not (self.prompt or self.completion):
            return None
        return (totals.prompt_tokens * self.prompt + totals.completion_tokens * self.completion) / 1e6


def describe(
    answers: Iterable[RecordedAnswer], *, wanted: int, reading: str, prices: Prices = Prices()
) -> dict[str, Any]:
    """Return the figures of a run: progress, readable verdicts, position preference, tokens, time and cost."""
    totals, shown_first, readable, texts = RunTotals(), 0, 0, 0
    reasons = Counter[str]()
    for answer in answers:
        totals.add(answer)
        reasons.update([answer.reason] if answer.failed else [])
        if answer.score is None:
            result = read_reply(answer.text or "", reading)
            texts += 1
            readable += result != UNDECIDED
            shown_first += result == 0
    cost, done = prices.cost(totals), totals.answers + totals.failed
    return {
        **asdict(totals),
        "wanted": wanted,
        "done": done,
        "failure_reasons": dict(reasons.most_common(_REASONS)),
        "parse_rate": readable / texts if texts else None,
        "first_shown_rate": shown_first / readable if readable else None,
        "seconds_per_request": round(totals.seconds / done, 3) if totals.seconds else None,
        "cost": cost,
        "cost_of_all": cost * wanted / done if cost is not None and done else None,
    }
