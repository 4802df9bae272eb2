"""Parsing of an untrusted file in a child process with limits on memory, processor time and wall clock.

The child is ``python -m submissions.sandbox PATH BENCHMARK DEFINITIONS MEMORY SECONDS``. It inherits no environment but
a path and a locale, lowers its own limits before it opens the file, and prints one JSON object: ``report`` (the check
report) and, if the file can be scored, ``upload`` (format, revision, items, votes_per_item, table_items, behaviour,
and ``votes``: base64 of the packed votes). A child that is killed, out of memory or too slow becomes a rejection with
the code too-expensive. Whatever else ends it, and strange output, is a fault of this service: ReadingFailed.
"""

from __future__ import annotations

import base64
import errno
import json
import logging
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common.exit_deadline import end_with_parent
from common.refused import Refused
from vlrb.behaviour import Behaviour
from vlrb.benchmarks.items import load_table
from vlrb.benchmarks.spec import DEFAULT_BENCHMARK, DEFINITIONS
from vlrb.benchmarks.spec_file import load_spec
from vlrb.common.messages import Message, _, message_of, replaced
from vlrb.predictions.parse import Predictions, UploadRejected, build_report, parse_predictions
from vlrb.readers.problems import ProblemCollector
from vlrb.votes import Votes, pack_margins, unpack_margins

_ROOT = Path(__file__).resolve().parent.parent
_OUTPUT_LIMIT = 4 * 2**20
_ERRORS_KEPT = 4096  # bytes of what the child said last
_OUT_OF_MEMORY = 3  # the child's exit code
_MEMORY_WORDS = (b"MemoryError", b"Cannot allocate memory", b"failed to map segment")

log = logging.getLogger(__name__)


class ReadingFailed(Refused):
    """The service could not read a file, through no fault of the file; the log says why."""

    status, code = 500, "internal"

    def __init__(self) -> None:
        super().__init__(_("The file could not be read: a fault of the service, not of your file. Try again later."))


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on reading one file."""

    memory_bytes: int = 1536 * 2**20  # of address space; the libraries alone reserve some hundred MB of it
    cpu_seconds: int = 10
    wall_seconds: float = 60.0


DEFAULT_LIMITS = Limits()

Result = tuple[dict[str, Any], Predictions | None]
"""The check report and, if it is ok, the votes."""


def read_isolated(
    path: Path,
    benchmark: str | Path = DEFAULT_BENCHMARK,
    *,
    limits: Limits = DEFAULT_LIMITS,
    definitions: Path = DEFINITIONS,
) -> Result:
    """Read a file in a child process.

    ``benchmark``: its id, or the path of a manifest. ``definitions``: where definitions of benchmarks are.

    Raises:
        ReadingFailed: the child failed although it kept to its limits.
    """
    try:
        done = subprocess.run(
            _command(path, benchmark, limits=limits, definitions=definitions),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=_ROOT,
            env=_environment(),
            start_new_session=True,
            timeout=limits.wall_seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _too_expensive(benchmark, limits)
    return _result(
        done.stdout, done.stderr[-_ERRORS_KEPT:], returncode=done.returncode, benchmark=benchmark, limits=limits
    )


def _command(path: Path, benchmark: str | Path, *, limits: Limits, definitions: Path) -> list[str]:
    table = str(benchmark.absolute()) if isinstance(benchmark, Path) else benchmark
    numbers = [str(limits.memory_bytes), str(limits.cpu_seconds)]
    command = [sys.executable, "-s", "-m", "submissions.sandbox"]
    return [*command, str(path.absolute()), table, str(definitions.absolute()), *numbers]


def _environment() -> dict[str, str]:
    """No secret, and one thread: each thread of numpy reserves address space, and so does Arrow's own allocator."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH") if name in os.environ}
    return {
        **kept,
        "LC_ALL": "C.UTF-8",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
    }


