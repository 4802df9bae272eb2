"""The daily check of stored uploads: a lost or damaged file is named, once a day, and cleared when it is back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from operation.replication import stored_uploads
from storage.database import Database
from storage.files.uploads import Uploads
from tests.databases import new_database
from tests.factories import small_benchmark


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    found = new_database(f"sqlite:///{tmp_path}/leaderboard.db")
    yield found
    found.close()


def with_files(database: Database, uploads: Uploads, *, number: int) -> list[str]:
    """Submissions whose files are stored; their digests."""
    digests = [uploads.keep(f"file {place}".encode()) for place in range(number)]
    for place, digest in enumerate(digests):
        small_benchmark.submit(database, range(place, place + 1), content_sha256=digest)
    return digests


def test_a_lost_and_a_damaged_upload_are_named_and_cleared(
    tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "uploads"
    uploads = Uploads(root)
    lost, damaged, _ = with_files(database, uploads, number=3)
    path = root / damaged[:2] / damaged
    content = path.read_bytes()
    path.write_bytes(b"another")
    (root / lost[:2] / lost).rename(tmp_path / "aside")
    found = stored_uploads.check_daily(database, uploads)
    assert found is not None
    assert sorted(sentence.split()[-1] for sentence in found) == ["damaged.", "missing."]
    assert stored_uploads.check_daily(database, uploads) is None, "once a day"
    with database.read() as session:
        alarm = stored_uploads.alarm(session)
    assert alarm is not None
    assert "ask its owner" in alarm.sentence
    path.write_bytes(content)
    (tmp_path / "aside").rename(root / lost[:2] / lost)
    monkeypatch.setattr(stored_uploads, "_EVERY", 0.0)
    assert stored_uploads.check_daily(database, uploads) == []
    with database.read() as session:
        assert stored_uploads.alarm(session) is None
