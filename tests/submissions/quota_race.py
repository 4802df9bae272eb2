"""One of several processes that submit at once. The name of a file says who submits it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from auth import Identity
from storage.database import is_unavailable, open_database
from storage.files.spool import UploadedFile
from submissions.metadata import parse_metadata
from submissions.quota import QuotaPolicy, QuotaUsed
from tests.factories.submission_service import LIMIT, make_setup, person


def submitter(path: Path) -> Identity:
    """Five people of one team, which they name in different orders: the locks overlap."""
    number = int(path.stem.rpartition("-")[2])
    return person(f"member{number % 5}", *(("lab", "guild") if number % 2 else ("guild", "lab")))


def race(url: str, folder: Path, *, paths: list[Path], together: Barrier, taken: Queue[int]) -> None:
    """Submit all files at once, three a day at most, when all processes are ready; say how many were taken."""
    database = open_database(url)
    folder.mkdir()
    setup = make_setup(database, folder, policy=QuotaPolicy(per_day=3, per_year=12))
    together.wait(120)

    def one(path: Path) -> int:
        while True:
            file = UploadedFile.on_disk(path, path.name, limit=LIMIT)
            try:
                setup.intake.submit(file, parse_metadata({"model": path.name}), submitter(path))
            except QuotaUsed:
                return 0
            except DBAPIError as error:  # on a busy machine the lock takes too long; who is told so comes again
                if not is_unavailable(error):
                    raise
                continue
            return 1

    with ThreadPoolExecutor(len(paths)) as pool:
        taken.put(sum(pool.map(one, paths)))
    database.close()
