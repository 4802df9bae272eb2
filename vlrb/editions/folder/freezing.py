"""An edition from the folder of a verification: what must be decided, and what the edition is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vlrb.common.json_files import MAYBE_NUMBER, Shape
from vlrb.common.messages import _, ngettext
from vlrb.editions.errors import CurateError
from vlrb.editions.folder.edition import EditionInput, EditionPlan, EditionWriter
from vlrb.editions.pools.pool import read_json, read_pair_file
from vlrb.editions.pools.sources import read_objects

_AGREEMENT: Shape = {
    "answers": int, "shared_pairs": int, "agreement": MAYBE_NUMBER, "alpha": MAYBE_NUMBER, "mean_kappa": MAYBE_NUMBER,
    "tags": dict, "annotators": dict, "pairs": dict, "labels_of_the_pool": dict,
}  # fmt: skip
FILTER_REPORT: Shape = {
    "rule_in_words": str, "pairs": {"kept": int, "considered": int}, "judges": [{"judge": str}],
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class EditionFolders:
    """The record of a verification, the pool with the images, and where the edition goes."""

    verified: Path
    pool: Path
    public: Path
    private: Path


def freeze(
    plan: EditionPlan, folders: EditionFolders, *, report: Mapping[str, Any] | None, partial: bool
) -> dict[str, Any]:
    """Write an edition. ``report``: of the filter. Returns the card.

    Raises:
        CurateError: pairs are not decided and the edition is not to be ``partial``, or there are none.
    """
    _check_decided(folders.verified, partial=partial)
    pairs = _verified(folders.verified / "verified.jsonl")
    if not pairs:
        raise CurateError(
            _(
                "{verified} holds no verified pair. `vlrb edition verify import` decides them.",
                verified=folders.verified,
            )
        )
    agreement = read_json(folders.verified / "agreement.json", _AGREEMENT)
    given = EditionInput(
        pairs, agreement, filter=report, images=folders.pool, individual=folders.verified / "individual.jsonl"
    )
    return EditionWriter(plan, given, public=folders.public, private=folders.private).write()


def _verified(path: Path) -> list[dict[str, Any]]:
    """Return the lines of verified pairs. Raises CurateError where one is none, or nobody has decided it."""
    known = read_pair_file(path)
    if any(pair.preferred is None for pair in known):
        raise CurateError(_("{path} holds a pair without `preferred`. Import the labels again.", path=path))
    return [line for _number, line in read_objects(path)]


def _check_decided(folder: Path, *, partial: bool) -> None:
    path = folder / "open.jsonl"
    left = sum(1 for _line in read_objects(path))
    if left and not partial:
        raise CurateError(
            ngettext(
                "{n:,} pair is not decided ({path}). Decide them, or give --partial.",
                "{n:,} pairs are not decided ({path}). Decide them, or give --partial.",
                left,
                path=path,
            )
        )
