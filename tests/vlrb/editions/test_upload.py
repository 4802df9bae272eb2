"""An edition goes to the Hub with the Hub's own client: questions for everybody, labels where they stay private."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from PIL import Image

from tests.factories.fakes.fake_hub import COMMIT, DATASET, Repository, account, build
from tests.factories.services.serving import serving
from tests.factories.suite.command_process import CommandProcess
from tests.factories.suite.programs import Finished
from tests.vlrb.editions.synthetic import lines
from vlrb.editions.hub import LABELS as LABEL_COLUMNS
from vlrb.editions.hub import QUESTIONS as QUESTION_COLUMNS
from vlrb.editions.hub import write_card, write_split

TOKEN = "hf_write"
QUESTIONS, LABELS = "owner/next", "owner/next-labels"
PAIRS = 4


@dataclass(frozen=True)
class HubAccount:
    """An account on the Hub, and an edition's folders in the folder of what uploads them."""

    datasets: dict[str, Repository]
    client: CommandProcess

    def upload(self, *arguments: str, token: str = TOKEN) -> Finished:
        given = ["--output", "editions", "--private", "private", *arguments]
        return self.client.run("vlrb.cli", "edition", "upload", "next", *given, HF_TOKEN=token)


def _client(url: str, folder: Path) -> CommandProcess:
    """Return what runs commands with the real client, which reads these variables once."""
    hub = {
        "HF_ENDPOINT": url,
        "HF_HUB_OFFLINE": "0",
        "HF_DATASETS_OFFLINE": "0",
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    return CommandProcess({**hub, "HF_HOME": str(folder / "hf"), "HF_TOKEN": ""}, folder)


@pytest.fixture(scope="module")
def shared_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubAccount]:
    datasets: dict[str, Repository] = {}
    folder = tmp_path_factory.mktemp("upload")
    _write_edition(folder)
    with serving(account(datasets, TOKEN)) as url, _client(url, folder) as client:
        yield HubAccount(datasets, client)


@pytest.fixture
def hub(shared_hub: HubAccount) -> HubAccount:
    """Return the account without a dataset."""
    shared_hub.datasets.clear()
    return shared_hub


def _write_edition(folder: Path) -> None:
    questions, labels = folder / "editions" / "next" / "hub", folder / "private" / "next" / "hub"
    write_split(questions, "test", rows=map(_question, range(PAIRS)), columns=QUESTION_COLUMNS)
    write_card(questions, ["test"], body="Questions", title="Next", licence="CC0-1.0")
    (questions.parent / "card.json").write_text(json.dumps({"pairs": PAIRS, "public": 2}))
    rows = ({"id": f"n-{n}", "preferred": "a", "split": "hidden"} for n in range(PAIRS))
    write_split(labels, "test", rows=rows, columns=LABEL_COLUMNS)
    write_card(labels, ["test"], body="Labels", title="Next", licence="CC0-1.0")


def _question(number: int) -> dict[str, object]:
    out = io.BytesIO()
    Image.new("RGB", (8, 8), (number * 40, 0, 0)).save(out, "PNG")
    image = {"bytes": out.getvalue(), "path": f"{number}.png"}
    responses = [f"yes, {number} it is", f"no, not {number}"]
    return {"id": f"n-{number}", "query": f"Is it {number}?", "response": responses, "image": image}


def test_questions_become_a_public_dataset_and_labels_a_private_one_once(hub: HubAccount) -> None:
    done = hub.upload("--questions", QUESTIONS, "--labels", LABELS)
    assert done.returncode == 0, done.stderr
    questions, labels = hub.datasets[QUESTIONS], hub.datasets[LABELS]
    assert (questions.private, labels.private) == (False, True)
    assert f"{QUESTIONS}@{questions.sha}" in done.stdout and f"{LABELS}@{labels.sha}" in done.stdout
    file = "data/test-00000-of-00001.parquet"
    assert set(questions.files) - {".gitattributes"} == {"README.md", file}
    assert "preferred" not in parquet.read_schema(io.BytesIO(questions.files[file])).names
    assert parquet.read_table(io.BytesIO(labels.files[file]))["preferred"].to_pylist() == ["a"] * PAIRS
    again = hub.upload("--questions", QUESTIONS, "--labels", LABELS)
    assert again.returncode == 0, again.stderr
    assert (len(questions.commits), len(labels.commits)) == (1, 1), "what is there is not uploaded again"


def test_labels_never_go_into_a_dataset_that_is_public(hub: HubAccount) -> None:
    hub.datasets[LABELS] = Repository(LABELS, TOKEN)
    refused = hub.upload("--questions", QUESTIONS, "--labels", LABELS)
    assert refused.returncode == 2
    assert f"{LABELS} is public" in refused.stderr
    assert hub.datasets[LABELS].commits == [] and QUESTIONS not in hub.datasets


def test_a_token_that_may_not_write_is_named_and_the_token_is_not_printed(hub: HubAccount) -> None:
    refused = hub.upload("--labels", LABELS, token="hf_secret_reader")
    assert refused.returncode == 2
    assert f"does not take {LABELS}" in refused.stderr and "HF_TOKEN" in refused.stderr
    assert "hf_secret_reader" not in refused.stdout + refused.stderr


def test_a_hub_that_cannot_be_reached_is_one_sentence(tmp_path: Path) -> None:
    _write_edition(tmp_path)
    with _client("http://127.0.0.1:9", tmp_path) as client:
        refused = HubAccount({}, client).upload("--questions", QUESTIONS)
    assert refused.returncode == 2
    assert "cannot be reached (ConnectError)" in refused.stderr and "Check the network" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "Name a dataset: --questions OWNER/NAME"),
        (["--questions", "next"], "'next' is not a dataset on the Hub. For instance --questions owner/next."),
        (["--questions", "owner/next", "--labels", "Owner/Next"], "need two datasets: the labels stay private."),
        (["--labels", "owner/l", "--private", "elsewhere"], "There is no edition in elsewhere/next."),
    ],
)
def test_wrong_use_is_refused_with_what_to_write(
    capsys: pytest.CaptureFixture[str], arguments: list[str], expected: str
) -> None:
    from tests.factories.suite.programs import edition_main as main

    assert main(["upload", "next", *arguments]) == 2
    assert expected in capsys.readouterr().err


def test_a_judge_is_run_on_an_edition_of_the_hub_at_a_commit(tmp_path: Path) -> None:
    _write_edition(tmp_path)
    file = tmp_path / "editions" / "next" / "hub" / "data" / "test-00000-of-00001.parquet"
    (tmp_path / "my_judge.py").write_text(
        "def longer(image, query, response):\n    assert image.size == (8, 8)\n    return len(response)\n"
    )
    given = ["run", "--scorer", "my_judge:longer", "--output", "run", "--benchmark", "next", "--items"]
    parts = ("data/public-00000-of-00001.parquet", "data/hidden-00000-of-00001.parquet")
    fake = build(file.read_bytes(), tmp_path / "ranges.txt", names=parts)
    with serving(fake) as url, _client(url, tmp_path) as client:
        unnamed = client.run("vlrb.cli", "judge", *given, DATASET)
        assert (unnamed.returncode, "owner/name@commit" in unnamed.stderr) == (2, True)
        done = client.run("vlrb.cli", "judge", *given, f"{DATASET}@{COMMIT}")
    assert done.returncode == 0, done.stderr
    written = lines(tmp_path / "run" / "predictions.jsonl")
    assert [line["scores"] for line in written] == [[[12.0, 9.0]]] * 2 * PAIRS
    assert written[0]["run"]["items"] == f"{DATASET}@{COMMIT}"
