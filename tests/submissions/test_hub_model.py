"""Model descriptions of the Hub as values of the form, or one sentence about why there are none."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.responses import JSONResponse, Response

from storage.metadata import FIELDS
from submissions.submit import hub_model
from submissions.submit.hub_model import HUB_FIELDS, HubModelUnknown, hub_fields
from tests.factories.services.serving import serving
from tests.factories.specs import DEMO

JUDGE = {
    "id": "ExampleLab/Judge-7B",
    "author": "ExampleLab",
    "gated": False,
    "cardData": {"base_model": ["Qwen/Qwen2.5-VL-7B-Instruct"], "license": "apache-2.0"},
    "safetensors": {"parameters": {"BF16": 8292166656}, "total": 8292166656},
    "siblings": [{"rfilename": "README.md"}, {"rfilename": "model-00001-of-00004.safetensors"}],
}
MODELS: dict[str, dict[str, Any]] = {
    "ExampleLab/Judge-7B": JUDGE,
    "ExampleLab/gated": {**JUDGE, "gated": "manual"},
    "ExampleLab/bare": {"id": "ExampleLab/bare", "gated": False, "siblings": []},
    "ExampleLab/odd": {**JUDGE, "author": "\u202eevil", "cardData": {"base_model": "x" * 5000}},
}


@pytest.fixture(scope="module")
def hub() -> Iterator[str]:
    app = FastAPI()

    @app.get("/api/models/{owner}/{name}")
    def model(owner: str, name: str) -> Response:
        if name == "slow":
            time.sleep(1)
        if name == "no-json":
            return Response("<html>", media_type="text/html")
        known = MODELS.get(f"{owner}/{name}")
        missing = {"X-Error-Code": "RepoNotFound"}
        return JSONResponse(known) if known else JSONResponse({"error": "none"}, 401, missing)

    with serving(app) as url:
        yield url


@pytest.fixture(autouse=True)
def _reachable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)  # the suite stays away from the real Hub
    monkeypatch.setattr(hub_model, "SECONDS", 0.3)


def test_a_public_model_gives_its_fields_as_the_form_takes_them(hub: str) -> None:
    stated = hub_fields("ExampleLab/Judge-7B", hub)
    assert stated == {
        "model": "Judge-7B",
        "organisation": "ExampleLab",
        "base_model": "Qwen/Qwen2.5-VL-7B-Instruct",
        "parameters_b": "8.29",
        "open_weights": "true",
    }
    assert set(stated) == set(HUB_FIELDS)
    for name, value in stated.items():
        FIELDS[name].read(value)


@pytest.mark.parametrize(
    ("name", "without"),
    [
        ("gated", {"open_weights"}),
        ("bare", {"base_model", "parameters_b", "open_weights"}),
        ("odd", {"organisation", "base_model"}),
    ],
)
def test_what_the_hub_does_not_state_or_no_field_takes_is_left_out(hub: str, name: str, without: set[str]) -> None:
    assert set(hub_fields(f"ExampleLab/{name}", hub)) == set(HUB_FIELDS) - without


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ExampleLab/nowhere", "no public model ExampleLab/nowhere. Check the id"),
        ("../../api/whoami", "expected owner/name"),
        ("", "expected owner/name"),
        ("ExampleLab/slow", "does not answer. Fill the fields in by hand"),
        ("ExampleLab/no-json", "does not answer"),
    ],
)
def test_without_an_answer_one_sentence_says_what_to_do(hub: str, name: str, words: str) -> None:
    with pytest.raises(HubModelUnknown, match=words):
        hub_fields(name, hub)


def test_what_somebody_typed_stays_and_the_page_says_what_it_filled_in(
    hub: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import gradio as gr  # it takes seconds: only the process that runs this is to wait

    from submissions.submit import pages as gradio_page

    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub)
    with gr.Blocks() as blocks:
        gradio_page.build(lambda request: pytest.fail("no use case is needed"), spec=DEMO, limit_mb=64)
    fill = next(one.fn for one in blocks.fns.values() if getattr(one.fn, "__name__", "") == "fill")
    assert fill is not None
    told, *values = fill("ExampleLab/Judge-7B", "My name", "", "", "7", "")
    assert values == [gr.skip(), "ExampleLab", "Qwen/Qwen2.5-VL-7B-Instruct", gr.skip(), "true"]
    assert "from the Hub: Organisation, Base model, Open weights." in told
    told, *values = fill("ExampleLab/<b>", "", "", "", "", "")
    assert values == [gr.skip()] * len(HUB_FIELDS)
    assert "expected owner/name" in told
