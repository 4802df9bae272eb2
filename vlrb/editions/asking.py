"""Questions to chat endpoints, through the engine and the journal of `judge`: resumable, with retries."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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

_TIMEOUT = 300.0  # seconds


@dataclass(frozen=True, slots=True)
class ChatModel:
    """A model behind an endpoint. ``key``: from the environment; written nowhere."""

    name: str
    base_url: str
    model: str
    key: str | None


@dataclass(frozen=True, slots=True)
class ChatQuestions:
    """What a model is asked, so many ``votes`` each. ``parameters``: of sampling."""

    prompt: Prompt
    pairs: Sequence[PairToJudge]
    parameters: Mapping[str, Any]
    votes: int = 1

    @property
    def sha256(self) -> str:
        """Digest of the texts in their order."""
        return PairFile(tuple(self.pairs), frozenset()).sha256

    def configuration(self, model: ChatModel) -> RunConfiguration:
        """Return what the directory of a run records."""
        return RunConfiguration(
            api=CHAT,
            model=model.model,
            base_url=model.base_url,
            scorer=None,
            votes=self.votes,
            order=RANDOM,
            seed=0,
            prompt=self.prompt,
            parameters=self.parameters,
            images=ImagePolicy(),
            benchmark="",
            items="",
            items_sha256=self.sha256,
            pairs=len(self.pairs),
        )


def ask_all(
    folder: Path, model: ChatModel, *, questions: ChatQuestions, limits: EngineLimits
) -> dict[RequestKey, RecordedAnswer]:
    """Ask a model all questions, and go on where an earlier start ended. Returns the answers.

    Raises:
        UnfinishedError: some answers are still open; the same command goes on.
        CurateError: the run in the folder is another one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    configuration = questions.configuration(model)
    try:
        with contextlib.closing(Journal(folder)) as journal:
            open_run(folder, configuration)
            wanted = list(keys(questions.pairs, questions.votes, pointwise=False))
            remaining = [key for key in wanted if key not in journal.answers]
            if remaining:
                endpoint = Endpoint(model.base_url, model.key, timeout=_TIMEOUT)
                asker = ChatAsker(configuration, endpoint, journal=journal)
                engine = JudgeEngine(configuration, questions.pairs, asker=asker, journal=journal, limits=limits)
                progress = ProgressLine(len(wanted), len(wanted) - len(remaining), prices=Prices())
                asyncio.run(_run(engine, asker, remaining=remaining, progress=progress))
            return {key: journal.answers[key] for key in wanted}
    except RunStopped as stopped:
        raise UnfinishedError(f"{model.name}: {stopped} Run the same command to continue.") from None
    except JudgeError as error:
        raise CurateError(f"{model.name}: {error}") from None


async def _run(
    engine: JudgeEngine, asker: ChatAsker, *, remaining: Sequence[RequestKey], progress: ProgressLine
) -> None:
    interrupted = asyncio.Event()

    def interrupt() -> None:
        interrupted.set()
        engine.stop("Interrupted.")

    with contextlib.suppress(NotImplementedError, RuntimeError):  # not in the main thread
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, interrupt)
    try:
        await engine.run(remaining, progress)
    except RunStopped:
        if interrupted.is_set():
            raise KeyboardInterrupt from None
        raise
    finally:
        await asker.close()
