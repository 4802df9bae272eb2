"""Ways to get one answer: an endpoint that judges or scores, and a Python function that scores."""

from __future__ import annotations

import asyncio
import importlib
import math
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any

from vlrb.judge import JudgeError
from vlrb.judge.configuration import CHAT, RunConfiguration
from vlrb.judge.endpoint import Endpoint
from vlrb.judge.images import image_bytes, image_url, open_image
from vlrb.judge.journal import RecordedAnswer
from vlrb.judge.pairs import PairToJudge, RequestKey
from vlrb.judge.requests import read_answer, request_body
from vlrb.judge.texts import as_reason

_KEPT_IMAGES = 64  # of the last pairs: the votes of a pair follow one another


class AnswerFailed(Exception):
    """There is no answer, and asking again would not help."""


class EndpointAsker(Endpoint):
    """Asks a chat endpoint for a judgement, or one that scores for the score of a response."""

    def __init__(self, configuration: RunConfiguration, key: str | None, *, timeout: float) -> None:
        super().__init__(str(configuration.base_url), key, timeout=timeout)
        self._configuration = configuration
        self._image_url = lru_cache(_KEPT_IMAGES)(image_url)

    async def ask(self, pair: PairToJudge, key: RequestKey, *, swapped: bool) -> RecordedAnswer:
        """Return the judgement or the score."""
        configuration, api = self._configuration, self._configuration.api
        try:
            image = await asyncio.to_thread(self._image_url, pair.image, configuration.image_form)
        except Exception as error:  # of files and decoders: any of their errors means that there is no image
            raise AnswerFailed(as_reason(f"the image cannot be read: {error}")) from None
        body = request_body(configuration, pair, key=key, swapped=swapped, image=image)
        beside = self.base_url.removesuffix("/v1")  # where vLLM serves scores
        reply = await self.post("/chat/completions" if api == CHAT else f"{beside}/{api}", body)
        return RecordedAnswer(key, swapped=swapped, **read_answer(api, reply))


class ScorerAsker:
    """Calls a function in this process, one call at a time: `(image, query, response) -> float`."""

    def __init__(self, name: str) -> None:
        self._function = load_scorer(name)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="scorer")

    async def ask(self, pair: PairToJudge, key: RequestKey, *, swapped: bool) -> RecordedAnswer:
        """Return the score of a response."""
        try:
            score = await asyncio.get_running_loop().run_in_executor(self._thread, self._call, pair, key)
        except Exception as error:  # of somebody's function: it fails one answer, and the reason is recorded
            raise AnswerFailed(as_reason(f"{type(error).__name__}: {error}")) from None
        if not math.isfinite(score):
            raise AnswerFailed(f"the score is {score}")
        return RecordedAnswer(key, swapped=swapped, score=score)

    def _call(self, pair: PairToJudge, key: RequestKey) -> float:
        with open_image(image_bytes(pair.image)) as image:
            image.load()
            return float(self._function(image, pair.query, pair.responses[key.response]))

    async def is_reachable(self) -> bool:
        """Return True: the function is in this process."""
        return True

    async def close(self) -> None:
        """Wait for the call under way."""
        self._thread.shutdown(wait=False, cancel_futures=True)


Asker = EndpointAsker | ScorerAsker
"""What gets one answer. `ask` raises TransientFault, RequestRefused or AnswerFailed."""


def load_scorer(name: str) -> Callable[..., Any]:
    """Return the function that MODULE:FUNCTION names.

    Raises:
        JudgeError: there is none.
    """
    module, colon, function = name.partition(":")
    if not colon or not module or not function:
        raise JudgeError("--scorer {name}: give MODULE:FUNCTION, such as my_judge:score.", name=name)
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    try:
        result = getattr(importlib.import_module(module), function)
    except Exception as error:  # of somebody's module, whose text may be no Python
        raise JudgeError("--scorer {name} cannot be loaded: {error}", name=name, error=str(error)) from error
    return result  # type: ignore[no-any-return]
