"""Imported label sets on the worker's own disk: written once, mode 0600, never in the database.

`<DATA_DIR>/labels/<benchmark>/<revision>.json`, mode 0600 in a directory of mode 0700. A file is there whole or not at
all, and the first one stays: who comes later with the same labels gets its salt, who comes with others is refused.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.label_files import LabelsError
from vlrb.benchmarks.labels import NOT_LABELLED, LabelSet, make_label_set
from vlrb.common.atomic_files import write_once
from vlrb.common.messages import _

SALT_BYTES = 32


@dataclass(frozen=True, slots=True)
class StoredLabels:
    """A label set and the salt of its commitment."""

    labels: LabelSet
    salt: bytes


class LabelStore:
    """The directory of imported label sets."""

    def __init__(self, directory: Path, table: ItemTable) -> None:
        self._directory, self._table = directory, table

    def keep(self, labels: LabelSet) -> StoredLabels:
        """Write a label set with a new salt, or finds it written. Raises LabelsError where it is there with others."""
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._directory.chmod(0o700)
        content = _to_json(labels, secrets.token_bytes(SALT_BYTES), table=self._table)
        write_once(self._path(labels.revision), json.dumps(content, separators=(",", ":")).encode("ascii"))
        kept = self.load(labels.revision)
        if kept.labels.digest != labels.digest:
            raise LabelsError(
                _(
                    "revision {revision} was imported before with other labels; choose a new name",
                    revision=labels.revision,
                )
            )
        return kept

    def load(self, revision: str) -> StoredLabels:
        """Raise LabelsError where this worker does not have it, or it is damaged."""
        try:
            stored = json.loads(self._path(revision).read_bytes())
        except FileNotFoundError:
            raise LabelsError(
                _(
                    "the labels of revision {revision} are not on this worker's disk; workers on several "
                    "machines need the same DATA_DIR/labels",
                    revision=revision,
                )
            ) from None
        except ValueError:
            raise LabelsError(_("the stored labels of revision {revision} are damaged", revision=revision)) from None
        labels = _from_json(stored, self._table)
        key = (stored["benchmark"], stored["revision"], stored["digest"])
        if key != (self._table.benchmark, revision, labels.digest):
            raise LabelsError(_("the stored labels of revision {revision} are damaged", revision=revision))
        return StoredLabels(labels, bytes.fromhex(stored["salt"]))

    def has(self, revision: str) -> bool:
        """Return whether the file of a revision is here."""
        return self._path(revision).is_file()

    def _path(self, revision: str) -> Path:
        if "/" in revision or revision.startswith("."):
            raise LabelsError(_("{revision!r} is not the name of a revision", revision=revision))
        return self._directory / f"{revision}.json"


class LabelRegistry(Mapping[str, LabelSet]):
    """The label sets that this process scores with; grows while others read it.

    Listed are those that new submissions are scored under. A set that is taken off the list can still be looked up:
    a job of it may be in hand.
    """

    def __init__(self, labels: Mapping[str, LabelSet]) -> None:
        self._lock = Lock()
        self._all, self._listed = dict(labels), tuple(labels)

    def __getitem__(self, revision: str) -> LabelSet:
        return self._all[revision]

    def __iter__(self) -> Iterator[str]:
        return iter(self._listed)

    def __len__(self) -> int:
        return len(self._listed)

    def add(self, labels: LabelSet) -> None:
        """List a set."""
        with self._lock:
            self._all = {**self._all, labels.revision: labels}
            self._listed = (*(revision for revision in self._listed if revision != labels.revision), labels.revision)

    def remove(self, revision: str) -> None:
        """No longer lists a set."""
        with self._lock:
            self._listed = tuple(listed for listed in self._listed if listed != revision)


def _to_json(labels: LabelSet, salt: bytes, *, table: ItemTable) -> dict[str, Any]:
    labelled = [i for i in range(len(table)) if labels.preferred[i] != NOT_LABELLED]
    return {
        "benchmark": table.benchmark,
        "revision": labels.revision,
        "digest": labels.digest,
        "salt": salt.hex(),
        "preferred": {table.items[i].key: int(labels.preferred[i]) for i in labelled},
        "tags": None if labels.tags is None else {table.items[i].key: sorted(labels.tags[i]) for i in labelled},
    }


def _from_json(stored: Mapping[str, Any], table: ItemTable) -> LabelSet:
    places = {item.key: index for index, item in enumerate(table.items)}
    try:
        preferred = {places[key]: int(value) for key, value in stored["preferred"].items()}
        tags = stored["tags"]
        tagged = None if tags is None else {places[key]: frozenset(names) for key, names in tags.items()}
        return make_label_set(stored["revision"], table, preferred=preferred, tags=tagged)
    except (KeyError, ValueError):
        raise LabelsError(_("stored labels do not fit the pairs of {benchmark}", benchmark=table.benchmark)) from None
