"""Rows of datasets on the Hub at a commit, and the split that is meant where none is named."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from vlrb.common.messages import _


class HubDatasetFault(Exception):
    """The dataset cannot be read; the message says why and what to do."""


def load_split(name: str, *, revision: str, split: str) -> Any:
    """Return a dataset whose images are not decoded. ``split``: one, or several as "public+hidden".

    Raises:
        HubDatasetFault: it cannot be loaded.
    """
    import datasets

    try:
        loaded = datasets.load_dataset(name, revision=revision, split=split)
    except (OSError, ValueError) as error:  # the library's own errors are of these kinds
        raise _unreadable(name, revision, error=error) from None
    for column, feature in loaded.features.items():
        if isinstance(feature, datasets.Image):
            loaded = loaded.cast_column(column, datasets.Image(decode=False))
    return loaded


def find_split(name: str, *, revision: str, usual: str, option: str) -> str:
    """Return the split that is read where none is named. ``option``: names one on the command line.

    Raises:
        HubDatasetFault: the dataset cannot be read, or somebody has to choose.
    """
    import datasets

    try:
        builder = datasets.load_dataset_builder(name, revision=revision)
    except (OSError, ValueError) as error:
        raise _unreadable(name, revision, error=error) from None
    return choose_split(name, [str(key) for key in builder.config.data_files or ()], usual=usual, option=option)


def choose_split(name: str, splits: Iterable[str], *, usual: str, option: str) -> str:
    """Return the usual split, or the only one. Raises HubDatasetFault where there are several others."""
    names = list(splits)
    if usual in names or not names:
        return usual
    if len(names) == 1:
        return names[0]
    raise HubDatasetFault(
        _(
            "The dataset {name} has the splits {names} and no {usual}. Name one, or several: {option} {several}.",
            name=name,
            names=", ".join(names),
            usual=usual,
            option=option,
            several="+".join(names),
        )
    )


def _unreadable(name: str, revision: str, *, error: Exception) -> HubDatasetFault:
    return HubDatasetFault(
        _("The dataset {name} at {revision} cannot be loaded: {error}", name=name, revision=revision, error=str(error))
    )
