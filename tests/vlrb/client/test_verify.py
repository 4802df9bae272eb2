"""`vlrb verify`: what holds is said to hold, and every tampering has its name."""

from __future__ import annotations

import base64
import copy
import hashlib
import itertools
import json
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from auth import LOCAL
from maintenance.actions import audit as actions_audit
from receipts.jws import Signer
from receipts.service import ReceiptService
from storage.integrity import audit
from submissions.metadata import parse_metadata
from tests.databases import new_database, with_labels
from tests.factories.specs import spec_of
from tests.factories.submission_service import BENCHMARK, SIGNER, make_setup, native
from vlrb.benchmarks.items import load_table
from vlrb.benchmarks.pairs import label_set
from vlrb.cli import main
from vlrb.client.jws import read
from vlrb.common.canonical_json import GENESIS, canonical_json, link, link_of
from vlrb.predictions.parse import parse_predictions
from vlrb.scorecard import SCORER_VERSION
from workers.jobs.rescore import rescore
from workers.scorer import Scorer
from workers.startup import prepare

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class VerifySetup:
    """What a submitter has saved."""

    folder: Path

    def path(self, name: str) -> Path:
        return self.folder / name

    def facts(self, name: str = "receipt.jws") -> dict[str, Any]:
        return read(self.path(name).read_text())

    def forge(self, name: str, signer: Signer = SIGNER, **changes: Any) -> None:
        """Save a receipt that says something else, signed by who has the key."""
        self.path(name).write_text(signer.sign(self.facts() | changes))

    def save(self, name: str, value: object) -> str:
        self.path(name).write_text(json.dumps(value))
        return str(self.path(name))


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> VerifySetup:
    """Return an acceptance on a real database, with keys, chain and head as they are published."""
    folder = tmp_path_factory.mktemp("held")
    database = new_database(f"sqlite:///{folder}/leaderboard.db")
    with_labels(database, "r1", benchmark=BENCHMARK)
    setup = make_setup(database, folder)
    data = native(setup.items, k=3)
    taken = setup.intake.submit(setup.arrive(data), parse_metadata({"model": "Judge"}), LOCAL)
    with database.write() as session:
        audit.append(session, "test", data={"after": "the acceptance"})
    with database.read() as session:
        (folder / "head.json").write_text(json.dumps(audit.dated_head(session)))
    (folder / "chain.jsonl").write_text("".join(actions_audit.public(database)))
    (folder / "predictions.jsonl").write_bytes(data)
    (folder / "items.json").write_text(json.dumps(setup.items.to_json()))
    (folder / "receipt.jws").write_text(taken.receipt + "\n")
    (folder / "keys.json").write_text(json.dumps({"keys": [SIGNER.public_key]}))
    database.close()
    return VerifySetup(folder)


@pytest.fixture
def held(original: VerifySetup, tmp_path: Path) -> VerifySetup:
    for path in original.folder.iterdir():
        if path.suffix in (".json", ".jsonl", ".jws"):
            (tmp_path / path.name).write_bytes(path.read_bytes())
    return VerifySetup(tmp_path)


Verify = Callable[..., tuple[int, dict[str, str]]]


@pytest.fixture
def verify(held: VerifySetup, capsys: pytest.CaptureFixture[str]) -> Verify:
    """Run the command; exit code, and code by check."""

    def run(*names: str, key: str = "keys.json", **options: str) -> tuple[int, dict[str, str]]:
        paths = [str(held.path(name)) for name in names]
        flags = [part for name, value in options.items() for part in (f"--{name}", str(held.path(value)))]
        code = main(["verify", *paths, "--key", str(held.path(key)), *flags, "--json"])
        said = json.loads(capsys.readouterr().out)
        checks = [one for receipt in said["receipts"] for one in receipt["checks"]] + said["checks"]
        assert said["ok"] is (code == 0)
        return code, {one["check"]: one["code"] for one in checks}

    return run


WITH_ALL = {"chain": "chain.jsonl", "head": "head.json", "items": "items.json"}


def test_a_receipt_its_file_and_its_place_hold(verify: Verify) -> None:
    code, checks = verify("receipt.jws", "predictions.jsonl", **WITH_ALL)
    assert (code, checks) == (0, dict.fromkeys(("signature", "event", "chain", "file", "votes", "head"), "ok"))


