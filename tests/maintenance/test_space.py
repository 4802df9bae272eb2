"""A Hugging Face Space is made by one command, which may be given twice, through the Hub's own client."""

from __future__ import annotations

import copy
import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from huggingface_hub.utils import filter_repo_objects

from maintenance import space
from tests.factories.fakes.fake_space_hub import FakeSpaceHub
from tests.factories.services.serving import serving
from tests.factories.suite.programs import Finished, run_maintenance

ROOT = Path(__file__).parents[2]
TOKEN, CANARY = "hf_of_the_owner", "canary-of-a-secret"
NAME = "lab/board"
# Where operators keep secrets and hidden labels.
WITHHELD = (
    ".env",
    ".env.local",
    "deploy/.env",
    "web.env",
    "deploy/worker.env",
    "server.key",
    "deploy/tls/server.key",
    "token.pem",
    "deploy/token.pem",
    "deploy/labels/labels_v2.jsonl",
    "deploy/labels/labels_v2.csv",
    "labels_v2.jsonl",
    "data/board.sqlite3",
    "receipt-1.jws",
)
LYING_AROUND = ("labels.parquet", "all_data.json", "notes.txt", "web/labels.csv", "benchmark/all_data.json")
CODE = ("app.py", "settings/web.py", "vlrb/numbers/data.json", "storage/labels/label_sets.py", "auth/keys.py")


@pytest.fixture
def hub() -> Iterator[tuple[FakeSpaceHub, str]]:
    found = FakeSpaceHub(TOKEN)
    with serving(found.application(), log_config=None) as url:
        yield found, url


