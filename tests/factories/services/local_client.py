"""The whole application without a server, asked from this machine."""

from __future__ import annotations

from pathlib import Path

from starlette.testclient import TestClient

from settings import Settings
from storage.database import Database
from tests.factories.submission_service import SIGNER
from web.app import create_app
from web.services import build_services


def local_client(database: Database, folder: Path, *, host: str = "127.0.0.1", **environ: str) -> TestClient:
    """Return a client of a local installation; `host`: where it asks from."""
    base = {"DATA_DIR": str(folder), "LABELS": "v2=/labels.jsonl", "IDENTITY": "local"}
    services = build_services(Settings.from_env({**base, **environ}), database, signer=SIGNER)
    app = create_app(services, on_misconfigured=lambda: None)
    return TestClient(app, base_url="http://127.0.0.1", client=(host, 5), raise_server_exceptions=False)
