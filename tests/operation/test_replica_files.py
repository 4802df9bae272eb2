"""Files in the replica: label sets, heads and manifests as they are; a place that takes nothing is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from operation.replica import FolderMirror, Replica, ReplicaUnusable, restore_items, worker_mirrors
from operation.restore import prove
from settings import Settings


@pytest.fixture(params=["directory", "url"])
def replica(request: pytest.FixtureRequest, tmp_path: Path) -> Replica:
    (tmp_path / "replica").mkdir()
    return Replica(("" if request.param == "directory" else "local://") + str(tmp_path / "replica"))


def test_a_folder_is_copied_restored_and_follows_removals(tmp_path: Path, replica: Replica) -> None:
    here = FolderMirror(tmp_path / "labels", "labels", replica=replica)
    assert (here.copy(), here.restore()) == (0, 0)
    here.folder.mkdir()
    for name in ("v3.json", "v4.json", ".incoming-x.json"):
        (here.folder / name).write_text(name)
    assert (here.copy(), here.copy()) == (2, 0)
    new = FolderMirror(tmp_path / "new disk", "labels", replica=replica)
    assert new.restore() == 2
    assert sorted(path.name for path in new.folder.iterdir()) == ["v3.json", "v4.json"]
    assert new.restore() == 0, "what is there stays"
    (here.folder / "v3.json").unlink()
    assert here.copy() == 1
    assert replica.files("labels") == {"v4.json"}


def test_imported_labels_of_every_benchmark_come_back(tmp_path: Path, replica: Replica) -> None:
    stored, here = Path("labels", "demo", "v3.json"), tmp_path / "data"
    (here / stored).parent.mkdir(parents=True)
    (here / stored).write_text("labels")
    for mirror in worker_mirrors(replica, here):
        mirror.copy()
    new = tmp_path / "new disk"
    assert [mirror.restore() for mirror in worker_mirrors(replica, new)] == [1, 0, 0]
    assert (new / stored).read_text() == "labels"
    assert (new / stored).stat().st_mode & 0o777 == 0o600
    assert (new / stored).parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(("place", "options"), [("/r", ""), ("s3://bucket/r", "?endpoint=http://s3.example")])
def test_the_demo_has_a_part_of_its_own_in_the_replica(place: str, options: str) -> None:
    base = {"IDENTITY": "local", "RECEIPT_KEY": "A" * 43 + "=", "REPLICA_URL": place + options}
    demo, real = Settings.from_env(base), Settings.from_env({**base, "LABELS": "v2=/labels.jsonl"})
    assert demo.replica is not None
    assert demo.replica.url == f"{place}/demo{options}"
    assert demo.uploads_url == f"{place}/demo/uploads{options}"
    assert real.replica == Replica(place + options)


def test_a_mount_that_failed_is_noticed_by_the_demo_too(tmp_path: Path) -> None:
    replica = Replica(str(tmp_path / "bucket")).part("demo")
    with pytest.raises(ReplicaUnusable, match=f"REPLICA_URL={tmp_path}/bucket is not a directory"):
        prove(replica, None)
    (tmp_path / "bucket").mkdir()
    prove(replica, None)


def test_an_address_keeps_its_options_below() -> None:
    place = Replica("s3://bucket/a/?endpoint=http://s3.example&region=r")
    assert place.below("uploads") == "s3://bucket/a/uploads?endpoint=http://s3.example&region=r"
    assert place.public_name == "s3://bucket/a/ at http://s3.example"
    assert Replica("sftp://anna:pass@host/a").public_name == "sftp://host/a"
    assert Replica("sftp://anna:pass@host/a").litestream() == {"url": "sftp://anna:pass@host/a/database"}


def test_a_manifest_of_items_comes_back_before_another_is_made(tmp_path: Path, replica: Replica) -> None:
    (tmp_path / "data" / "items").mkdir(parents=True)
    (tmp_path / "data" / "items" / "other.json").write_text("the items that votes were read with")
    for mirror in worker_mirrors(replica, tmp_path / "data"):
        mirror.copy()
    assert restore_items(replica, tmp_path / "new disk") == 1
    restored = tmp_path / "new disk" / "items" / "other.json"
    assert restored.read_text() == "the items that votes were read with"
    assert restore_items(None, tmp_path / "new disk") == restore_items(replica, tmp_path / "new disk") == 0
