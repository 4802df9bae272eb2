"""The submit use case on an invented benchmark of 21 items: real reader, real database, real files."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from auth import AuthError, Identity
from auth.middleware import IdentityMiddleware
from auth.model import IMPLIED, Organisation, Role
from auth.pages import refusals
from auth.problem_details import refused_response
from auth.service import AuthService
from auth.settings import IdentitySettings, Mode
from common.refused import Refused
from leaderboard.site.render import account_pages
from leaderboard.site.render_context import RenderContext
from receipts.jws import Signer
from storage.database import Database
from storage.files.spool import Spool, UploadedFile
from storage.files.uploads import Uploads
from storage.visibility import PLAIN, EntryVisibility
from submissions.metadata import parse_metadata
from submissions.quota import QuotaPolicy
from submissions.service import Accepted, SubmissionService
from tests.factories import labels
from tests.factories.specs import VL
from vlrb.benchmarks.items import ItemTable
from vlrb.predictions.parse import Predictions, UploadRejected, build_report, parse_predictions

BENCHMARK = VL.id
LIMIT = 1 << 20
SIGNER = Signer.parse(base64.b64encode(bytes(range(32))).decode())


def native(items: ItemTable, k: int = 1, *, choice: int = 0) -> bytes:
    """Return a complete native file in which every vote is `choice`."""
    lines = [json.dumps({"id": item.ids["r1"], "votes": [choice] * k}) for item in items.items]
    return ("\n".join(lines) + "\n").encode()


@dataclass
class SubmissionSetup:
    """Intake with what it stands on. `reads` counts how often a file was really read."""

    intake: SubmissionService
    spool: Spool
    uploads: Path
    items: ItemTable
    reads: list[Path]

    def arrive(self, data: bytes, name: str = "judge.jsonl") -> UploadedFile:
        """Return a file that stays until the test is over."""
        path = self.uploads.parent / f"arrived-{len(list(self.uploads.parent.iterdir()))}"
        path.write_bytes(data)
        return UploadedFile.on_disk(path, name, limit=LIMIT)


def person(account: str, *organisations: str) -> Identity:
    """Somebody who is signed in and may submit."""
    teams = tuple(Organisation(f"org-{name}", name, role="write") for name in organisations)
    return Identity(account, account, organisations=teams, roles=IMPLIED[Role.SUBMITTER], auth_method="session")


def signed_in_as_everybody(app: FastAPI, database: Database) -> IdentityMiddleware:
    """Routes around which nobody signs in: reachable by others, one submitter."""
    identities = AuthService.create(database, IdentitySettings(Mode.OPEN))
    app.add_exception_handler(AuthError, refusals(identities, account_pages(RenderContext())))
    app.add_exception_handler(Refused, refused_response)
    return IdentityMiddleware(app, identities.settings, resolver=identities.resolver)


def make_setup(
    database: Database, folder: Path, *, policy: QuotaPolicy | None = None, table: ItemTable | None = None
) -> SubmissionSetup:
    """Return a submit use case whose files are below `folder`. `table` None: the invented benchmark's."""
    items = labels.table() if table is None else table
    benchmark = BENCHMARK if table is None else table.benchmark
    reads: list[Path] = []

    def read(path: Path) -> tuple[dict[str, Any], Predictions | None]:
        reads.append(path)
        try:
            upload = parse_predictions(path.read_bytes(), items)
        except UploadRejected as rejected:
            return build_report(rejected, benchmark), None
        return build_report(upload, benchmark), upload

    spool = Spool(folder / "spool", LIMIT)
    spool.sweep()
    intake = SubmissionService(
        database,
        Uploads(folder / "uploads"),
        read=read,
        benchmark=benchmark,
        signer=SIGNER,
        policy=policy or QuotaPolicy(),
        stated=lambda session: {"upload_limit_bytes": LIMIT},
    )
    return SubmissionSetup(intake, spool, uploads=folder / "uploads", items=items, reads=reads)


def submit(
    setup: SubmissionSetup, user: Identity, *, number: int = 1, shown: EntryVisibility = PLAIN, **said: Any
) -> Accepted:
    """Return a file of its own, under a name of its own where none is given."""
    file = setup.arrive(native(setup.items) + b"\n" * number)
    return setup.intake.submit(file, parse_metadata({"model": f"Judge {number}", **said}), user, shown)
