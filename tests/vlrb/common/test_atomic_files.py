"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from vlrb.common import atomic_files


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def _names(directory: Path) -> list[str]:
    return [path.name for path in directory.iterdir()]


def test_of_many_writers_at_once_the_first_ones_content_stays(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    with ThreadPoolExecutor(8) as pool:
        wrote = list(
            pool.map(lambda number: (atomic_files.write_once(path, b"%d" % number), b"%d" % number), range(40))
        )
    assert [content for first, content in wrote if first] == [path.read_bytes()]
    assert not atomic_files.write_once(path, b"later", mode=atomic_files.PUBLIC)
    assert (_mode(path), _names(path.parent)) == (0o600, ["file"])


def test_a_write_replaces_what_is_there_and_says_who_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for content, mode in ((b"a secret", atomic_files.SECRET), (b"for all", atomic_files.PUBLIC)):
        atomic_files.write(path, content, mode=mode)
        assert (path.read_bytes(), _mode(path), _names(tmp_path)) == (content, mode, ["file"])


@pytest.mark.parametrize("write", [atomic_files.write, atomic_files.write_once])
def test_a_disk_that_fails_leaves_what_was_there_and_nothing_beside_it(
    write: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "file"
    atomic_files.write(path, b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="space"):
        write(path, b"new")  # type: ignore[operator]
    assert (path.read_bytes(), _names(tmp_path)) == (b"old", ["file"])


def test_file_and_directory_are_synced_before_it_says_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    real = os.fsync

    def note(descriptor: int) -> None:
        synced.append("directory" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    atomic_files.write_once(tmp_path / "file", b"new")
    assert synced == ["file", "directory"]
