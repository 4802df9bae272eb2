"""An edition on the Hub: folders with parquet files by split and a card, and `vlrb edition upload`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from vlrb.common.json_files import read_object
from vlrb.editions.errors import CurateError, follow
from vlrb.editions.pool import write_text

QUESTIONS = ("id", "query", "response", "image", "category", "source", "licence", "canary")
LABELS = ("id", "query", "response_a", "response_b", "category", "preferred", "tags", "split")


def write_split(folder: Path, name: str, *, rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """Write one split as parquet; images are objects with ``bytes`` and ``path``."""
    from datasets import Dataset, Features, Image, List, Value

    text = Value("string")
    kinds = {"response": List(text), "tags": List(text), "image": Image()}
    held = [{column: row.get(column) for column in columns} for row in follow(rows, f"Writing {name}")]
    path = folder / "data" / f"{name}-00000-of-00001.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    Dataset.from_list(held, Features({column: kinds.get(column, text) for column in columns})).to_parquet(path)


def write_card(folder: Path, splits: Sequence[str], *, body: str, title: str, licence: str) -> None:
    """Write README.md with the header that the Hub reads."""
    from huggingface_hub import DatasetCardData

    files = [{"split": name, "path": f"data/{name}-*.parquet"} for name in splits]
    configs = [{"config_name": "default", "data_files": files}]
    header = DatasetCardData(pretty_name=title, license="other", license_name=licence, configs=configs)
    write_text(folder / "README.md", f"---\n{header.to_yaml()}\n---\n\n{body}")


def upload(name: str, *, folder: Path, message: str, private: bool) -> str:
    """Upload a folder to a dataset, which is made where there is none. Returns the commit.

    Raises:
        CurateError: the dataset is public and must be private, the Hub refuses or cannot be reached; nothing was
            uploaded.
    """
    from httpx2 import TransportError
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    api = HfApi()
    try:
        api.create_repo(name, repo_type="dataset", private=private, exist_ok=True)
        if private and not api.repo_info(name, repo_type="dataset").private:
            raise CurateError(
                f"The dataset {name} is public, and these are the labels. Nothing was uploaded: name another dataset, "
                "or make this one private."
            )
        done = api.upload_folder(repo_id=name, folder_path=folder, repo_type="dataset", commit_message=message)
    except TransportError as error:
        raise CurateError(
            f"The Hub cannot be reached ({type(error).__name__}). Check the network, then run the same command again."
        ) from None
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise CurateError(
            f"The Hub does not take {name} ({reason}). Check that HF_TOKEN holds a token that may write there."
        ) from None
    return str(done.oid)


_DATASET = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)


def add_upload_command(commands: Any) -> None:
    """Add `upload`."""
    parser = commands.add_parser("upload", help="upload an edition to the Hub", allow_abbrev=False)
    parser.add_argument("id", metavar="ID", help="of the edition")
    parser.add_argument("--questions", metavar="OWNER/NAME", help="dataset for the questions; public")
    parser.add_argument("--labels", metavar="OWNER/NAME", help="dataset for the labels; private")
    parser.add_argument("--output", type=Path, default=Path("editions"), metavar="DIR", help="public (editions/)")
    parser.add_argument("--private", type=Path, default=Path("private"), metavar="DIR", help="labels (private/)")
    parser.set_defaults(run=upload_command)


def upload_command(arguments: argparse.Namespace) -> int:
    """Upload what was named. Returns the exit code."""
    questions, labels = arguments.questions, arguments.labels
    names = [name for name in (questions, labels) if name]
    if not names:
        raise CurateError("Name a dataset: --questions OWNER/NAME, --labels OWNER/NAME, or both.")
    for name in names:
        if not _DATASET.fullmatch(name):
            raise CurateError(f"{name!r} is not a dataset on the Hub. For instance --questions owner/{arguments.id}.")
    if len(names) == 2 and questions.lower() == labels.lower():
        raise CurateError("Questions and labels need two datasets: the labels stay private.")
    public, private = (root / arguments.id for root in (arguments.output, arguments.private))
    for folder, name in ((public, questions), (private, labels)):
        if name and not (folder / "hub" / "README.md").is_file():
            raise CurateError(f"There is no edition in {folder}. `vlrb edition freeze` makes it.")
    message = f"Edition {arguments.id}"
    card = read_object(public / "card.json", "pairs", "public") if questions else {}
    if labels:  # first: if they cannot be kept private, nothing is published
        commit = upload(labels, folder=private / "hub", message=f"{message}: labels", private=True)
        print(f"Labels, private: {labels}@{commit}")
    if questions:
        message += f": {card['pairs']} pairs, {card['public']} with public labels"
        commit = upload(questions, folder=public / "hub", message=message, private=False)
        print(f"Questions, public: {questions}@{commit}")
        asked = f"--items {questions}@{commit} --benchmark {arguments.id}"
        print(f"Ask a judge: vlrb judge run {asked} ...")
    return 0