def _result(output: bytes, errors: bytes, *, returncode: int, benchmark: str | Path, limits: Limits) -> Result:
    """Return what the child printed, or a rejection in its stead. Raises ReadingFailed."""
    if returncode < 0 or returncode == _OUT_OF_MEMORY or (returncode and any(map(errors.__contains__, _MEMORY_WORDS))):
        return _too_expensive(benchmark, limits)
    try:
        if returncode == 0 and len(output) <= _OUTPUT_LIMIT:
            answer = json.loads(output, object_hook=message_of)
            report, upload = answer["report"], answer["upload"]
            return report, _unpacked(upload, report) if upload else None
    except (ValueError, LookupError, TypeError, AttributeError):
        pass
    message = errors.decode(errors="replace").strip()
    log.error("reading.failed", extra={"data": {"exit_code": returncode, "bytes": len(output), "stderr": message}})
    raise ReadingFailed


def _too_expensive(benchmark: str | Path, limits: Limits) -> Result:
    name = benchmark if isinstance(benchmark, str) else _benchmark_of(benchmark)
    message = _(
        "reading this file took more than {cpu_seconds} s or {memory_bytes:,} MiB; a prediction file "
        "takes a second. Upload the file that your tool wrote, unchanged.",
        cpu_seconds=limits.cpu_seconds,
        memory_bytes=limits.memory_bytes // 2**20,
    )
    return build_report(ProblemCollector().reject("too-expensive", message), name), None


def _benchmark_of(manifest: Path) -> str:
    try:
        return str(json.loads(manifest.read_bytes())["benchmark"])
    except (OSError, ValueError, KeyError):
        return manifest.stem


def _packed(upload: Predictions) -> dict[str, Any]:
    """Return what the report does not have."""
    margins = pack_margins(upload.margins)
    return {
        "table_items": len(upload.votes.matrix),
        "behaviour": upload.behaviour.to_json(),
        "votes": base64.b64encode(upload.votes.pack()).decode(),
        "orders": upload.orders and base64.b64encode(upload.orders.pack()).decode(),
        "margins": margins and base64.b64encode(margins).decode(),
    }


def _unpacked(packed: dict[str, Any], report: dict[str, Any]) -> Predictions:
    """Return what was packed; its warnings and samples are in the report alone."""
    votes, orders = (
        packed[name] and Votes.unpack(base64.b64decode(packed[name]), packed["table_items"], k=report["votes_per_item"])
        for name in ("votes", "orders")
    )
    return Predictions(
        report["format"],
        report["revision"],
        votes=votes,
        behaviour=Behaviour.from_json(packed["behaviour"]),
        items=report["items"],
        warnings=(),
        orders=orders,
        margins=unpack_margins(packed["margins"] and base64.b64decode(packed["margins"])),
    )


def _lower_limits(memory_bytes: int, cpu_seconds: int) -> None:
    """Lower this process's own limits for good (POSIX)."""
    import resource  # not on Windows

    for kind, limit in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        wanted = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (wanted, wanted))


def _read_here(path: Path, benchmark: str, *, definitions: Path) -> dict[str, Any]:
    """Return the child's answer."""
    manifest = Path(benchmark)
    if manifest.is_absolute():
        table = load_table(manifest, definitions=definitions)
    else:
        table = load_table(spec=load_spec(benchmark, definitions))
    try:
        upload = parse_predictions(path.read_bytes(), table)
    except UploadRejected as rejection:
        return {"report": build_report(rejection, table.benchmark), "upload": None}
    report = build_report(upload, table.benchmark)
    return {"report": report, "upload": _packed(upload) if report["ok"] else None}


def _main(arguments: list[str]) -> int:
    path, benchmark, definitions, memory_bytes, cpu_seconds = arguments
    try:
        end_with_parent(os.getppid(), signal.SIGKILL)
        _lower_limits(int(memory_bytes), int(cpu_seconds))
        answer = replaced(_read_here(Path(path), benchmark, definitions=Path(definitions)), Message.to_json)
        sys.stdout.write(json.dumps(answer, default=str))
    except MemoryError:
        return _OUT_OF_MEMORY
    except OSError as error:
        if error.errno != errno.ENOMEM:
            raise
        return _OUT_OF_MEMORY
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
