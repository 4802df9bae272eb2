"""`vlrb.judge run`: asks for what is open, then writes the predictions."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

from tqdm import tqdm

from vlrb.common.command_line import say
from vlrb.common.messages import _
from vlrb.judge import JudgeError
from vlrb.judge.askers import Asker, ChatAsker, ScoreAsker, ScorerAsker, load_scorer, takes_one_response
from vlrb.judge.configuration import CHAT, RunConfiguration, open_run
from vlrb.judge.endpoint import Endpoint
from vlrb.judge.engine import EngineLimits, JudgeEngine, RunStopped
from vlrb.judge.journal import Journal
from vlrb.judge.options import configure
from vlrb.judge.pairs import RequestKey, keys
from vlrb.judge.report import INTERRUPTED, FinishedRun, about_this_start
from vlrb.judge.totals import Prices, RunBudget


def run_command(arguments: argparse.Namespace) -> int:
    """Run the judge, or go on with a run. Returns the exit code."""
    key = os.environ.get("OPENAI_API_KEY", "").strip() or None
    limits, folder = _limits(arguments), arguments.output
    pointwise_scorer = _scorer_is_pointwise(arguments.scorer) if arguments.scorer else None
    configuration, file = configure(arguments, scores_pairwise=pointwise_scorer is False)
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(Journal(folder)) as journal:
        open_run(folder, configuration, **about_this_start())
        pointwise = configuration.pointwise if pointwise_scorer is None else pointwise_scorer
        pairs = file.pairs[: arguments.limit]
        wanted = list(keys(pairs, configuration.votes, pointwise=pointwise))
        remaining = journal.open_of(wanted, failed=arguments.retry_failed, empty=arguments.retry_empty)
        stopped = None
        if remaining:
            asker = _asker(configuration, key=key, timeout=arguments.timeout)
            engine = JudgeEngine(configuration, file.pairs, asker=asker, journal=journal, limits=limits)
            pause = 0.2 if sys.stderr.isatty() else 30.0  # seconds between two lines
            progress = tqdm(
                total=len(wanted), initial=len(wanted) - len(remaining), unit="votes", mininterval=pause, delay=1
            )
            stopped = _ask(engine, remaining, progress=progress)
        run = FinishedRun(folder, configuration.to_json(), file=file, journal=journal, pointwise=pointwise)
        return run.tell(len(pairs), wanted, prices=limits.prices, stopped=stopped, as_json=arguments.json)


def _limits(arguments: argparse.Namespace) -> EngineLimits:
    prices = Prices(arguments.price_prompt, arguments.price_reply)
    if arguments.max_cost is not None and prices == Prices():
        raise JudgeError("--max-cost needs prices: --price-prompt and --price-reply, for a million tokens each.")
    budget = RunBudget(arguments.max_requests, money=arguments.max_cost)
    return EngineLimits(
        arguments.concurrency, arguments.attempts, first_wait=arguments.retry_wait, budget=budget, prices=prices
    )


def _ask(engine: JudgeEngine, remaining: Sequence[RequestKey], *, progress: tqdm[Any]) -> str | None:
    """Get what remains. Returns why some of it is still open; None if nothing is."""
    try:
        asyncio.run(_run(engine, remaining, progress=progress))
        engine.check_stop()  # Ctrl-C may come while connections and threads end
    except RunStopped as stopped:
        return str(stopped)
    except (KeyboardInterrupt, asyncio.CancelledError):
        return INTERRUPTED
    return None


async def _run(engine: JudgeEngine, remaining: Sequence[RequestKey], *, progress: tqdm[Any]) -> None:
    _stop_on_signals(engine)
    try:
        await engine.run(remaining, progress)
    finally:
        await engine.close()


def _asker(configuration: RunConfiguration, *, key: str | None, timeout: float) -> Asker:
    if configuration.scorer:
        return ScorerAsker(configuration.scorer)
    endpoint = Endpoint(str(configuration.base_url), key, timeout=timeout)
    if configuration.api == CHAT:
        return ChatAsker(configuration, endpoint)
    return ScoreAsker(configuration, endpoint)


def _scorer_is_pointwise(name: str) -> bool:
    return takes_one_response(load_scorer(name))


def _stop_on_signals(engine: JudgeEngine) -> None:
    loop, main = asyncio.get_running_loop(), asyncio.current_task()
    asked = False

    def handle() -> None:
        nonlocal asked
        if asked and main is not None:
            main.cancel()
            return
        asked = True
        engine.stop(INTERRUPTED)
        say(_("\nStopping after the answers in flight. Ctrl-C once more drops these."), file=sys.stderr, flush=True)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, handle)
