"""Small files in the replica: the receipt key under a secret, label sets and heads as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from operation.replication.folder_mirror import FolderMirror, restore_items, worker_mirrors
from operation.replication.litestream import ReplicaUnusable
from operation.replication.replica import Replica
from operation.replication.sealed_key import NAME, keep_key, restore_key
from operation.start import prove
from settings import Settings, SettingsError


@pytest.fixture(params=["directory", "url"])
def replica(request: pytest.FixtureRequest, tmp_path: Path) -> Replica:
    (tmp_path / "replica").mkdir()
    return Replica(("" if request.param == "directory" else "local://") + str(tmp_path / "replica"))


def test_a_key_comes_back_under_its_secret_and_under_no_other(tmp_path: Path, replica: Replica) -> None:
    key, elsewhere = tmp_path / "keys" / "receipt.key", tmp_path / "new disk" / "receipt.key"
    key.parent.mkdir()
    key.write_bytes(b"private words")
    assert keep_key(replica, key, secret="secret")
    stored = replica.read(NAME)
    assert stored is not None
    assert b"private words" not in stored
    with pytest.raises(ReplicaUnusable, match="another secret"):
        restore_key(replica, elsewhere, secret="guess")
    assert restore_key(replica, elsewhere, secret="secret")
    assert elsewhere.read_bytes() == b"private words"
    assert elsewhere.stat().st_mode & 0o777 == 0o600


def test_a_key_whose_secret_changed_is_encrypted_again(tmp_path: Path, replica: Replica) -> None:
    key = tmp_path / "receipt.key"
    key.write_bytes(b"private words")
    for secret in ("old", "new"):
        assert keep_key(replica, key, secret=secret)
    assert restore_key(replica, tmp_path / "another.key", secret="new")


def test_without_a_secret_no_key_leaves_the_disk(tmp_path: Path, replica: Replica) -> None:
    (tmp_path / "receipt.key").write_bytes(b"private words")
    assert not keep_key(replica, tmp_path / "receipt.key", secret="")
    assert replica.read(NAME) is None


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
def test_the_demo_has_a_part_of_its_own_in_the_replica_and_among_the_copies(place: str, options: str) -> None:
    base = {"IDENTITY": "local", "REPLICA_URL": place + options, "BACKUP_URL": f"{place}-copies{options}"}
    demo, real = Settings.from_env(base), Settings.from_env({**base, "LABELS": "v2=/labels.jsonl"})
    assert demo.replica is not None
    assert demo.replica.url == f"{place}/demo{options}"
    assert demo.uploads_url == f"{place}/demo/uploads{options}"
    assert demo.backup_url == f"{place}-copies/demo{options}"
    assert (real.replica, real.backup_url) == (Replica(place + options), f"{place}-copies{options}")


def test_a_mount_that_failed_is_noticed_by_the_demo_too(tmp_path: Path) -> None:
    replica = Replica(str(tmp_path / "bucket")).part("demo")
    with pytest.raises(ReplicaUnusable, match=f"REPLICA_URL={tmp_path}/bucket is not a directory"):
        prove(replica, None)
    (tmp_path / "bucket").mkdir()
    prove(replica, None)


def test_an_address_keeps_its_options_below() -> None:
    place = Replica("s3://bucket/a/?endpoint=http://s3.example&region=r")
    assert place.below("uploads") == "s3://bucket/a/uploads?endpoint=http://s3.example&region=r"
    assert place.public_name == "s3://bucket/a/"
    assert Replica("sftp://anna:pass@host/a").public_name == "sftp://host/a"
    assert Replica("sftp://anna:pass@host/a").litestream() == {"url": "sftp://anna:pass@host/a/database"}


def test_replicated_is_refused_where_nothing_could_confirm_it() -> None:
    base = {"IDENTITY": "local", "DURABILITY": "replicated", "LABELS": "v2=/labels.jsonl"}
    with pytest.raises(SettingsError, match="needs REPLICA_URL"):
        Settings.from_env(base)
    with pytest.raises(SettingsError, match="synchronous_standby_names"):
        Settings.from_env({**base, "REPLICA_URL": "/r", "DATABASE_URL": "postgresql://host/name"})
    assert Settings.from_env({**base, "REPLICA_URL": "/r"}).uploads_url == "/r/uploads"
    assert Settings.from_env({**base, "REPLICA_URL": "/r", "UPLOADS_URL": "/u"}).uploads_url == "/u"


def test_a_manifest_of_items_comes_back_before_another_is_made(tmp_path: Path, replica: Replica) -> None:
    (tmp_path / "data" / "items").mkdir(parents=True)
    (tmp_path / "data" / "items" / "other.json").write_text("the items that votes were read with")
    for mirror in worker_mirrors(replica, tmp_path / "data"):
        mirror.copy()
    assert restore_items(replica, tmp_path / "new disk") == 1
    restored = tmp_path / "new disk" / "items" / "other.json"
    assert restored.read_text() == "the items that votes were read with"
    assert restore_items(None, tmp_path / "new disk") == restore_items(replica, tmp_path / "new disk") == 0
