"""`vlrb edition upload`: an edition's questions and labels as datasets on the Hub."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from vlrb.editions.errors import CurateError
from vlrb.editions.folder.hub import upload
from vlrb.editions.pools.pool import read_json

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
    card = read_json(public / "card.json", "pairs", "public") if questions else {}
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
