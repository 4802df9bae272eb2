"""Entry point `python app.py`: read the settings, build the services, serve."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from contextlib import suppress
from functools import partial

from common.exit_deadline import WEB_SECONDS, run_until_signal
from common.logging_setup import log_to_stderr
from common.memory import share_arenas, shorten_pauses
from operation.replica import ReplicaUnusable
from receipts.jws import open_signer
from settings import Settings, SettingsError
from storage.database import DatabaseUnusable
from storage.database_wait import retry_while_away
from vlrb.client.jws import KeyUnusable
from vlrb.common.command_line import complain
from web.server import open_listener, serve
from web.services import build_services
from web.startup import QUIET, child_environment, claim_directory, open_service_database, prepare_files


def main() -> int:
    """Run until told to stop. Returns the exit code."""
    share_arenas()
    shorten_pauses()
    log_to_stderr()
    os.environ.update(QUIET)
    os.umask(0o077)  # hidden tallies and accounts are in files, and DATA_DIR may be a directory that others can read
    try:
        if os.environ.get("ROLE", "").strip() == "worker":  # it needs none of the web process's settings
            os.execve(sys.executable, [sys.executable, "-m", "workers"], child_environment())  # noqa: S606
        signal.signal(signal.SIGTERM, _interrupt)
        settings = Settings.from_env(os.environ)
        listener = open_listener(settings)
        lock = claim_directory(settings)  # before files of a service that runs are taken for those of a dead one
        prepare_files(settings)
        database = retry_while_away(partial(open_service_database, settings), time.sleep)
        signer = open_signer(settings.receipt_key.get_secret_value(), settings.keys_dir)
    except (SettingsError, DatabaseUnusable, ReplicaUnusable, KeyUnusable, OSError) as error:
        complain(error)
        return 2
    except KeyboardInterrupt:
        return 0
    configured = True
    with suppress(KeyboardInterrupt):
        services = build_services(settings, database, signer=signer)
        # Not asyncio.run, which waits at its end for threads that may wait for something which never answers.
        configured = asyncio.Runner().run(serve(services, listener))
    database.close()
    if lock is not None:
        lock.close()
    if not configured:
        complain("Stopped, because the worker cannot use its settings; its message above names the one.")
    return 0 if configured else 2


def _interrupt(*_: object) -> None:
    """End the start as Ctrl-C does. While it serves, the server has a handler of its own."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    run_until_signal(main, WEB_SECONDS)