@pytest.fixture(autouse=True)
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a checkout with the service's code, and what is not uploaded."""
    folder = tmp_path / "code"
    for name in ("app.py", "Dockerfile", "data/labels.jsonl", ".env", ".venv/x.py", "web/__pycache__/x.pyc"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    git(folder, "init", "--quiet")
    git(folder, "add", "app.py", "Dockerfile")
    commit(folder)
    monkeypatch.setattr(space, "ROOT", folder)
    # The library reads the variable once for the whole process, which other tests may have started offline.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    return folder


def run(url: str, *arguments: str, token: str = TOKEN, **environ: str) -> Finished:
    return run_maintenance("space", *arguments, environ={"HF_ENDPOINT": url, "HF_TOKEN": token, **environ})


def test_create_makes_the_space_its_bucket_and_its_settings(hub: tuple[FakeSpaceHub, str]) -> None:
    known, url = hub
    done = run(url, "create", NAME, "--set", "OWNERS=ada", "--secret", "LABELS", LABELS=CANARY)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("https://lab-board.hf.space")
    assert CANARY not in done.stdout + done.stderr
    assert known.buckets == {"lab/board-replica": "private"}
    made = known.spaces[NAME]
    assert made.sdk == "docker"
    assert made.variables == {"REPLICA_URL": "/bucket", "OWNERS": "ada"}
    assert made.secrets["LABELS"] == CANARY
    assert {len(made.secrets[name]) for name in ("SESSION_SECRET", "RECEIPT_KEY")} == {44}
    (volume,) = made.volumes
    assert (volume["type"], volume["source"], volume["mountPath"]) == ("bucket", "lab/board-replica", "/bucket")
    assert set(made.files) == {"app.py", "Dockerfile", "COMMIT"}


def test_a_second_create_keeps_what_is_there_and_an_update_changes_only_what_it_names(
    hub: tuple[FakeSpaceHub, str],
) -> None:
    known, url = hub
    assert run(url, "create", NAME).returncode == 0
    made = known.spaces[NAME]
    made.variables["REPLICA_URL"] = "/bucket/board"  # as somebody set it at the Hub
    made.volumes.append({"type": "dataset", "source": "lab/texts", "mountPath": "/texts"})
    before, volumes = dict(made.secrets), list(made.volumes)
    assert run(url, "create", NAME).returncode == 0
    assert run(url, "update", NAME, "--set", "OWNERS=ada").returncode == 0
    assert (made.secrets, made.volumes) == (before, volumes)
    assert made.variables == {"REPLICA_URL": "/bucket/board", "OWNERS": "ada"}
    assert made.commits == 3


def write(folder: Path, names: Sequence[str]) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(CANARY)


def git(folder: Path, *arguments: str, lines: Sequence[str] = ()) -> str:
    command, text = ["git", *arguments], "\n".join(lines)
    return subprocess.run(command, cwd=folder, input=text, capture_output=True, text=True, check=False).stdout


def commit(folder: Path) -> None:
    git(folder, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "--message", "more")


def test_secrets_and_labels_of_an_operator_are_never_uploaded(hub: tuple[FakeSpaceHub, str], code: Path) -> None:
    known, url = hub
    write(code, WITHHELD)
    git(code, "add", "--force", ".")
    commit(code)
    assert run(url, "create", NAME).returncode == 0
    assert {"app.py", "Dockerfile"} <= set(known.spaces[NAME].files)
    assert not set(WITHHELD) & set(known.spaces[NAME].files)
    assert list(filter_repo_objects([*WITHHELD, *CODE], ignore_patterns=list(space.LEFT_OUT))) == list(CODE)


def test_git_ignores_what_is_never_uploaded(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    shutil.copy(ROOT / ".gitignore", tmp_path)
    assert git(tmp_path, "check-ignore", "--stdin", lines=[*WITHHELD, *CODE]).split() == list(WITHHELD)


def test_of_a_checkout_only_tracked_files_are_uploaded(hub: tuple[FakeSpaceHub, str], code: Path) -> None:
    known, url = hub
    write(code, [*WITHHELD, *LYING_AROUND, "web/pages.py"])
    git(code, "add", "--force", "web/pages.py", "deploy/.env")
    commit(code)
    assert run(url, "create", NAME, "--private").returncode == 0
    made = known.spaces[NAME]
    assert set(made.files) == {"app.py", "Dockerfile", "web/pages.py", "COMMIT"}
    assert made.files["COMMIT"].decode().strip() == git(code, "rev-parse", "HEAD").strip()
    assert made.private


def test_the_hub_takes_the_readme_of_this_project(hub: tuple[FakeSpaceHub, str], code: Path) -> None:
    known, url = hub
    shutil.copy(ROOT / "README.md", code)
    git(code, "add", "README.md")
    commit(code)
    done = run(url, "create", NAME)
    assert done.returncode == 0, done.stderr
    assert known.checked_readmes == ["space"], "the Hub has looked at it"


@pytest.mark.parametrize("around", [False, True], ids=["no git", "in a repository of something else"])
def test_without_git_nothing_is_made_or_uploaded(hub: tuple[FakeSpaceHub, str], code: Path, around: bool) -> None:
    known, url = hub
    shutil.rmtree(code / ".git")
    write(code, [*WITHHELD, *LYING_AROUND])
    if around:
        git(code.parent, "init", "--quiet")
    failed = run(url, "create", NAME)
    assert (failed.returncode, known.requests) == (1, 0)
    assert "Clone the repository with git" in failed.stderr


def configured(known: FakeSpaceHub) -> tuple[object, ...]:
    """Return what the Hub holds; of the secrets names and lengths, since one is random."""
    made = known.spaces[NAME]
    lengths = {key: len(value) for key, value in made.secrets.items()}
    return known.buckets, made.sdk, lengths, made.variables, made.volumes, made.files


def test_a_create_that_failed_at_any_step_is_completed_by_the_next(hub: tuple[FakeSpaceHub, str]) -> None:
    known, url = hub
    known.stages[:] = ["RUNNING"]
    assert run(url, "create", NAME, "--set", "OWNERS=ada").returncode == 0
    undisturbed, requests = copy.deepcopy(configured(known)), known.requests
    assert requests > 8
    for step in range(requests, 0, -2):
        known.spaces.clear()
        known.buckets.clear()
        known.requests, known.fails_at = 0, step
        failed = run(url, "create", NAME, "--set", "OWNERS=ada")
        assert (failed.returncode, failed.stderr.count("The Hub answered 400")) == (1, 1), (step, failed.stderr)
        assert run(url, "create", NAME, "--set", "OWNERS=ada").returncode == 0
        assert configured(known) == undisturbed, step


def test_status_says_whether_it_runs(hub: tuple[FakeSpaceHub, str]) -> None:
    known, url = hub
    assert run(url, "create", NAME).returncode == 0
    done = run(url, "status", NAME)
    assert done.returncode == 0
    assert json.loads(done.stdout) == {
        "space": NAME,
        "stage": "RUNNING",
        "hardware": "cpu-basic",
        "url": "https://lab-board.hf.space",
    }
    known.stages[:] = ["BUILD_ERROR"]
    assert run(url, "status", NAME).returncode == 1
    failed = run(url, "update", NAME)
    assert failed.returncode == 1
    assert "BUILD_ERROR" in failed.stderr


def test_what_cannot_be_done_is_one_sentence(hub: tuple[FakeSpaceHub, str]) -> None:
    _, url = hub
    for done, words in (
        (run(url, "update", NAME), "space create"),
        (run(url, "create", "board"), "OWNER/NAME"),
        (run(url, "create", NAME, token="another"), "401"),
        (run("http://127.0.0.1:9", "status", NAME), "cannot be reached (ConnectError). Check the network"),
    ):
        assert done.returncode == 1
        assert words in done.stderr
        assert "Traceback" not in done.stderr
        assert done.stderr.strip().count("\n") == 0
