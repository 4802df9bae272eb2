"""Kind of file system below a directory, as /proc/mounts has it. SQLite needs a local disk with working locks."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

MOUNTS = Path("/proc/mounts")
_NETWORK = frozenset(
    [
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "ncpfs",
        "afs",
        "ceph",
        "glusterfs",
        "lustre",
        "gpfs",
        "davfs",
        "beegfs",
        "orangefs",
        "virtiofs",
        "9p",
        "fuse",
    ]
)
_LOCAL_FUSE = frozenset({"fuse.fuse-overlayfs", "fuse.overlayfs"})  # file systems of containers, on a local disk


class Mount(NamedTuple):
    """A line of /proc/mounts."""

    point: Path
    kind: str


class NotLocal(OSError):
    """The database would lie on a mounted bucket or a network file system."""

    def __init__(self, directory: Path, mount: Mount) -> None:
        super().__init__(
            f"DATA_DIR={directory} is on {mount.point}, a mounted store ({mount.kind}). SQLite loses data "
            "there. Set DATA_DIR to a directory on a local disk, even one that vanishes, and "
            f"REPLICA_URL={mount.point}/replica."
        )


def mount_of(directory: Path, mounts: str) -> Mount | None:
    """Return the mount that holds a directory, which need not exist yet; None where the list does not say."""
    results = [mount for mount in map(_mount, mounts.splitlines()) if mount and directory.is_relative_to(mount.point)]
    # The longest path wins; of several on one point the last, which hides those before it.
    return max(enumerate(results), key=lambda pair: (len(pair[1].point.parts), pair[0]))[1] if results else None


def is_remote(mount: Mount) -> bool:
    """Return whether files of this mount are kept elsewhere. The root of a sandbox may be 9p and yet local."""
    kind = mount.kind
    if kind in _LOCAL_FUSE or (kind == "9p" and mount.point == Path("/")):
        return False
    return kind in _NETWORK or kind.startswith("fuse.")


def require_local(directory: Path, mounts: Path = MOUNTS) -> None:
    """Raise NotLocal where a database in this directory would not be on a local disk. Without /proc: nothing."""
    try:
        listed = mounts.read_text("utf-8", "replace")
    except OSError:
        return
    mount = mount_of(directory.resolve(), listed)
    if mount is not None and is_remote(mount):
        raise NotLocal(directory, mount)


def _mount(line: str) -> Mount | None:
    fields = line.split()
    if len(fields) < 3:
        return None
    return Mount(Path(fields[1].encode().decode("unicode_escape")), fields[2])  # a space is written \040
