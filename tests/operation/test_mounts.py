"""A database on a mounted bucket or a network file system is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from operation.mounts import NotLocal, is_remote, mount_of, require_local

MOUNTS = """overlay / overlay rw 0 0
proc /proc proc rw 0 0
bucket /data fuse.hf-mount rw 0 0
server:/home /home nfs4 rw 0 0
/dev/sdb1 /home/local ext4 rw 0 0
/dev/sdc1 /mnt/two\\040words xfs rw 0 0
host /mnt/share 9p rw 0 0
"""


@pytest.mark.parametrize(
    ("directory", "kind", "remote"),
    [
        ("/srv/data", "overlay", False),
        ("/data", "fuse.hf-mount", True),
        ("/data/demo/deeper", "fuse.hf-mount", True),
        ("/database", "overlay", False),
        ("/home/anna", "nfs4", True),
        ("/home/local/anna", "ext4", False),
        ("/mnt/two words/x", "xfs", False),
        ("/mnt/share", "9p", True),
    ],
)
def test_the_mount_with_the_longest_path_decides(directory: str, kind: str, remote: bool) -> None:
    mount = mount_of(Path(directory), MOUNTS)
    assert mount is not None
    assert (mount.kind, is_remote(mount)) == (kind, remote)


def test_a_root_that_a_sandbox_serves_by_9p_counts_as_local() -> None:
    mount = mount_of(Path("/srv"), "none / 9p rw 0 0\n")
    assert mount is not None
    assert not is_remote(mount)


def test_a_mount_over_another_one_hides_it() -> None:
    mount = mount_of(Path("/data"), "a /data ext4 rw 0 0\nb /data fuse.s3fs rw 0 0\n")
    assert mount is not None
    assert mount.kind == "fuse.s3fs"


def test_the_refusal_says_where_the_data_goes_instead(tmp_path: Path) -> None:
    listed = tmp_path / "mounts"
    listed.write_text(f"bucket {tmp_path} fuse.hf-mount rw 0 0\n")
    with pytest.raises(NotLocal, match=f"REPLICA_URL={tmp_path}/replica"):
        require_local(tmp_path / "data", listed)
    require_local(tmp_path / "data", tmp_path / "no such list")
