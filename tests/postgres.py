"""A throwaway PostgreSQL server in a temporary directory, for tests that promise the same on both databases."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

_COUNTER = itertools.count(1)
_ENOUGH_BYTES = 4 * 2**30  # a cluster of a whole run has 0.2 GB


def binaries() -> Path | None:
    """Return the newest server binaries of this machine; None where there is no PostgreSQL."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3].split(".")[0]))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None


def why_unavailable() -> str | None:
    """Return why no server can be started here, in words for a test report; None where one can."""
    if binaries() is None:
        return "no PostgreSQL server on this machine (initdb not found)"
    if os.geteuid() == 0 and shutil.which("runuser") is None:
        return "PostgreSQL refuses to run as root, and there is no runuser to become another user"
    return None


@dataclass(frozen=True)
class Cluster:
    """A running server that listens on a Unix socket in its own directory only."""

    directory: Path
    bin: Path
    prefix: tuple[str, ...] = field(default=())

    def new_database(self) -> str:
        """Create an empty schema and returns a URL that sees nothing else; a database of its own would take 7 MB."""
        name = f"test_{os.getpid()}_{next(_COUNTER)}"
        self.execute(f"CREATE SCHEMA {name}")
        return f"postgresql://postgres@/postgres?host={self.directory}&options=-csearch_path%3D{name}"

    def copy_of(self, template: str | None = None) -> tuple[str, str]:
        """Create a database of its own, as a copy of another that nobody is connected to: its name and its URL."""
        name = f"copy_{os.getpid()}_{next(_COUNTER)}"
        more = f" TEMPLATE {template} STRATEGY WAL_LOG" if template else ""
        self.execute(f"CREATE DATABASE {name}{more}")
        return name, f"postgresql://postgres@/{name}?host={self.directory}"

    def drop(self, name: str) -> None:
        """Remove such a database, and anyone who is connected to it."""
        self.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def execute(self, statement: str) -> None:
        """Run a statement of our own outside any transaction."""
        address = {"host": str(self.directory), "user": "postgres", "dbname": "postgres"}
        with psycopg.connect(**address, autocommit=True) as connection:
            connection.execute(statement.encode())

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        # Only processes die in these tests, never the machine: nothing is lost so, and it is twice as fast.
        careless = "-c fsync=off -c full_page_writes=off"
        options = f"-c listen_addresses='' -c unix_socket_directories={self.directory} {careless}"
        log = str(self.directory / "log")
        self.run("pg_ctl", "-D", self._data, "-w", "-l", log, "-o", f"{options} -c max_connections=60", "start")

    def stop(self) -> None:
        """Stop the server as a crash does."""
        self.run("pg_ctl", "-D", self._data, "-m", "immediate", "-w", "stop")

    def restart(self) -> None:
        """Restart the server as after a crash: every connection is lost."""
        self.stop()
        self.start()

    @property
    def _data(self) -> str:
        return str(self.directory / "data")

    def run(self, program: str, *arguments: str) -> None:
        """Run one of the server's programs as the user that owns it."""
        command = [*self.prefix, str(self.bin / program), *arguments]
        # Output goes to a file: the server inherits it, and a pipe would keep us waiting for its end.
        with tempfile.TemporaryFile() as output:
            done = subprocess.run(command, cwd="/", stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
            if done.returncode != 0:
                output.seek(0)
                raise RuntimeError(f"{program} failed: {output.read().decode(errors='replace')}")


def _place() -> Path:
    """Return memory where there is enough: a disk takes seconds to remove the 20,000 files of hundreds of schemas."""
    memory = Path("/dev/shm")
    return memory if memory.is_dir() and shutil.disk_usage(memory).free > _ENOUGH_BYTES else Path("/tmp")


@contextmanager
def running_cluster() -> Iterator[Cluster]:
    """Start a server and removes it with all its data at the end. Raises RuntimeError where that is not possible."""
    reason = why_unavailable()
    directory_of_programs = binaries()
    if reason is not None or directory_of_programs is None:
        raise RuntimeError(reason)
    # Short, because the path of a Unix socket may have 107 characters at most.
    directory = Path(tempfile.mkdtemp(prefix="pg", dir=_place()))
    prefix: tuple[str, ...] = ()
    if os.geteuid() == 0:
        shutil.chown(directory, "postgres")
        prefix = ("runuser", "-u", "postgres", "--")
    cluster = Cluster(directory, directory_of_programs, prefix=prefix)
    data = str(directory / "data")
    try:
        cluster.run("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        cluster.start()
        try:
            yield cluster
        finally:
            with suppress(RuntimeError):  # a test may have stopped it
                cluster.stop()
    finally:
        shutil.rmtree(directory, ignore_errors=True)
