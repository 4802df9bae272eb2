"""Sources that a maintainer may name for an import: files below given directories, and Hub datasets at a commit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from storage.files.import_folders import path_below
from vlrb.benchmarks.label_files import LabelsError
from vlrb.common.hub_sources import FORM, parse_hub_source
from vlrb.common.messages import _


def allowed_source(spec: str, directories: Sequence[Path]) -> str | Path:
    """Return the real path of a file below one of the directories, or a Hub dataset as it was named.

    Relative names are looked up below the directories.

    Raises:
        LabelsError: it is anything else; the same words whether a file elsewhere exists or not.
    """
    if (path := path_below(spec, directories, is_wanted=Path.is_file)) is not None:
        return path
    if parse_hub_source(spec) and not Path(spec).exists():
        return spec
    where = " or ".join(map(str, directories))
    raise LabelsError(
        _(
            "{spec} is neither a file below {where} nor a Hub dataset at a commit ({form}). Put the file there.",
            spec=spec,
            where=where,
            form=FORM,
        )
    )
