"""`vlrb edition upload`: an edition's questions and labels as datasets on the Hub."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from vlrb.common.command_line import say
from vlrb.common.messages import _
from vlrb.editions.errors import CurateError
from vlrb.editions.pools.pool import read_json

_DATASET = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_HUB = "hub"


def add_upload_command(commands: Any) -> None:
    """Add `upload`."""
    parser = commands.add_parser("upload", help=_("upload an edition to the Hub"), allow_abbrev=False)
    parser.add_argument("id", metavar="ID", help=_("of the edition"))
    parser.add_argument("--questions", metavar="OWNER/NAME", help=_("dataset for the questions; public"))
    parser.add_argument("--labels", metavar="OWNER/NAME", help=_("dataset for the labels; private"))
    parser.add_argument("--output", type=Path, default=Path("editions"), metavar="DIR", help=_("public (editions/)"))
    parser.add_argument("--private", type=Path, default=Path("private"), metavar="DIR", help=_("labels (private/)"))
    parser.set_defaults(run=upload_command)


def upload_command(arguments: argparse.Namespace) -> int:
    """Upload what was named. Returns the exit code."""
    _check(arguments)
    questions = _folder(arguments.output / arguments.id) if arguments.questions else None
    labels = _folder(arguments.private / arguments.id) if arguments.labels else None
    from huggingface_hub import HfApi

    from vlrb.editions.folder.hub_upload import upload_labels, upload_questions

    api, message = HfApi(), f"Edition {arguments.id}"
    if labels is not None:  # first: if they cannot be kept private, nothing is published
        commit = upload_labels(api, arguments.labels, folder=labels, message=f"{message}: labels")
        say(_("Labels, private: {labels}@{commit}", labels=arguments.labels, commit=commit))
    if questions is not None:
        commit = upload_questions(api, arguments.questions, folder=questions, message=_with_title(message, arguments))
        say(_("Questions, public: {questions}@{commit}", questions=arguments.questions, commit=commit))
        say(
            _(
                "Ask a judge: vlrb judge run --items {questions} --items-revision {commit} --items-split "
                "public+hidden --benchmark {id} ...",
                id=arguments.id,
                questions=arguments.questions,
                commit=commit,
            )
        )
    return 0


def _check(arguments: argparse.Namespace) -> None:
    names = [name for name in (arguments.questions, arguments.labels) if name]
    if not names:
        raise CurateError(_("Name a dataset: --questions OWNER/NAME, --labels OWNER/NAME, or both."))
    for name in names:
        if not _DATASET.fullmatch(name):
            raise CurateError(
                _(
                    "{name!r} is not a dataset on the Hub. For instance --questions owner/{id}.",
                    name=name,
                    id=arguments.id,
                )
            )
    if len(names) == 2 and names[0].lower() == names[1].lower():
        raise CurateError(_("Questions and labels need two datasets: the labels stay private."))


def _folder(edition: Path) -> Path:
    if not (edition / _HUB / "README.md").is_file():
        raise CurateError(_("There is no edition in {edition}. `vlrb edition freeze` makes it.", edition=edition))
    return edition / _HUB


def _with_title(message: str, arguments: argparse.Namespace) -> str:
    card = read_json(arguments.output / arguments.id / "card.json", {"pairs": int, "public": int})
    return f"{message}: {card['pairs']} pairs, {card['public']} with public labels"
