"""Ways to get one answer: a chat endpoint, an endpoint that scores, and a Python function."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import math
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from vlrb.judge import JudgeError
from vlrb.judge.configuration import SCORE, RunConfiguration
from vlrb.judge.endpoint import Endpoint, TransientFault
from vlrb.judge.images import image_url, open_image
from vlrb.judge.journal import UNDECIDED, RecordedAnswer
from vlrb.judge.pairs import PairToJudge, RequestKey
from vlrb.judge.requests import (
    UnusableReply,
    chat_body,
    chat_messages,
    classify_body,
    read_chat,
    read_score,
    read_usage,
    score_body,
)
from vlrb.judge.texts import as_content, as_reason

_KEPT_IMAGES = 64


class AnswerFailed(Exception):
    """There is no answer, and asking again would not help."""


class ImageCache:
    """Images as they are sent, the last few pairs': the votes of a pair follow one another."""

    def __init__(self, configuration: RunConfiguration) -> None:
        self._policy = configuration.images
        self._kept: dict[int, asyncio.Task[str]] = {}

    async def url(self, pair: PairToJudge) -> str:
        """Return what goes into `image_url`."""
        if pair.row not in self._kept:
            task = asyncio.create_task(asyncio.to_thread(image_url, pair.image, self._policy))
            self._kept[pair.row] = task
            while len(self._kept) > _KEPT_IMAGES:
                self._kept.pop(next(iter(self._kept)))
        try:
            return await self._kept[pair.row]
        except Exception as error:  # of files, decoders and addresses: any of their errors means that there is no image
            raise AnswerFailed(as_reason(f"the image cannot be read: {error}")) from None


class EndpointAsker:
    """What asking any endpoint needs."""

    def __init__(self, configuration: RunConfiguration, endpoint: Endpoint) -> None:
        self._configuration, self._endpoint = configuration, endpoint
        self._images = ImageCache(configuration)

    async def is_reachable(self) -> bool:
        """Return whether the endpoint answers at all."""
        return await self._endpoint.is_reachable()

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()


class ChatAsker(EndpointAsker):
    """Asks a chat endpoint for a judgement."""

    async def ask(self, pair: PairToJudge, key: RequestKey, *, swapped: bool) -> RecordedAnswer:
        """Return the judgement."""
        configuration = self._configuration
        text = configuration.prompt.render(pair.query, pair.responses, swapped=swapped)
        messages = chat_messages(configuration.prompt, text, image=await self._images.url(pair))
        body = chat_body(configuration.model, messages, parameters=configuration.parameters)
        try:
            reply = read_chat(await self._endpoint.post("/chat/completions", body))
        except UnusableReply as error:
            raise TransientFault(str(error)) from None
        return RecordedAnswer(
            key, swapped=swapped, text=reply.text, reason=reply.reason,
            finish_reason=reply.finish_reason, usage=reply.usage,
        )  # fmt: skip


class ScoreAsker(EndpointAsker):
    """Asks an endpoint for the score of one response; vLLM serves scores beside /v1."""

    async def ask(self, pair: PairToJudge, key: RequestKey, *, swapped: bool) -> RecordedAnswer:
        """Return the score of a response."""
        configuration, image = self._configuration, await self._images.url(pair)
        make = score_body if configuration.api == SCORE else classify_body
        body = make(configuration.model, pair.query, response=pair.responses[key.response], image=image)
        root = self._endpoint.base_url.removesuffix("/v1")
        reply = await self._endpoint.post(f"{root}/{configuration.api}", body)
        try:
            score = read_score(reply)
        except UnusableReply as error:
            raise TransientFault(str(error)) from None
        return RecordedAnswer(key, swapped=swapped, score=score, usage=read_usage(reply))


class ScorerAsker:
    """Calls a function in this process, one call at a time.

    `(image, query, response) -> float` scores a response. `(image, query, a, b)` compares two: 0 for a, 1 for b, None
    for undecided, or the text of a judgement.
    """

    def __init__(self, name: str) -> None:
        self._function = load_scorer(name)
        self.pointwise = takes_one_response(self._function)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="scorer")

    async def ask(self, pair: PairToJudge, key: RequestKey, *, swapped: bool) -> RecordedAnswer:
        """Return the score or the comparison."""
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._thread, partial(self._call, pair, key, swapped=swapped))
        except AnswerFailed:
            raise
        except Exception as error:  # of somebody's function: it fails one answer, and the reason is recorded
            raise AnswerFailed(as_reason(f"{type(error).__name__}: {error}")) from None

    def _call(self, pair: PairToJudge, key: RequestKey, *, swapped: bool) -> RecordedAnswer:
        with open_image(pair.image.read()) as image:
            image.load()
            if self.pointwise:
                score = float(self._function(image, pair.query, pair.responses[key.response]))
                if not math.isfinite(score):
                    raise AnswerFailed(f"the score is {score}")
                return RecordedAnswer(key, swapped=swapped, score=score)
            responses = pair.responses[::-1] if swapped else pair.responses
            return _compared(self._function(image, pair.query, *responses), key, swapped=swapped)

    async def is_reachable(self) -> bool:
        """Return True: the function is in this process."""
        return True

    async def close(self) -> None:
        """Wait for the call under way."""
        self._thread.shutdown(wait=False, cancel_futures=True)


Asker = ChatAsker | ScoreAsker | ScorerAsker
"""What gets one answer. `ask` raises TransientFault, RequestRefused or AnswerFailed."""


def _compared(verdict: Any, key: RequestKey, *, swapped: bool) -> RecordedAnswer:
    if isinstance(verdict, str):
        return RecordedAnswer(key, swapped=swapped, text=as_content(verdict), reason="" if verdict else "empty content")
    if verdict is None:
        return RecordedAnswer(key, swapped=swapped, reason=UNDECIDED)
    if verdict not in (0, 1):
        raise AnswerFailed(f"a comparison returns 0, 1, None or a text, not {verdict!r}"[:200])
    return RecordedAnswer(key, swapped=swapped, choice=int(verdict) ^ int(swapped))


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
    if not callable(result):
        raise JudgeError("--scorer {name} is not a function.", name=name)
    return result  # type: ignore[no-any-return]


def takes_one_response(function: Callable[..., Any]) -> bool:
    """Return whether a scorer takes (image, query, response) rather than (image, query, a, b).

    Raises:
        JudgeError: it takes neither.
    """
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = [parameter for parameter in inspect.signature(function).parameters.values() if parameter.kind in kinds]
    needed = [parameter for parameter in parameters if parameter.default is inspect.Parameter.empty]
    if len(needed) not in (3, 4):
        raise JudgeError("A scorer takes (image, query, response) or (image, query, a, b).")
    return len(needed) == 3
