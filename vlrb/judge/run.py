"""`vlrb judge run`: asks for what is open, then writes the predictions."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from typing import Any

from tqdm import tqdm

from vlrb.common.command_line import INTERRUPTED as INTERRUPTED_CODE
from vlrb.common.command_line import lines, say
from vlrb.common.messages import _
from vlrb.judge import JudgeError
from vlrb.judge.askers import Asker, EndpointAsker, ScorerAsker, load_scorer
from vlrb.judge.configuration import CHAT, RunConfiguration, configure, open_run
from vlrb.judge.engine import EngineLimits, JudgeEngine, RunStopped
from vlrb.judge.journal import JOURNAL, Journal, busy_seconds
from vlrb.judge.pairs import RequestKey, keys
from vlrb.judge.predictions import write_predictions
from vlrb.judge.report import engine_versions, readable, run_metadata
from vlrb.judge.totals import Prices, describe

OK, OPEN = 0, 1
INTERRUPTED = _("Interrupted. Run the same command to continue.")


def run_command(arguments: argparse.Namespace) -> int:
    """Run the judge, or go on with a run. Returns the exit code."""
    limits, folder = _limits(arguments), arguments.output
    if arguments.scorer:
        load_scorer(arguments.scorer)  # before anything is written
    configuration, file = configure(arguments)
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(Journal(folder)) as journal:
        open_run(folder, configuration, engine=engine_versions(), created=round(time.time(), 3))
        pairs = file.pairs[: arguments.limit]
        wanted = list(keys(pairs, configuration.votes, pointwise=configuration.api != CHAT))
        remaining = journal.open_of(wanted, failed=arguments.retry_failed, empty=arguments.retry_empty)
        stopped = None
        if remaining:
            asker = _asker(configuration, timeout=arguments.timeout)
            engine = JudgeEngine(configuration, file.pairs, asker=asker, journal=journal, limits=limits)
            pause = 0.2 if sys.stderr.isatty() else 30.0  # seconds between two lines
            progress = tqdm(
                total=len(wanted), initial=len(wanted) - len(remaining), unit="votes", mininterval=pause, delay=1
            )
            stopped = _ask(engine, remaining, progress=progress)
        answers, recorded = journal.answers, configuration.to_json()
        done = [answers[key] for key in wanted if key in answers]
        report = describe(done, wanted=len(wanted), reading=recorded["prompt"]["reading"], prices=limits.prices)
        if report["cost_of_all"] is not None:
            report["cost_of_all"] *= configuration.pairs / len(pairs)
        report["wall_seconds"] = busy_seconds(folder / JOURNAL) or None
        if stopped is None:
            run = run_metadata(recorded, report)
            path = write_predictions(folder, file, pairs=pairs, answers=answers, run=run)
            sentences: list[str] = [_("Written: {path}", path=path)]
            if wanted and report["failed"] == report["wanted"]:
                first = answers[wanted[0]].reason
                told = _(
                    "Every vote failed, the first with: {reason}. Fix that, then ask again with --retry-failed.",
                    reason=first,
                )
                sentences.append(told)
        else:
            sentences = [stopped, _("Every recorded answer is kept.")]
        print(json.dumps(report | {"stopped": stopped}) if arguments.json else lines([*readable(report), *sentences]))
        return OK if stopped is None else INTERRUPTED_CODE if stopped == INTERRUPTED else OPEN


def _limits(arguments: argparse.Namespace) -> EngineLimits:
    prices = Prices(arguments.price_prompt, arguments.price_reply)
    if arguments.max_cost is not None and prices == Prices():
        raise JudgeError("--max-cost needs prices: --price-prompt and --price-reply, for a million tokens each.")
    return EngineLimits(
        arguments.concurrency, arguments.attempts, first_wait=arguments.retry_wait,
        max_requests=arguments.max_requests, max_cost=arguments.max_cost, prices=prices,
    )  # fmt: skip


def _ask(engine: JudgeEngine, remaining: Sequence[RequestKey], *, progress: tqdm[Any]) -> str | None:
    """Get what remains. Returns why some of it is still open; None if nothing is."""

    async def ask() -> None:
        _stop_on_signals(engine)
        await engine.run(remaining, progress)

    try:
        asyncio.run(ask())
        engine.check_stop()  # Ctrl-C may come while connections and threads end
    except RunStopped as stopped:
        return str(stopped)
    except (KeyboardInterrupt, asyncio.CancelledError):
        return INTERRUPTED
    return None


def _asker(configuration: RunConfiguration, *, timeout: float) -> Asker:
    if configuration.scorer:
        return ScorerAsker(configuration.scorer)
    key = os.environ.get("OPENAI_API_KEY", "").strip() or None
    return EndpointAsker(configuration, key, timeout=timeout)


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
