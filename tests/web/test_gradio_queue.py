"""Gradio's queue while nobody calls."""

from __future__ import annotations

import asyncio
from typing import Any


def test_an_empty_queue_sleeps_fifty_milliseconds_between_two_looks() -> None:
    import gradio as gr

    from web.gradio_app import calm_queue

    with gr.Blocks() as pages:
        pass
    calm_queue(pages)
    queue, sleeps = pages._queue, list[float]()

    class Loop(asyncio.SelectorEventLoop):
        def call_later(self, delay: float, *arguments: Any, **options: Any) -> asyncio.TimerHandle:
            sleeps.append(delay)
            queue.stopped = len(sleeps) > 5
            return super().call_later(delay, *arguments, **options)

    async def look() -> None:
        await asyncio.gather(queue.start_processing(), queue.start_progress_updates())

    with asyncio.Runner(loop_factory=Loop) as runner:
        runner.run(look())
    assert min(sleeps) >= 0.05
