"""/metrics: by route template, for operators alone, and whatever dashboards and alerts name exists in it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import select, update

from operation import figures
from operation.build import BUILD, COMMIT_FILE, UNKNOWN, commit_of, own_commit
from storage.clock import database_now
from storage.database import Database
from storage.jobs import job_queue, worker_heartbeats
from storage.models.queue import Job
from tests.databases import new_database, submitted, with_labels
from tests.factories import small_benchmark
from tests.factories.services.local_client import local_client

TOKEN = {"Authorization": "Bearer token-of-the-operator"}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    found = new_database(f"sqlite:///{tmp_path_factory.mktemp('metrics')}/leaderboard.db")
    small_benchmark.submit(found, range(2))
    with found.write() as session:
        worker_heartbeats.record_heartbeat(session, "worker-1")
    yield found
    found.close()


def families(text: str) -> dict[str, Any]:
    return {family.name: family for family in text_string_to_metric_families(text)}


def test_requests_are_counted_by_template_and_strangers_choose_no_label(database: Database, tmp_path: Path) -> None:
    http = local_client(database, tmp_path)
    for path in ("/entries/e1", "/entries/e2", "/healthz", "/api/v1/leaderboard", "/no/such/page", "/wp-login.php"):
        http.get(path)
    found = families(http.get("/metrics").text)
    counted = {(one.labels["route"], one.labels["status"]): one.value for one in found["leaderboard_responses"].samples}
    counted = {key: value for key, value in counted.items() if value >= 1 and key[1] != ""}
    assert counted["/entries/{entry_id}", "404"] == 2
    assert counted["/healthz", "200"] == 1
    assert counted["other", "404"] == 2
    assert not [key for key in counted if "e1" in key[0] or "wp-login" in key[0]]


def test_the_figures_of_the_installation_are_there(database: Database, tmp_path: Path) -> None:
    text = local_client(database, tmp_path).get("/metrics").text
    assert "leaderboard_submissions 2.0\n" in text
    assert 'leaderboard_jobs{state="queued"} 0.0\n' in text
    assert "leaderboard_workers 1.0\n" in text
    (build,) = families(text)["leaderboard_build_info"].samples
    assert build.labels == {"version": BUILD, "commit": own_commit()}
    assert "leaderboard_database_up 1.0\n" in text


def test_without_a_token_metrics_are_for_this_machine(database: Database, tmp_path: Path) -> None:
    here = local_client(database, tmp_path)
    assert here.get("/metrics").status_code == 200
    assert here.get("/metrics", headers={"X-Forwarded-For": "203.0.113.9"}).status_code == 403
    refused = local_client(database, tmp_path, host="203.0.113.9").get("/metrics")
    assert (refused.status_code, refused.json()["code"]) == (403, "metrics-closed")


def test_metrics_with_a_token_need_the_token(database: Database, tmp_path: Path) -> None:
    for host in ("127.0.0.1", "203.0.113.9"):
        http = local_client(database, tmp_path, host=host, METRICS_TOKEN="token-of-the-operator")
        assert http.get("/metrics").status_code == 403
        assert http.get("/metrics", headers={"Authorization": "Bearer another"}).status_code == 403
        assert http.get("/metrics", headers=TOKEN).status_code == 200


def test_times_are_of_the_last_hour_and_ages_are_of_each_board(tmp_path: Path) -> None:
    two_hours = 7200.0
    with closing(new_database(f"sqlite:///{tmp_path}/leaderboard.db")) as database:
        for benchmark in ("demo", "other"):
            with_labels(database, benchmark=benchmark)
            (entry,) = submitted(database, 1, benchmark=benchmark)
            with database.write() as session:
                assert job_queue.enqueue_current(session, entry)
        with database.write() as session:
            now = session.execute(select(database_now())).scalar_one()
            ended = {"demo": now - two_hours, "other": now - 1}
            for benchmark, at in ended.items():
                facts = {"created_at": at - 100, "started_at": at - 90, "finished_at": at}
                done = update(Job).where(Job.benchmark == benchmark).values(state="done", epoch=1, **facts)
                session.execute(done)
        with database.read() as session:
            found, boards = figures.gather(session), figures.of_boards(session)
    assert [round(seconds) for seconds in found.waiting_seconds] == [100], "the job of two hours ago is not recent"
    assert found.last_scored_age is not None
    assert found.last_scored_age < 600
    assert (boards["demo"].last_score_age or 0) >= two_hours
    assert (boards["other"].last_score_age or two_hours) < 600
    assert boards["demo"].snapshot_age is None


def test_the_commit_is_that_of_the_file_else_of_git_else_unknown(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        named = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        done = subprocess.run(["git", *named, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    git("init", "--quiet")
    git("commit", "--quiet", "--allow-empty", "--message", "first")
    assert commit_of(tmp_path) == git("rev-parse", "HEAD")
    (inside := tmp_path / "unpacked").mkdir()
    assert commit_of(inside) == UNKNOWN, "the repository around it is another's"
    (tmp_path / COMMIT_FILE).write_text("a" * 40 + "\n")
    assert commit_of(tmp_path) == "a" * 40
    (tmp_path / COMMIT_FILE).write_text("\n")
    assert commit_of(tmp_path) == git("rev-parse", "HEAD")
