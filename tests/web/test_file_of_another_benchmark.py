"""Four benchmarks in one service: the three of the project, and an invented one of which there is a folder alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.factories.services.gradio_pages import open_submit
from tests.factories.services.service import Service, running, until
from tests.factories.suite.programs import run_maintenance
from tests.leaderboard.test_another_benchmark import DEFINITION, PAIRS, RIGHT, lines, predictions
from tests.pair_files import mm_rlhf_items, mm_rlhf_predictions, mmrb_items, write_json, write_json_lines
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.spec_file import load_spec

pytestmark = [pytest.mark.slow, pytest.mark.browser]
QUESTIONS = mm_rlhf_items(seed=2)
OWN = "weather"


@dataclass(frozen=True)
class FourBenchmarks:
    """The service, and the ids of two judges that were scored on the invented benchmark."""

    service: Service
    ids: tuple[str, str]

    def get(self, path: str) -> str:
        answer = self.service.http.get(path.replace("ENTRY", self.ids[0]).replace("BOTH", ",".join(self.ids)))
        assert answer.status_code == 200, answer.text[:500]
        return answer.text


def _labels(root: Path) -> str:
    """Write labels of four benchmarks, and the folder of the invented one; return LABELS."""
    table = ItemTable.load(load_spec("vl-rewardbench"))
    held = sorted((item.rows["v2"], item.ids["v2"]) for item in table.items if "v2" in item.rows)
    vl = [{"id": name, "human_ranking": [row % 2, 1 - row % 2]} for row, name in held]
    own = [{"id": pair["id"], "human_ranking": [n, 1 - n]} for pair, n in zip(PAIRS, RIGHT, strict=True)]
    sources = {
        "v2": write_json_lines(root / "labels.jsonl", vl),
        "multimodal-rewardbench/v1": write_json(root / "all_data.json", mmrb_items(60, seed=1)),
        "mm-rlhf-rewardbench/v1": write_json_lines(root / "mm_reward_bench.jsonl", QUESTIONS),
        f"{OWN}/v1": write_json_lines(root / "weather_labels.jsonl", own),
    }
    return ",".join(f"{name}={path}" for name, path in sources.items())


def _add_folder(root: Path) -> Path:
    folder = root / "definitions" / OWN
    folder.mkdir(parents=True)
    (folder / "spec.toml").write_text(DEFINITION)
    (root / "pairs.jsonl").write_text(lines(PAIRS))
    environ = {"BENCHMARK_DEFINITIONS": str(folder.parent)}
    made = run_maintenance(
        "manifest", OWN, f"v1={root / 'pairs.jsonl'}", "--output", str(folder / "items.json"), environ=environ
    )
    assert made.returncode == 0, made.stderr
    return folder.parent


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FourBenchmarks]:
    root = tmp_path_factory.mktemp("four")
    served: dict[str, Any] = {"LABELS": _labels(root), "BENCHMARK_DEFINITIONS": str(_add_folder(root))}
    served["HIDDEN_LABELS"] = f"v2:public,{OWN}/v1:public"
    with running(root / "data", gradio=True, **served) as service:
        first, second = (_submit(service, model, wrong=wrong) for model, wrong in (("Alpha", 5), ("Beta", 10)))
        path = f"/api/v1/compare?benchmark={OWN}&entries={first},{second}"
        until(lambda: _tested(service, path), 60, what="both are scored and compared")
        yield FourBenchmarks(service, (first, second))


def _submit(service: Service, model: str, *, wrong: int) -> str:
    files = {"file": ("judge.jsonl", predictions(range(wrong)))}
    answer = service.http.post(f"/api/v1/submissions?benchmark={OWN}", files=files, data={"model": model})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def _tested(service: Service, path: str) -> bool:
    answer = service.http.get(path)
    pairs = answer.json().get("pairs", []) if answer.status_code == 200 else []
    return bool(pairs) and pairs[0]["differences"]["all"].get("only_first") is not None


def test_a_fourth_benchmark_is_one_folder_from_a_submission_to_an_export(four: FourBenchmarks) -> None:
    start = f"/b/{OWN}"
    assert [one["id"] for one in json.loads(four.get("/api/v1/status"))["benchmarks"]] == [
        "vl-rewardbench", "multimodal-rewardbench", "mm-rlhf-rewardbench", OWN,
    ]  # fmt: skip
    walked = {
        "/": ("87.5", "75.0", "Rain", "Alpha"),
        "/entries/ENTRY": ("87.5", "Rain"),
        "/compare?entries=BOTH": ("Alpha", "Beta", "12.5"),
        "/analyse": ("Analyse · Weather leaderboard</title>", "Alpha", "Beta"),
        "/about": ("Weather in pictures holds 40 pairs",),
        "/explore": ("rain-0",),
        "/export/board.csv": ("Alpha", "0.875"),
        "/export/board.tex": ("Alpha", "87.5"),
        "/export/board.eee.json": ("weather.all",),
        "/entries/ENTRY/badge.svg": ("87.5",),
        "/entries/ENTRY/every_eval_ever.json": ("weather.all",),
    }
    for path, texts in walked.items():
        page = four.get(start + path)
        assert [text for text in texts if text not in page] == [], path


def test_the_judges_of_the_fourth_benchmark_stand_beside_those_of_the_three(four: FourBenchmarks) -> None:
    board, judge = four.get(f"/judges?sort={OWN}&q=alpha"), four.get("/judges/alpha")
    assert ("Weather in pictures" in board, "87.5" in board) == (True, True)
    assert "87.5" in judge
    assert "None recorded here on VL-RewardBench, Multimodal RewardBench, MM-RLHF-RewardBench." in judge
    compared = json.loads(four.get("/api/v1/judges/compare?a=alpha&b=beta"))
    assert [one["benchmark"] for one in compared["benchmarks"] if one["difference"]] == [OWN]
    assert r"\shortstack[r]{Weather in\\pictures" in four.get("/judges.tex")


def test_the_report_leads_to_the_page_of_the_files_own_benchmark(
    four: FourBenchmarks, page: Page, tmp_path: Path
) -> None:
    service = four.service
    file = write_json_lines(tmp_path / "judge.jsonl", mm_rlhf_predictions(QUESTIONS, seed=3))
    open_submit(page, f"{service.url}/app/submit?benchmark=multimodal-rewardbench")
    page.locator("#predictions input[type=file]").set_input_files(file)
    page.get_by_role("link", name="Check this file for MM-RLHF-RewardBench").click()
    expect(page).to_have_url(f"{service.url}/app/submit?benchmark=mm-rlhf-rewardbench")
    expect(page).to_have_title("Submit predictions · MM-RLHF-RewardBench leaderboard")
    open_submit(page, page.url)
    page.locator("#predictions input[type=file]").set_input_files(file)
    expect(page.locator("#report .vl-good")).to_be_visible()