def test_what_was_not_checked_is_said(verify: Verify) -> None:
    assert verify("receipt.jws") == (0, {"signature": "ok", "event": "ok", "chain": "no-chain"})
    _, checks = verify("receipt.jws", chain="chain.jsonl")
    assert checks == {"signature": "ok", "event": "ok", "chain": "ok", "head": "no-head"}


def test_answers_of_the_service_are_taken_as_they_were_saved(verify: Verify, held: VerifySetup) -> None:
    receipt = held.path("receipt.jws").read_text().strip()
    held.save("answer.json", {"id": "e1", "receipt": receipt})
    held.save("list.json", {"entry": "e1", "receipts": [receipt, receipt]})
    assert verify("answer.json") == verify("list.json") == verify("receipt.jws")


def test_a_key_that_is_not_among_those_given_is_named(verify: Verify, held: VerifySetup) -> None:
    other = Signer.parse(base64.b64encode(bytes(32)).decode())
    held.save("other.json", {"keys": [other.public_key]})
    assert verify("receipt.jws", key="other.json")[1]["signature"] == "unknown-key"
    held.forge("forged.jws", other)
    assert verify("forged.jws")[1]["signature"] == "unknown-key"
    header, _, signature = held.path("receipt.jws").read_text().strip().split(".")
    payload = SIGNER.sign({**held.facts(), "more": 1}).split(".")[1]
    held.path("changed.jws").write_text(f"{header}.{payload}.{signature}")
    assert (verify("changed.jws")[0], verify("changed.jws")[1]["signature"]) == (1, "bad-signature")


def test_who_has_the_key_alone_forges_no_receipt_of_another_file(verify: Verify, held: VerifySetup) -> None:
    """The event that it names is in no chain; the true event has another hash."""
    file = held.path("predictions.jsonl").read_bytes().replace(b"[0", b"[1", 1)
    held.path("mine.jsonl").write_bytes(file)
    event = json.loads(held.facts()["event"]) | {"content_sha256": hashlib.sha256(file).hexdigest()}
    event["votes_sha256"] = parse_predictions(file, load_table(held.path("items.json"))).votes.sha256
    text = canonical_json(event)
    linked = link(held.facts()["prev"], text)
    for changes, codes in (
        ({"event": text}, {"event": "event-differs", "chain": "ok"}),
        ({"event": text, "hash": linked}, {"event": "ok", "chain": "not-in-chain"}),
    ):
        held.forge("forged.jws", **changes)
        code, checks = verify("forged.jws", "mine.jsonl", **WITH_ALL)
        assert (code, checks) == (1, {"signature": "ok", "file": "ok", "votes": "ok", "head": "ok"} | codes)


def test_another_file_is_found(verify: Verify, held: VerifySetup) -> None:
    data = bytearray(held.path("predictions.jsonl").read_bytes())
    data[100] ^= 1
    held.path("flipped.jsonl").write_bytes(data)
    assert verify("receipt.jws", "flipped.jsonl")[1]["file"] == "file-differs"


def test_a_service_that_recorded_other_votes_is_found_out(verify: Verify, held: VerifySetup) -> None:
    event = json.loads(held.facts()["event"]) | {"votes_sha256": "0" * 64}
    held.forge("wrong.jws", event=canonical_json(event))
    code, checks = verify("wrong.jws", "predictions.jsonl", items="items.json")
    assert (code, checks["file"], checks["votes"]) == (1, "ok", "votes-differ")


def _save_scored(folder: Path) -> list[dict[str, Any]]:
    """Save a scored file with its receipt, keys and items; return the rows of its labels."""
    database = new_database(f"sqlite:///{folder}/scored.db")
    setup = make_setup(database, folder)
    rows = [{"id": item.ids["r1"], "human_ranking": [n % 2, 1 - n % 2]} for n, item in enumerate(setup.items.items)]
    labels = {"r1": label_set(rows, "r1", table=setup.items)}
    scorer = Scorer(setup.items, labels, version=SCORER_VERSION)
    prepare(database, scorer, label_revision="r1")
    data = native(setup.items, k=3)
    taken = setup.intake.submit(setup.arrive(data), parse_metadata({"model": "Judge"}), LOCAL)
    rescore(database, scorer, revision="r1")
    receipts = ReceiptService(database, spec_of(BENCHMARK), signer=SIGNER)
    (folder / "scores.json").write_text(json.dumps({"receipts": receipts.of_scores(taken.id, LOCAL)}))
    (folder / "predictions.jsonl").write_bytes(data)
    database.close()
    return rows


