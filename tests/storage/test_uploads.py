"""Raw uploads: kept once, whole, on the disk before they are acknowledged; and the spool before them."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from pathlib import Path

import pytest

from storage.files.object_store import failure_reason, public_address
from storage.files.spool import Spool
from storage.files.uploads import UploadDamaged, Uploads

CONTENT = b'{"id": "POVID-1", "votes": [0]}\n' * 1000
NAME = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(params=["directory", "url"])
def uploads(request: pytest.FixtureRequest, tmp_path: Path) -> Uploads:
    return Uploads(tmp_path / "uploads" if request.param == "directory" else f"local://{tmp_path}/remote")


def test_what_is_kept_can_be_read(uploads: Uploads, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(CONTENT)
    assert uploads.keep(tmp_path / "file") == NAME
    assert uploads.keep(CONTENT) == NAME
    assert uploads.read(NAME) == CONTENT
    assert uploads.read(uploads.keep(b"")) == b""


def test_the_same_content_may_come_from_many_at_once(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path)
    names: list[str] = []
    threads = [threading.Thread(target=lambda: names.append(uploads.keep(CONTENT))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert names == [NAME] * 20
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [NAME]


def test_file_then_rename_then_directory_reach_the_disk_in_this_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def seen_fsync(descriptor: int) -> None:
        path = Path(f"/proc/self/fd/{descriptor}").resolve()
        steps.append("directory" if path.is_dir() else "file")
        fsync(descriptor)

    def seen_replace(self: Path, target: Path) -> Path:
        steps.append("rename")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", seen_fsync)
    monkeypatch.setattr(Path, "replace", seen_replace)
    Uploads(tmp_path / "uploads").keep(CONTENT)
    assert steps == ["directory", "directory", "file", "rename", "directory"]


@pytest.mark.parametrize("damage", [CONTENT[:-1], CONTENT[:-2] + b"x\n", b""])
def test_damage_is_noticed_on_reading_and_repaired_by_the_same_upload(tmp_path: Path, damage: bytes) -> None:
    uploads = Uploads(tmp_path)
    uploads.keep(CONTENT)
    (tmp_path / NAME[:2] / NAME).write_bytes(damage)
    with pytest.raises(UploadDamaged):
        uploads.read(NAME)
    uploads.keep(CONTENT)
    assert uploads.read(NAME) == CONTENT


def test_what_was_cut_off_elsewhere_is_replaced_by_the_same_upload(tmp_path: Path) -> None:
    uploads = Uploads(f"local://{tmp_path}/remote")
    (tmp_path / "remote" / NAME[:2]).mkdir(parents=True)
    (tmp_path / "remote" / NAME[:2] / NAME).write_bytes(CONTENT[:10])
    uploads.keep(CONTENT)
    assert uploads.read(NAME) == CONTENT


def test_a_name_is_never_a_path(uploads: Uploads) -> None:
    for name in ("../../etc/passwd", "", NAME.upper(), NAME + "\n", "a" * 63):
        with pytest.raises(ValueError):
            uploads.read(name)


def test_what_interrupted_writes_left_is_swept_but_not_what_is_being_written(tmp_path: Path) -> None:
    assert (Uploads(tmp_path / "away").sweep(), (tmp_path / "away").exists()) == (0, False)
    uploads = Uploads(tmp_path)
    uploads.keep(CONTENT)
    old, new = (tmp_path / NAME[:2] / f".incoming-{name}" for name in ("old", "new"))
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 7200,) * 2)
    assert uploads.sweep() == 1
    assert (old.exists(), new.exists()) == (False, True)
    assert uploads.read(NAME) == CONTENT


def test_a_store_that_is_away_is_named_with_its_endpoint_and_without_its_keys() -> None:
    url = "s3://key:canary@bucket/x?endpoint=http://user:canary@127.0.0.1:9&region=canary"
    assert public_address(url) == "s3://bucket/x at http://127.0.0.1:9"
    words = "existence of 'canary': AWS Error NETWORK_CONNECTION: curlCode: 7, Could not connect to server; canary"
    assert failure_reason(OSError(words)) == "Could not connect to server"
    assert failure_reason(OSError("AWS Error ACCESS_DENIED during PutObject: canary")) == "ACCESS_DENIED"
    assert failure_reason(ValueError("canary")) == "ValueError"


def test_a_second_process_leaves_an_upload_in_flight_alone(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool", limit=100)
    spool.sweep()
    left = spool.folder / "left"
    left.write_bytes(b"x")
    os.utime(left, (time.time() - 7200,) * 2)
    with spool.incoming() as incoming:
        incoming.write(b"in flight")
        assert Spool(spool.folder, limit=100).sweep() == 1
        assert incoming.finish("x").path.read_bytes() == b"in flight"
    assert not left.exists()
