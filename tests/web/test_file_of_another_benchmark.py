"""A file that was chosen on the page of another benchmark, in a browser: one click checks it on its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.factories.service import Service, running
from tests.pair_files import mm_rlhf_items, mm_rlhf_predictions, mmrb_items, write_json, write_json_lines

pytestmark = [pytest.mark.slow, pytest.mark.browser]
QUESTIONS = mm_rlhf_items(seed=2)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    root = tmp_path_factory.mktemp("two")
    first = write_json(root / "all_data.json", mmrb_items(60, seed=1))
    other = write_json_lines(root / "mm_reward_bench.jsonl", QUESTIONS)
    labels = f"multimodal-rewardbench/v1={first},mm-rlhf-rewardbench/v1={other}"
    named = "multimodal-rewardbench,mm-rlhf-rewardbench"
    with running(root / "data", gradio=True, LABELS=labels, BENCHMARKS=named) as service:
        yield service


def test_one_click_checks_the_same_upload_on_its_own_benchmark(service: Service, page: Page, tmp_path: Path) -> None:
    file = write_json_lines(tmp_path / "judge.jsonl", mm_rlhf_predictions(QUESTIONS, seed=3))
    page.goto(f"{service.url}/app/submit")
    page.locator("#predictions input[type=file]").set_input_files(file)
    page.get_by_label("Model (required)").fill("Typed before")
    page.get_by_role("link", name="Check this file for MM-RLHF-RewardBench").click()
    expect(page.locator("#report")).to_contain_text("Ready to submit")
    expect(page.locator("#submit")).to_be_enabled()
    expect(page).to_have_url(f"{service.url}/app/submit?benchmark=mm-rlhf-rewardbench")
    expect(page).to_have_title("Submit predictions · MM-RLHF-RewardBench leaderboard")
    expect(page.locator(".brand")).to_have_attribute("href", "/b/mm-rlhf-rewardbench/")
    expect(page.locator("#introduction")).to_contain_text("MM-RLHF-RewardBench:")
    expect(page.get_by_label("Model (required)")).to_have_value("Typed before")
