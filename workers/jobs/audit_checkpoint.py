"""Daily head of the audit chain, kept outside the database: a file, and a Hub dataset.

A head that was kept elsewhere shows that the chain's end was cut off, or that all of it was made anew.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from pathlib import Path

from storage.database import Database
from storage.integrity import audit
from vlrb.common import atomic_files

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
        head = audit.dated_head(session)
    path = directory / f"head-{head['at'][:10]}.json"
    content = json.dumps(head, sort_keys=True) + "\n"
    if head["seq"] == 0 or path.exists():
        return None
    return path if atomic_files.write_once(path, content.encode(), mode=atomic_files.PUBLIC) else None


def publish_heads(directory: Path, dataset: HubDataset) -> list[str]:
    """Send the heads that the dataset has not got, in one commit; returns their names. One that it has stays.

    Raises whatever the Hub's client raises where it cannot be reached or refuses; they go with the next head.
    """
    from huggingface_hub import CommitOperationAdd, HfApi  # half a second, and only where a dataset is configured

    hub = HfApi(endpoint=dataset.endpoint, token=dataset.token or None)
    at = hub.dataset_info(dataset.name).sha
    there = set(hub.list_repo_files(dataset.name, repo_type="dataset", revision=at))
    new = [path for path in sorted(directory.glob("head-*.json")) if f"heads/{path.name}" not in there]
    if new:
        hub.create_commit(
            dataset.name,
            [CommitOperationAdd(f"heads/{path.name}", path.read_bytes()) for path in new],
            commit_message=f"Audit chain: {new[-1].stem}",
            repo_type="dataset",
            parent_commit=at,  # refused where another worker has committed since we looked
        )
        log.info("head.published", extra={"data": {"dataset": dataset.name, "heads": [path.name for path in new]}})
    return [path.name for path in new]