def test_the_score_is_counted_again_from_the_file_and_public_labels(verify: Verify, held: VerifySetup) -> None:
    rows = _save_scored(held.folder)
    for turned, outcome in ((0, (0, "ok")), (3, (1, "recount-differs"))):
        other = [{**row, "human_ranking": row["human_ranking"][::-1]} for row in rows[:turned]] + rows[turned:]
        held.path("labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in other))
        code, checks = verify("scores.json", "predictions.jsonl", labels="labels.jsonl", items="items.json")
        assert (code, checks["recount"]) == outcome
        assert (checks["score"], checks["labels"], checks["file"]) == ("ok", "ok", "ok")


def test_a_score_under_another_revision_than_that_of_the_labels_is_not_counted_again(
    verify: Verify, held: VerifySetup
) -> None:
    rows, manifest = _save_scored(held.folder), json.loads(held.path("items.json").read_text())
    manifest["revisions"].append("r0")
    for item in manifest["items"]:
        item["ids"]["r0"], item["rows"]["r0"] = f"old-{item['ids']['r1']}", item["rows"]["r1"]
    held.save("both.json", manifest)
    older = [{**row, "id": f"old-{row['id']}"} for row in rows]
    held.path("labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in older))
    code, checks = verify("scores.json", "predictions.jsonl", labels="labels.jsonl", items="both.json")
    assert (code, checks["recount"]) == (0, "not-comparable")


def test_without_the_items_of_its_benchmark_votes_are_not_checked(verify: Verify, held: VerifySetup) -> None:
    event = json.loads(held.facts()["event"]) | {"benchmark": "another"}
    held.forge("other.jws", event=canonical_json(event))
    _, checks = verify("other.jws", "predictions.jsonl")
    assert (checks["signature"], checks["file"], checks["votes"]) == ("ok", "ok", "other-benchmark")


@pytest.mark.parametrize(
    "content", ["", "{", '"text"', "[]", "{}", '{"receipt": null}', '{"receipts": []}', "[[[[", "a.b"]
)
def test_what_is_no_receipt_is_said_to_be_none(verify: Verify, held: VerifySetup, content: str) -> None:
    held.path("none.jws").write_text(content)
    assert verify("none.jws") == (1, {"receipt": "not-a-receipt"})


@pytest.mark.parametrize(
    "facts", [{}, {"event": 1}, {"event": "[]"}, {"event": "{}"}, {"event": '{"ev":"submission.accepted"}', "score": 1}]
)
def test_a_signed_receipt_without_sense_fails(verify: Verify, held: VerifySetup, facts: dict[str, Any]) -> None:
    held.path("odd.jws").write_text(SIGNER.sign(facts))
    assert verify("odd.jws", "predictions.jsonl", chain="chain.jsonl")[0] == 1


def _lines(held: VerifySetup) -> list[str]:
    return held.path("chain.jsonl").read_text().splitlines(keepends=True)


def _chain_of(bodies: Iterable[str]) -> list[dict[str, Any]]:
    """Return a chain that holds in itself, of any body digests."""
    made: list[dict[str, Any]] = []
    for seq, body in enumerate(bodies, start=1):
        prev = made[-1]["hash"] if made else GENESIS
        made.append({"seq": seq, "prev": prev, "body_sha256": body, "hash": link_of(prev, body)})
    return made


def _random_hashes(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As an outsider saw them before links could be recomputed: each follows the last, and means nothing."""
    for event, following in itertools.pairwise(events):
        if event["seq"] not in (3, len(events)):  # the receipt's place and the head are the true ones
            event["hash"] = following["prev"] = secrets.token_hex(32)
    return events


def _without(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**event, "seq": seq} for seq, event in enumerate(events[:1] + events[2:], start=1)]


def _old_form(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: event[name] for name in ("seq", "prev", "hash")} for event in events]


@pytest.fixture
def longer(held: VerifySetup) -> list[dict[str, Any]]:
    """Return the true chain with more events after it, and the head of its end."""
    true = [json.loads(line)["body_sha256"] for line in _lines(held)]
    events = _chain_of([*true, *(secrets.token_hex(32) for _ in range(4))])
    held.save("late.json", {"seq": events[-1]["seq"], "hash": events[-1]["hash"]})
    return events


@pytest.mark.parametrize("forge", [_random_hashes, _without, _old_form])
def test_a_forged_chain_is_broken_whatever_place_and_head_it_shows(
    verify: Verify, held: VerifySetup, longer: list[dict[str, Any]], forge: Callable[..., list[dict[str, Any]]]
) -> None:
    held.path("true.jsonl").write_text("".join(json.dumps(event) + "\n" for event in longer))
    assert verify("receipt.jws", chain="true.jsonl", head="late.json")[0] == 0  # control
    forged = forge(copy.deepcopy(longer))
    held.path("forged.jsonl").write_text("".join(json.dumps(event) + "\n" for event in forged))
    code, checks = verify("receipt.jws", chain="forged.jsonl", head="late.json")
    assert (code, checks["chain"]) == (1, "chain-broken")


def test_another_chain_that_holds_has_neither_the_receipt_nor_the_head(
    verify: Verify, held: VerifySetup, longer: list[dict[str, Any]]
) -> None:
    other = _chain_of(secrets.token_hex(32) for _ in longer)
    held.path("other.jsonl").write_text("".join(json.dumps(event) + "\n" for event in other))
    code, checks = verify("receipt.jws", chain="other.jsonl", head="late.json")
    assert (code, checks["chain"], checks["head"]) == (1, "not-in-chain", "not-in-chain")
    # With the true beginning, so that the receipt stands in it, the head still tells.
    other = _chain_of([*(one["body_sha256"] for one in longer[:4]), *(secrets.token_hex(32) for _ in longer[4:])])
    held.path("other.jsonl").write_text("".join(json.dumps(event) + "\n" for event in other))
    code, checks = verify("receipt.jws", chain="other.jsonl", head="late.json")
    assert (code, checks["chain"], checks["head"]) == (1, "ok", "not-in-chain")


def test_a_chain_whose_end_is_gone_does_not_fit_a_published_head(verify: Verify, held: VerifySetup) -> None:
    for kept, receipt in ((-1, "ok"), (-2, "chain-too-short")):
        held.path("short.jsonl").write_text("".join(_lines(held)[:kept]))
        code, checks = verify("receipt.jws", chain="short.jsonl", head="head.json")
        assert (code, checks["chain"], checks["head"]) == (1, receipt, "chain-too-short")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["{missing}", "--key", "{keys}"], "missing"),
        (["{receipt}", "--key", "{head}"], "keys"),
        (["{receipt}", "--key", "{missing}"], "missing"),
        (["{receipt}", "--key", "{keys}", "--head", "{head}"], "--chain"),
        (["{receipt}", "--key", "{keys}", "--chain", "{missing}"], "missing"),
        (["{receipt}", "{receipt}", "--key", "{keys}", "--items", "{chain}"], "manifest"),
    ],
)
def test_wrong_use_gets_a_sentence(
    held: VerifySetup, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    names = {"receipt": "receipt.jws", "keys": "keys.json", "head": "head.json", "chain": "chain.jsonl"}
    paths = {name: str(held.path(file)) for name, file in {**names, "missing": "missing.json"}.items()}
    assert main(["verify", *(one.format_map(paths) for one in arguments)]) == 2
    captured = capsys.readouterr()
    assert (captured.out, words in captured.err, "Traceback" in captured.err) == ("", True, False)


def test_the_program_says_it_in_words_without_network(held: VerifySetup) -> None:
    event = json.loads(held.facts()["event"]) | {"owner": "\x1b[2J\u202ex"}
    held.forge("hostile.jws", event=canonical_json(event))
    for name, code, first in (("receipt.jws", 0, "OK"), ("hostile.jws", 1, "FAILED")):
        key = str(held.path("keys.json"))
        command = [sys.executable, "-m", "vlrb", "verify", str(held.path(name)), "--key", key]
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
        assert (ran.returncode, ran.stderr) == (code, "")
        assert ran.stdout.startswith(first)
        assert "\x1b" not in ran.stdout
        assert "\u202e" not in ran.stdout
