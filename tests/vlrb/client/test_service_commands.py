"""The command line talks to a real server."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from receipts import api as receipt_api
from receipts.service import ReceiptService
from scripts.generated import CLIENT_FIELDS, client_fields
from storage.database import Database
from storage.jobs import job_queue, leases
from tests.factories.services.serving import serving
from tests.factories.services.submission_routes import submission_routes
from tests.factories.specs import spec_of
from tests.factories.submission_service import (
    BENCHMARK,
    SIGNER,
    SubmissionSetup,
    native,
    signed_in_as_everybody,
)
from tests.factories.suite.programs import Finished, run_vlrb
from vlrb.client.connection import VERSION_HEADER, ServiceError, accepted
from vlrb.client.jws import event_of
from vlrb.client.status import result_text


@dataclass
class Server:
    url: str
    setup: SubmissionSetup
    database: Database
    folder: Path

    def run(self, *words: str) -> Finished:
        return run_vlrb(*words, "--server", self.url, folder=self.folder)

    def file(self, data: bytes) -> str:
        path = self.folder / "predictions.jsonl"
        path.write_bytes(data)
        return str(path)

    def known(self) -> tuple[str, ...]:
        """Arguments that name the published keys, and the invented items: the benchmark of this id has others."""
        keys, items = self.folder / "keys.json", self.folder / "items.json"
        keys.write_bytes(httpx.get(f"{self.url}/api/v1/keys").content)
        items.write_text(json.dumps(self.setup.items.to_json()))
        return "--key", str(keys), "--items", str(items)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")
    setup, database, app = submission_routes(folder)
    app.include_router(receipt_api.build(ReceiptService(database, spec_of(BENCHMARK), signer=SIGNER)))
    with serving(signed_in_as_everybody(app, database), log_level="critical", lifespan="off") as url:
        yield Server(url, setup, database=database, folder=folder)
    database.close()


def test_a_submission_prints_its_receipt_and_can_be_asked_for(server: Server) -> None:
    file = server.file(native(server.setup.items, k=2))
    ran = server.run(
        "submit", file, "--model", "CLI judge", "--judge-type", "scalar", "--parameters-b", "7.5", "--json"
    )
    assert ran.returncode == 0, ran.stderr
    taken = json.loads(ran.stdout)
    assert event_of(taken["receipt"])["votes_per_item"] == 2
    again = server.run("submit", file, "--model", "Another name")
    assert again.stdout.startswith(f"Already submitted as {taken['id']}  (21 pairs, 2 votes each); nothing changed.\n")
    asked = server.run("status", taken["id"], "--json")
    assert json.loads(asked.stdout)["state"] == "queued"
    words = server.run("status", taken["id"])
    assert (words.returncode, words.stdout.startswith("queued, number ")) == (0, True)


def test_waiting_ends_when_scoring_has_failed_for_good(server: Server) -> None:
    def give_up() -> None:
        while True:
            with server.database.write() as session:
                if claim := job_queue.claim(session, "w", lease_seconds=60):
                    leases.fail(
                        session, claim, outcome="The label file is unreadable; this is not your fault.", retry=False
                    )
                    if claim.submission_id != waiting_for:
                        continue
                    return
            time.sleep(0.05)

    file = server.file(native(server.setup.items, k=3))
    first = json.loads(server.run("submit", file, "--model", "Waiting", "--json").stdout)
    waiting_for = first["id"]
    thread = threading.Thread(target=give_up)
    thread.start()
    ran = server.run("submit", file, "--model", "Waiting", "--wait")
    thread.join(30)
    assert ran.returncode == 1
    assert "failed: The label file is unreadable" in ran.stdout


def test_waiting_has_an_end(server: Server) -> None:
    ran = server.run(
        "submit", server.file(native(server.setup.items, k=4)), "--model", "Slow", "--wait", "--timeout", "1"
    )
    assert ran.returncode == 1
    assert "Not scored after 1 seconds" in ran.stderr


def test_a_rejected_file_lists_its_problems_with_lines(server: Server) -> None:
    ran = server.run("submit", server.file(b'{"id": "nobody", "votes": [0]}\n'), "--model", "Bad")
    assert ran.returncode == 1
    assert "line 1, nobody" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_bad_metadata_names_the_field(server: Server) -> None:
    ran = server.run(
        "submit", server.file(native(server.setup.items)), "--model", "Bad", "--link", "javascript:alert(1)"
    )
    assert ran.returncode == 1
    assert ran.stderr.count("link: expected a web address") == 1


def test_an_unknown_submission_a_missing_file_and_a_silent_server_are_told_apart(server: Server) -> None:
    unknown = server.run("status", "e00000000000")
    assert (unknown.returncode, "no submission with" in unknown.stderr) == (1, True)
    missing = server.run("submit", "/nowhere.jsonl", "--model", "x")
    assert (missing.returncode, "/nowhere.jsonl does not exist." in missing.stderr) == (2, True)
    silent = run_vlrb("status", "e1", "--server", "http://127.0.0.1:9")
    assert (silent.returncode, "does not answer" in silent.stderr) == (1, True)


def test_the_receipt_is_saved_and_can_be_checked(server: Server) -> None:
    file = server.file(native(server.setup.items, k=5))
    said = server.run("submit", file, "--model", "Saved").stdout
    name = next(line.split()[-1] for line in said.splitlines() if line.startswith("Receipt"))
    assert "OK: everything" in run_vlrb("verify", name, file, *server.known(), folder=server.folder).stdout


def test_a_file_that_is_mostly_unreadable_is_submitted_with_the_option(server: Server) -> None:
    file = server.file(
        native(server.setup.items, k=6).replace(b"[0, 0, 0, 0, 0, 0]", b"[0, null, null, null, null, 0]")
    )
    refused = server.run("submit", file, "--model", "Abstains")
    assert (refused.returncode, "--accept-unreadable" in refused.stderr) == (1, True)
    assert "read as: undecided" in refused.stderr
    assert server.run("submit", file, "--model", "Abstains", "--accept-unreadable").returncode == 0


def test_a_result_tells_macro_with_interval_rank_with_range_and_address() -> None:
    strict = {"macro": 0.4744, "overall": 0.5, "general": 0.4, "interval": {"macro": [0.443, 0.507]}}
    row = {"rank": 7, "of": 9, "rank_range": [5, 8]}
    assert result_text(
        {"benchmark": "vl-rewardbench", "protocols": {"strict": strict}}, row, entry="http://x/entries/e1"
    ) == (
        "Scored    Macro 47.4 (44.3-50.7)   rank 7 of 9 (5-8)\n"
        "          Overall 50.0   General 40.0\n"
        "Entry     http://x/entries/e1"
    )
    hidden = {
        "benchmark": "vl-rewardbench",
        "protocols": {"strict": {**strict, "macro": None, "general": None, "interval": None}},
    }
    assert result_text(hidden, None, entry=None) == "Scored    Overall 50.0"


def test_a_result_says_why_a_rank_or_its_range_is_missing() -> None:
    card = {"benchmark": "vl-rewardbench", "protocols": {"strict": {"macro": 0.4744}}}
    rerun = {"rank": None, "of": 9, "rank_range": None, "version_of": "e5"}
    assert "no rank: entry e5 " in result_text(card, rerun, entry=None)
    early = {"rank": 7, "of": 9, "rank_range": None, "version_of": None}
    assert "rank 7 of 9; its range " in result_text(card, early, entry=None)


def test_a_rank_is_told_in_the_language_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    card = {"benchmark": "vl-rewardbench", "protocols": {"strict": {"macro": 0.4744}}}
    for possible in ([5, 8], None):
        row = {"rank": 7, "of": 9, "rank_range": possible, "version_of": None}
        assert "rank" not in result_text(card, row, entry=None)


def test_a_result_leads_with_what_the_board_ranks_by_and_its_name() -> None:
    strict = {"mean-of-five": 0.8, "micro": 0.7882, "acc-plus": 0.5, "mcq": 0.9, "interval": {"micro": [0.7, 0.86]}}
    row = {"rank": 2, "of": 3, "rank_range": [1, 3], "headline": {"key": "micro", "name": "ACC"}}
    sizes = {"micro": 170, "acc-plus": 46, "mcq": 42}
    card = {"benchmark": "mm-rlhf-rewardbench", "protocols": {"strict": strict}}
    first, second = result_text(card, {**row, "sizes": sizes}, entry=None).splitlines()
    assert first == "Scored    ACC 78.8 (70.0-86.0)   rank 2 of 3 (1-3)"
    assert second.split("   ")[-3:] == [" Mean of 5 80.0", "ACC+ 50.0", "Multiple choice 90.0"]


def test_another_version_of_the_interface_is_one_sentence() -> None:
    with pytest.raises(ServiceError, match="version 9"):
        accepted(httpx.Response(200, headers={VERSION_HEADER: "9"}))


def test_the_commands_take_the_fields_that_the_service_declares() -> None:
    assert CLIENT_FIELDS.read_text(encoding="utf-8") == client_fields()


def test_what_a_refusal_repeats_of_a_file_cannot_drive_the_terminal() -> None:
    problem = {"line": 1, "id": "a\x1b[31m\u202e", "message": "not \x9b31m"}
    with pytest.raises(ServiceError) as refused:
        accepted(httpx.Response(422, json={"detail": "The file has problems.\x07", "problems": [problem]}))
    assert str(refused.value) == "The file has problems.\\x07\n  line 1, a\\x1b[31m\\u202e: not \\x9b31m"
