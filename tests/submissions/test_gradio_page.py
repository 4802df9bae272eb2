"""The page for submitting, without a browser."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from auth import ANONYMOUS
from storage.database import Database
from storage.metadata import FIELDS
from submissions.status import get_status
from submissions.submit import render as submit_html
from submissions.submit.service import GradioSubmissions
from tests.factories.specs import VL, spec_of
from tests.factories.submission_service import BENCHMARK, LIMIT, SubmissionSetup, make_setup, native, person
from vlrb.common.translations import translations

if TYPE_CHECKING:
    from gradio import Blocks


@pytest.fixture
def setup(database: Database, tmp_path: Path) -> SubmissionSetup:
    return make_setup(database, tmp_path)


@pytest.fixture
def service(database: Database, setup: SubmissionSetup, tmp_path: Path) -> GradioSubmissions:
    (tmp_path / "gradio").mkdir()
    return GradioSubmissions(
        setup.intake,
        partial(get_status, database, spec_of(BENCHMARK)),
        result=lambda _: None,
        uploads=tmp_path / "gradio",
        limit=LIMIT,
        spec=VL,
    )


@pytest.fixture
def blocks(service: GradioSubmissions) -> Blocks:
    import gradio  # it takes seconds: only the process that runs this is to wait

    from submissions.submit import pages as gradio_page

    with gradio.Blocks() as made:
        gradio_page.build(lambda request: service, spec=spec_of("demo"), limit_mb=1)
    return made


@pytest.mark.parametrize("name", ["predictions", "predictions.jsonl.gz"])
def test_a_file_is_taken_whatever_its_name(blocks: Blocks, tmp_path: Path, name: str) -> None:
    from gradio import File
    from gradio.data_classes import FileData

    (file,) = (block for block in blocks.blocks.values() if isinstance(block, File))
    (tmp_path / name).write_bytes(b"x")
    file.GRADIO_CACHE = str(tmp_path)
    assert file.preprocess(FileData(path=str(tmp_path / name))) == str(tmp_path / name)


def test_a_file_stays_while_it_may_be_submitted_and_not_longer(
    service: GradioSubmissions, setup: SubmissionSetup
) -> None:
    good, bad = service.uploads / "good.jsonl", service.uploads / "bad.jsonl"
    good.write_bytes(native(setup.items))
    bad.write_bytes(b"{}\n")
    assert (service.check(good)["ok"], good.exists()) == (True, True)
    assert (service.check(bad)["ok"], bad.exists()) == (False, False)
    assert service.submit(good, {}, user=person("ana"))["code"] == "metadata-rejected"
    assert good.exists(), "one may correct the form"
    assert service.submit(good, {"model": "Judge"}, user=ANONYMOUS)["code"] == "sign-in-needed"
    assert service.submit(good, {"model": "Judge"}, user=person("ana"))["id"]
    assert not good.exists()
    again = service.submit(good, {"model": "Judge"}, user=person("ana"))
    assert (again["status"], again["code"]) == (410, "file-gone")


def test_a_pause_is_said_in_the_maintainers_words_as_text() -> None:
    shown = submit_html.part("paused", "Back <b>at noon.")
    assert "<b>No submissions" in shown and "</b> Back &lt;b&gt;at noon." in shown


def test_each_field_can_be_found_by_its_name_and_a_refusal_names_the_fields(
    blocks: Blocks, service: GradioSubmissions, setup: SubmissionSetup
) -> None:
    places = {getattr(block, "elem_id", None) for block in blocks.blocks.values()}
    assert {f"field-{name}" for name in FIELDS} <= places
    good = service.uploads / "good.jsonl"
    good.write_bytes(native(setup.items))
    refused = service.submit(good, {"parameters_b": "many"}, user=person("ana"))
    told = submit_html.refusal_html(refused)
    assert '<li data-field="model">Model: enter a model name.</li>' in told
    assert 'data-field="parameters_b">Parameters: ' in told
    told = submit_html.refusal_html(refused, of=translations("zh-CN"))
    assert '<li data-field="model">模型：' in told
    assert 'data-field="parameters_b">参数量：' in told
    assert "1e" not in told


def test_no_progress_of_gradio_is_shown_and_the_button_says_why_it_is_off(blocks: Blocks) -> None:
    shown = {one.show_progress for one in blocks.fns.values() if one.api_visibility == "private"}
    assert shown == {"hidden"}
    values = [getattr(block, "value", "") for block in blocks.blocks.values()]
    assert any("Choose a file first" in str(value) for value in values)


def test_a_report_calls_formats_by_name_and_counts_its_warnings_in_the_headline() -> None:
    report = {"ok": True, "format": "vlmevalkit", "items": 3, "votes_per_item": 1, "revision": "v1", "parse_rate": 1.0}
    report["warnings"] = []
    assert "<dd>VLMEvalKit</dd>" in submit_html.report_html(report)
    warned = submit_html.report_html(
        {**report, "warnings": [{"code": "x", "message": "18 replies failed.", "ids": []}]}
    )
    assert 'class="vl-verdict vl-mixed"' in warned and "with 1 warning:" in warned


def test_the_result_card_has_the_place_on_the_board_as_markup() -> None:
    status = {"id": "e1", "model": "<b>", "version": "", "state": "scored", "entry_url": "/entries/e1", "reason": None}
    card = {"protocols": {"strict": {"macro": 0.5}}}
    told = submit_html.status_html(status, card, names=["macro"], place='<p class="finding">Rank 2 of 9</p>')
    assert '<p class="finding">Rank 2 of 9</p>' in told
    assert "&lt;b&gt;" in told
