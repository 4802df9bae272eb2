"""An edition from the folder of a verification: what must be decided, and what the edition is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common.messages import _, ngettext
from curate.editions.edition import EditionInput, EditionPlan, EditionWriter, read_json
from curate.errors import CurateError
from curate.sources import read_objects

_UNDECIDED = ("open", "adjudicate")


@dataclass(frozen=True, slots=True)
class EditionFolders:
    """The record of a verification, the pool with the images, and where the edition goes."""

    verified: Path
    pool: Path
    public: Path
    private: Path


def freeze(
    plan: EditionPlan, folders: EditionFolders, report: Mapping[str, Any] | None, *, partial: bool
) -> dict[str, Any]:
    """Write an edition. ``report``: of the filter. Returns the card.

    Raises:
        CurateError: pairs are not decided and the edition is not to be ``partial``, or there are none.
    """
    _check_decided(folders.verified, partial=partial)
    pairs = [line for _, line in read_objects(folders.verified / "verified.jsonl")]
    if not pairs:
        raise CurateError(
            _(
                "{verified} holds no verified pair. `python -m curate verify import` decides them.",
                verified=folders.verified,
            )
        )
    agreement = read_json(folders.verified / "agreement.json")
    given = EditionInput(pairs, agreement, report, folders.pool, folders.verified / "individual.jsonl")
    return EditionWriter(plan, given, folders.public, folders.private).write()


def _check_decided(folder: Path, *, partial: bool) -> None:
    for state in _UNDECIDED:
        path = folder / f"{state}.jsonl"
        left = sum(1 for _ in read_objects(path))
        if left and not partial:
            raise CurateError(
                ngettext(
                    "{n:,} pair is not decided ({path}). Decide them, or give --partial.",
                    "{n:,} pairs are not decided ({path}). Decide them, or give --partial.",
                    left,
                    path=path,
                )
            )
