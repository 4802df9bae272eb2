"""A submission desk on an invented benchmark of 21 items: real reader, real database, real files."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from benchmark.items import ItemTable
from identity import Identity, Refused
from identity.middleware import IdentityMiddleware
from identity.service import Identities
from identity.settings import IdentitySettings, Mode
from identity.values import IMPLIED, Organisation, Role
from identity.web import refusals
from storage.database import Database
from storage.uploads import Uploads
from submissions.intake import Intake
from submissions.quota import Policy
from submissions.receipts.signing import Signer
from submissions.spool import Arrived, Spool
from submissions.upload import Upload, UploadRejected, check_report, read_upload
from tests import builders

BENCHMARK = "invented"
LIMIT = 1 << 20
SIGNER = Signer.parse(base64.b64encode(bytes(range(32))).decode())


def native(items: ItemTable, k: int = 1, choice: int = 0) -> bytes:
    """A complete native file in which every vote is `choice`."""
    lines = [json.dumps({"id": item.ids["r1"], "votes": [choice] * k}) for item in items.items]
    return ("\n".join(lines) + "\n").encode()


@dataclass
class Desk:
    """Intake with what it stands on. `reads` counts how often a file was really read."""

    intake: Intake
    spool: Spool
    uploads: Path
    items: ItemTable
    reads: list[Path]

    def arrive(self, data: bytes, name: str = "judge.jsonl") -> Arrived:
        """A file that stays until the test is over."""
        path = self.uploads.parent / f"arrived-{len(list(self.uploads.parent.iterdir()))}"
        path.write_bytes(data)
        return Arrived.on_disk(path, name, LIMIT)


def person(account: str, *organisations: str) -> Identity:
    """Somebody who is signed in and may submit."""
    teams = tuple(Organisation(f"org-{name}", name, "write") for name in organisations)
    return Identity(account, account, teams, IMPLIED[Role.SUBMITTER], "session")


def signed_in_as_everybody(app: FastAPI, database: Database) -> IdentityMiddleware:
    """Routes around which nobody signs in: reachable by others, one submitter."""
    identities = Identities.on(database, IdentitySettings(Mode.OPEN))
    app.add_exception_handler(Refused, refusals(identities))
    return IdentityMiddleware(app, identities.settings, identities.resolver)


def make_desk(database: Database, folder: Path, policy: Policy | None = None) -> Desk:
    """A desk whose files are below `folder`."""
    items = builders.table()
    reads: list[Path] = []

    def read(path: Path) -> tuple[dict[str, Any], Upload | None]:
        reads.append(path)
        try:
            upload = read_upload(path.read_bytes(), items)
        except UploadRejected as rejected:
            return check_report(rejected, BENCHMARK), None
        return check_report(upload, BENCHMARK), upload

    spool = Spool(folder / "spool", LIMIT)
    spool.sweep()
    intake = Intake(database, Uploads(folder / "uploads"), read, BENCHMARK, SIGNER, policy)
    return Desk(intake, spool, folder / "uploads", items, reads)
