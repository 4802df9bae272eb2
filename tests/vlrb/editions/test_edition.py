"""From rows to an edition in one walk: nothing public tells a label, and judges can be scored on it."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.factories.suite.programs import edition_main as main
from tests.vlrb.editions.synthetic import invent, lines, write_runs, write_sources
from vlrb.benchmarks.items import load_table
from vlrb.benchmarks.label_files import load_labels
from vlrb.benchmarks.pairs import label_set, pair_table, read_pairs
from vlrb.benchmarks.spec_file import load_spec
from vlrb.commitments import commit
from vlrb.editions.pool import file_digest, write_lines
from vlrb.predictions.parse import parse_predictions
from vlrb.protocols import scores
from vlrb.scoring import tally


class WrittenEdition(NamedTuple):
    """Folders of an edition, and what they were made from."""

    root: Path
    public: Path
    private: Path


@pytest.fixture(scope="module")
def edition(tmp_path_factory: pytest.TempPathFactory) -> WrittenEdition:
    root = tmp_path_factory.mktemp("edition")
    planted = invent(root, 150)
    pool = root / "pool"
    for source, path in write_sources(planted, root).items():
        assert main(["pool", "import", str(path), "--source", source, "--licence", "CC0-1.0", "--into", str(pool)]) == 0
    assert main(["pool", "duplicates", str(pool)]) == 0
    runs = write_runs(planted, root, ("small", "medium"))
    assert main(["filter", str(pool), "--runs", *runs, "--rule", "wrong >= 2/6"]) == 0
    verify = root / "verify"
    assert main(["verify", "export", str(pool / "filtered" / "candidates.jsonl"), "--output", str(verify)]) == 0
    write_lines(verify / "labels.jsonl", labels_of_the_queue(verify))
    assert main(["verify", "import", str(verify), str(verify / "labels.jsonl")]) == 0
    assert write_edition(root, "next", "--retire", "2027-12-31") == 0
    return WrittenEdition(root, root / "editions" / "next", private=root / "private" / "next")


def labels_of_the_queue(verify: Path) -> list[dict[str, Any]]:
    """Two annotators who say what the pool says, and name an error now and then."""
    chance = random.Random(2)
    out = []
    rows = {line["id"]: line for line in lines(verify / "candidates.jsonl")}
    for line in lines(verify / "queue" / "to_annotate.jsonl"):
        verdict = "ab"[rows[line["id"]]["preferred"]]
        errors = ["counting"] if chance.random() < 0.4 else []
        names = ("ann@example.org", "bob@example.org")
        answers = [{"annotator": name, "verdict": verdict, "errors": errors, "seconds": 30} for name in names]
        label = {"state": "agreed", "label": verdict, "tags": errors, "answers": answers}
        out.append({"item": line["item"], **label})
    return out


def write_edition(root: Path, name: str, *more: str) -> int:
    given = ["--verified", str(root / "verify"), "--pool", str(root / "pool"), "--title", "Next | <b>edition</b>"]
    given += ["--filter", str(root / "pool" / "filtered" / "filter.json"), "--output", str(root / "editions")]
    return main(["freeze", name, *given, "--private", str(root / "private"), *more])


def test_the_definition_is_one_and_scores_a_judge(edition: WrittenEdition) -> None:
    spec = load_spec("next", definitions=edition.public.parent)
    assert spec.filtered_by == ("small", "medium")
    labels = lines(edition.private / "labels.jsonl")
    pairs = read_pairs(labels, spec, edition="v1")
    votes = [{"id": line["id"], "votes": [0]} for line in labels]
    table = pair_table([pairs])
    upload = parse_predictions("".join(json.dumps(one) + "\n" for one in votes).encode(), table)
    counted = tally(upload.votes, label_set(pairs.rows, "v1", table=table), table=table)
    assert scores(counted)["micro"] == pytest.approx(np.mean([line["preferred"] == "a" for line in labels]))


def test_no_public_file_tells_a_label_or_a_name(edition: WrittenEdition) -> None:
    from pyarrow import parquet

    for path in edition.public.rglob("*.parquet"):
        assert {"preferred", "tags", "votes"}.isdisjoint(parquet.read_schema(path).names)
    texts = [
        path.read_text() for path in edition.public.rglob("*") if path.suffix not in (".parquet", "") and path.is_file()
    ]
    assert not [text for text in texts if "example.org" in text or "labels-" in text]
    manifest = json.loads((edition.public / "items.json").read_text())
    assert not {"preferred", "label", "tags"} & {name for item in manifest["items"] for name in item}
    assert not edition.private.is_relative_to(edition.public.parent)


def test_the_hub_folder_loads_as_a_dataset(edition: WrittenEdition) -> None:
    import datasets

    loaded = datasets.load_dataset(str(edition.public / "hub"), cache_dir=str(edition.root / "cache"))
    card = json.loads((edition.public / "card.json").read_text())
    assert {name: len(part) for name, part in loaded.items()} == {"public": card["public"], "hidden": card["hidden"]}
    first = loaded["public"][0]
    assert first["image"].size == (24, 24)
    assert first["canary"] == card["canary"]
    assert set(loaded["hidden"]["id"]) == {line["id"] for line in lines(edition.private / "labels-hidden.jsonl")}


def test_the_card_counts_what_is_there(edition: WrittenEdition) -> None:
    card = json.loads((edition.public / "card.json").read_text())
    labels = lines(edition.private / "labels.jsonl")
    assert card["pairs"] == len(labels) == sum(one["pairs"] for one in card["table"])
    assert card["response_words"][1] == np.median([len(line[f"response_{x}"].split()) for line in labels for x in "ab"])
    assert card["agreement"]["alpha"] == 1.0
    assert card["agreement"]["annotators"] == 2
    public = lines(edition.private / "labels-public.jsonl")
    assert card["tags_public"] == {"counting": sum("counting" in line["tags"] for line in public)}
    for name, digest in card["sha256"].items():
        assert file_digest(edition.public / name) == digest
    salt = bytes.fromhex((edition.private / "salt").read_text())
    assert commit(file_digest(edition.private / "labels.jsonl"), salt) == card["label_commitment"]
    text = (edition.public / "README.md").read_text()
    assert "below chance" in text
    assert "exactly one is right on 25% of the pairs separate from" in text
    assert "<b>" not in text
    signed = [len(a.split()) - len(b.split()) for line in public for a, b in [preferred_first(line)]]
    assert sum(number for first, number in card["difference_histogram_public"] if first >= 0) == sum(
        difference >= 0 for difference in signed
    )
    assert "| in this edition |" in text


def preferred_first(line: dict[str, Any]) -> tuple[str, str]:
    both = line["response_a"], line["response_b"]
    return both if line["preferred"] == "a" else both[::-1]


def test_an_edition_stays_as_it_is(edition: WrittenEdition, capsys: pytest.CaptureFixture[str]) -> None:
    assert write_edition(edition.root, "next") == 2
    assert "another id" in capsys.readouterr().err
    assert write_edition(edition.root, "vl-rewardbench") == 2


def test_labels_may_not_lie_in_the_public_folder(edition: WrittenEdition, capsys: pytest.CaptureFixture[str]) -> None:
    inside = str(edition.root / "editions" / "labels")
    assert write_edition(edition.root, "other", "--private", inside) == 2
    assert "--private" in capsys.readouterr().err
    assert not (edition.root / "editions" / "other").exists()


def test_an_image_that_changed_is_refused_and_nothing_is_left(
    edition: WrittenEdition, capsys: pytest.CaptureFixture[str]
) -> None:
    line = lines(edition.root / "verify" / "verified.jsonl")[0]
    path = edition.root / "pool" / line["image"]
    data = path.read_bytes()
    path.write_bytes(b"else")
    try:
        assert write_edition(edition.root, "torn") == 2
        assert "not the one" in capsys.readouterr().err
        assert not (edition.root / "editions" / "torn").exists()
    finally:
        path.write_bytes(data)


def test_pairs_that_nobody_has_decided_stop_an_edition(
    edition: WrittenEdition, capsys: pytest.CaptureFixture[str]
) -> None:
    path = edition.root / "verify" / "open.jsonl"
    path.write_bytes((edition.root / "verify" / "verified.jsonl").read_bytes())
    try:
        assert write_edition(edition.root, "early") == 2
        assert "--partial" in capsys.readouterr().err
    finally:
        path.write_text("")


DUPLICATES, VERIFY = ["pool", "duplicates", "pool"], ["verify", "import", "verify", "verify/labels.jsonl"]
FILTER = ["filter", "pool", "--output", "again", "--runs"]
EDITION = [
    "freeze", "again", "--title", "x", "--verified", "verify", "--pool", "pool",
    "--filter", "pool/filtered/filter.json",
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        ("pool/pairs.jsonl", '{"id": 3}', DUPLICATES),
        ("pool/duplicates.json", "[]", [*FILTER, "small.jsonl"]),
        ("run/run.json", "{}", [*FILTER, "run"]),
        ("verify/labels.jsonl", "{}", VERIFY),
        ("verify/agreement.json", "{}", EDITION),
    ],
)
def test_a_damaged_file_is_named_in_one_sentence(
    edition: WrittenEdition, name: str, text: str, command: list[str], capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(edition.root)
    path = edition.root / name
    if name.startswith("run/"):
        path.parent.mkdir(exist_ok=True)
        (path.parent / "predictions.jsonl").write_bytes((edition.root / "small.jsonl").read_bytes())
    before = path.read_bytes() if path.is_file() else None
    path.write_text(text)
    try:
        assert main(command) == 2
    finally:
        path.unlink() if before is None else path.write_bytes(before)
    error = capsys.readouterr().err
    assert name.rpartition("/")[2] in error
    assert len(error.splitlines()) <= 2 and "Traceback" not in error


def test_public_files_are_the_same_whatever_the_labels_of_hidden_pairs_are(edition: WrittenEdition) -> None:
    hidden = {line["id"] for line in lines(edition.private / "labels.jsonl") if line["split"] == "hidden"}
    path = edition.root / "verify" / "verified.jsonl"
    before = path.read_bytes()
    plain = [line | {"tags": []} for line in lines(path)]
    told = [
        line | {"preferred": 1 - line["preferred"], "tags": ["counting"]} if line["id"] in hidden else line
        for line in plain
    ]
    found = []
    try:
        for name, verified in (("plain", plain), ("told", told)):
            write_lines(path, verified)
            assert write_edition(edition.root, name) == 0
            folder = edition.root / "editions" / name
            card = json.loads((folder / "card.json").read_text())
            facts = {key: card[key] for key in card.keys() - {"id", "canary", "label_commitment", "sha256"}}
            found.append(((folder / "spec.toml").read_text().replace(name, "edition"), facts))
    finally:
        path.write_bytes(before)
    assert found[0] == found[1]


def test_labels_of_an_edition_are_read_with_tags_that_only_hidden_pairs_have(edition: WrittenEdition) -> None:
    spec = load_spec("next", definitions=edition.public.parent)
    found = load_labels(edition.private / "labels.jsonl", "v1", table=load_table(edition.public / "items.json", spec))
    assert found.items == len(lines(edition.private / "labels.jsonl"))
