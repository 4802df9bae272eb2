"""The audit chain's head goes out: to a file each day, and to a Hub dataset over a real socket."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from huggingface_hub import constants
from huggingface_hub.errors import HfHubHTTPError

from storage.database import Database
from storage.integrity import audit
from tests.factories import small_benchmark
from tests.factories.fakes.fake_hub import Repository, writable
from tests.factories.services.serving import serving
from workers.jobs.audit_checkpoint import HubDataset, publish_heads, write_checkpoint
from workers.schedule import PeriodicAction, run_logged
from workers.task_runner import create_task_runner

TOKEN = "hf_writes_heads_only"
OTHER = "hf_of_somebody_else"


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Repository, str]]:
    repository = Repository("owner/audit", TOKEN)
    with serving(writable(repository), log_config=None) as url:
        yield repository, url


@pytest.fixture
def hub(served: tuple[Repository, str]) -> Repository:
    repository, _ = served
    repository.commits, repository.broken, repository.asked, repository.meanwhile = [], False, 0, None
    return repository


@pytest.fixture
def dataset(served: tuple[Repository, str], monkeypatch: pytest.MonkeyPatch) -> HubDataset:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)  # the suite stays away from the real Hub; this one is ours
    return HubDataset("owner/audit", TOKEN, endpoint=served[1])


def _append(database: Database) -> None:
    with database.write() as session:
        audit.append(session, "test", data={})


def test_a_day_has_one_file_with_the_head_of_the_chain(database: Database, tmp_path: Path) -> None:
    assert write_checkpoint(database, tmp_path) is None  # nothing has happened
    _append(database)
    with database.read() as session:
        seq, digest = audit.head(session)
    written = write_checkpoint(database, tmp_path)
    assert written is not None
    head = json.loads(written.read_text())
    assert (head["seq"], head["hash"]) == (seq, digest)
    assert head["at"].startswith(written.stem.removeprefix("head-"))
    assert written.stat().st_mode & 0o777 == 0o644
    _append(database)
    assert write_checkpoint(database, tmp_path) is None


def test_heads_reach_the_dataset_once_and_as_they_were_whoever_has_others(
    hub: Repository, dataset: HubDataset, tmp_path: Path
) -> None:
    for day in ("01", "02"):
        (tmp_path / f"head-2026-11-{day}.json").write_text(f'{{"seq": {day}}}')
    assert publish_heads(tmp_path, dataset) == ["head-2026-11-01.json", "head-2026-11-02.json"]
    (tmp_path / "head-2026-11-02.json").write_text("of another machine")
    assert publish_heads(tmp_path, dataset) == []
    (tmp_path / "head-2026-11-03.json").write_text("mine")
    hub.meanwhile = lambda: hub.commits.append({"heads/head-2026-11-03.json": b"theirs"})
    with pytest.raises(HfHubHTTPError, match="412"):  # another worker sends its own at the same moment
        publish_heads(tmp_path, dataset)
    assert publish_heads(tmp_path, dataset) == []
    heads = {"01": b'{"seq": 01}', "02": b'{"seq": 02}', "03": b"theirs"}
    assert hub.files == {f"heads/head-2026-11-{day}.json": content for day, content in heads.items()}
    assert len(hub.commits) == 2


def test_a_hub_that_is_away_or_refuses_stops_no_worker_and_no_token_is_logged(
    hub: Repository,
    dataset: HubDataset,
    tmp_path: Path,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    # The name in the client alone: without time.sleep, threads that other tests left would take the processor.
    monkeypatch.setattr("huggingface_hub.utils._http.time", SimpleNamespace(sleep=lambda seconds: None))
    _append(database)
    stranger = replace(dataset, token=OTHER)
    for name, to, broken in (("away", dataset, True), ("refused", stranger, False)):
        runner = create_task_runner(
            database, small_benchmark.scorer(), state=tmp_path / name, lease_seconds=60.0, dataset=to
        )
        hub.broken = broken
        with caplog.at_level(logging.DEBUG):
            run_logged(PeriodicAction("head", 0.0, runner.keep_head))
        assert len([*(tmp_path / name / "audit").glob("head-*.json")]) == 1, "the file does not wait for the Hub"
        assert hub.commits == []
        assert OTHER not in repr(runner)
    assert caplog.text.count("schedule.failed") >= 2 and OTHER not in caplog.text
    hub.broken = False
    assert len(publish_heads(tmp_path / "away" / "audit", dataset)) == 1, "it goes with the next head"
