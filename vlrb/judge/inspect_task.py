"""A task for Inspect, whose log is a file of predictions: `inspect eval vlrb/vl_rewardbench --model vlrb/NAME`.

The provider `vlrb` asks an OpenAI-compatible endpoint (`--model-base-url`, key in OPENAI_API_KEY) as a run does.
"""

from __future__ import annotations

import asyncio
from typing import Any

from inspect_ai import Epochs, Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageUser, ContentImage, ContentText, GenerateConfig, ModelOutput, modelapi
from inspect_ai.model._providers.openai_compatible import OpenAICompatibleAPI
from inspect_ai.scorer import Score, Target, mean, scorer
from inspect_ai.solver import Generate, TaskState, solver

from vlrb.judge.endpoint import LONGEST_WAIT, read_retry_after
from vlrb.judge.images import STORED, image_url
from vlrb.judge.pairs import RANDOM, PairToJudge, is_swapped, read_pairs
from vlrb.judge.prompts import OFFICIAL, OFFICIAL_PARAMETERS, Prompt, find_prompt
from vlrb.judge.texts import as_reason
from vlrb.verdicts import choice_of
from vlrb.votes import UNDECIDED


@task
def vl_rewardbench(
    items: str = "items.parquet", votes: int = 5, *, order: str = RANDOM, seed: int = 0, image_form: str = STORED
) -> Task:
    """Return the task. Arguments as of `vlrb judge run`; `--limit` belongs to Inspect."""
    prompt = find_prompt(OFFICIAL)
    pairs = {pair.row: pair for pair in read_pairs(items).pairs}
    samples = [
        Sample(pair.id, id=row + 1, metadata={"id": pair.id, "item": pair.fingerprint, "row": row})
        for row, pair in pairs.items()
    ]
    return Task(
        samples,
        solver=ask(pairs, prompt, order=order, seed=seed, image_form=image_form),
        scorer=readable(),
        epochs=Epochs(votes, "mean"),
        config=GenerateConfig(**OFFICIAL_PARAMETERS),
        fail_on_error=False,
        metadata={"prompt": prompt.name, "prompt_sha256": prompt.sha256},
    )


@solver
def ask(pairs: dict[int, PairToJudge], prompt: Prompt, *, order: str, seed: int, image_form: str) -> Any:
    """Return what asks for one vote. Its order depends on seed, pair and epoch alone, as in `vlrb judge run`."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        pair = pairs[state.metadata["row"]]
        state.metadata["swapped"] = swapped = is_swapped(pair, state.epoch - 1, order=order, seed=seed)
        text = prompt.render(pair.query, pair.responses, swapped=swapped)
        try:
            image = await asyncio.to_thread(image_url, pair.image, image_form)
            state.messages = [ChatMessageUser(content=[ContentText(text=text), ContentImage(image=image)])]
            return await generate(state)
        except Exception as error:  # whatever a library raises: the vote has failed, and is not asked for again
            reason = getattr(error, "provider_message", None) or f"{type(error).__name__}: {error}"
            state.metadata["failed"] = as_reason(reason)
            state.output = ModelOutput.from_content(str(state.model), "")
            return state

    return solve


@scorer(metrics={"readable": [mean()], "picked_first": [mean()]})
def readable() -> Any:
    """Return what says whether a verdict can be read, and which answer it picks. No label is involved."""

    async def score(state: TaskState, target: Target) -> Score:
        choice = choice_of(state.output.completion)
        first = 0.5 if choice == UNDECIDED else float(choice == 0)
        return Score(value={"readable": float(choice != UNDECIDED), "picked_first": first})

    return score


@modelapi(name="vlrb")
class OfficialRequests(OpenAICompatibleAPI):
    """Sends the official body: no `detail` of images, `stream` false, `max_tokens` by its name."""

    def __init__(self, model_name: str, base_url: str | None = None, **more: Any) -> None:
        super().__init__(model_name, base_url, service="vlrb", api_key_var="OPENAI_API_KEY", max_retries=0, **more)
        self.http_client.follow_redirects = False

    async def messages_to_openai(self, input: Any) -> Any:
        """Return the messages without the detail of images, which the official script does not send."""
        messages = await super().messages_to_openai(input)
        for part in (part for message in messages for part in message["content"] if part["type"] == "image_url"):
            part["image_url"].pop("detail", None)
        return messages

    def completion_params(self, config: Any, tools: bool) -> dict[str, Any]:
        """Return the fields of the request but the messages."""
        parameters = super().completion_params(config, tools)
        if "max_completion_tokens" in parameters:
            parameters["max_tokens"] = parameters.pop("max_completion_tokens")
        return {**parameters, "stream": False}

    def retry_wait(self) -> Any:
        """Return how long to wait before the next attempt: as the endpoint asks, else up to a minute."""

        def seconds(state: Any) -> float:
            response = getattr(state.outcome.exception(), "response", None)
            asked = read_retry_after(response.headers) if response is not None else None
            return min(LONGEST_WAIT, 2.0**state.attempt_number, 60.0) if asked is None else min(asked, LONGEST_WAIT)

        return seconds
