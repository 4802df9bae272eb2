"""A throwaway PostgreSQL server in a temporary directory, for tests that promise the same on both databases."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
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

    def new_database(self, template: str = "template1") -> str:
        """Create a database, and return its URL: an empty one, or a copy of another that nobody is connected to.

        `template`: the URL of that one.
        """
        name = f"test_{os.getpid()}_{next(_COUNTER)}"
        self._create(name, template)
        return f"postgresql://postgres@/{name}?host={self.directory}"

    def replace(self, url: str, template: str) -> None:
        """Make a database that nobody is connected to a copy of another."""
        self.drop(url)
        self._create(_name(url), template)

    def drop(self, url: str) -> None:
        """Remove such a database, and anyone who is connected to it."""
        self.execute(f"DROP DATABASE {_name(url)} WITH (FORCE)")

    def _create(self, name: str, template: str) -> None:
        self.execute(f"CREATE DATABASE {name} TEMPLATE {_name(template)} STRATEGY FILE_COPY")

    def execute(self, statement: str) -> None:
        """Run a statement of our own outside any transaction."""
        address = {"host": str(self.directory), "user": "postgres", "dbname": "postgres"}
        with psycopg.connect(**address, autocommit=True) as connection:
            connection.execute(statement.encode())

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        # Only processes die in these tests, never the machine: nothing is lost so, and it is twice as fast.
        careless = "-c fsync=off -c full_page_writes=off"
        options = f"-c listen_addresses='' -c unix_socket_directories={self.directory} {careless} -c max_wal_size=64MB"
        log = str(self.directory / "log")
        self.run("pg_ctl", "-D", self._data, "-w", "-l", log, "-o", f"{options} -c max_connections=60", "start")

    def stop(self) -> None:
        """Stop the server as a crash does."""
        self.run("pg_ctl", "-D", self._data, "-m", "immediate", "-w", "stop")

    def restart(self) -> None:
        """Restart the server as after a crash: every connection is lost."""
        self.stop()
        self.start()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Stop every process of the server: it accepts connections and answers none."""
        server = int((self.directory / "data" / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
        processes = [server, *map(int, children)]
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in processes:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGCONT)

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


def _name(url: str) -> str:
    return url.partition("?")[0].rpartition("/")[2]


def _place() -> Path:
    """Return memory where there is enough: to copy a database and to remove it takes a disk several times as long."""
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
