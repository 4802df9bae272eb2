"""Files are read in a child process that cannot take too much, know a secret, or bring the service down."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from submissions import sandbox
from submissions.sandbox import Limits, ReadingFailed, read_isolated
from tests.factories import prediction_files as files
from tests.factories.services.service import ROOT, alive, until
from tests.factories.specs import VL
from tests.vlrb.predictions.test_hostile import english_words
from vlrb.benchmarks.items import ItemTable
from vlrb.predictions.parse import parse_predictions


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """Return a native file about the real items."""
    items = ItemTable.load(VL)
    votes = files.random_votes(len(items), 5)
    path = tmp_path / "good.jsonl"
    path.write_bytes(files.native_votes([{"id": item.key} for item in items.items], votes).replace(b'"id"', b'"item"'))
    return path


def test_the_child_gives_back_exactly_what_reading_in_process_gives(good: Path) -> None:
    report, upload = read_isolated(good)
    direct = parse_predictions(good.read_bytes(), ItemTable.load(VL))
    assert upload is not None
    assert np.array_equal(upload.votes.matrix, direct.votes.matrix)
    assert (upload.format, upload.revision, upload.items) == (direct.format, direct.revision, direct.items)
    assert upload.behaviour == direct.behaviour
    assert report["ok"] is True


def test_a_rejection_comes_back_as_a_report(tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_bytes(b'{"id": "RLAIF-V-14", "votes": [NaN]}\n')
    report, upload = read_isolated(path)
    assert upload is None
    assert report["ok"] is False
    assert report["problems"][0]["code"] == "not-a-number"
    assert report["problems"] == json.loads(json.dumps(report["problems"]))
    assert english_words(report["problems"][0]["message"]) == []


@pytest.mark.parametrize(
    "limits",
    [Limits(wall_seconds=0.05), Limits(memory_bytes=40 * 2**20), Limits(cpu_seconds=0)],
    ids=["too slow", "too much memory", "too much processor time"],
)
def test_a_child_over_its_limits_becomes_a_rejection(good: Path, limits: Limits) -> None:
    report, upload = read_isolated(good, limits=limits)
    assert upload is None
    assert report["ok"] is False
    (problem,) = report["problems"]
    assert problem["code"] == "too-expensive"
    assert (report["problem_count"], report["benchmark"]) == (1, "vl-rewardbench")


def test_the_child_inherits_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "canary")
    monkeypatch.setenv("DATABASE_URL", "postgresql://user:canary@host/db")
    environment = sandbox._environment()
    assert "canary" not in json.dumps(environment)
    assert set(environment) <= {
        "PATH",
        "SYSTEMROOT",
        "LD_LIBRARY_PATH",
        "LC_ALL",
        "ARROW_DEFAULT_MEMORY_POOL",
        "OPENBLAS_NUM_THREADS",
        "OMP_NUM_THREADS",
    }


@pytest.mark.parametrize(
    "output", [b"", b"{", b"[]", b'{"report": {}}', b"null", b'{"report": {"ok": true}, "upload": {"votes": "!"}}']
)
def test_strange_output_of_a_child_is_our_fault(output: bytes) -> None:
    with pytest.raises(ReadingFailed):
        sandbox._result(output, b"", returncode=0, benchmark="vl-rewardbench", limits=Limits())


def _said(caplog: pytest.LogCaptureFixture) -> str:
    (record,) = caplog.records
    assert record.getMessage() == "reading.failed"
    return str(record.__dict__["data"]["stderr"])


def test_a_fault_in_the_child_is_ours_and_its_last_words_are_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR), pytest.raises(ReadingFailed):
        read_isolated(tmp_path / "not there.jsonl")
    assert "FileNotFoundError" in _said(caplog)


def test_of_the_last_words_four_kilobytes_are_kept(
    good: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    program = "import sys; sys.stderr.write('x' * 100_000 + 'the end'); sys.exit(1)"
    monkeypatch.setattr(sandbox, "_command", lambda *_, **__: [sys.executable, "-c", program])
    with pytest.raises(ReadingFailed):
        read_isolated(good)
    assert "the end" in _said(caplog)
    assert len(_said(caplog)) < 5000


def test_a_child_whose_message_lacks_a_value_has_failed(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = {"msgid": "{a[9]}", "values": {"a": "text"}, "plural": "", "count": None}
    monkeypatch.setattr(sandbox, "_command", lambda *_, **__: [sys.executable, "-c", f"print('{json.dumps(printed)}')"])
    with pytest.raises(ReadingFailed):
        read_isolated(good)


@pytest.mark.parametrize("program", ["raise MemoryError", "import os; os.kill(os.getpid(), 9)"])
def test_a_child_that_is_killed_or_out_of_memory_is_no_fault_of_ours(
    good: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setattr(sandbox, "_command", lambda *_, **__: [sys.executable, "-c", program])
    assert read_isolated(good)[0]["problems"][0]["code"] == "too-expensive"


def test_the_child_ends_with_the_process_that_wants_its_answer(tmp_path: Path) -> None:
    endless = tmp_path / "endless"
    os.mkfifo(endless)
    program = (
        "import sys; from pathlib import Path; from submissions.sandbox import *; read_isolated(Path(sys.argv[1]))"
    )
    parent = subprocess.Popen([sys.executable, "-c", program, str(endless)], cwd=ROOT)
    children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
    with endless.open("wb"):  # the child has begun to read
        (child,) = map(int, children.read_text().split())
        parent.kill()
        parent.wait()
        until(lambda: not alive(child), 10, what="the child is gone")
