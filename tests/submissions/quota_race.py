"""One of several processes that submit at once: `python -m tests.submissions.quota_race URL FOLDER PER_DAY FILE...`.

The name of a file says who submits it. Waits for a line on standard input, so that all start together.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from auth import Identity
from predictions.spool import UploadedFile
from storage.database import is_unavailable, open_database
from submissions.metadata import Metadata
from submissions.quota import QuotaPolicy, QuotaUsed
from tests.factories.submission_service import LIMIT, make_setup, person


def submitter(path: Path) -> Identity:
    """Five people of one team, which they name in different orders: the locks overlap."""
    number = int(path.stem.rpartition("-")[2])
    return person(f"member{number % 5}", *(("lab", "guild") if number % 2 else ("guild", "lab")))


def main(url: str, folder: Path, *, per_day: int, paths: list[Path]) -> int:
    """Submit all files at once; returns how many were taken."""
    database = open_database(url)
    folder.mkdir()
    setup = make_setup(database, folder, policy=QuotaPolicy(per_day=per_day, per_year=12))
    print("ready", flush=True)
    sys.stdin.readline()

    def one(path: Path) -> int:
        while True:
            file = UploadedFile.on_disk(path, path.name, limit=LIMIT)
            try:
                setup.intake.submit(file, Metadata.parse({"model": path.name}), submitter(path))
            except QuotaUsed:
                return 0
            except DBAPIError as error:  # on a busy machine the lock takes too long; who is told so comes again
                if not is_unavailable(error):
                    raise
                continue
            return 1

    with ThreadPoolExecutor(len(paths)) as pool:
        taken = sum(pool.map(one, paths))
    database.close()
    return taken


if __name__ == "__main__":
    print(main(sys.argv[1], Path(sys.argv[2]), per_day=int(sys.argv[3]), paths=[Path(path) for path in sys.argv[4:]]))
