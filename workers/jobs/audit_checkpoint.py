"""Daily checkpoint of the audit chain, stored outside the database: a file, and a Hub dataset.

A day has one head, whichever worker writes it and however often: it is derived from the chain's state when the day
began (storage/integrity/audit_checkpoints.py), so workers on several machines write the same bytes. What the Hub has
not got yet is sent with the next turn, so nothing is lost while it is away. What it has is never sent again: its
history must show one head a day, as it was.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from pathlib import Path

from storage.database import Database
from storage.integrity import audit_checkpoints
from vlrb.common import atomic_files

_SENT = ".sent"  # names of the files that the Hub has, a line each

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HubDataset:
    """Destination of published heads: owner/name, and a token that may write there. `endpoint` None: the Hub itself."""

    name: str
    token: str = field(repr=False)
    endpoint: str | None = None


def write_checkpoint(database: Database, directory: Path) -> Path | None:
    """Write `head-YYYY-MM-DD.json` (UTC) if today's is not there yet; None if it is, or the chain is empty."""
    with database.read() as session:
        day = audit_checkpoints.today(session)
    path = directory / f"head-{day}.json"
    if path.exists():
        return None
    with database.write() as session:
        head = audit_checkpoints.for_day(session, day)
    if head is None or not atomic_files.write_once(path, audit_checkpoints.render(head), mode=atomic_files.PUBLIC):
        return None
    return path


def publish_heads(directory: Path, dataset: HubDataset) -> list[str]:
    """Send the heads that the dataset has not got, in one commit; returns their names.

    Raises whatever the Hub's client raises where it cannot be reached or refuses; the next turn tries again.
    """
    sent = directory / _SENT
    known = set(sent.read_text().split()) if sent.exists() else set()
    waiting = [path for path in sorted(directory.glob("head-*.json")) if path.name not in known]
    if not waiting:
        return []
    from huggingface_hub import CommitOperationAdd, HfApi  # half a second, and only where a dataset is configured

    hub = HfApi(endpoint=dataset.endpoint, token=dataset.token or None)
    at = hub.dataset_info(dataset.name).sha
    there = set(hub.list_repo_files(dataset.name, repo_type="dataset", revision=at))
    new = [path for path in waiting if f"heads/{path.name}" not in there]
    if new:
        hub.create_commit(
            dataset.name,
            [CommitOperationAdd(f"heads/{path.name}", path.read_bytes()) for path in new],
            commit_message=f"Audit chain: {new[-1].stem}",
            repo_type="dataset",
            parent_commit=at,  # refused where another worker has committed since we looked
        )
    names = sorted(known | {path.name for path in waiting})
    atomic_files.write(sent, "".join(f"{name}\n" for name in names).encode())
    log.info("head.published", extra={"data": {"dataset": dataset.name, "heads": [path.name for path in new]}})
    return [path.name for path in new]
