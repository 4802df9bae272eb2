"""The loop of a run: asks for every open answer once, retries what may succeed, records each answer as it comes."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import tenacity
from tqdm import tqdm

from vlrb.common.command_line import say
from vlrb.common.messages import _
from vlrb.judge import JudgeError
from vlrb.judge.askers import AnswerFailed, Asker
from vlrb.judge.configuration import RunConfiguration
from vlrb.judge.endpoint import RequestRefused, TransientFault
from vlrb.judge.journal import Journal, RecordedAnswer
from vlrb.judge.pairs import PairToJudge, RequestKey, is_swapped
from vlrb.judge.texts import as_money, as_reason, duration
from vlrb.judge.totals import Prices, RunTotals

_MOST_REFUSALS_FOR_LOAD = 60  # of one request; these do not count as failed attempts
_LONG_PAUSE = 20.0  # seconds; people are told
_FAILURES_IN_A_ROW = 30  # or three times the concurrency: then something is wrong with all requests


class RunStopped(JudgeError):
    """The run ends before its last answer; the message says why."""


@dataclass(frozen=True, slots=True)
class EngineLimits:
    """How hard a run tries, and what it may use."""

    concurrency: int = 32
    attempts: int = 5
    first_wait: float = 0.5  # seconds before the first retry, doubled for each further one
    max_requests: int | None = None  # over all starts, as the money; None is no limit
    max_cost: float | None = None
    prices: Prices = field(default_factory=Prices)


class JudgeEngine:
    """One start of a run."""

    def __init__(
        self, configuration: RunConfiguration, pairs: Sequence[PairToJudge], *, asker: Asker, journal: Journal,
        limits: EngineLimits,
    ) -> None:  # fmt: skip
        self._configuration, self._asker, self._journal, self._limits = configuration, asker, journal, limits
        self._pairs: Mapping[int, PairToJudge] = {pair.row: pair for pair in pairs}
        self._stop = asyncio.Event()
        self._stopped_by = ""
        self._failures_in_a_row = 0
        self._paused_until = 0.0
        self._sent = 0  # requests of this start that no recorded answer counts yet
        self.totals = RunTotals()
        for answer in journal.answers.values():
            self.totals.add(answer)

    def stop(self, why: str) -> None:
        """Start no further request; those in flight end by themselves."""
        self._stopped_by = self._stopped_by or why
        self._stop.set()

    async def run(self, keys: Sequence[RequestKey], progress: tqdm[Any]) -> None:
        """Get all answers.

        Raises:
            RunStopped: some are still open.
        """
        asked_again = [answer for key in keys if (answer := self._journal.answers.get(key))]
        self.totals.failed -= sum(answer.failed for answer in asked_again)
        self.totals.answers -= sum(answer.empty for answer in asked_again)
        remaining = iter(keys)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self._limits.concurrency, len(keys))):
                    group.create_task(self._work(remaining, progress))
        finally:
            await self._asker.close()
        progress.close()
        self.check_stop()

    def check_stop(self) -> None:
        """Raise RunStopped if somebody or something has stopped the run."""
        if self._stopped_by:
            raise RunStopped(self._stopped_by)

    async def _work(self, remaining: Iterator[RequestKey], progress: tqdm[Any]) -> None:
        for key in remaining:
            if self._stop.is_set():
                return
            try:
                await self._get(key)
            except JudgeError as stopped:
                self.stop(str(stopped))
                return
            progress.set_postfix_str(self._expense(), refresh=False)
            progress.update()

    def _expense(self) -> str:
        totals, cost = self.totals, self._limits.prices.cost(self.totals)
        parts = [f"{totals.tokens:,} tokens"] if totals.tokens else []
        parts += [as_money(cost)] if cost is not None else []
        return ", ".join([*parts, *([f"{totals.failed:,} failed"] if totals.failed else [])])

    async def _get(self, key: RequestKey) -> None:
        """Ask until there is an answer, or a failure to record."""
        pair, refusals = self._pairs[key.row], 0

        def is_enough(state: tenacity.RetryCallState) -> bool:
            nonlocal refusals
            error = state.outcome.exception() if state.outcome else None
            refusals += isinstance(error, TransientFault) and error.throttled
            return refusals > _MOST_REFUSALS_FOR_LOAD or state.attempt_number - refusals >= self._limits.attempts

        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(TransientFault), stop=is_enough, wait=self._pause,
            sleep=self._sleep, reraise=True,
        )  # fmt: skip
        order, seed = self._configuration.order, self._configuration.seed
        swapped = key.response < 0 and is_swapped(pair, key.vote, order=order, seed=seed)
        failed = RecordedAnswer(key, swapped=swapped, failed=True)
        try:
            async for attempt in retrying:
                with attempt:
                    failed = replace(failed, attempts=attempt.retry_state.attempt_number)
                    await self._attempt(pair, failed)
        except TransientFault as fault:
            if fault.unreachable and not await self._asker.is_reachable():
                raise RunStopped(
                    "The endpoint does not answer ({problem}). Once it does the same command continues.",
                    problem=str(fault),
                ) from None
            await self._record_failure(replace(failed, reason=str(fault)))
        except RequestRefused as refused:
            of_address = refused.status < 400 or refused.status in (403, 404)
            if refused.status in (401, 429) or (of_address and not self.totals.answers):
                raise RunStopped(
                    "The endpoint refuses the requests: {problem}. Once that is mended the same command continues.",
                    problem=str(refused).rstrip("."),
                ) from None
            await self._record_failure(replace(failed, reason=str(refused)))
        except AnswerFailed as error:
            await self._record_failure(replace(failed, reason=str(error)))
        except JudgeError:
            raise
        except Exception as error:  # whatever a library raises costs one vote, not the run
            await self._record_failure(replace(failed, reason=as_reason(f"{type(error).__name__}: {error}")))

    async def _attempt(self, pair: PairToJudge, failed: RecordedAnswer) -> None:
        while (pause := self._paused_until - time.monotonic()) > 0:
            await self._sleep(pause)
        self.check_stop()
        if used_up := self._used_up():
            raise RunStopped("The budget of {limit} is used up. With a larger one the run continues.", limit=used_up)
        began = time.monotonic()
        self._sent += 1
        try:
            answer = await self._asker.ask(pair, failed.key, swapped=failed.swapped)
        except TransientFault as fault:
            if fault.throttled:
                self._hold(fault.retry_after or 0.0)
            raise
        seconds = round(time.monotonic() - began, 3)
        await self._record(replace(answer, seconds=seconds, attempts=failed.attempts))
        self._failures_in_a_row = 0

    def _hold(self, seconds: float) -> None:
        """Start nothing before the endpoint's time has passed."""
        now = time.monotonic()
        announced, self._paused_until = self._paused_until > now, max(self._paused_until, now + seconds)
        if seconds >= _LONG_PAUSE and not announced:
            say(_("\nThe endpoint asks to wait {duration}.", duration=duration(seconds)), file=sys.stderr, flush=True)

    def _used_up(self) -> str | None:
        """Return which limit one more request beside those in flight would pass; None if it passes none."""
        limits, totals = self._limits, self.totals
        if limits.max_requests is not None and totals.requests + self._sent >= limits.max_requests:
            return _("{number:,} requests", number=limits.max_requests)
        in_flight = self._sent / max(1, totals.answers)  # as many times what was spent, on average
        cost = limits.prices.cost(totals) or 0.0
        if limits.max_cost is not None and cost * (1 + in_flight) >= limits.max_cost:
            return f"${limits.max_cost:g}"
        return None

    async def _record(self, answer: RecordedAnswer) -> None:
        await self._journal.record(answer)
        self._sent -= answer.attempts
        self.totals.add(answer)

    async def _record_failure(self, answer: RecordedAnswer) -> None:
        await self._record(answer)
        self._failures_in_a_row += 1
        if self._failures_in_a_row >= max(_FAILURES_IN_A_ROW, 3 * self._limits.concurrency):
            raise RunStopped(
                "The last {number} requests all failed; the last one with: {reason}. The same command continues; "
                "--retry-failed asks for these again.",
                number=self._failures_in_a_row,
                reason=answer.reason.rstrip("."),
            )

    def _pause(self, state: tenacity.RetryCallState) -> float:
        fault = state.outcome.exception() if state.outcome else None
        asked = fault.retry_after if isinstance(fault, TransientFault) else None
        random = tenacity.wait_random_exponential(multiplier=self._limits.first_wait, max=60)(state)
        return max(asked, min(random, 1.0)) if asked is not None else random

    async def _sleep(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._stop.wait(), seconds)
        except TimeoutError:
            return
        raise RunStopped(self._stopped_by)
