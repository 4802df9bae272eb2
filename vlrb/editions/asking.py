"""Questions to chat endpoints, through the engine and the journal of `judge`: resumable, with retries and budgets."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vlrb.common.messages import _
from vlrb.editions.errors import CurateError, UnfinishedError
from vlrb.judge.askers import ChatAsker
from vlrb.judge.configuration import CHAT, RunConfiguration, open_run
from vlrb.judge.endpoint import Endpoint
from vlrb.judge.engine import EngineLimits, JudgeEngine, RunStopped
from vlrb.judge.errors import JudgeError
from vlrb.judge.images import ImagePolicy
from vlrb.judge.journal import Journal, RecordedAnswer
from vlrb.judge.pairs import PairFile, PairToJudge
from vlrb.judge.plan import RANDOM, RequestKey, keys
from vlrb.judge.progress import ProgressLine
from vlrb.judge.prompts import Prompt
from vlrb.judge.totals import Prices


@dataclass(frozen=True, slots=True)
class ChatModel:
    """A model behind an endpoint. ``key``: from the environment; written nowhere."""

    name: str
    base_url: str
    model: str
    key: str | None


@dataclass(frozen=True, slots=True)
class AskingLimits:
    """How hard endpoints are asked."""

    concurrency: int = 16
    attempts: int = 5
    first_wait: float = 0.5
    timeout: float = 300.0


def ask_all(
    folder: Path,
    model: ChatModel,
    *,
    prompt: Prompt,
    pairs: Sequence[PairToJudge],
    settings: Mapping[str, Any],
    limits: AskingLimits,
) -> dict[RequestKey, RecordedAnswer]:
    """Ask a model about all pairs, so many ``votes`` each, and go on where an earlier start ended. Returns the answers.

    ``settings``: ``votes``, ``seed`` of the order, and ``parameters`` of sampling.

    Raises:
        CurateError: some answers are still open; the same command goes on.
    """
    folder.mkdir(parents=True, exist_ok=True)
    configuration = _configuration(model, prompt, pairs=pairs, settings=settings)
    try:
        with contextlib.closing(Journal(folder)) as journal:
            open_run(folder, configuration)
            wanted = list(keys(pairs, configuration.votes, pointwise=False))
            remaining = [key for key in wanted if key not in journal.answers]
            if remaining:
                asyncio.run(
                    _ask(configuration, model, pairs=pairs, journal=journal, limits=limits, remaining=remaining)
                )
            return {key: journal.answers[key] for key in wanted}
    except RunStopped as stopped:
        raise UnfinishedError(
            _("{name}: {stopped} Run the same command to continue.", name=model.name, stopped=stopped)
        ) from None
    except JudgeError as error:
        raise CurateError(f"{model.name}: {error}") from None


def _configuration(
    model: ChatModel, prompt: Prompt, *, pairs: Sequence[PairToJudge], settings: Mapping[str, Any]
) -> RunConfiguration:
    return RunConfiguration(
        api=CHAT,
        model=model.model,
        base_url=model.base_url,
        scorer=None,
        votes=settings["votes"],
        order=RANDOM,
        seed=settings["seed"],
        prompt=prompt,
        parameters=settings["parameters"],
        images=ImagePolicy(),
        benchmark="",
        items="",
        items_sha256=PairFile(tuple(pairs), frozenset()).sha256,
        pairs=len(pairs),
    )


async def _ask(
    configuration: RunConfiguration,
    model: ChatModel,
    *,
    pairs: Sequence[PairToJudge],
    journal: Journal,
    limits: AskingLimits,
    remaining: Sequence[RequestKey],
) -> None:
    asker = ChatAsker(configuration, Endpoint(model.base_url, model.key, timeout=limits.timeout), journal=journal)
    engine_limits = EngineLimits(limits.concurrency, limits.attempts, first_wait=limits.first_wait)
    engine = JudgeEngine(configuration, pairs, asker=asker, journal=journal, limits=engine_limits)
    interrupted = asyncio.Event()

    def interrupt() -> None:
        interrupted.set()
        engine.stop("Interrupted.")

    with contextlib.suppress(NotImplementedError, RuntimeError):  # not in the main thread
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, interrupt)
    wanted = len(pairs) * configuration.votes
    try:
        await engine.run(remaining, ProgressLine(wanted, wanted - len(remaining), prices=Prices()))
    except RunStopped:
        if interrupted.is_set():
            raise KeyboardInterrupt from None
        raise
    finally:
        await asker.close()
