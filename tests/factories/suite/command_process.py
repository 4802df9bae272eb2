"""A process that runs commands one after the other, for what is imported or read from the environment once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.factories.suite.programs import Finished, run_main

ROOT = Path(__file__).parents[3]


class CommandProcess:
    """The process. `environ`: what it has of its own besides that of the tests; `folder`: where it works."""

    def __init__(self, environ: Mapping[str, str], folder: Path) -> None:
        environ = {**os.environ, "PYTHONPATH": str(ROOT), **environ}
        command, pipe = [sys.executable, "-m", __name__], subprocess.PIPE
        self._process = subprocess.Popen(command, cwd=folder, env=environ, stdin=pipe, stdout=pipe, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.communicate()

    def run(self, module: str, *arguments: str, **environ: str) -> Finished:
        """Call `main` of a module with arguments; `environ` is for this call alone.

        Raises:
            AssertionError: the process has ended.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        print(json.dumps([module, arguments, environ]), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        assert answer, f"it ended with {self._process.wait()}"
        return Finished(arguments, *json.loads(answer))


def _main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # nothing else is to be printed between the answers
    for line in sys.stdin:
        module, arguments, environ = json.loads(line)
        done = run_main(import_module(module).main, tuple(arguments), environ={**os.environ, **environ})
        print(json.dumps([done.returncode, done.stdout, done.stderr]), file=answers)


if __name__ == "__main__":
    _main()
