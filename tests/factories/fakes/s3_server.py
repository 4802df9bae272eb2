"""moto's S3 server as a process of its own, spoken to over a socket."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.factories.services.service import ROOT, until

KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
PROGRAM = ROOT / ".venv-s3" / "bin" / "moto_server"


@dataclass(frozen=True)
class S3Server:
    """A running server with one bucket."""

    endpoint: str
    bucket: str = "board"

    def url(self, path: str) -> str:
        """Return the address of a path in the bucket, as a setting has it."""
        return f"s3://{self.bucket}/{path}?endpoint={self.endpoint}&region=us-east-1"


@contextmanager
def running_s3(log_path: Path) -> Iterator[S3Server]:
    """Start the server with an empty bucket; skip the test where scripts/make_s3_env.sh has not run."""
    if not PROGRAM.exists():
        reason = "needs an S3 server: scripts/make_s3_env.sh"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = S3Server(f"http://127.0.0.1:{port}")
    with log_path.open("wb") as log:
        process = subprocess.Popen([PROGRAM, "-H", "127.0.0.1", "-p", str(port)], stdout=log, stderr=log)
    try:
        until(lambda: _answers(server.endpoint), 60, what="the S3 server answers")
        httpx.put(f"{server.endpoint}/{server.bucket}").raise_for_status()
        yield server
    finally:
        process.kill()
        process.wait()


def _answers(endpoint: str) -> bool:
    try:
        return httpx.get(endpoint).status_code == 200
    except httpx.HTTPError:
        return False
