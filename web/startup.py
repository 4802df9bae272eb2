"""Start-up of the service: data directory, demo benchmark, signing key, environment of child processes."""

from __future__ import annotations

import fcntl
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from operation.replica import restore_items
from operation.restore import prepare_database, put_aside, record_restore, sqlite_path
from settings import SECRET_NAMES, ServedSettings, Settings, SettingsError
from storage.database import Database, open_migrated
from storage.files.spool import sweep
from storage.files.uploads import Uploads
from storage.own_boards import OtherBoards, require_own_boards
from vlrb.benchmarks.spec import MANIFEST

LOCK_FILE = "service.lock"
ROOT = Path(__file__).parents[1]
# Nothing calls home. Set before Gradio and the Hub client are imported, here and in the worker.
QUIET = {"GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_DISABLE_TELEMETRY": "1"}
_UNREACHABLE = 75  # exit code of workers.item_files: another time it may work

log = logging.getLogger(__name__)


def claim_directory(settings: Settings) -> IO[bytes] | None:
    """Return the lock of the data directory, which this process holds while the file is open.

    None with PostgreSQL, where several web processes may share a directory. A killed process holds nothing.

    Raises:
        OSError, SettingsError: with a sentence that says what to do.
    """
    if sqlite_path(settings.database_url) is None:
        return None
    with _made_directory(settings):
        lock = (settings.state_dir / LOCK_FILE).open("ab")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise SettingsError(
            f"DATA_DIR={settings.data_dir} is in use by another service. Stop that one, or name another DATA_DIR."
        ) from None
    return lock


def prepare_files(settings: Settings) -> None:
    """Make the data directory with the manifests of all benchmarks in it, and the demo's files where it is served.

    What killed processes left in it is removed; others may be at work there.

    Raises:
        OSError, SettingsError, ReplicaUnusable: with a sentence that says what to do.
    """
    try:
        uploads = Uploads(settings.uploads_url)
    except (ValueError, ImportError) as error:
        raise SettingsError(f"REPLICA_URL cannot be used: {error}") from None
    with _made_directory(settings):
        with tempfile.TemporaryFile(dir=settings.state_dir):
            pass
        settings.import_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        sweep(settings.spool_dir)
        sweep(settings.gradio_dir)
        uploads.sweep()
    os.environ["GRADIO_TEMP_DIR"] = str(settings.gradio_dir)  # before Gradio is imported
    if settings.is_demo:
        prepare_demo(settings)
    prepare_items(settings)


@contextmanager
def _made_directory(settings: Settings) -> Iterator[None]:
    """Make the data directory. Raises OSError with a sentence for whatever cannot be done in it."""
    try:
        settings.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)  # hidden tallies, accounts
        yield
    except OSError as error:
        raise OSError(
            f"DATA_DIR={settings.data_dir} cannot be used ({error.strerror}). Name a directory that can be written to."
        ) from None


def open_service_database(settings: Settings) -> Database:
    """Return the database: restored from the replica where the disk has none, with the newest schema.

    Raises:
        OtherBoards, OSError, DatabaseUnusable, ReplicaUnusable: with a sentence that says what to do.
    """
    replica = settings.replica
    restored = prepare_database(settings.database_url, replica, environ=child_environment())
    database = open_migrated(settings.database_url)
    try:
        require_own_boards(database, demo=settings.is_demo)
    except OtherBoards:
        database.close()
        if restored and (path := sqlite_path(settings.database_url)) is not None:
            put_aside(path)  # so that the next start restores again
        raise
    if restored and replica is not None:
        record_restore(database, replica)
    return database


def prepare_demo(settings: Settings) -> None:
    """Make items, labels and judges, unless they are there, in a process of their own; this one never holds a label."""
    if (settings.demo_dir / MANIFEST).exists():  # written last
        return
    command = [sys.executable, "-m", "workers.demo_files", str(settings.demo_dir)]
    subprocess.run(command, env=child_environment(), check=True)


def prepare_items(settings: Settings) -> None:
    """Make the manifests of labelled pairs, in processes of their own; this one never holds a label.

    Raises:
        SettingsError: the sources in LABELS are not the benchmark's own files; the process has printed why.
        ReplicaUnusable: the replica, which may hold manifests, cannot be read.
    """
    restore_items(settings.replica, settings.state_dir)
    for served in settings.served:
        path = served.manifest_path
        if settings.is_demo or path is None or path.exists():
            continue
        sources = [spec.source for spec in served.label_specs if spec.source]
        if not sources:
            raise SettingsError(
                f"The pairs of {served.spec.title} come from a worker, and there are none in REPLICA_URL "
                "yet. Start a worker with the same REPLICA_URL, then start this process again."
            )
        if _item_files(str(path), served.id, str(settings.definitions), *sources):
            raise SettingsError(f"No pairs of {served.spec.title} could be read from LABELS.")
    for served in settings.served:
        _prepare_texts(settings, served)


def _prepare_texts(settings: Settings, served: ServedSettings) -> None:
    """Bring texts from a dataset. While the Hub is away the board is served without them."""
    path, source = served.item_texts_path, served.item_texts_source
    if not source or path is None or path.exists():
        return
    manifest = "" if served.manifest_path is None else str(served.manifest_path)
    code = _item_files("--texts", str(path), served.id, str(settings.definitions), manifest, source)
    if code == _UNREACHABLE:
        log.error("item_file.unreachable", extra={"data": {"source": source}})
    elif code:
        raise SettingsError(f"No texts of {served.spec.title} could be read from ITEMS_FILE.")


def _item_files(*arguments: str) -> int:
    """Run the command in a process of its own; return its exit code."""
    command = [sys.executable, "-m", "workers.item_files", *arguments]
    return subprocess.run(command, env=child_environment(), check=False).returncode


def child_environment() -> dict[str, str]:
    """Return the environment without the secrets of sign-in, with the project on the import path."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return {name: value for name, value in os.environ.items() if name not in SECRET_NAMES} | {"PYTHONPATH": path}
